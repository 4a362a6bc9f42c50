//! The report as one self-contained HTML page.

use super::text::{milliseconds, why};
use super::{Class, CoverageReport, ReportSource, Row};
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
    /// The number of calls, or that it is unknown.
    calls: String,
    share: String,
}

impl CoveragePage<'_> {
    fn is_capture(&self) -> bool {
        self.report.source == ReportSource::Capture
    }

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
    let (calls, share) = match report.has(class) {
        true => (calls.to_string(), report.share(class, nanoseconds)),
        false => ("unknown".into(), "-".into()),
    };
    ClassView {
        class,
        calls,
        share,
    }
}
