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

/// The characters of a line that are shown before and after the label's begin. A line may be as long as a header.
const SHOWN_BEFORE: usize = 120;
const SHOWN_AFTER: usize = 120;

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
        let carets = marked.chars().count().clamp(1, SHOWN_AFTER);
        let text = escape_control(label.label().unwrap_or_default());
        let first = column.saturating_sub(SHOWN_BEFORE);
        let shown = line.chars().skip(first).take(SHOWN_BEFORE + SHOWN_AFTER);
        let shown: String = shown.map(|c| if c == '\t' { ' ' } else { c }).collect();
        Some(Self {
            location: escape_control(&format!("{name}:{number}:{column}")),
            number,
            line: escape_control(&shown),
            margin: " ".repeat(column - 1 - first),
            caret: format!("{} {text}", "^".repeat(carets))
                .trim_end()
                .to_owned(),
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
