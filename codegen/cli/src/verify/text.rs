//! A report for people: of one release a row per check; of several a table of marks, then what failed
//! and was skipped, each said once for all releases where it is the same.

use super::Report;
use super::asks::{Asked, Function};
use super::needs::{Found, Library};
use sp_host::{CHECKS, CheckOutcome, Verdict};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The report's text.
pub fn print(report: &Report) -> String {
    let rows = match report.releases.len() {
        1 => single(report),
        _ => [
            table(report),
            reasons(report, Verdict::Fail, "failed"),
            reasons(report, Verdict::Skip, "skipped"),
        ]
        .concat(),
    };
    let outcomes: Vec<CheckOutcome> = report.rows.iter().map(|(_, row)| row.clone()).collect();
    format!(
        "{rows}{}\n{}{}\n",
        asked(&report.asked),
        dropped(&outcomes),
        sp_host::summary(&outcomes)
    )
}

/// How much of the plugin's output was not kept; the rows of a table do not tell.
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

fn single(report: &Report) -> String {
    let rows = report.rows.iter();
    rows.map(|(_, outcome)| format!("{outcome}\n")).collect()
}

fn table(report: &Report) -> String {
    let heads = report
        .releases
        .iter()
        .map(|release| format!("{:>6}", label(report, release)));
    let mut out = format!("{:<22}{}\n", "", heads.collect::<String>());
    for check in CHECKS {
        let of = report.rows.iter().filter(|(_, row)| row.check == check.id);
        let marks = of.map(|(_, row)| format!("{:>6}", mark(row.status)));
        out += &format!("{:<22}{}\n", check.id, marks.collect::<String>());
    }
    for (release, exact) in &report.previews {
        let _ = writeln!(out, "{release}* preview: {exact}");
    }
    out + "\n"
}

/// Returns a release as the table names it: `2.22*` if it is a preview.
fn label(report: &Report, release: &str) -> String {
    let mark = report.previews.contains_key(release).then_some("*");
    format!("{release}{}", mark.unwrap_or_default())
}

fn mark(status: Verdict) -> &'static str {
    match status {
        Verdict::Pass => "ok",
        Verdict::Fail => "FAIL",
        Verdict::Skip => "-",
    }
}

/// A check, what was said of it, and in which releases.
type Said<'a> = (&'a str, &'a str, Vec<&'a str>);

/// Details of one status, each with the checks' id and the releases that it was said of.
fn reasons(report: &Report, status: Verdict, title: &str) -> String {
    let mut said: Vec<Said<'_>> = Vec::new();
    for check in CHECKS {
        let rows = report.rows.iter();
        for (release, row) in rows.filter(|(_, row)| row.check == check.id && row.status == status)
        {
            let known = said
                .iter_mut()
                .find(|(id, detail, _)| *id == row.check && *detail == row.detail);
            match known {
                Some((_, _, releases)) => releases.push(release),
                None => said.push((&row.check, &row.detail, vec![release])),
            }
        }
    }
    let lines: String = grouped(&said)
        .iter()
        .map(|(ids, detail, releases)| {
            let (ids, releases) = (ids.join(", "), runs(releases, &report.releases));
            format!("  {ids} ({releases}): {detail}\n")
        })
        .collect();
    match lines.is_empty() {
        true => lines,
        false => format!("{title}:\n{lines}\n"),
    }
}

/// Checks of which the same is said, of the same releases, as one.
fn grouped<'a>(said: &[Said<'a>]) -> Vec<(Vec<&'a str>, &'a str, Vec<&'a str>)> {
    let mut groups: Vec<(Vec<&str>, &str, Vec<&str>)> = Vec::new();
    for (id, detail, releases) in said {
        let is_same =
            |(_, same, all): &&mut (_, &str, Vec<&str>)| same == detail && all == releases;
        match groups.iter_mut().find(is_same) {
            Some((ids, _, _)) => ids.push(id),
            None => groups.push((vec![id], detail, releases.clone())),
        }
    }
    groups
}

/// `2.5 to 2.8, 2.10`: which of `all` are in `some`.
fn runs(some: &[impl AsRef<str>], all: &[String]) -> String {
    let mut runs: Vec<(&str, &str)> = Vec::new();
    let mut open = false;
    for release in all {
        let is_in = some.iter().any(|one| one.as_ref() == release);
        match runs.last_mut() {
            Some((_, last)) if open && is_in => *last = release,
            _ if is_in => runs.push((release, release)),
            _ => {}
        }
        open = is_in;
    }
    let run = |(first, last): &(&str, &str)| match first == last {
        true => (*first).to_owned(),
        false => format!("{first} to {last}"),
    };
    runs.iter().map(run).collect::<Vec<_>>().join(", ")
}

fn asked(asked: &Asked) -> String {
    let mut out = ["asks of its host:\n", &libraries(&asked.libraries)].concat();
    for (imported, title) in [(true, "must be there"), (false, "looks up")] {
        out += &functions(asked, imported, title);
    }
    if asked.functions.is_empty() {
        out += "  nothing of TensorFlow's C functions\n";
    }
    if !asked.cplusplus.is_empty() {
        let count = asked.cplusplus.len();
        let _ = writeln!(
            out,
            "  C++ of TensorFlow's, which promises nothing from one build to the next ({count}):"
        );
        out.extend(asked.cplusplus.iter().map(|name| format!("    {name}\n")));
    }
    out
}

/// The libraries, by where they come from.
fn libraries(libraries: &[Library]) -> String {
    let places = [
        (Found::TensorFlow, "libraries of TensorFlow's"),
        (Found::Beside, "libraries that came with it"),
        (Found::Machine, "libraries of this machine's"),
        (Found::Nowhere, "libraries that this machine does not have"),
    ];
    let line = |(found, title): &(Found, &str)| {
        let of_place = libraries.iter().filter(|it| it.found == *found);
        let names: Vec<&str> = of_place.map(|it| it.name.as_str()).collect();
        match names.is_empty() {
            true => String::new(),
            false => format!("  {title}: {}\n", names.join(" ")),
        }
    };
    places.iter().map(line).collect()
}

/// The functions that are imported, or those that are not, by API.
fn functions(asked: &Asked, imported: bool, title: &str) -> String {
    let of_kind = || asked.functions.iter().filter(|it| it.imported == imported);
    let apis: BTreeSet<Option<&str>> = of_kind().map(|it| it.api.as_deref()).collect();
    let part = |api: Option<&str>| {
        let name = api.unwrap_or("no API that sp-gen knows");
        let of_api = of_kind().filter(|it| it.api.as_deref() == api);
        format!(
            "  {title}, {name}:\n{}",
            of_api.map(function).collect::<String>()
        )
    };
    apis.into_iter().map(part).collect()
}

fn function(function: &Function) -> String {
    let releases = match (function.releases.first(), function.releases.last()) {
        (Some(first), Some(last)) if first == last => format!("in {first} only"),
        (Some(first), Some(last)) => format!("from {first} to {last}"),
        _ => "in no wheel that was read".to_owned(),
    };
    format!("    {}, {releases}\n", function.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_told_as_runs() {
        let all: Vec<String> = (5..12).map(|minor| format!("2.{minor}")).collect();
        assert_eq!(runs(&["2.5", "2.6", "2.7", "2.9"], &all), "2.5 to 2.7, 2.9");
        assert_eq!(runs(&["2.11"], &all), "2.11");
        assert_eq!(runs(&[] as &[&str], &all), "");
    }
}
