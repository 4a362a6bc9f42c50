//! The report as one self-contained HTML page.

use super::text::{milliseconds, why};
use super::{Class, CoverageReport, Row};
use askama::Template;

#[derive(Template)]
#[template(path = "report/coverage.html.jinja")]
struct CoveragePage<'a> {
    report: &'a CoverageReport,
    devices: String,
    classes: Vec<ClassView>,
}

/// A class with its sums.
struct ClassView {
    class: Class,
    calls: u64,
    share: String,
}

impl CoveragePage<'_> {
    fn share(&self, row: &Row) -> String {
        self.report.share(row.class, row.nanoseconds)
    }

    fn time(&self, row: &Row) -> String {
        format!("{:.2}", milliseconds(row.nanoseconds))
    }

    fn why(&self, row: &Row) -> String {
        why(row)
    }
}

/// Returns the page, which ends with one newline.
///
/// # Errors
/// Returns an error if the template cannot be rendered.
pub fn print(report: &CoverageReport) -> askama::Result<String> {
    let classes = Class::ALL.map(|class| view(report, class));
    let devices: Vec<&str> = report.device_types.iter().map(String::as_str).collect();
    let page = CoveragePage {
        report,
        devices: devices.join(", "),
        classes: classes.into_iter().collect(),
    };
    page.render().map(|text| text.trim_end().to_owned() + "\n")
}

fn view(report: &CoverageReport, class: Class) -> ClassView {
    let (calls, nanoseconds) = report.sums(class);
    ClassView {
        class,
        calls,
        share: report.share(class, nanoseconds),
    }
}
