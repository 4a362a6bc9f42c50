//! A diff as Markdown for a pull request: a table for each API, and folded details of the breaking findings.

use askama::Template;
use sp_ir::Loc;

use super::view::ReportView;
use super::{DiffReport, display_name};
use sp_diff::finding::{DeclarationText, Finding};

#[derive(Template)]
#[template(path = "report/diff.md.jinja", escape = "none")]
struct MarkdownTemplate<'a> {
    view: ReportView<'a>,
}

/// Returns the Markdown, which ends with one newline.
///
/// # Errors
/// Returns an error if the template cannot be rendered.
pub fn markdown(report: &DiffReport) -> askama::Result<String> {
    let view = ReportView::new(report);
    MarkdownTemplate { view }
        .render()
        .map(|text| text.trim_end().to_owned() + "\n")
}

/// Returns text for a cell of a table. Text between single backticks stays code; markup elsewhere is escaped.
fn cell(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let has_code = text.matches('`').count() % 2 == 0 && !text.contains("``");
    let text = match has_code {
        true => text,
        false => text.replace('`', "'"),
    };
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(index, part)| match index % 2 {
        0 => escape_markup(part),
        _ => escape_pipes(part),
    });
    parts.collect::<Vec<_>>().join("`")
}

/// Escapes the start of a tag, a link, an image or a cell.
fn escape_markup(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('<', "&lt;");
    let escaped = escaped.replace('[', "\\[").replace(']', "\\]");
    // Some implementations end the cell at a pipe after two backslashes.
    escaped.replace('|', "&#124;")
}

/// Escapes the pipes of code in a cell. After a backslash that is not possible: a broken bar replaces the pipe.
fn escape_pipes(code: &str) -> String {
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
        text => format!("`{}`", escape_pipes(&text.replace('`', "'"))),
    }
}

/// Returns a location in a header as code.
fn location(loc: &Loc) -> String {
    code(&format!("{}:{}", loc.file, loc.line))
}

/// Formats the member of a byte range.
fn member(name: &Option<String>) -> String {
    code(name.as_deref().unwrap_or_default())
}

/// Returns true if the text of the declaration differs.
fn is_redeclared(finding: &Finding) -> bool {
    let text = |declaration: &Option<DeclarationText>| {
        let declaration = declaration.as_ref();
        declaration.map(|declaration| declaration.text.clone())
    };
    text(&finding.before) != text(&finding.after)
}
