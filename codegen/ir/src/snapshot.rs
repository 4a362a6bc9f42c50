//! The committed JSON form: sorted, one item a line, one trailing newline, so that equal data is
//! equal bytes and a difference between releases is a difference of lines.
//!
//! What an item says again and again stands once: `headers` and `evidence` are tables, and a place
//! `0:81` or notes `3` in an item count into them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Api, Evidence, Imports, InvalidText, Items, Mark, SCHEMA, Targets, validate};

/// Why a snapshot could not be read.
#[derive(Debug)]
pub enum SnapshotError {
    /// It is not JSON of this shape.
    Malformed(serde_json::Error),
    /// A newer sp-gen wrote it.
    NewerSchema {
        /// The schema it says.
        found: u32,
    },
    /// An item counts into a table that is not that long.
    Missing {
        /// The place in the table.
        index: usize,
    },
    /// A name or a text that could end up in code or on a terminal as something else.
    Invalid(InvalidText),
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // serde quotes parts of the text as they are.
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
            Self::Missing { index } => write!(
                f,
                "not an sp-gen snapshot: nothing stands at {index} in its tables"
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

/// An API as it is written.
#[derive(Deserialize)]
struct Written {
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
    /// Reads a snapshot.
    ///
    /// # Errors
    /// Returns an error if the text is not such JSON, if a newer schema wrote it, or if a name is none of C's.
    pub fn from_json(text: &str) -> Result<Self, SnapshotError> {
        let written: Result<Written, _> = serde_json::from_str(text);
        // A newer schema may have another form, but it says that it is newer.
        let schema = match &written {
            Ok(written) => Some(written.schema),
            Err(_) => serde_json::from_str(text)
                .ok()
                .map(|Envelope { schema }| schema),
        };
        match schema {
            Some(found) if found > SCHEMA => Err(SnapshotError::NewerSchema { found }),
            _ => {
                let api = written.map_err(SnapshotError::Malformed)?.expand()?;
                validate::check(&api).map_err(SnapshotError::Invalid)?;
                Ok(api)
            }
        }
    }

    /// Writes a snapshot: one item a line, ending in one newline.
    pub fn to_json(&self) -> String {
        let mut api = self.clone();
        let tables = Tables::of(&mut api);
        tables.shorten(&mut api);
        let mut text = format!("{{\n\"schema\":{}", api.schema);
        let mut part = |key: &str, value: String| text += &format!(",\n\"{key}\":{value}");
        part("name", json(&api.name));
        part("release", json(&api.release));
        if let Some(exact) = &api.preview {
            part("preview", "true".into());
            part("exact", json(exact));
        }
        if let Some(version) = &api.version {
            part("version", json(version));
        }
        if !tables.headers.is_empty() {
            part("headers", rows(tables.headers.iter().map(json)));
        }
        if !tables.evidence.is_empty() {
            part("evidence", rows(tables.evidence.iter().map(json)));
        }
        part("items", lines(&api.items));
        if !api.imports.is_empty() {
            part("imports", json(&api.imports));
        }
        if !api.targets.is_empty() {
            let triples = api.targets.iter();
            let triples: Vec<String> = triples
                .map(|(triple, items)| format!("{}:{}", json(triple), lines(items)))
                .collect();
            part("targets", format!("{{\n{}\n}}", triples.join(",\n")));
        }
        text + "\n}\n"
    }
}

impl Written {
    fn expand(mut self) -> Result<Api, SnapshotError> {
        let mut missing = None;
        let mut look = |table: &[String], index: &mut String| match index.parse::<usize>() {
            Err(_) => {}
            Ok(number) => match table.get(number) {
                Some(text) => *index = text.clone(),
                None => missing = Some(number),
            },
        };
        for item in self.items.values_mut() {
            item.visit_mut(&mut |mark| match mark {
                Mark::Loc(loc) => look(&self.headers, &mut loc.file),
                Mark::Evidence(Evidence::Comment(loc)) => look(&self.headers, &mut loc.file),
                Mark::Evidence(Evidence::Notes(text)) => look(&self.evidence, text),
                Mark::Evidence(Evidence::Prefix | Evidence::Library) => {}
            });
        }
        match missing {
            Some(index) => Err(SnapshotError::Missing { index }),
            None => Ok(Api {
                schema: self.schema,
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

/// What items count into.
struct Tables {
    headers: Vec<String>,
    evidence: Vec<String>,
}

impl Tables {
    fn of(api: &mut Api) -> Self {
        let (mut headers, mut evidence) = (BTreeSet::new(), BTreeSet::new());
        for item in api.items.values_mut() {
            item.visit_mut(&mut |mark| match mark {
                Mark::Loc(loc) | Mark::Evidence(Evidence::Comment(loc)) => {
                    if !headers.contains(&loc.file) {
                        headers.insert(loc.file.clone());
                    }
                }
                Mark::Evidence(Evidence::Notes(text)) => {
                    if !evidence.contains(text) {
                        evidence.insert(text.clone());
                    }
                }
                Mark::Evidence(Evidence::Prefix | Evidence::Library) => {}
            });
        }
        Self {
            headers: headers.into_iter().collect(),
            evidence: evidence.into_iter().collect(),
        }
    }

    fn shorten(&self, api: &mut Api) {
        let index = |table: &[String], text: &mut String| {
            if let Ok(index) = table.binary_search(text) {
                *text = index.to_string();
            }
        };
        for item in api.items.values_mut() {
            item.visit_mut(&mut |mark| match mark {
                Mark::Loc(loc) | Mark::Evidence(Evidence::Comment(loc)) => {
                    index(&self.headers, &mut loc.file);
                }
                Mark::Evidence(Evidence::Notes(text)) => index(&self.evidence, text),
                Mark::Evidence(Evidence::Prefix | Evidence::Library) => {}
            });
        }
    }
}

/// A list with a line for each entry.
fn rows(entries: impl Iterator<Item = String>) -> String {
    format!("[\n{}\n]", entries.collect::<Vec<_>>().join(",\n"))
}

/// A map with a line for each entry.
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
    use crate::{Differs, Handle, Item, Loc};

    fn empty(schema: u32) -> Api {
        Api {
            schema,
            name: "demo".into(),
            release: "2.21".into(),
            preview: None,
            version: None,
            items: Default::default(),
            imports: Default::default(),
            targets: Default::default(),
        }
    }

    fn handle(line: u32) -> Item {
        Item::Handle(Handle {
            doc: None,
            pointer: true,
            rust: None,
            loc: Loc {
                file: "demo.h".into(),
                line,
            },
        })
    }

    #[test]
    fn reads_what_it_writes() {
        let mut api = empty(SCHEMA);
        assert_eq!(Api::from_json(&api.to_json()).unwrap(), api);
        api.version = Some("0.1".into());
        api.preview = Some("2.22.0rc0".into());
        api.items.insert("A".into(), handle(1));
        api.imports.insert("B".into(), "other".into());
        let differs = Differs {
            offsets: vec![0, 4],
            ..Differs::default()
        };
        let differing = [("A".to_string(), differs)];
        api.targets.insert("i686".into(), differing.into());
        assert_eq!(Api::from_json(&api.to_json()).unwrap(), api);
    }

    #[test]
    fn writes_preview_and_exact_version_of_pre_releases_only() {
        let mut api = empty(SCHEMA);
        assert!(!api.to_json().contains("preview"));
        api.preview = Some("2.22.0rc0".into());
        let text = api.to_json();
        let lines = "\"preview\":true,\n\"exact\":\"2.22.0rc0\",";
        assert!(text.contains(lines), "{text}");
    }

    #[test]
    fn what_is_said_again_stands_once() {
        let mut api = empty(SCHEMA);
        api.items.insert("A".into(), handle(1));
        api.items.insert("B".into(), handle(2));
        let text = api.to_json();
        assert_eq!(text.matches("demo.h").count(), 1, "{text}");
        assert_eq!(Api::from_json(&text).unwrap(), api);
        let cut = text.replace("\"loc\":\"0:", "\"loc\":\"1:");
        let error = Api::from_json(&cut).unwrap_err();
        assert!(error.to_string().contains("nothing stands at 1"), "{error}");
    }

    #[test]
    fn a_newer_schema_of_another_form_is_refused_as_newer() {
        let error = Api::from_json(r#"{"schema": 99, "things": []}"#).unwrap_err();
        assert!(
            matches!(error, SnapshotError::NewerSchema { found: 99 }),
            "{error}"
        );
    }

    #[test]
    fn an_item_is_a_line() {
        let mut api = empty(SCHEMA);
        api.items.insert("A".into(), handle(1));
        api.items.insert("B".into(), handle(2));
        let text = api.to_json();
        let of = |name: &str| {
            let start = format!("\"{name}\":{{\"kind\":\"handle\"");
            text.lines().filter(|line| line.starts_with(&start)).count()
        };
        assert_eq!((of("A"), of("B")), (1, 1), "{text}");
    }

    #[test]
    fn refuses_a_newer_schema() {
        let error = Api::from_json(&empty(SCHEMA + 1).to_json()).unwrap_err();
        assert!(error.to_string().contains("newer sp-gen"), "{error}");
    }

    #[test]
    fn refuses_truncated_text() {
        let text = empty(SCHEMA).to_json();
        assert!(Api::from_json(&text[..text.len() / 2]).is_err());
    }
}
