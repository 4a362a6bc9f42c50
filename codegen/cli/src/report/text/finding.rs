//! One finding as text: the message, the bytes and declarations of both sides, the lines in the headers with a caret,
//! the effects on plugins, and the remedy.

use std::fmt::Write;

use textwrap::Options;

use super::super::quote::quote;
use super::super::{SideHeaders, display_name};
use super::TextStyle;
use super::color::{TextColor, colored};
use crate::operand::QuotedHeaders;
use sp_diff::finding::{ByteRange, DeclarationText, Effect, Finding, Impact, Outcome};

/// Formats the findings of one report.
pub struct FindingPrinter<'a> {
    /// The short labels of OLD and NEW.
    pub sides: [&'a str; 2],
    /// The headers to quote from.
    pub headers: &'a SideHeaders,
    /// Colors and width.
    pub style: TextStyle,
}

const INDENT: &str = "    ";
/// The minimum width of a column for two declarations side by side.
const MIN_COLUMN: usize = 36;

impl FindingPrinter<'_> {
    /// Returns all parts of a finding, below a line with its item.
    pub fn block(&self, finding: &Finding) -> String {
        let parts = [
            self.line_below_item(finding),
            self.bytes(&finding.bytes),
            self.declarations(finding),
            self.quotes(finding),
            self.directions(finding),
            self.labelled("remedy", &finding.remedy),
        ];
        parts.concat()
    }

    /// Returns impact, rule and message, below a line with the item. Members are added unless the message has them.
    pub fn line_below_item(&self, finding: &Finding) -> String {
        let members = finding.path().skip(1);
        let missing: Vec<&str> = members
            .filter(|member| !finding.message.contains(member))
            .collect();
        self.line_with(finding, &missing.join(" "))
    }

    /// Returns impact, rule, item and message.
    pub fn line(&self, finding: &Finding) -> String {
        match finding.message.contains(finding.owner()) {
            true => self.line_with(finding, ""),
            false => self.line_with(finding, &finding.item),
        }
    }

    fn line_with(&self, finding: &Finding, item: &str) -> String {
        let separator = if item.is_empty() { "" } else { " " };
        let target = finding.target.as_ref();
        let target = target.map_or_else(String::new, |target| format!(" (on {target})"));
        let text = format!(
            "{}{separator}{item}: {}{target}",
            finding.rule, finding.message
        );
        self.with_impact(finding.impact, &text)
    }

    /// Returns one line with the items of all findings of one rule.
    pub fn names(&self, findings: &[&Finding]) -> String {
        let Some(first) = findings.first() else {
            return String::new();
        };
        let items = findings.iter().map(|finding| finding.item.as_str());
        let items: Vec<&str> = items.collect();
        let (rule, count, items) = (first.rule, items.len(), items.join(", "));
        self.with_impact(first.impact, &format!("{rule} ({count} findings): {items}"))
    }

    fn with_impact(&self, impact: Impact, text: &str) -> String {
        let name = display_name(impact);
        let filled = fill(&format!("{name} {text}"), self.style.width, "  ", INDENT);
        let colored_name = colored(self.style.paint, TextColor::for_impact(impact), &name);
        filled.replacen(&name, &colored_name, 1) + "\n"
    }

    /// Returns a table of the byte ranges and the members that each side has there.
    fn bytes(&self, ranges: &[ByteRange]) -> String {
        if ranges.is_empty() {
            return String::new();
        }
        let name = |member: &Option<String>| member.clone().unwrap_or_else(|| "·".into());
        let head = ["offset", "bytes", self.sides[0], self.sides[1]].map(String::from);
        let rows = ranges.iter().map(|range| {
            let (offset, size) = (range.offset.to_string(), range.size.to_string());
            [offset, size, name(&range.old), name(&range.new)]
        });
        let rows: Vec<[String; 4]> = std::iter::once(head).chain(rows).collect();
        let width = |column: usize| {
            rows.iter()
                .map(|row| char_count(&row[column]))
                .max()
                .unwrap_or(0)
        };
        let (offsets, sizes, olds) = (width(0), width(1), width(2));
        let mut out = String::new();
        for (index, [offset, size, old, new]) in rows.iter().enumerate() {
            let line = format!("{INDENT}{offset:>offsets$}  {size:>sizes$}  {old:<olds$}  {new}");
            let differs = index > 0 && old != new;
            let color = match differs {
                true => TextColor::Strong,
                false => TextColor::Faint,
            };
            let line = colored(self.style.paint, color, line.trim_end());
            let _ = writeln!(out, "{line}");
        }
        out
    }

    /// Returns both declarations, side by side if the text is wide enough.
    fn declarations(&self, finding: &Finding) -> String {
        let declarations = [&finding.before, &finding.after];
        let column = (self.style.width.saturating_sub(INDENT.len()) - 2) / 2;
        let has_header = |headers: &QuotedHeaders, declaration: &DeclarationText| {
            headers.text(&declaration.loc.file).is_some()
        };
        match declarations {
            [None, None] => String::new(),
            [Some(before), Some(after)] if before.text == after.text => String::new(),
            // The quoted line of the header shows the declaration.
            [None, Some(after)] if has_header(&self.headers.new, after) => String::new(),
            [Some(before), None] if has_header(&self.headers.old, before) => String::new(),
            [Some(before), Some(after)] if column >= MIN_COLUMN => {
                self.columns(self.sides, column, TextColor::Faint)
                    + &self.columns([&before.text, &after.text], column, TextColor::Strong)
            }
            _ => {
                let sides = declarations.into_iter().zip(self.sides);
                let lines = sides.filter_map(|(declaration, side)| {
                    Some(self.labelled(side, &declaration.as_ref()?.text))
                });
                lines.collect()
            }
        }
    }

    fn columns(&self, texts: [&str; 2], column: usize, color: TextColor) -> String {
        let wrapped = texts.map(|text| textwrap::wrap(text, options(column, "", "  ")));
        let mut out = String::new();
        for index in 0..wrapped[0].len().max(wrapped[1].len()) {
            let [left, right] = [0, 1].map(|side| wrapped[side].get(index).map_or("", |line| line));
            let line = format!("{INDENT}{left:<column$}  {right}");
            let line = colored(self.style.paint, color, line.trim_end());
            let _ = writeln!(out, "{line}");
        }
        out
    }

    /// Returns the locations of the declarations, with the lines in the headers.
    fn quotes(&self, finding: &Finding) -> String {
        let same = match (&finding.before, &finding.after) {
            (Some(before), Some(after)) => before.text == after.text,
            _ => false,
        };
        let sides = [
            // An unchanged declaration is shown once.
            (finding.before.as_ref().filter(|_| !same), &self.headers.old),
            (finding.after.as_ref(), &self.headers.new),
        ];
        let quotes = sides
            .iter()
            .zip(self.sides)
            .filter_map(|((declaration, headers), side)| {
                Some(self.quote((*declaration)?, headers, side, finding))
            });
        quotes.collect()
    }

    fn quote(
        &self,
        declaration: &DeclarationText,
        headers: &QuotedHeaders,
        side: &str,
        finding: &Finding,
    ) -> String {
        let (paint, loc) = (self.style.paint, &declaration.loc);
        let location = format!("{INDENT}{side}: {}:{}", loc.file, loc.line);
        let mut out = colored(paint, TextColor::Faint, &location) + "\n";
        let Some(quote) = quote(headers, loc, finding.path().rev()) else {
            return out;
        };
        let number = format!("{INDENT}{:>5} │ ", quote.line);
        let width = self.style.width.saturating_sub(char_count(&number));
        let _ = writeln!(
            out,
            "{}{}",
            colored(paint, TextColor::Faint, &number),
            truncate(&quote.text, width)
        );
        let caret = quote
            .caret
            .filter(|(start, length)| start + length <= width);
        if let Some((start, length)) = caret {
            let margin = colored(paint, TextColor::Faint, &format!("{INDENT}      │ "));
            let caret = colored(paint, TextColor::Breaking, &"^".repeat(length));
            let _ = writeln!(out, "{margin}{:start$}{caret}", "");
        }
        out
    }

    fn directions(&self, finding: &Finding) -> String {
        let [old, new] = self.sides;
        let directions = &finding.directions;
        self.direction(old, new, &directions.old_on_new)
            + &self.direction(new, old, &directions.new_on_old)
    }

    fn direction(&self, plugin: &str, host: &str, effect: &Effect) -> String {
        let outcome = display_name(effect.outcome);
        let guarded = match effect.guarded {
            guarded if guarded == effect.outcome => String::new(),
            Outcome::Works => "; it works if it checks sizes and symbols".into(),
            guarded => format!(
                "; if it checks sizes and symbols: {}",
                display_name(guarded)
            ),
        };
        let text = format!("{outcome}: {}{guarded}", effect.why);
        self.labelled(&format!("{plugin} on {host}"), &text)
    }

    fn labelled(&self, label: &str, text: &str) -> String {
        if text.is_empty() {
            return String::new();
        }
        let filled = fill(
            &format!("{label}: {text}"),
            self.style.width,
            INDENT,
            "      ",
        );
        let colored_label = colored(self.style.paint, TextColor::Faint, label);
        filled.replacen(label, &colored_label, 1) + "\n"
    }
}

/// Wraps the text to a width, without breaking names and types.
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

fn char_count(text: &str) -> usize {
    text.chars().count()
}

fn truncate(text: &str, width: usize) -> String {
    match char_count(text) > width {
        true => text
            .chars()
            .take(width.saturating_sub(1))
            .chain(['…'])
            .collect(),
        false => text.into(),
    }
}
