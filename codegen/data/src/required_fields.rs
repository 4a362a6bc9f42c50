//! The fields that a release's libraries require by a validation message: `generated/required_fields/<minor>.json`. They are
//! evidence for `presence` in the release's snapshots.

use sp_system::errors;
use sp_system::input;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;

use miette::Diagnostic;
use serde::{Deserialize, Serialize};
use sp_system::replacement::{Replacement, ReplacementError, TableFile};
use thiserror::Error;

use crate::embedded::REQUIRED_FIELDS;
use crate::folders::DataFolders;
use crate::json::to_line;
use crate::release::Release;

/// Version of the format, incremented if keys change their meaning.
const SCHEMA: u32 = 1;

/// Maps each struct to its required fields.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RequiredFields(BTreeMap<String, BTreeSet<String>>);

errors! {
    /// A file of required fields cannot be read, written or parsed.
    #[derive(Debug, Error, Diagnostic)]
    pub enum RequiredFieldsError in required_fields {
        /// The file cannot be read.
        Unreadable { path: PathBuf, source: io::Error } = unreadable: ("{}: {source}", path.display());

        /// The file is not valid JSON of the current schema.
        Malformed { file: String, reason: String } = malformed: ("{file}: {reason}"),
            help("remove the file, and write it again with `sp-gen import tensorflow RELEASE --symbols`");

        /// The file cannot be replaced.
        Replacement(ReplacementError) = transparent;
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RequiredFieldsFile {
    schema: u32,
    wheel: String,
    structs: RequiredFields,
}

impl RequiredFieldsFile {
    /// Returns true if the file's wheel is of `release`; a minor release matches any version of it. A
    /// pre-release may require other fields than the final release.
    fn is_version(&self, release: Release) -> bool {
        let version = self.wheel.split('-').nth(1);
        let version = version.and_then(|version| version.parse::<Release>().ok());
        release.patch.is_none() || version.is_none_or(|version| version.stage == release.stage)
    }
}

impl RequiredFields {
    /// Adds a field.
    pub fn insert(&mut self, structure: &str, field: &str) {
        let fields = self.0.entry(structure.into()).or_default();
        fields.insert(field.into());
    }

    /// Adds the required fields of another library.
    pub fn extend(&mut self, other: Self) {
        for (structure, fields) in other.0 {
            self.0.entry(structure).or_default().extend(fields);
        }
    }

    /// Returns true if no field is required.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns each struct with each of its required fields, sorted.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flat_map(|(structure, fields)| {
            fields.iter().map(move |field| (&**structure, &**field))
        })
    }

    /// Reads the required fields of a release, or returns `None` if its libraries were not read.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn read(
        folders: &DataFolders,
        release: Release,
    ) -> Result<Option<Self>, RequiredFieldsError> {
        let name = format!("{}.json", release.key());
        let path = folders.required_fields().join(&name);
        match input::read_text(&path) {
            Ok(text) => Self::parse(&text, &path.display().to_string(), release),
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                Err(RequiredFieldsError::Unreadable { path, source })
            }
            Err(_) if folders.extends_embedded => Self::read_embedded(&name, release),
            Err(_) => Ok(None),
        }
    }

    fn read_embedded(name: &str, release: Release) -> Result<Option<Self>, RequiredFieldsError> {
        match REQUIRED_FIELDS.iter().find(|(file, _)| *file == name) {
            Some((file, text)) => Self::parse(text, file, release),
            None => Ok(None),
        }
    }

    fn parse(
        text: &str,
        path: &str,
        release: Release,
    ) -> Result<Option<Self>, RequiredFieldsError> {
        let malformed = |reason: String| RequiredFieldsError::Malformed {
            file: path.into(),
            reason,
        };
        let file: RequiredFieldsFile =
            serde_json::from_str(text).map_err(|error| malformed(error.to_string()))?;
        match file.schema {
            SCHEMA => Ok(file.is_version(release).then_some(file.structs)),
            other => Err(malformed(format!("schema {other}, expected {SCHEMA}"))),
        }
    }

    /// Replaces the required fields of a release by these, which were read from `wheel`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, or has other text than this function writes.
    pub fn replace(
        &self,
        folders: &DataFolders,
        release: Release,
        wheel: &str,
    ) -> Result<Replacement, RequiredFieldsError> {
        let folder = folders.required_fields();
        let path = folder.join(format!("{}.json", release.key()));
        let table = TableFile::recover(&folder, &path)?;
        table.check(is_printed)?;
        Ok(table.replace(self.to_json(wheel))?)
    }

    /// Returns the file's text, with one struct on each line.
    fn to_json(&self, wheel: &str) -> String {
        let rows = self.0.iter();
        let rows = rows.map(|(name, fields)| format!("{}: {}", to_line(name), to_line(fields)));
        let rows = rows.collect::<Vec<_>>().join(",\n");
        let wheel = to_line(wheel);
        format!("{{\"schema\": {SCHEMA}, \"wheel\": {wheel},\n\"structs\": {{\n{rows}\n}}}}\n")
    }
}

/// Returns true if `text` is what sp-gen prints for the fields in it.
fn is_printed(text: &str) -> bool {
    let file = serde_json::from_str::<RequiredFieldsFile>(text);
    file.is_ok_and(|file| file.structs.to_json(&file.wheel) == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignores_file_of_pre_release_for_final_release() {
        let mut required = RequiredFields::default();
        required.insert("SP_S", "open");
        let text = required.to_json("tensorflow_cpu-2.22.0rc0-cp311-cp311-x.whl");
        let read =
            |release: &str| RequiredFields::parse(&text, "2.22.json", release.parse().unwrap());
        assert_eq!(read("2.22.0rc0").unwrap(), Some(required.clone()));
        assert_eq!(read("2.22").unwrap(), Some(required));
        assert_eq!(read("2.22.0").unwrap(), None);
    }

    #[test]
    fn committed_files_are_as_import_writes_them() {
        for (file, text) in REQUIRED_FIELDS {
            assert!(is_printed(text), "{file}");
        }
    }

    #[test]
    fn replaces_no_file_that_was_edited() {
        let scratch = tempfile::tempdir().unwrap();
        let folders = DataFolders {
            symbols: scratch.path().join("symbols"),
            ..DataFolders::without_cache()
        };
        let mut required = RequiredFields::default();
        let release = "2.22".parse().unwrap();
        for field in ["open", "close"] {
            required.insert("SP_S", field);
            let replaced = required.replace(&folders, release, "x.whl").unwrap();
            replaced.commit().unwrap();
        }
        let path = scratch.path().join("required_fields/2.22.json");
        let written = std::fs::read_to_string(&path).unwrap();
        for edited in ["notes", "{}", &format!("{written}\n")] {
            std::fs::write(&path, edited).unwrap();
            let error = required.replace(&folders, release, "x.whl").unwrap_err();
            let error = error.to_string();
            assert!(error.contains("differs from what sp-gen"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), edited);
        }
    }

    #[test]
    fn rejects_other_schema_and_malformed_text() {
        let release = || "2.21".parse().unwrap();
        for text in ["", "{}", r#"{"schema": 2, "wheel": "", "structs": {}}"#] {
            let read = RequiredFields::parse(text, "2.21.json", release());
            assert!(
                matches!(read, Err(RequiredFieldsError::Malformed { .. })),
                "{text}"
            );
        }
    }
}
