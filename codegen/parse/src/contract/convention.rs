//! Reads the rules for whole structs at the head of a header: "SE_ : set/filled by core unless ..." of
//! stream_executor.h and pluggable_profiler.h, "Struct that should be filled by the plugin: `A`, `B`" of grappler.h.

use std::collections::BTreeMap;

use sp_ir::{Evidence, Item, Loc, Side};

use super::{Items, state};
use crate::clang::{Comment, Comments};

/// States the side that fills a struct, or all structs with a name prefix.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Rule {
    /// `SE_` for a prefix, else a struct's name.
    name: String,
    side: Side,
    loc: Loc,
}

/// Adds the side that fills each struct, if the head of its header has a rule for it.
pub fn annotate(items: &mut Items, comments: &Comments) {
    let mut rules: BTreeMap<String, Vec<Rule>> = BTreeMap::new();
    for (name, item) in items {
        let Item::Struct(item) = item else { continue };
        let file = &item.loc.file;
        let rules = match rules.get(file) {
            Some(rules) => rules,
            None => rules
                .entry(file.clone())
                .or_insert(read(comments.head(file))),
        };
        if let Some(rule) = find(rules, name) {
            let evidence = Evidence::Comment(rule.loc.clone());
            state(&mut item.filled_by, rule.side, evidence);
        }
    }
}

/// Returns the matching rule with the longest name.
fn find<'r>(rules: &'r [Rule], name: &str) -> Option<&'r Rule> {
    let matches = |rule: &&Rule| match rule.name.ends_with('_') {
        true => name.starts_with(&rule.name),
        false => name == rule.name,
    };
    let found = rules.iter().filter(matches);
    found.max_by_key(|rule| rule.name.len())
}

fn read(head: &[Comment]) -> Vec<Rule> {
    let lines: Vec<(Loc, &str)> = head.iter().flat_map(lines).collect();
    let mut rules = Vec::new();
    for (at, (loc, line)) in lines.iter().enumerate() {
        let Some((before, after)) = line.split_once(':') else {
            continue;
        };
        let next = lines.get(at + 1).map(|(_, line)| *line);
        let next = next.filter(|line| !line.contains(':')).unwrap_or("");
        if let (Some(name), Some(side)) = (prefix(before), side(&format!("{after} {next}"))) {
            let (loc, name) = (loc.clone(), name.into());
            rules.push(Rule { name, side, loc });
        } else if let Some(side) = listed_side(before) {
            let rest = lines[at + 1..].iter().map(|(_, line)| *line);
            rules.extend(listed_structs(after, rest).into_iter().map(|name| Rule {
                name,
                side,
                loc: loc.clone(),
            }));
        }
    }
    rules
}

fn lines(comment: &Comment) -> impl Iterator<Item = (Loc, &str)> {
    let Loc { file, line } = &comment.loc;
    let lines = comment.text.lines().zip(*line..);
    lines.map(|(text, line)| {
        let file = file.clone();
        (Loc { file, line }, text)
    })
}

/// Returns the prefix in a text such as `SE_`, also in quotes or after a bullet.
fn prefix(text: &str) -> Option<&str> {
    let name = text.trim_matches(|c: char| c.is_whitespace() || "`*'\"-".contains(c));
    let stem = name.strip_suffix('_')?;
    let is_capital = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    (!stem.is_empty() && stem.chars().all(is_capital)).then_some(name)
}

/// Returns the side after the first "by": `set/filled by core unless ...`.
fn side(text: &str) -> Option<Side> {
    let text = text.to_lowercase();
    let (_, rest) = text.split_once(" by ")?;
    let mut words = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let side = words.find(|word| !word.is_empty() && *word != "the");
    match side? {
        "plugin" | "plug-in" | "plugins" => Some(Side::Plugin),
        "core" | "proper" | "tensorflow" | "tf" => Some(Side::Core),
        _ => None,
    }
}

/// Returns the side in `Struct that should be filled by the plugin`, which precedes a list of structs.
fn listed_side(text: &str) -> Option<Side> {
    let is_rule = text.to_lowercase().contains("struct") && text.contains("filled by");
    is_rule.then(|| side(text)).flatten()
}

/// Returns the names in backquotes. The list continues on the next line if a line ends with a comma.
fn listed_structs<'t>(first: &'t str, more: impl Iterator<Item = &'t str>) -> Vec<String> {
    let mut names = Vec::new();
    for line in std::iter::once(first).chain(more) {
        names.extend(line.split('`').skip(1).step_by(2).map(String::from));
        if !line.trim_end().ends_with(',') {
            break;
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> Vec<(String, Side, u32)> {
        let comment = Comment {
            text: text.into(),
            loc: Loc::new("demo.h", 10),
        };
        let rules = read(&[comment]).into_iter();
        rules
            .map(|rule| (rule.name, rule.side, rule.loc.line))
            .collect()
    }

    #[test]
    fn reads_side_of_prefix_on_line() {
        let text =
            "Conventions:\nSE_ : set/filled by core unless marked.\n`SP_`: filled by the plug-in.";
        let expected = [
            ("SE_".to_string(), Side::Core, 11),
            ("SP_".to_string(), Side::Plugin, 12),
        ];
        assert_eq!(rules(text), expected);
    }

    #[test]
    fn reads_the_side_of_listed_structs_across_lines() {
        let text = "Struct that should be filled by the plugin: `A`,\n`B`, `C`\n`D`";
        let names: Vec<String> = rules(text).into_iter().map(|rule| rule.0).collect();
        assert_eq!(names, ["A", "B", "C"]);
    }

    #[test]
    fn ignores_sentences_without_prefix_or_side() {
        for text in [
            "Note: set by core",
            "SE_ : numbers\nnot: filled by core",
            "S: filled by core",
            "SE_INIT: called by core",
        ] {
            assert_eq!(rules(text), [], "{text}");
        }
    }

    #[test]
    fn finds_longest_matching_prefix() {
        let rules = read(&[Comment {
            text: "A_: set by core\nA_B_: set by plugin".into(),
            loc: Loc::new("demo.h", 1),
        }]);
        let side = |name| find(&rules, name).map(|rule| rule.side);
        assert_eq!(side("A_X"), Some(Side::Core));
        assert_eq!(side("A_B_X"), Some(Side::Plugin));
        assert_eq!(side("B_X"), None);
    }
}
