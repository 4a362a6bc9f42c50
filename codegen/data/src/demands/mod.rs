//! The fields that a release's libraries demand by a validation message, as data:
//! `generated/demands/<minor>.json`. They are evidence for `presence` in the release's snapshots.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use miette::Diagnostic;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::embedded::DEMANDS;
use crate::folders::DataFolders;
use crate::release::Release;

/// Counts up when keys change their meaning.
const SCHEMA: u32 = 1;

/// Struct to fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Demands(BTreeMap<String, BTreeSet<String>>);

/// A file of demands cannot be used.
#[derive(Debug, Error, Diagnostic)]
pub enum DemandsError {
    /// It cannot be read or written.
    #[error("{}: {source}", path.display())]
    #[diagnostic(code(sp_gen::demands::unreadable))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },
    /// It is not JSON of this form.
    #[error("{file}: {reason}")]
    #[diagnostic(
        code(sp_gen::demands::malformed),
        help("write it again with `sp-gen import tensorflow RELEASE --symbols`")
    )]
    Malformed {
        /// The file.
        file: String,
        /// The reason.
        reason: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    wheel: String,
    structs: Demands,
}

impl File {
    /// Returns true if the wheel is of the version, of which a minor release stands for any. What a
    /// pre-release demands is not known of the final release.
    fn holds(&self, release: Release) -> bool {
        let version = self.wheel.split('-').nth(1);
        let version = version.and_then(|version| version.parse::<Release>().ok());
        release.patch.is_none() || version.is_none_or(|version| version.stage == release.stage)
    }
}

impl Demands {
    /// Adds a field.
    pub fn insert(&mut self, structure: &str, field: &str) {
        let fields = self.0.entry(structure.into()).or_default();
        fields.insert(field.into());
    }

    /// Takes over what another library demands.
    pub fn extend(&mut self, other: Self) {
        for (structure, fields) in other.0 {
            self.0.entry(structure).or_default().extend(fields);
        }
    }

    /// Returns true if nothing is demanded.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns each struct with each of its demanded fields, sorted.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flat_map(|(structure, fields)| {
            fields.iter().map(move |field| (&**structure, &**field))
        })
    }

    /// Reads what is known of a release, or returns `None` if its libraries were not read.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn read(place: &DataFolders, release: Release) -> Result<Option<Self>, DemandsError> {
        let name = format!("{}.json", release.key());
        let path = folder(place).join(&name);
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text, &path.display().to_string(), release),
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(DemandsError::Unreadable { path, source })
            }
            Err(_) if place.inherits => Self::embedded(&name, release),
            Err(_) => Ok(None),
        }
    }

    fn embedded(name: &str, release: Release) -> Result<Option<Self>, DemandsError> {
        match DEMANDS.iter().find(|(file, _)| *file == name) {
            Some((file, text)) => Self::parse(text, file, release),
            None => Ok(None),
        }
    }

    fn parse(text: &str, file: &str, release: Release) -> Result<Option<Self>, DemandsError> {
        let malformed = |reason: String| DemandsError::Malformed {
            file: file.into(),
            reason,
        };
        let read: File =
            serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
        match read.schema {
            SCHEMA => Ok(read.holds(release).then_some(read.structs)),
            other => Err(malformed(format!("schema {other}, expected {SCHEMA}"))),
        }
    }

    /// Writes what a release's wheel demands.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write(
        &self,
        place: &DataFolders,
        release: Release,
        wheel: &str,
    ) -> Result<(), DemandsError> {
        let folder = folder(place);
        let path = folder.join(format!("{}.json", release.key()));
        let write = || {
            fs::create_dir_all(&folder)?;
            let mut file = sp_system::temporary::staged_file(&folder)?;
            file.write_all(self.text(wheel).as_bytes())?;
            file.persist(&path).map(drop).map_err(|error| error.error)
        };
        write().map_err(|source| DemandsError::Unreadable {
            path: path.clone(),
            source,
        })
    }

    /// One struct a line.
    fn text(&self, wheel: &str) -> String {
        let rows = self.0.iter();
        let rows = rows.map(|(name, fields)| format!("{}: {}", json(name), json(fields)));
        let rows = rows.collect::<Vec<_>>().join(",\n");
        let wheel = json(wheel);
        format!("{{\"schema\": {SCHEMA}, \"wheel\": {wheel},\n\"structs\": {{\n{rows}\n}}}}\n")
    }
}

fn folder(place: &DataFolders) -> PathBuf {
    place.symbols.with_file_name("demands")
}

fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("names always serialize")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn demands_of_a_pre_release_are_not_those_of_the_final_release() {
        let mut demands = Demands::default();
        demands.insert("SP_S", "open");
        let text = demands.text("tensorflow_cpu-2.22.0rc0-cp311-cp311-x.whl");
        let read = |release: &str| Demands::parse(&text, "2.22.json", release.parse().unwrap());
        assert_eq!(read("2.22.0rc0").unwrap(), Some(demands.clone()));
        assert_eq!(read("2.22").unwrap(), Some(demands));
        assert_eq!(read("2.22.0").unwrap(), None);
    }

    #[test]
    fn rejects_another_schema_and_what_is_no_table() {
        let release = || "2.21".parse().unwrap();
        for text in ["", "{}", r#"{"schema": 2, "wheel": "", "structs": {}}"#] {
            let read = Demands::parse(text, "2.21.json", release());
            assert!(
                matches!(read, Err(DemandsError::Malformed { .. })),
                "{text}"
            );
        }
    }
}
