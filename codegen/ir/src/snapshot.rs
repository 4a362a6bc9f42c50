//! The committed JSON form: sorted, one item a line, one trailing newline, so that equal data is
//! equal bytes and a difference between releases is a difference of lines.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;

use crate::{Api, SCHEMA};

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
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(error) => write!(f, "not an sp-gen snapshot: {error}"),
            Self::NewerSchema { found } => write!(
                f,
                "the snapshot has schema {found}, this sp-gen reads up to {SCHEMA}; use a newer sp-gen"
            ),
        }
    }
}

impl std::error::Error for SnapshotError {}

#[derive(serde::Deserialize)]
struct Envelope {
    schema: u32,
}

impl Api {
    /// Reads a snapshot.
    ///
    /// # Errors
    /// Where the text is not such JSON, or a newer schema wrote it.
    pub fn from_json(text: &str) -> Result<Self, SnapshotError> {
        let Envelope { schema } = serde_json::from_str(text).map_err(SnapshotError::Malformed)?;
        if schema > SCHEMA {
            return Err(SnapshotError::NewerSchema { found: schema });
        }
        serde_json::from_str(text).map_err(SnapshotError::Malformed)
    }

    /// Writes a snapshot: one item a line, ending in one newline.
    pub fn to_json(&self) -> String {
        let mut text = format!(
            "{{\n\"schema\":{},\n\"name\":{},\n\"release\":{}",
            self.schema,
            json(&self.name),
            json(&self.release)
        );
        if let Some(version) = &self.version {
            text += &format!(",\n\"version\":{}", json(version));
        }
        text += &format!(",\n\"items\":{}", lines(&self.items));
        if !self.imports.is_empty() {
            text += &format!(",\n\"imports\":{}", json(&self.imports));
        }
        if !self.targets.is_empty() {
            let triples = self.targets.iter();
            let triples: Vec<String> = triples
                .map(|(triple, items)| format!("{}:{}", json(triple), lines(items)))
                .collect();
            text += &format!(",\n\"targets\":{{\n{}\n}}", triples.join(",\n"));
        }
        text + "\n}\n"
    }
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
