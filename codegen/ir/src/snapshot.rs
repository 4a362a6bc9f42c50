//! The committed JSON form: sorted, indented, one trailing newline, so that equal data is equal
//! bytes.

use std::fmt;

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

    /// Writes a snapshot: indented, ending in one newline.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("plain data always serializes");
        text.push('\n');
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty(schema: u32) -> Api {
        Api {
            schema,
            name: "demo".into(),
            release: "2.21".into(),
            version: None,
            items: Default::default(),
            imports: Default::default(),
        }
    }

    #[test]
    fn reads_what_it_writes() {
        let api = empty(SCHEMA);
        assert_eq!(Api::from_json(&api.to_json()).unwrap(), api);
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
