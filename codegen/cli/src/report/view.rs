//! The data of the templates: a report's findings by API and item, and the texts about all of them.

use super::group::{ApiFindings, group_by_api};
use super::{DiffReport, counts, display_name, short_label};
use sp_diff::finding::{Bump, Effect, Finding, Outcome};

/// A report with its derived texts.
pub struct ReportView<'a> {
    /// The report.
    pub report: &'a DiffReport,
    /// OLD's short label.
    pub old: &'a str,
    /// NEW's short label.
    pub new: &'a str,
    /// The verdict's name.
    pub verdict: String,
    /// The counts: `3 breaking, 1 compatible`.
    pub counts: String,
    /// The version that semantic versioning requires.
    pub required_version: String,
    /// OLD on NEW and NEW on OLD, or empty if there are no findings.
    pub directions: Vec<WorstOutcome<'a>>,
    /// The findings by API.
    pub apis: Vec<ApiFindings<'a>>,
}

/// The worst outcome of all findings in one direction.
pub struct WorstOutcome<'a> {
    /// The side that the plugin was built for.
    pub plugin: &'a str,
    /// The side of the host.
    pub host: &'a str,
    /// The outcome for a plugin that relies on its headers.
    pub outcome: String,
    /// The first item with this outcome, or empty if it is "works".
    pub item: &'a str,
    /// The outcome for a plugin that checks sizes and symbols.
    pub guarded: String,
}

impl<'a> ReportView<'a> {
    /// Derives the texts from a report.
    pub fn new(report: &'a DiffReport) -> Self {
        let diff = &report.diff;
        let (old, new) = match (short_label(&diff.old), short_label(&diff.new)) {
            (old, new) if old == new => ("OLD", "NEW"),
            labels => labels,
        };
        Self {
            report,
            old,
            new,
            verdict: display_name(diff.verdict),
            counts: counts(diff.findings.iter(), report.suppressed.len()),
            required_version: required_version(diff.bump),
            directions: worst_outcomes(&diff.findings, old, new),
            apis: group_by_api(diff.findings.iter()),
        }
    }
}

fn worst_outcomes<'a>(
    findings: &'a [Finding],
    old: &'a str,
    new: &'a str,
) -> Vec<WorstOutcome<'a>> {
    let direction = |plugin, host, select: fn(&Finding) -> &Effect| {
        let outcome = findings.iter().map(|it| select(it).outcome).max()?;
        let guarded = findings.iter().map(|it| select(it).guarded).max()?;
        let mut worst = findings.iter().filter(|it| select(it).outcome == outcome);
        let item = worst.next().filter(|_| outcome > Outcome::Works);
        Some(WorstOutcome {
            plugin,
            host,
            outcome: display_name(outcome),
            item: item.map_or("", |it| &it.item),
            guarded: display_name(guarded),
        })
    };
    let directions = [
        direction(old, new, |finding| &finding.directions.old_on_new),
        direction(new, old, |finding| &finding.directions.new_on_old),
    ];
    directions.into_iter().flatten().collect()
}

fn required_version(bump: Bump) -> String {
    match bump {
        Bump::None => "no new version required".into(),
        bump => format!(
            "semantic versioning requires a new {} version",
            display_name(bump)
        ),
    }
}
