//! A diff as Markdown for a pull request: a table for each API, and folded details of the breaking findings.

use askama::Template;

use super::view::ReportView;
use super::{Report, display_name};
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
pub fn markdown(report: &Report) -> askama::Result<String> {
    let view = ReportView::new(report);
    MarkdownTemplate { view }
        .render()
        .map(|text| text.trim_end().to_owned() + "\n")
}

/// Escapes text for a cell of a table.
fn cell(text: &str) -> String {
    let text = text.replace('|', "\\|").replace('<', "&lt;");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Formats a name or type as code in a cell.
fn code(text: &str) -> String {
    let text = text.replace('|', "\\|").replace('`', "'");
    match text.trim() {
        "" => "·".into(),
        text => format!("`{text}`"),
    }
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
