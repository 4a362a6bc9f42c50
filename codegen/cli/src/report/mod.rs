//! A diff for its readers: text for a terminal, JSON, Markdown for a pull request, a page for a
//! browser, SARIF for code scanning. All five show the same findings; the page
//! for a browser orders them by impact, the others by API.

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

use crate::operand::Headers;
use sp_diff::finding::{Diff, Finding, Impact};
use sp_diff::plugin::Usage;

pub use html::html;
pub use json::json;
pub use markdown::markdown;
pub use sarif::sarif;
pub use text::{Page, text};

/// What there is to report.
#[derive(Debug, Serialize)]
pub struct Report {
    /// What counts.
    #[serde(flatten)]
    pub diff: Diff,
    /// What is accepted, with the reason.
    pub suppressed: Vec<Suppressed>,
    /// The plugin whose part of the APIs this is about, where it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plugin: Option<Usage>,
}

/// A finding that an entry of sp-gen.toml accepts.
#[derive(Clone, Debug, Serialize)]
pub struct Suppressed {
    /// Why it is accepted.
    pub reason: String,
    /// The finding.
    #[serde(flatten)]
    pub finding: Finding,
}

/// The headers of both sides, as far as they can be quoted.
#[derive(Debug, Default)]
pub struct Quotable {
    /// OLD's.
    pub old: Headers,
    /// NEW's.
    pub new: Headers,
}

/// The word that stands for a value in JSON, as prose has it: `source-only`.
fn word(value: impl Serialize) -> String {
    let word = serde_json::to_value(value).ok();
    let word = word.and_then(|word| Some(word.as_str()?.replace('_', "-")));
    word.unwrap_or_default()
}

/// `3 breaking, 1 compatible`; what there is none of is left out.
fn counts<'a>(findings: impl Iterator<Item = &'a Finding> + Clone, suppressed: usize) -> String {
    let count = |impact| findings.clone().filter(|one| one.impact == impact).count();
    let impacts = [Impact::Breaking, Impact::Compatible, Impact::SourceOnly];
    let counts = impacts.map(|impact| (count(impact), word(impact)));
    let counts = counts
        .into_iter()
        .chain([(suppressed, "suppressed".into())]);
    let counts: Vec<String> = counts
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    match counts.is_empty() {
        true => "no findings".into(),
        false => counts.join(", "),
    }
}

/// A side's name in a sentence: `2.7`, or the last part of a path.
fn short(label: &str) -> &str {
    let parts = label.trim_end_matches('/').rsplit('/');
    let mut parts =
        parts.filter(|part| !matches!(*part, "include" | "tensorflow" | "site-packages"));
    parts
        .next()
        .filter(|part| !part.is_empty())
        .unwrap_or(label)
}

#[cfg(test)]
mod tests;
