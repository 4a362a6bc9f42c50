//! `sp-gen.toml`: the findings that a project accepts. Each entry has a rule, an item and a reason. An entry that matches
//! no finding is an error, so that no entry outlives its finding.
//!
//! ```toml
//! [[suppress]]
//! rule = "field_inserted"
//! item = "SP_StreamExecutor.mem_zero"
//! api = "stream_executor"   # optional
//! releases = "2.6..2.7"     # optional: only for diffs that include this step
//! reason = "the plugin requires 2.7"
//! ```

use sp_system::errors;
use std::collections::HashMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use miette::{Diagnostic, LabeledSpan, NamedSource};
use serde::{Deserialize, Deserializer};
use thiserror::Error;
use toml::Spanned;

use crate::finding::Finding;
use crate::{Rule, all_rules};
use sp_data::release::Release;
use sp_system::input::{self, MAX_CONFIG_BYTES};

/// The file's name.
pub const FILE: &str = "sp-gen.toml";

/// Largest number of entries that an error shows.
const MAX_PLACES: usize = 20;

/// The findings that a project accepts.
#[derive(Debug, Default)]
pub struct Suppressions {
    path: PathBuf,
    text: String,
    entries: Vec<Spanned<Suppression>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuppressionFile {
    #[serde(default)]
    suppress: Vec<Spanned<Suppression>>,
}

/// Matches the findings of one rule about one item.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Suppression {
    rule: String,
    item: String,
    api: Option<String>,
    #[serde(default, deserialize_with = "step")]
    releases: Option<(Release, Release)>,
    #[serde(deserialize_with = "reason")]
    reason: String,
}

errors! {
    /// An error in the file.
    #[derive(Debug, Error, Diagnostic)]
    pub enum SuppressError in suppress {
        /// The file cannot be read.
        Unreadable {
            path: PathBuf,
            /// The error of the system.
            source: io::Error,
        } = unreadable: ("{} cannot be read: {source}", path.display());

        /// The file has another format.
        Malformed {
            message: String,
            #[source_code] text: NamedSource<String>,
            /// Its location in the file.
            #[label(collection)] places: Vec<LabeledSpan>,
        } = malformed: ("{message}"),
            help("an entry is [[suppress]] with `rule`, `item` and `reason`, and optionally `api` and `releases = \
                  \"2.6..2.7\"`");

        /// Entries match no finding.
        Unmatched {
            /// The file and the number of entries.
            message: String,
            /// The text of the file.
            #[source_code] text: NamedSource<String>,
            /// The first of the entries, at most [`MAX_PLACES`].
            #[label(collection)] places: Vec<LabeledSpan>,
        } = unmatched: ("{message}"),
            help("remove the entry if the finding is gone; restrict it with `releases = \"2.6..2.7\"` if it is for \
                  other releases");
    }
}

fn count_unmatched(count: usize) -> String {
    match count {
        1 => "1 entry matches".into(),
        count => format!("{count} entries match"),
    }
}

impl Suppressions {
    /// Reads the file at `path`, or the nearest [`FILE`] in `folder` and the folders above it. Without a file nothing is
    /// suppressed.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or has another format.
    pub fn find(path: Option<&Path>, folder: &Path) -> Result<Self, SuppressError> {
        let nearest = || {
            let mut files = folder.ancestors().map(|folder| folder.join(FILE));
            // Another kind of file is an error: its entries would be lost without a line.
            files.find(|file| file.symlink_metadata().is_ok())
        };
        match path.map(Path::to_owned).or_else(nearest) {
            Some(path) => Self::read(path),
            None => Ok(Self::default()),
        }
    }

    fn read(path: PathBuf) -> Result<Self, SuppressError> {
        match input::read_toml(&path, MAX_CONFIG_BYTES) {
            Ok(text) => Self::parse(path, text),
            Err(source) => Err(SuppressError::Unreadable { path, source }),
        }
    }

    fn parse(path: PathBuf, text: String) -> Result<Self, SuppressError> {
        match toml::from_str(&text) {
            Ok(SuppressionFile { suppress: entries }) => Ok(Self {
                path,
                text,
                entries,
            }),
            Err(error) => Err(SuppressError::Malformed {
                message: format!("{} cannot be parsed: {}", path.display(), error.message()),
                places: error
                    .span()
                    .map(|span| label("here", span))
                    .into_iter()
                    .collect(),
                text: NamedSource::new(path.display().to_string(), text),
            }),
        }
    }

    /// Removes the entries with rules that the comparison does not use: it uses `rules`.
    pub fn retain_rules(&mut self, rules: &[&Rule]) {
        let is_in = |entry: &Suppression| rules.iter().any(|rule| rule.id == entry.rule);
        let is_known = |entry: &Suppression| all_rules().any(|rule| rule.id == entry.rule);
        self.entries
            .retain(|entry| is_in(entry.as_ref()) || !is_known(entry.as_ref()));
    }

    /// Returns the reason for each of `findings` that is suppressed. `step` has the compared releases, if both are
    /// known.
    ///
    /// # Errors
    /// Returns an error if an entry that applies to these releases matches no finding.
    pub fn reasons(
        &self,
        findings: &[Finding],
        step: Option<(Release, Release)>,
    ) -> Result<Vec<Option<String>>, SuppressError> {
        let mut findings_of: HashMap<&str, Vec<&Finding>> = HashMap::new();
        for finding in findings {
            findings_of.entry(&finding.item).or_default().push(finding);
        }
        let findings_of =
            |entry: &Suppression| findings_of.get(&*entry.item).map_or(&[][..], |it| it);
        let (mut entries_of, mut unmatched) =
            (HashMap::<&str, Vec<&Suppression>>::new(), Vec::new());
        let entries = self.entries.iter();
        for spanned in entries.filter(|entry| entry.as_ref().applies_to(step)) {
            let entry = spanned.as_ref();
            entries_of.entry(&entry.item).or_default().push(entry);
            if !findings_of(entry)
                .iter()
                .any(|finding| entry.matches(finding))
            {
                unmatched.push(spanned);
            }
        }
        if !unmatched.is_empty() {
            let place = |spanned: &&Spanned<Suppression>| {
                let entry = spanned.as_ref();
                label(&entry.describe_mismatch(findings_of(entry)), spanned.span())
            };
            let path = self.path.display().to_string();
            return Err(SuppressError::Unmatched {
                message: format!("{path}: {} no finding", count_unmatched(unmatched.len())),
                text: NamedSource::new(path, self.text.clone()),
                places: unmatched.iter().take(MAX_PLACES).map(place).collect(),
            });
        }
        let reason = |finding: &Finding| {
            let mut entries = entries_of.get(&*finding.item)?.iter();
            let entry = entries.find(|entry| entry.matches(finding))?;
            Some(entry.reason.clone())
        };
        Ok(findings.iter().map(reason).collect())
    }
}

impl Suppression {
    fn matches(&self, finding: &Finding) -> bool {
        let api = self.api.as_ref();
        self.rule == finding.rule
            && self.item == finding.item
            && api.is_none_or(|api| *api == finding.api)
    }

    /// Returns true if the entry names no releases, or if the compared releases include its step.
    fn applies_to(&self, step: Option<(Release, Release)>) -> bool {
        match (self.releases, step) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some((from, to)), Some((old, new))) => {
                old.minor() <= from.minor() && to.minor() <= new.minor()
            }
        }
    }

    /// Describes why the entry matches none of `findings`, which are those of its item.
    fn describe_mismatch(&self, findings: &[&Finding]) -> String {
        if !crate::all_rules().any(|rule| rule.id == self.rule) {
            return format!("unknown rule `{}`", self.rule);
        }
        let mut rules: Vec<&str> = findings.iter().map(|finding| finding.rule).collect();
        rules.dedup();
        match rules.is_empty() {
            true => format!("`{}` has no finding", self.item),
            false => format!(
                "`{}` has findings of other rules: {}",
                self.item,
                rules.join(", ")
            ),
        }
    }
}

fn label(text: &str, span: Range<usize>) -> LabeledSpan {
    LabeledSpan::new_with_span(Some(text.into()), span)
}

fn step<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<(Release, Release)>, D::Error> {
    let text = String::deserialize(deserializer)?;
    let step = text.split_once("..").and_then(|(from, to)| {
        let step: (Release, Release) = (from.parse().ok()?, to.parse().ok()?);
        (step.0 < step.1).then_some(step)
    });
    let invalid = || {
        let message = format!(
            "invalid releases \"{text}\": expected two ascending releases, such as 2.6..2.7"
        );
        serde::de::Error::custom(message)
    };
    step.map(Some).ok_or_else(invalid)
}

fn reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.trim().is_empty() {
        true => Err(serde::de::Error::custom("`reason` is empty")),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests;
