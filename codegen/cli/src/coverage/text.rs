//! The report as text.

use super::{Class, CoverageReport, Regression, Row};
use std::fmt::Write;

/// The rows that are printed of those that a kernel could replace.
const MOST: usize = 25;

/// The number of calls of a class that a capture does not have.
const UNKNOWN: &str = "unknown: not in a capture";

const HEAD: [&str; 7] = ["op", "types", "kernel", "calls", "ms", "share", "why"];

/// Returns the report: a line for each class, then the ops for which a kernel would save the most.
pub fn print(report: &CoverageReport, is_complete: bool) -> String {
    let devices: Vec<&str> = report.device_types.iter().map(String::as_str).collect();
    let mut text = format!(
        "TensorFlow {}, device type {}, {}, {:.1} ms of ops\n\n",
        report.release,
        devices.join(", "),
        counted(report.processes, "process", "processes"),
        milliseconds(report.nanoseconds()),
    );
    for class in Class::ALL {
        text += &summary(report, class);
    }
    let candidates: Vec<&Row> = report.candidates().collect();
    let shown = if is_complete {
        candidates.len()
    } else {
        candidates.len().min(MOST)
    };
    if shown > 0 {
        text += "\nwithout a kernel of the author, by time:\n";
        text += &table(report, &candidates[..shown]);
    }
    if shown < candidates.len() {
        let _ = writeln!(
            text,
            "... and {} more: --all prints them",
            candidates.len() - shown
        );
    }
    text
}

fn summary(report: &CoverageReport, class: Class) -> String {
    if !report.has(class) {
        let (name, description) = (class.name(), class.description());
        return format!("{name:<10} {:>6}  {:>34}   {description}\n", "-", UNKNOWN);
    }
    let (calls, nanoseconds) = report.sums(class);
    let rows = report.rows.iter().filter(|it| it.class == class).count();
    format!(
        "{:<10} {:>6}  {calls:>8} calls  {rows:>4} ops and types   {}\n",
        class.name(),
        report.share(class, nanoseconds),
        class.description(),
    )
}

/// Returns the table, with columns as wide as their longest entry. Numbers are aligned to the right.
fn table(report: &CoverageReport, rows: &[&Row]) -> String {
    let head = HEAD.map(str::to_owned);
    let lines: Vec<[String; 7]> = [head]
        .into_iter()
        .chain(rows.iter().map(|it| cells(report, it)))
        .collect();
    let width = |column: usize| lines.iter().map(|it| it[column].len()).max().unwrap_or(0);
    let widths: [usize; 7] = std::array::from_fn(width);
    let mut text = String::new();
    for line in &lines {
        let cells = line.iter().zip(widths).enumerate();
        let cells = cells.map(|(column, (cell, width))| match (3..6).contains(&column) {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

fn cells(report: &CoverageReport, row: &Row) -> [String; 7] {
    [
        row.op.clone(),
        row.types.clone(),
        row.class.name().to_owned(),
        row.calls.to_string(),
        format!("{:.2}", milliseconds(row.nanoseconds)),
        report.share(row.class, row.nanoseconds),
        why(row),
    ]
}

/// Returns the reason of a row's class.
pub(super) fn why(row: &Row) -> String {
    match row.class {
        Class::Staged => format!(
            "{} of {} calls copied {} bytes",
            row.staged_calls, row.calls, row.staged_bytes
        ),
        _ => row.reason.clone(),
    }
}

/// Returns a line for each op that is computed by a worse kernel than in the baseline.
pub fn print_regressions(regressions: &[Regression]) -> String {
    let line = |it: &Regression| {
        let before = it.before.map_or("not run with these types", Class::name);
        format!(
            "{} {}: {before} in the baseline, {} now\n",
            it.op,
            it.types,
            it.now.name()
        )
    };
    let lines = regressions.iter().map(line);
    "\nworse than the baseline:\n".to_owned() + &lines.collect::<String>()
}

pub(super) fn milliseconds(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

fn counted(count: usize, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
