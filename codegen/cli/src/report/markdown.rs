//! A diff as Markdown for a pull request: a table for each API, and what breaks in detail, folded.

use askama::Template;
use sp_ir::Loc;

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

/// Returns text for a cell of a table. What stands between single backticks stays code; elsewhere nothing is
/// markup.
fn cell(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let has_code = text.matches('`').count() % 2 == 0 && !text.contains("``");
    let text = if has_code {
        text
    } else {
        text.replace('`', "'")
    };
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(index, part)| match index % 2 {
        0 => plain(part),
        _ => pipes(part),
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Escapes what begins a tag, a link, an image or a cell.
fn plain(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('<', "&lt;");
    let escaped = escaped.replace('[', "\\[").replace(']', "\\]");
    // Some implementations end the cell at a pipe after two backslashes.
    escaped.replace('|', "&#124;")
}

/// Escapes the pipes of code in a cell. After a backslash that is not possible: a broken bar replaces the pipe.
fn pipes(code: &str) -> String {
    code.replace("\\|", "\\¦").replace('|', "\\|")
}

/// Returns text for the inside of an HTML tag.
fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// Returns a name, type or path as code.
fn code(text: &str) -> String {
    match text.trim() {
        "" => "·".into(),
        text => format!("`{}`", pipes(&text.replace('`', "'"))),
    }
}

/// Returns a place in a header as code.
fn place(loc: &Loc) -> String {
    code(&format!("{}:{}", loc.file, loc.line))
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
