//! A diff as Markdown for a pull request: a table for each API, and what breaks in detail, folded.

use askama::Template;

use super::view::View;
use super::{Report, word};
use sp_diff::finding::{Finding, Shown};

#[derive(Template)]
#[template(path = "report/diff.md.jinja", escape = "none")]
struct Page<'a> {
    view: View<'a>,
}

/// The Markdown, ending in one newline.
///
/// # Errors
/// Where the template fails.
pub fn markdown(report: &Report) -> askama::Result<String> {
    let view = View::of(report);
    Page { view }
        .render()
        .map(|text| text.trim_end().to_owned() + "\n")
}

/// Text that is one cell of a table, whatever stands in it.
fn cell(text: &str) -> String {
    let text = text.replace('|', "\\|").replace('<', "&lt;");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A name or type in a cell.
fn code(text: &str) -> String {
    let text = text.replace('|', "\\|").replace('`', "'");
    match text.trim() {
        "" => "·".into(),
        text => format!("`{text}`"),
    }
}

/// What stands at a place of a struct.
fn member(name: &Option<String>) -> String {
    code(name.as_deref().unwrap_or_default())
}

/// Whether its declaration reads otherwise.
fn is_redeclared(finding: &Finding) -> bool {
    let text = |shown: &Option<Shown>| shown.as_ref().map(|one| one.text.clone());
    text(&finding.before) != text(&finding.after)
}
