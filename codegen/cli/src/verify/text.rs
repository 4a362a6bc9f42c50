//! The text report. For one release: a row for each check. For several: a table of marks, then the details of failed
//! and skipped checks, each once for all releases that have the same.

use super::VerifyReport;
use super::dependencies::{LibrarySource, NeededLibrary};
use super::requirements::{RequiredFunction, Requirements};
use sp_host::{CheckOutcome, CheckStatus};
use std::collections::BTreeSet;
use std::fmt::Write;

/// Returns the report as text.
pub fn print(report: &VerifyReport) -> String {
    format!(
        "{}\n{}",
        requirements(&report.requirements),
        print_rows(report)
    )
}

/// Returns the report without the requirements.
pub fn print_rows(report: &VerifyReport) -> String {
    let rows = match report.releases.len() {
        1 => single(report),
        _ => [
            table(report),
            reasons(report, CheckStatus::Skip, "skipped"),
            reasons(report, CheckStatus::Fail, "failed"),
        ]
        .concat(),
    };
    let outcomes: Vec<CheckOutcome> = report.rows.iter().map(|(_, row)| row.clone()).collect();
    // The failed checks are the last lines, with the sum.
    format!(
        "{rows}{}{}\n",
        dropped(&outcomes),
        sp_host::summary(&outcomes)
    )
}

/// Returns the line about dropped output of the plugin, which the table does not show.
fn dropped(outcomes: &[CheckOutcome]) -> String {
    let flooded = outcomes.iter().filter(|row| row.dropped_bytes > 0);
    match flooded.clone().count() {
        0 => String::new(),
        checks => {
            let bytes: u64 = flooded.map(|row| row.dropped_bytes).sum();
            format!("dropped {bytes} bytes of the plugin's output, in {checks} checks\n")
        }
    }
}

fn single(report: &VerifyReport) -> String {
    let rows = report.rows.iter();
    rows.map(|(_, outcome)| format!("{outcome}\n")).collect()
}

fn table(report: &VerifyReport) -> String {
    let labels: Vec<String> = report.releases.iter().map(|it| label(report, it)).collect();
    let longest = labels.iter().map(String::len).max();
    let width = longest.map_or(6, |longest| (longest + 1).max(6));
    let heads = labels.iter().map(|label| format!("{label:>width$}"));
    let checks = checks(report);
    let longest = checks.iter().map(|check| check.len()).max();
    let first = longest.map_or(22, |longest| longest.max(22));
    let mut out = format!("{:<first$}{}\n", "", heads.collect::<String>());
    for check in checks {
        let rows = report.rows.iter().filter(|(_, row)| row.check == check);
        let marks = rows.map(|(_, row)| format!("{:>width$}", mark(row.status)));
        out += &format!("{check:<first$}{}\n", marks.collect::<String>());
    }
    for (release, exact) in &report.previews {
        let _ = writeln!(out, "{release}* preview: {exact}");
    }
    out + "\n"
}

/// Returns the checks in the order of the report.
fn checks(report: &VerifyReport) -> Vec<&str> {
    let first = report.releases.first();
    let rows = report
        .rows
        .iter()
        .filter(|(release, _)| Some(release) == first);
    rows.map(|(_, row)| row.check.as_str()).collect()
}

/// Returns a release as the table names it: `2.22*` if it is a preview.
fn label(report: &VerifyReport, release: &str) -> String {
    let mark = report.previews.contains_key(release).then_some("*");
    format!("{release}{}", mark.unwrap_or_default())
}

fn mark(status: CheckStatus) -> &'static str {
    match status {
        CheckStatus::Pass => "ok",
        CheckStatus::Fail => "FAIL",
        CheckStatus::Skip => "-",
    }
}

/// A check, a detail, and the releases that have it.
type DetailOfCheck<'a> = (&'a str, &'a str, Vec<&'a str>);

/// Returns the details of outcomes with `status`, each with its checks and releases.
fn reasons(report: &VerifyReport, status: CheckStatus, title: &str) -> String {
    let mut details: Vec<DetailOfCheck<'_>> = Vec::new();
    for check in checks(report) {
        let rows = report.rows.iter();
        for (release, row) in rows.filter(|(_, row)| row.check == check && row.status == status) {
            let known = details
                .iter_mut()
                .find(|(id, detail, _)| *id == row.check && *detail == row.detail);
            match known {
                Some((_, _, releases)) => releases.push(release),
                None => details.push((&row.check, &row.detail, vec![release])),
            }
        }
    }
    let lines: String = grouped(&details)
        .iter()
        .map(|(ids, detail, releases)| {
            let (ids, releases) = (ids.join(", "), ranges(releases, &report.releases));
            format!("  {ids} ({releases}): {detail}\n")
        })
        .collect();
    match lines.is_empty() {
        true => lines,
        false => format!("{title}:\n{lines}\n"),
    }
}

/// Merges checks that have the same detail in the same releases.
fn grouped<'a>(details: &[DetailOfCheck<'a>]) -> Vec<(Vec<&'a str>, &'a str, Vec<&'a str>)> {
    let mut groups: Vec<(Vec<&str>, &str, Vec<&str>)> = Vec::new();
    for (id, detail, releases) in details {
        let is_same =
            |(_, same, all): &&mut (_, &str, Vec<&str>)| same == detail && all == releases;
        match groups.iter_mut().find(is_same) {
            Some((ids, _, _)) => ids.push(id),
            None => groups.push((vec![id], detail, releases.clone())),
        }
    }
    groups
}

/// Returns the releases in `some` as ranges of `all`, such as `2.5 to 2.8, 2.10`.
pub(super) fn ranges(some: &[impl AsRef<str>], all: &[String]) -> String {
    let mut ranges: Vec<(&str, &str)> = Vec::new();
    let mut open = false;
    for release in all {
        let is_in = some.iter().any(|name| name.as_ref() == release);
        match ranges.last_mut() {
            Some((_, last)) if open && is_in => *last = release,
            _ if is_in => ranges.push((release, release)),
            _ => {}
        }
        open = is_in;
    }
    let run = |(first, last): &(&str, &str)| match first == last {
        true => (*first).to_owned(),
        false => format!("{first} to {last}"),
    };
    ranges.iter().map(run).collect::<Vec<_>>().join(", ")
}

fn requirements(requirements: &Requirements) -> String {
    let mut out = ["requirements:\n", &libraries(&requirements.libraries)].concat();
    for (imported, title) in [
        (true, "imported functions"),
        (false, "functions looked up at run time"),
    ] {
        out += &functions(requirements, imported, title);
    }
    if requirements.functions.is_empty() {
        out += "  no C functions of TensorFlow\n";
    }
    if !requirements.cplusplus.is_empty() {
        let count = requirements.cplusplus.len();
        let _ = writeln!(
            out,
            "  C++ symbols of TensorFlow, which may change with every build ({count}):"
        );
        out.extend(
            requirements
                .cplusplus
                .iter()
                .map(|name| format!("    {name}\n")),
        );
    }
    out
}

/// Returns the libraries by source.
fn libraries(libraries: &[NeededLibrary]) -> String {
    let places = [
        (LibrarySource::TensorFlow, "libraries of TensorFlow"),
        (LibrarySource::Plugin, "libraries of the plugin"),
        (LibrarySource::System, "libraries of this system"),
        (LibrarySource::Missing, "missing libraries"),
    ];
    let line = |(source, title): &(LibrarySource, &str)| {
        let of_place = libraries.iter().filter(|it| it.source == *source);
        let names: Vec<&str> = of_place.map(|it| it.name.as_str()).collect();
        match names.is_empty() {
            true => String::new(),
            false => format!("  {title}: {}\n", names.join(" ")),
        }
    };
    places.iter().map(line).collect()
}

/// Returns the functions that are imported, or those that are not, by API.
fn functions(requirements: &Requirements, imported: bool, title: &str) -> String {
    let of_kind = || {
        requirements
            .functions
            .iter()
            .filter(|it| it.imported == imported)
    };
    let apis: BTreeSet<Option<&str>> = of_kind().map(|it| it.api.as_deref()).collect();
    let part = |api: Option<&str>| {
        let name = api.unwrap_or("declared by no API");
        let of_api = of_kind().filter(|it| it.api.as_deref() == api);
        format!(
            "  {title}, {name}:\n{}",
            of_api.map(function).collect::<String>()
        )
    };
    apis.into_iter().map(part).collect()
}

fn function(function: &RequiredFunction) -> String {
    let releases = match (function.releases.first(), function.releases.last()) {
        (Some(first), Some(last)) if first == last => format!("in {first} only"),
        (Some(first), Some(last)) => format!("from {first} to {last}"),
        _ => "in no imported wheel".to_owned(),
    };
    let loss = function.loss.as_ref();
    let loss = loss.map_or_else(String::new, |loss| {
        format!("; without it the plugin {loss}")
    });
    format!("    {}, {releases}{loss}\n", function.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_releases_as_ranges() {
        let all: Vec<String> = (5..12).map(|minor| format!("2.{minor}")).collect();
        let expected = "2.5 to 2.7, 2.9";
        assert_eq!(ranges(&["2.5", "2.6", "2.7", "2.9"], &all), expected);
        assert_eq!(ranges(&["2.11"], &all), "2.11");
        assert_eq!(ranges(&[] as &[&str], &all), "");
    }
}
