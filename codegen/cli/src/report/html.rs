//! A diff as one page that needs nothing else, with filters by API and impact.

use askama::Template;

use super::view::View;
use super::{Report, word};
use crate::abi::finding::{Finding, Shown};

#[derive(Template)]
#[template(path = "report/diff.html.jinja")]
struct Page<'a> {
    view: View<'a>,
}

/// The page, ending in one newline.
///
/// # Errors
/// Where the template fails.
pub fn html(report: &Report) -> askama::Result<String> {
    let view = View::of(report);
    Page { view }
        .render()
        .map(|text| text.trim_end().to_owned() + "\n")
}

/// What stands at a place of a struct.
fn member(name: &Option<String>) -> &str {
    name.as_deref().unwrap_or("·")
}

/// Both declarations, each with the side that has it or lacks it; one where both read the same.
fn declarations<'a>(view: &View<'a>, finding: &'a Finding) -> Vec<(&'a str, Option<&'a Shown>)> {
    let (before, after) = (finding.before.as_ref(), finding.after.as_ref());
    let text = |shown: Option<&'a Shown>| shown.map(|one| one.text.as_str());
    match text(before) == text(after) {
        true => vec![(view.new, after)],
        false => vec![(view.old, before), (view.new, after)],
    }
}
