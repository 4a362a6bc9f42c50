//! What every release changed, as it was checked by hand against the headers. `SP_BLESS=1` writes the
//! tables anew; each breaking row that comes new is to be checked again.

use std::collections::{BTreeMap, BTreeSet};

use crate::releases;
use sp_diff::change::{Kind, Reason};
use sp_diff::finding::{Impact, Outcome};
use sp_diff::pair::Pair;
use sp_diff::{Diff, Finding, RULES, Surface, Verdict, changes, diff};
use sp_ir::{Evidence, Field, Item, Visited};

/// The neighbouring pairs.
fn pairs(all: &[Surface]) -> impl Iterator<Item = (&Surface, &Surface)> {
    all.windows(2).map(|pair| (&pair[0], &pair[1]))
}

fn row(one: &Finding) -> String {
    let word = |outcome: Outcome| {
        serde_json::to_value(outcome)
            .unwrap()
            .as_str()
            .unwrap()
            .to_string()
    };
    let both = [&one.directions.old_on_new, &one.directions.new_on_old];
    let both = both.map(|effect| match effect.outcome == effect.guarded {
        true => word(effect.outcome),
        false => format!(
            "{} (guarded: {})",
            word(effect.outcome),
            word(effect.guarded)
        ),
    });
    let target = one
        .target
        .as_ref()
        .map_or(String::new(), |target| format!(" on {target}"));
    match one.impact {
        Impact::Breaking => format!(
            "  BREAKING {} {}{target}: {} | {} | {}",
            one.rule, one.item, one.message, both[0], both[1]
        ),
        Impact::Compatible => format!("  compatible {} {}: {}", one.rule, one.item, one.message),
        Impact::SourceOnly => format!("  source {} {}", one.rule, one.item),
    }
}

fn table(diff: &Diff) -> String {
    let mut text = format!(
        "{} -> {}: {:?}, {:?}\n",
        diff.old, diff.new, diff.verdict, diff.bump
    );
    let mut api = "";
    for one in &diff.findings {
        if one.api != api {
            text += &format!(" {}\n", one.api);
            api = &one.api;
        }
        text += &row(one);
        text.push('\n');
    }
    text
}

#[test]
fn history_is_as_checked() {
    for (old, new) in pairs(&releases::all()) {
        let text = table(&diff(old, new, releases::TARGET));
        let path = format!("codegen/cli/tests/abi/history/{}.txt", new.label);
        let blessed = releases::blessed(&path, &text);
        for (line, (found, expected)) in text.lines().zip(blessed.lines()).enumerate() {
            assert_eq!(found, expected, "line {} of {path}", line + 1);
        }
        assert_eq!(text, blessed, "{path}");
    }
}

#[test]
fn a_release_is_identical_to_itself() {
    for one in releases::all() {
        let same = diff(&one, &one, releases::TARGET);
        assert_eq!(same.verdict, Verdict::Identical, "{}", table(&same));
    }
}

#[test]
fn each_change_is_judged_by_one_rule() {
    for (old, new) in pairs(&releases::all()) {
        let pair = Pair::of(old, new, releases::TARGET);
        for change in changes::of(&pair) {
            let judges = RULES
                .iter()
                .filter(|rule| (rule.judge)(&pair, &change).is_some());
            let judges: Vec<&str> = judges.map(|rule| rule.id).collect();
            let expected = usize::from(!matches!(change.kind, Kind::None(_)));
            assert_eq!(judges.len(), expected, "{change:?}: {judges:?}");
        }
    }
}

#[test]
fn both_ways_tell_the_same() {
    for (old, new) in pairs(&releases::all()) {
        let forth = diff(old, new, releases::TARGET);
        let back = diff(new, old, releases::TARGET);
        let mut found: BTreeMap<(&str, &str), Vec<&Finding>> = BTreeMap::new();
        for one in &back.findings {
            found.entry((&one.api, &one.item)).or_default().push(one);
        }
        for one in forth
            .findings
            .iter()
            .filter(|one| one.impact == Impact::Breaking)
        {
            // What stands where another stood is called after it, either way.
            let heir = one.bytes.first().and_then(|slot| slot.new.as_deref());
            let (owner, _) = one.item.rsplit_once('.').unwrap_or_default();
            let other = match one.rule {
                "field_replaced" => format!("{owner}.{}", heir.unwrap_or_default()),
                _ => one.item.clone(),
            };
            let turned = found.get(&(one.api.as_str(), other.as_str()));
            let turned =
                turned.unwrap_or_else(|| panic!("{} {} is not seen back", one.rule, one.item));
            let agrees = turned.iter().any(|other| {
                let (one, other) = (&one.directions, &other.directions);
                one.old_on_new.outcome == other.new_on_old.outcome
                    && one.new_on_old.outcome == other.old_on_new.outcome
                    && one.old_on_new.guarded == other.new_on_old.guarded
                    && one.new_on_old.guarded == other.old_on_new.guarded
            });
            assert!(agrees, "{one:#?}\n{turned:#?}");
        }
    }
}

#[test]
fn what_is_no_change_has_its_reason() {
    let all = releases::all();
    let mut reasons: BTreeMap<Reason, usize> = BTreeMap::new();
    for (old, new) in pairs(&all) {
        for change in changes::of(&Pair::of(old, new, releases::TARGET)) {
            if let Kind::None(reason) = change.kind {
                *reasons.entry(reason).or_default() += 1;
            }
        }
    }
    let expected = [
        Reason::Alias,
        Reason::MacroForVariant,
        Reason::Follows,
        Reason::VersionMacro,
    ];
    for reason in expected {
        assert!(reasons.contains_key(&reason), "{reason:?} in {reasons:?}");
    }
}

/// The item without what is no fact: docs, places, evidence, and what only generated code is told.
fn bare(item: &Item) -> Item {
    let mut item = item.clone();
    item.visit_mut(&mut |mark| match mark {
        Visited::Loc(loc) => (loc.file, loc.line) = (String::new(), 0),
        Visited::Evidence(evidence) => *evidence = Evidence::Prefix,
    });
    let undoc = |fields: &mut Vec<Field>| {
        for field in fields {
            (field.doc, field.section) = (None, None);
        }
    };
    match &mut item {
        Item::Struct(one) => {
            (one.doc, one.author_trait, one.discriminator) = (None, None, None);
            undoc(&mut one.fields);
        }
        Item::Union(one) => {
            (one.doc, one.discriminator) = (None, None);
            undoc(&mut one.fields);
        }
        Item::Function(one) => (one.doc, one.instead) = (None, None),
        Item::Handle(one) => (one.doc, one.rust) = (None, None),
        Item::Enum(one) => one.doc = None,
        Item::Alias(one) => one.doc = None,
        Item::Callback(one) => one.doc = None,
        Item::Constant(one) => one.doc = None,
    }
    item
}

#[test]
fn whatever_differs_is_a_change() {
    for (old, new) in pairs(&releases::all()) {
        let pair = Pair::of(old, new, releases::TARGET);
        let changes = changes::of(&pair);
        let names = changes
            .iter()
            .map(|change| change.item.split(['.', '(']).next().unwrap());
        let names: BTreeSet<&str> = names.collect();
        let items = |side: &Surface| -> BTreeMap<String, Item> {
            let all = side.apis.iter().flat_map(|api| &api.items);
            all.map(|(name, item)| (name.clone(), bare(item))).collect()
        };
        let (was, is) = (items(old), items(new));
        for name in was.keys().chain(is.keys()) {
            if was.get(name) == is.get(name) || names.contains(name.as_str()) {
                continue;
            }
            // What was renamed, or is another name now, is compared under the other name.
            let renamed = pair.renamed.get(name).or_else(|| pair.aliased.get(name));
            let other = renamed.unwrap_or_else(|| {
                panic!("{name} differs from {} to {} unseen", old.label, new.label)
            });
            assert!(names.contains(other.as_str()), "{name}");
        }
    }
}
