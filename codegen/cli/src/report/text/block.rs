//! One finding: its message, the bytes before and after, both declarations with a caret into their
//! headers, what becomes of plugins, and what to do.

use std::fmt::Write;

use textwrap::Options;

use super::super::quote::quote;
use super::super::{Quotable, word};
use super::Page;
use super::ink::{Ink, ink};
use crate::operand::Headers;
use sp_diff::finding::{Effect, Finding, Impact, Outcome, Shown, Slot};

/// What all findings of a report are drawn with.
pub struct Block<'a> {
    /// What the sides are called.
    pub sides: [&'a str; 2],
    /// Their headers.
    pub quotable: &'a Quotable,
    /// Colours and width.
    pub page: Page,
}

const INDENT: &str = "    ";
/// Narrower columns are set one below the other.
const NARROWEST: usize = 36;

impl Block<'_> {
    /// All of it.
    pub fn draw(&self, finding: &Finding) -> String {
        let parts = [
            self.line(finding),
            self.bytes(&finding.bytes),
            self.declarations(finding),
            self.quotes(finding),
            self.directions(finding),
            self.labelled("do", &finding.remedy),
        ];
        parts.concat()
    }

    /// Impact, rule and message under the item's own heading: only a member is named, unless the
    /// message does.
    pub fn line(&self, finding: &Finding) -> String {
        let members = finding.path().skip(1);
        let unsaid: Vec<&str> = members
            .filter(|one| !finding.message.contains(one))
            .collect();
        self.told(finding, &unsaid.join(" "))
    }

    /// The same without a heading.
    pub fn whole_line(&self, finding: &Finding) -> String {
        match finding.message.contains(finding.owner()) {
            true => self.told(finding, ""),
            false => self.told(finding, &finding.item),
        }
    }

    fn told(&self, finding: &Finding, item: &str) -> String {
        let between = if item.is_empty() { "" } else { " " };
        let target = finding.target.as_ref();
        let target = target.map_or_else(String::new, |target| format!(" (on {target})"));
        let about = format!(
            "{}{between}{item}: {}{target}",
            finding.rule, finding.message
        );
        self.weighed(finding.impact, &about)
    }

    /// Findings of one rule, by their items alone.
    pub fn names(&self, findings: &[&Finding]) -> String {
        let Some(first) = findings.first() else {
            return String::new();
        };
        let items: Vec<&str> = findings.iter().map(|one| one.item.as_str()).collect();
        let (rule, count, items) = (first.rule, items.len(), items.join(", "));
        self.weighed(first.impact, &format!("{rule}, {count} of them: {items}"))
    }

    fn weighed(&self, impact: Impact, about: &str) -> String {
        let word = word(impact);
        let filled = fill(&format!("{word} {about}"), self.page.width, "  ", INDENT);
        let coloured = ink(self.page.paint, Ink::of_impact(impact), &word);
        filled.replacen(&word, &coloured, 1) + "\n"
    }

    /// What stands where.
    fn bytes(&self, slots: &[Slot]) -> String {
        if slots.is_empty() {
            return String::new();
        }
        let name = |member: &Option<String>| member.clone().unwrap_or_else(|| "·".into());
        let head = ["offset", "bytes", self.sides[0], self.sides[1]].map(String::from);
        let rows = slots.iter().map(|slot| {
            let (offset, size) = (slot.offset.to_string(), slot.size.to_string());
            [offset, size, name(&slot.old), name(&slot.new)]
        });
        let rows: Vec<[String; 4]> = std::iter::once(head).chain(rows).collect();
        let width = |column: usize| {
            rows.iter()
                .map(|row| chars(&row[column]))
                .max()
                .unwrap_or(0)
        };
        let (offsets, sizes, olds) = (width(0), width(1), width(2));
        let mut out = String::new();
        for (index, [offset, size, old, new]) in rows.iter().enumerate() {
            let line = format!("{INDENT}{offset:>offsets$}  {size:>sizes$}  {old:<olds$}  {new}");
            let differs = index > 0 && old != new;
            let shade = if differs { Ink::Strong } else { Ink::Faint };
            let _ = writeln!(out, "{}", ink(self.page.paint, shade, line.trim_end()));
        }
        out
    }

    /// Before and after, side by side where there is room.
    fn declarations(&self, finding: &Finding) -> String {
        let shown = [&finding.before, &finding.after];
        let column = (self.page.width.saturating_sub(INDENT.len()) - 2) / 2;
        match shown {
            [None, None] => String::new(),
            [Some(before), Some(after)] if before.text == after.text => String::new(),
            // Its line in the header says as much.
            [None, Some(shown)] if self.quotable.new.text(&shown.loc.file).is_some() => {
                String::new()
            }
            [Some(shown), None] if self.quotable.old.text(&shown.loc.file).is_some() => {
                String::new()
            }
            [Some(before), Some(after)] if column >= NARROWEST => {
                let mut out = self.columns([self.sides[0], self.sides[1]], column, Ink::Faint);
                out += &self.columns([&before.text, &after.text], column, Ink::Strong);
                out
            }
            _ => {
                let sides = shown.into_iter().zip(self.sides);
                let lines = sides.filter_map(|(shown, side)| {
                    let shown = shown.as_ref()?;
                    Some(self.labelled(side, &shown.text))
                });
                lines.collect()
            }
        }
    }

    fn columns(&self, texts: [&str; 2], column: usize, shade: Ink) -> String {
        let wrapped = texts.map(|text| textwrap::wrap(text, options(column, "", "  ")));
        let mut out = String::new();
        for index in 0..wrapped[0].len().max(wrapped[1].len()) {
            let [left, right] = [0, 1].map(|side| wrapped[side].get(index).map_or("", |it| it));
            let line = format!("{INDENT}{left:<column$}  {right}");
            let _ = writeln!(out, "{}", ink(self.page.paint, shade, line.trim_end()));
        }
        out
    }

    /// Where the declarations stand.
    fn quotes(&self, finding: &Finding) -> String {
        let same = match (&finding.before, &finding.after) {
            (Some(before), Some(after)) => before.text == after.text,
            _ => false,
        };
        let sides = [
            // What is declared as before is shown once.
            (
                finding.before.as_ref().filter(|_| !same),
                &self.quotable.old,
            ),
            (finding.after.as_ref(), &self.quotable.new),
        ];
        let quotes = sides
            .iter()
            .zip(self.sides)
            .filter_map(|((shown, headers), side)| {
                Some(self.quote((*shown)?, headers, side, finding))
            });
        quotes.collect()
    }

    fn quote(&self, shown: &Shown, headers: &Headers, side: &str, finding: &Finding) -> String {
        let (paint, loc) = (self.page.paint, &shown.loc);
        let place = format!("{INDENT}{side}: {}:{}", loc.file, loc.line);
        let mut out = ink(paint, Ink::Faint, &place) + "\n";
        let Some(quote) = quote(headers, loc, finding.path().rev()) else {
            return out;
        };
        let number = format!("{INDENT}{:>5} │ ", quote.line);
        let room = self.page.width.saturating_sub(chars(&number));
        let _ = writeln!(
            out,
            "{}{}",
            ink(paint, Ink::Faint, &number),
            cut(&quote.text, room)
        );
        if let Some((at, length)) = quote.caret.filter(|(at, length)| at + length <= room) {
            let margin = ink(paint, Ink::Faint, &format!("{INDENT}      │ "));
            let caret = ink(paint, Ink::Breaking, &"^".repeat(length));
            let _ = writeln!(out, "{margin}{:at$}{caret}", "");
        }
        out
    }

    fn directions(&self, finding: &Finding) -> String {
        let [old, new] = self.sides;
        let both = &finding.directions;
        self.direction(old, new, &both.old_on_new) + &self.direction(new, old, &both.new_on_old)
    }

    fn direction(&self, from: &str, to: &str, effect: &Effect) -> String {
        let guarded = match effect.guarded {
            same if same == effect.outcome => String::new(),
            Outcome::Works => "; works where it checks sizes and symbols".into(),
            other => format!("; {} where it checks sizes and symbols", word(other)),
        };
        let told = format!("{}: {}{guarded}", word(effect.outcome), effect.why);
        self.labelled(&format!("{from} on {to}"), &told)
    }

    fn labelled(&self, label: &str, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let filled = fill(
            &format!("{label}: {text}"),
            self.page.width,
            INDENT,
            "      ",
        );
        let coloured = ink(self.page.paint, Ink::Faint, label);
        filled.replacen(label, &coloured, 1) + "\n"
    }
}

/// The text in lines of that width; names and types are not split.
pub fn fill(text: &str, width: usize, first: &str, rest: &str) -> String {
    textwrap::fill(text, options(width, first, rest))
}

fn options<'a>(width: usize, first: &'a str, rest: &'a str) -> Options<'a> {
    Options::new(width)
        .initial_indent(first)
        .subsequent_indent(rest)
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation)
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

fn cut(text: &str, room: usize) -> String {
    match chars(text) > room {
        true => text
            .chars()
            .take(room.saturating_sub(1))
            .chain(['…'])
            .collect(),
        false => text.into(),
    }
}
