//! `sp-gen.toml`: the findings that a project has looked at and lives with. Each entry names a rule
//! and an item and says why; one that matches nothing is an error, so that none outlives its cause.
//!
//! ```toml
//! [[suppress]]
//! rule = "field_inserted"
//! item = "SP_StreamExecutor.mem_zero"
//! api = "stream_executor"   # optional
//! releases = "2.6..2.7"     # optional: only where the diff goes over this step
//! reason = "the plugin asks for 2.7"
//! ```

use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use miette::{Diagnostic, LabeledSpan, NamedSource};
use serde::{Deserialize, Deserializer};
use thiserror::Error;
use toml::Spanned;

use crate::finding::Finding;
use crate::rules::RULES;
use sp_data::release::Release;

/// The file's name.
pub const FILE: &str = "sp-gen.toml";

/// What a project lives with.
#[derive(Debug, Default)]
pub struct Suppressions {
    path: PathBuf,
    text: String,
    entries: Vec<Spanned<Entry>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    suppress: Vec<Spanned<Entry>>,
}

/// One finding, or several of one item.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    rule: String,
    item: String,
    api: Option<String>,
    #[serde(default, deserialize_with = "step")]
    releases: Option<(Release, Release)>,
    #[serde(deserialize_with = "reason")]
    reason: String,
}

/// The file cannot be used.
#[derive(Debug, Error, Diagnostic)]
pub enum SuppressError {
    /// It cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    #[diagnostic(code(sp_gen::suppress::unreadable))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is not of this form.
    #[error("{message}")]
    #[diagnostic(
        code(sp_gen::suppress::malformed),
        help(
            "an entry is [[suppress]] with `rule`, `item` and `reason`, and if need be `api` and `releases = \"2.6..2.7\"`"
        )
    )]
    Malformed {
        /// What is wrong.
        message: String,
        /// The file.
        #[source_code]
        text: NamedSource<String>,
        /// Where.
        #[label(collection)]
        places: Vec<LabeledSpan>,
    },
    /// Entries match no finding.
    #[error("{} in {} that match{} no finding", entries(places.len()), path.display(), if places.len() == 1 { "es" } else { "" })]
    #[diagnostic(
        code(sp_gen::suppress::unmatched),
        help(
            "what is gone needs no entry: remove it; one that is for other releases says so with `releases = \"2.6..2.7\"`"
        )
    )]
    Unmatched {
        /// The file.
        path: PathBuf,
        /// Its text.
        #[source_code]
        text: NamedSource<String>,
        /// The entries.
        #[label(collection)]
        places: Vec<LabeledSpan>,
    },
}

fn entries(count: usize) -> String {
    match count {
        1 => "an entry".into(),
        count => format!("{count} entries"),
    }
}

impl Suppressions {
    /// The file at `path`, or the nearest [`FILE`] in `folder` and those above; none where there is no
    /// such file.
    ///
    /// # Errors
    /// Where there is one that cannot be used.
    pub fn find(path: Option<&Path>, folder: &Path) -> Result<Self, SuppressError> {
        let above = || {
            folder
                .ancestors()
                .map(|one| one.join(FILE))
                .find(|one| one.is_file())
        };
        match path.map(Path::to_owned).or_else(above) {
            Some(path) => Self::read(path),
            None => Ok(Self::default()),
        }
    }

    fn read(path: PathBuf) -> Result<Self, SuppressError> {
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(path, text),
            Err(source) => Err(SuppressError::Unreadable { path, source }),
        }
    }

    fn parse(path: PathBuf, text: String) -> Result<Self, SuppressError> {
        match toml::from_str(&text) {
            Ok(File { suppress: entries }) => Ok(Self {
                path,
                text,
                entries,
            }),
            Err(error) => Err(SuppressError::Malformed {
                message: format!(
                    "{} is not of this form: {}",
                    path.display(),
                    error.message()
                ),
                places: error
                    .span()
                    .map(|span| place("here", span))
                    .into_iter()
                    .collect(),
                text: NamedSource::new(path.display().to_string(), text),
            }),
        }
    }

    /// The reason of each of `findings` that is suppressed. `step` is the releases that are compared,
    /// where both are known.
    ///
    /// # Errors
    /// Where an entry that speaks of these releases matches none.
    pub fn reasons(
        &self,
        findings: &[Finding],
        step: Option<(Release, Release)>,
    ) -> Result<Vec<Option<String>>, SuppressError> {
        let here = self
            .entries
            .iter()
            .filter(|one| one.as_ref().speaks_of(step));
        let here: Vec<&Spanned<Entry>> = here.collect();
        let matching = |entry: &Entry| findings.iter().any(|finding| entry.matches(finding));
        let idle = here.iter().filter(|entry| !matching(entry.as_ref()));
        let places: Vec<LabeledSpan> = idle
            .map(|entry| place(&entry.as_ref().why_idle(findings), entry.span()))
            .collect();
        if !places.is_empty() {
            return Err(SuppressError::Unmatched {
                path: self.path.clone(),
                text: NamedSource::new(self.path.display().to_string(), self.text.clone()),
                places,
            });
        }
        let reason = |finding: &Finding| {
            let mut entries = here.iter().map(|entry| entry.as_ref());
            let entry = entries.find(|entry| entry.matches(finding))?;
            Some(entry.reason.clone())
        };
        Ok(findings.iter().map(reason).collect())
    }
}

impl Entry {
    fn matches(&self, finding: &Finding) -> bool {
        let api = self.api.as_ref();
        self.rule == finding.rule
            && self.item == finding.item
            && api.is_none_or(|api| *api == finding.api)
    }

    /// Whether the step that the entry names lies in the one that is compared.
    fn speaks_of(&self, step: Option<(Release, Release)>) -> bool {
        match (self.releases, step) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some((from, to)), Some((old, new))) => {
                old.minor() <= from.minor() && to.minor() <= new.minor()
            }
        }
    }

    fn why_idle(&self, findings: &[Finding]) -> String {
        if !RULES.iter().any(|rule| rule.id == self.rule) {
            return format!("no rule is called `{}`", self.rule);
        }
        let of_item = findings.iter().filter(|one| one.item == self.item);
        let mut rules: Vec<&str> = of_item.map(|one| one.rule).collect();
        rules.dedup();
        match rules.is_empty() {
            true => format!("nothing is found about `{}`", self.item),
            false => format!("found about `{}`: {}", self.item, rules.join(", ")),
        }
    }
}

fn place(text: &str, span: Range<usize>) -> LabeledSpan {
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
    let wrong = || serde::de::Error::custom(format!("`{text}` is no step; write it as 2.6..2.7"));
    step.map(Some).ok_or_else(wrong)
}

fn reason<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    match text.trim().is_empty() {
        true => Err(serde::de::Error::custom("the reason is empty")),
        false => Ok(text),
    }
}

#[cfg(test)]
mod tests;
