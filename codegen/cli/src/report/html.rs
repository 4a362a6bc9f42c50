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

/// Both declarations, each with the side that has it or lacks it.
fn declarations<'a>(view: &View<'a>, finding: &'a Finding) -> [(&'a str, Option<&'a Shown>); 2] {
    [
        (view.old, finding.before.as_ref()),
        (view.new, finding.after.as_ref()),
    ]
}
