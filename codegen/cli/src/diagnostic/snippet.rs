//! The source line of a diagnostic, with carets below the labeled part.

use miette::{LabeledSpan, SourceCode};
use sp_host::escape_control;

/// A label of a diagnostic with its source line.
pub struct Snippet {
    location: String,
    number: usize,
    line: String,
    /// The blanks before the carets.
    margin: String,
    /// The carets and the label's text.
    pub caret: String,
}

impl Snippet {
    /// Returns the snippet, or `None` if the label is not in `source` or its line is empty.
    pub fn find(source: &dyn SourceCode, label: &LabeledSpan) -> Option<Self> {
        let found = source.read_span(label.inner(), 1, 1).ok()?;
        let text = std::str::from_utf8(found.data()).ok()?;
        let offset = label.offset().checked_sub(found.span().offset())?;
        let begin = text.get(..offset)?.rfind('\n').map_or(0, |end| end + 1);
        let line = text[begin..].lines().next()?;
        if line.trim().is_empty() {
            return None;
        }
        let before = text.get(begin..offset)?;
        let marked = line.get(before.len()..line.len().min(before.len() + label.len()))?;
        let number = found.line() + text[..begin].matches('\n').count() + 1;
        let column = before.chars().count() + 1;
        let name = found.name().unwrap_or("input");
        let carets = "^".repeat(marked.chars().count().max(1));
        let text = label.label().unwrap_or_default();
        Some(Self {
            location: format!("{name}:{number}:{column}"),
            number,
            line: escape_control(&line.replace('\t', " ")).to_string(),
            margin: " ".repeat(column - 1),
            caret: format!("{carets} {text}").trim_end().to_owned(),
        })
    }

    /// Formats the snippet; `caret` is [`Snippet::caret`] with or without color.
    pub fn text(&self, caret: &str) -> String {
        let Self {
            location,
            number,
            line,
            margin,
            ..
        } = self;
        let blank = " ".repeat(number.to_string().len());
        format!("  --> {location}\n {blank} |\n {number} | {line}\n {blank} | {margin}{caret}\n")
    }
}
