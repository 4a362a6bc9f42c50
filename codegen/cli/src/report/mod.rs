//! Reports of a diff: text for a terminal, JSON, Markdown for a pull request, HTML for a browser, SARIF for code
//! scanning. All contain the same findings. HTML sorts them by impact, the others by API.

mod group;
mod html;
mod json;
mod markdown;
mod quote;
mod sarif;
mod text;
mod tokens;
mod view;

use serde::Serialize;

use crate::operand::QuotedHeaders;
use sp_diff::finding::{Diff, Finding, Impact, Verdict};
use sp_diff::plugin::PluginUsage;

pub use html::html;
pub use json::json;
pub use markdown::markdown;
pub use sarif::sarif;
pub use text::{TextStyle, text};

/// The content of a report.
#[derive(Debug, Serialize)]
pub struct DiffReport {
    /// The findings that are not suppressed.
    #[serde(flatten)]
    pub diff: Diff,
    /// The suppressed findings, with the reasons.
    pub suppressed: Vec<Suppressed>,
    /// The APIs that could not be read, and are not compared.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// The plugin whose use of the APIs restricts the report, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin: Option<PluginUsage>,
}

impl DiffReport {
    /// Adds the APIs that could not be read. The verdict is then `incomplete`, unless what was compared breaks.
    pub fn set_unread(&mut self, unread: Vec<String>) {
        if !unread.is_empty() {
            self.diff.verdict = self.diff.verdict.max(Verdict::Incomplete);
        }
        self.unread = unread;
    }
}

/// A finding that an entry of sp-gen.toml suppresses.
#[derive(Clone, Debug, Serialize)]
pub struct Suppressed {
    /// The reason in the entry.
    pub reason: String,
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
}

/// The headers of both sides, from which a report quotes lines.
#[derive(Debug, Default)]
pub struct SideHeaders {
    /// OLD's headers.
    pub old: QuotedHeaders,
    /// NEW's headers.
    pub new: QuotedHeaders,
}

/// Returns the value's name in JSON with hyphens: `source-only`.
fn display_name(value: impl Serialize) -> String {
    let name = serde_json::to_value(value).ok();
    let name = name.and_then(|name| Some(name.as_str()?.replace('_', "-")));
    name.unwrap_or_default()
}

/// Returns the counts that are not zero: `3 breaking, 1 compatible`.
fn counts<'a>(findings: impl Iterator<Item = &'a Finding> + Clone, suppressed: usize) -> String {
    let count = |impact| {
        let findings = findings.clone();
        findings.filter(|finding| finding.impact == impact).count()
    };
    let impacts = [
        Impact::Breaking,
        Impact::Reduced,
        Impact::Compatible,
        Impact::SourceOnly,
    ];
    let counts = impacts.map(|impact| (count(impact), display_name(impact)));
    let counts = counts
        .into_iter()
        .chain([(suppressed, "suppressed".into())]);
    let counts: Vec<String> = counts
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    match counts.is_empty() {
        true => "no findings".into(),
        false => counts.join(", "),
    }
}

/// Returns a side's name for a sentence: `2.7`, or the last significant component of a path.
fn short_label(label: &str) -> &str {
    const COMMON: [&str; 3] = ["include", "tensorflow", "site-packages"];
    let components = label.trim_end_matches('/').rsplit('/');
    let mut components = components.filter(|component| !COMMON.contains(component));
    let components = components.next().filter(|component| !component.is_empty());
    components.unwrap_or(label)
}

#[cfg(test)]
mod tests;
