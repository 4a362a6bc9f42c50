//! The JSON form of the IR: sorted, one item per line, with a trailing newline. So equal data has equal bytes,
//! and a difference between releases is a difference of lines.
//!
//! Repeated texts are stored once: `headers` and `evidence` are tables, and a position `0:81` or notes `3`
//! in an item are indexes into them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Api, Evidence, Imports, InvalidText, Items, SCHEMA, Targets, Visited, validate};

/// Error: a snapshot could not be read.
#[derive(Debug)]
pub enum SnapshotError {
    /// The text is not JSON of this form.
    Malformed(serde_json::Error),
    /// A newer sp-gen wrote the snapshot.
    NewerSchema {
        /// The schema that the snapshot states.
        found: u32,
    },
    /// An item has an index that is not in its table.
    InvalidIndex {
        /// The index.
        index: usize,
    },
    /// Its tables and items together are more text than a snapshot has.
    TooLarge,
    /// A name or text is not of the required form.
    Invalid(InvalidText),
}

/// The size of the texts of all items, as a multiple of the snapshot's own size, that no snapshot reaches.
const MOST_EXPANDED: usize = 64;

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // serde's messages quote parts of the text without escapes.
            Self::Malformed(error) => {
                write!(
                    f,
                    "not an sp-gen snapshot: {}",
                    printable(&error.to_string())
                )
            }
            Self::Invalid(text) => write!(f, "not an sp-gen snapshot: {text}"),
            Self::NewerSchema { found } => write!(
                f,
                "the snapshot has schema {found}, this sp-gen reads up to {SCHEMA}; use a newer sp-gen"
            ),
            Self::TooLarge => f.write_str(
                "not an sp-gen snapshot: the texts of its tables take more memory than those of any real one",
            ),
            Self::InvalidIndex { index } => write!(
                f,
                "not an sp-gen snapshot: its tables have no entry with the index {index}"
            ),
        }
    }
}

impl std::error::Error for SnapshotError {}

/// Returns `text` with the characters escaped that must not reach a terminal.
fn printable(text: &str) -> String {
    let escape = |char: char| match validate::is_unprintable(char) {
        true => char.escape_default().to_string(),
        false => char.to_string(),
    };
    text.chars().map(escape).collect()
}

#[derive(Deserialize)]
struct Envelope {
    schema: u32,
}

/// An API in the JSON form, with the tables for repeated texts.
#[derive(Deserialize)]
struct SerializedApi {
    schema: u32,
    name: String,
    release: String,
    #[serde(default)]
    preview: bool,
    exact: Option<String>,
    version: Option<String>,
    #[serde(default)]
    headers: Vec<String>,
    #[serde(default)]
    evidence: Vec<String>,
    items: Items,
    #[serde(default)]
    imports: Imports,
    #[serde(default)]
    targets: Targets,
}

impl Api {
    /// Parses a snapshot.
    ///
    /// # Errors
    /// Returns an error if `text` is not a snapshot, if it has a newer schema, or if a text in it is invalid.
    pub fn from_json(text: &str) -> Result<Self, SnapshotError> {
        let serialized: Result<SerializedApi, _> = serde_json::from_str(text);
        // A newer schema may have another form, but its `schema` key is the same.
        let schema = match &serialized {
            Ok(serialized) => Some(serialized.schema),
            Err(_) => serde_json::from_str(text)
                .ok()
                .map(|Envelope { schema }| schema),
        };
        match schema {
            Some(found) if found > SCHEMA => Err(SnapshotError::NewerSchema { found }),
            _ => {
                let most_bytes = text.len().saturating_mul(MOST_EXPANDED);
                let serialized = serialized.map_err(SnapshotError::Malformed)?;
                let api = serialized.expand(most_bytes)?;
                validate::check(&api).map_err(SnapshotError::Invalid)?;
                Ok(api)
            }
        }
    }

    /// Serializes the snapshot: one item per line, with a trailing newline.
    pub fn to_json(&self) -> String {
        let mut api = self.clone();
        let tables = Tables::collect(&mut api);
        tables.replace_texts(&mut api);
        let mut text = format!("{{\n\"schema\":{}", api.schema);
        let mut append = |key: &str, value: String| text += &format!(",\n\"{key}\":{value}");
        append("name", json(&api.name));
        append("release", json(&api.release));
        if let Some(exact) = &api.preview {
            append("preview", "true".into());
            append("exact", json(exact));
        }
        if let Some(version) = &api.version {
            append("version", json(version));
        }
        if !tables.headers.is_empty() {
            append("headers", rows(tables.headers.iter().map(json)));
        }
        if !tables.evidence.is_empty() {
            append("evidence", rows(tables.evidence.iter().map(json)));
        }
        append("items", lines(&api.items));
        if !api.imports.is_empty() {
            append("imports", json(&api.imports));
        }
        if !api.targets.is_empty() {
            let triples = api.targets.iter();
            let triples: Vec<String> = triples
                .map(|(triple, items)| format!("{}:{}", json(triple), lines(items)))
                .collect();
            append("targets", format!("{{\n{}\n}}", triples.join(",\n")));
        }
        text + "\n}\n"
    }
}

impl SerializedApi {
    /// Replaces the indexes in items by the texts of the tables, which take at most `most_bytes`.
    fn expand(mut self, most_bytes: usize) -> Result<Api, SnapshotError> {
        let (mut invalid_index, mut left) = (None, Some(most_bytes));
        let mut expand = |table: &[String], text: &mut String| match text.parse::<usize>() {
            Err(_) => {}
            Ok(index) => match table.get(index) {
                Some(entry) => {
                    left = left.and_then(|left| left.checked_sub(entry.len()));
                    if left.is_some() {
                        text.clone_from(entry);
                    }
                }
                None => invalid_index = Some(index),
            },
        };
        for item in self.items.values_mut() {
            item.visit_mut(&mut |visited| match visited {
                Visited::Loc(loc) => expand(&self.headers, &mut loc.file),
                Visited::Evidence(Evidence::Comment(loc)) => expand(&self.headers, &mut loc.file),
                Visited::Evidence(Evidence::Notes(text)) => expand(&self.evidence, text),
                Visited::Evidence(Evidence::Prefix | Evidence::Library) => {}
            });
        }
        if left.is_none() {
            return Err(SnapshotError::TooLarge);
        }
        match invalid_index {
            Some(index) => Err(SnapshotError::InvalidIndex { index }),
            None => Ok(Api {
                schema: SCHEMA,
                name: self.name,
                preview: self
                    .preview
                    .then(|| self.exact.unwrap_or_else(|| self.release.clone())),
                release: self.release,
                version: self.version,
                items: self.items,
                imports: self.imports,
                targets: self.targets,
            }),
        }
    }
}

/// The tables of repeated texts, sorted.
struct Tables {
    headers: Vec<String>,
    evidence: Vec<String>,
}

impl Tables {
    fn collect(api: &mut Api) -> Self {
        let (mut headers, mut evidence) = (BTreeSet::new(), BTreeSet::new());
        for item in api.items.values_mut() {
            item.visit_mut(&mut |visited| match visited {
                Visited::Loc(loc) | Visited::Evidence(Evidence::Comment(loc)) => {
                    if !headers.contains(&loc.file) {
                        headers.insert(loc.file.clone());
                    }
                }
                Visited::Evidence(Evidence::Notes(text)) => {
                    if !evidence.contains(text) {
                        evidence.insert(text.clone());
                    }
                }
                Visited::Evidence(Evidence::Prefix | Evidence::Library) => {}
            });
        }
        Self {
            headers: headers.into_iter().collect(),
            evidence: evidence.into_iter().collect(),
        }
    }

    /// Replaces the texts in items by their indexes.
    fn replace_texts(&self, api: &mut Api) {
        let replace = |table: &[String], text: &mut String| {
            if let Ok(index) = table.binary_search(text) {
                *text = index.to_string();
            }
        };
        for item in api.items.values_mut() {
            item.visit_mut(&mut |visited| match visited {
                Visited::Loc(loc) | Visited::Evidence(Evidence::Comment(loc)) => {
                    replace(&self.headers, &mut loc.file);
                }
                Visited::Evidence(Evidence::Notes(text)) => replace(&self.evidence, text),
                Visited::Evidence(Evidence::Prefix | Evidence::Library) => {}
            });
        }
    }
}

/// Formats a list with a line for each entry.
fn rows(entries: impl Iterator<Item = String>) -> String {
    format!("[\n{}\n]", entries.collect::<Vec<_>>().join(",\n"))
}

/// Formats a map with a line for each entry.
fn lines<T: Serialize>(map: &BTreeMap<String, T>) -> String {
    if map.is_empty() {
        return "{}".into();
    }
    let rows: Vec<String> = map
        .iter()
        .map(|(name, item)| format!("{}:{}", json(name), json(item)))
        .collect();
    format!("{{\n{}\n}}", rows.join(",\n"))
}

fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("plain data always serializes")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Handle, Item, Items, Loc, TargetDifference};

    fn empty(schema: u32) -> Api {
        Api {
            schema,
            ..Api::new("demo", "2.21", Items::new())
        }
    }

    fn handle(line: u32) -> Item {
        Item::Handle(Handle::new(true, Loc::new("demo.h", line)))
    }

    #[test]
    fn snapshot_round_trips() {
        let mut api = empty(SCHEMA);
        assert_eq!(Api::from_json(&api.to_json()).unwrap(), api);
        api.version = Some("0.1".into());
        api.preview = Some("2.22.0rc0".into());
        api.items.insert("A".into(), handle(1));
        api.imports.insert("B".into(), "other".into());
        let differs = TargetDifference {
            offsets: vec![0, 4],
            ..TargetDifference::default()
        };
        let differing = [("A".to_string(), differs)];
        api.targets.insert("i686".into(), differing.into());
        assert_eq!(Api::from_json(&api.to_json()).unwrap(), api);
    }

    #[test]
    fn only_pre_releases_have_preview_and_exact() {
        let mut api = empty(SCHEMA);
        assert!(!api.to_json().contains("preview"));
        api.preview = Some("2.22.0rc0".into());
        let text = api.to_json();
        let lines = "\"preview\":true,\n\"exact\":\"2.22.0rc0\",";
        assert!(text.contains(lines), "{text}");
    }

    #[test]
    fn stores_repeated_texts_once() {
        let mut api = empty(SCHEMA);
        api.items.insert("A".into(), handle(1));
        api.items.insert("B".into(), handle(2));
        let text = api.to_json();
        assert_eq!(text.matches("demo.h").count(), 1, "{text}");
        assert_eq!(Api::from_json(&text).unwrap(), api);
        let invalid = text.replace("\"loc\":\"0:", "\"loc\":\"1:");
        let error = Api::from_json(&invalid).unwrap_err();
        assert!(error.to_string().contains("the index 1"), "{error}");
    }

    #[test]
    fn rejects_newer_schema_of_another_form_as_newer() {
        let error = Api::from_json(r#"{"schema": 99, "things": []}"#).unwrap_err();
        assert!(
            matches!(error, SnapshotError::NewerSchema { found: 99 }),
            "{error}"
        );
    }

    #[test]
    fn writes_one_line_per_item() {
        let mut api = empty(SCHEMA);
        api.items.insert("A".into(), handle(1));
        api.items.insert("B".into(), handle(2));
        let text = api.to_json();
        let count_lines = |name: &str| {
            let start = format!("\"{name}\":{{\"kind\":\"handle\"");
            text.lines().filter(|line| line.starts_with(&start)).count()
        };
        assert_eq!((count_lines("A"), count_lines("B")), (1, 1), "{text}");
    }

    #[test]
    fn rejects_newer_schema() {
        let error = Api::from_json(&empty(SCHEMA + 1).to_json()).unwrap_err();
        assert!(error.to_string().contains("newer sp-gen"), "{error}");
    }

    /// Snapshots in a user's cache are of any earlier schema.
    #[test]
    fn reads_default_return_key_of_schema_3() {
        let text = r#"{"schema": 3, "name": "demo", "release": "2.21", "items": {"S": {"kind": "struct", "fields": [
            {"name": "f", "type": "int", "offset": 0, "size": 4, "loc": "demo.h:2",
             "neutral": {"value": "-1", "evidence": "prefix"}}],
            "layout": {"size": 4, "align": 4}, "loc": "demo.h:1"}}}"#;
        let api = Api::from_json(text).unwrap();
        let Item::Struct(item) = &api.items["S"] else {
            panic!("{api:?}");
        };
        let default = item.fields[0].default_return.as_ref().unwrap();
        assert_eq!(default.value, "-1");
        assert_eq!(api.schema, SCHEMA);
        assert!(api.to_json().contains("\"default_return\""));
    }

    #[test]
    fn rejects_truncated_text() {
        let text = empty(SCHEMA).to_json();
        assert!(Api::from_json(&text[..text.len() / 2]).is_err());
    }

    #[test]
    fn texts_that_grow_beyond_any_real_snapshot_are_an_error() {
        let items =
            (0..300).map(|it| format!(r#""H{it}":{{"kind":"handle","pointer":true,"loc":"0:1"}}"#));
        let items: Vec<String> = items.collect();
        let text = |name: &str| {
            format!(
                r#"{{"schema":{SCHEMA},"name":"a","release":"2.21","headers":["{name}"],"items":{{{}}}}}"#,
                items.join(",")
            )
        };
        assert!(Api::from_json(&text("a.h")).is_ok());
        let error = Api::from_json(&text(&"d".repeat(100_000))).unwrap_err();
        assert!(matches!(error, SnapshotError::TooLarge), "{error}");
    }

    #[test]
    fn function_with_too_many_parameters_is_an_error() {
        let text = |count: usize| {
            let params = vec![r#"{"name":"","type":"int32_t"}"#; count].join(",");
            format!(
                r#"{{"schema":{SCHEMA},"name":"a","release":"2.21","headers":["a.h"],"items":{{"F":{{"kind":"function","symbol":"F","signature":{{"ret":"void","params":[{params}]}},"loc":"0:1"}}}}}}"#
            )
        };
        assert!(Api::from_json(&text(1024)).is_ok());
        let error = Api::from_json(&text(1025)).unwrap_err();
        assert!(error.to_string().contains("more parameters"), "{error}");
    }
}
