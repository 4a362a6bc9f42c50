//! The contract of a driver: what its documentation states about pointers, handles and threads, as a TOML file. The safe
//! methods of the bindings rely on it.
//!
//! A function among `[functions]` accepts every value of its numbers, and accesses no host memory through them.
//! `codegen/docs/driver.md` has the meaning of each entry.

mod check;
mod creators;
mod help;
mod owned;
mod pointee;
mod role;
mod size_field;
mod unsafe_part;

pub use check::{Answer, SafeFunction, SafeModel};
pub use owned::{Destroy, Form, OwnedType};
pub use role::Role;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use sp_system::input::{self, MAX_CONFIG_BYTES};

use crate::error::DriverError;

/// A contract, as its file states it. [`Contract::check`] compares it with the header.
#[derive(Debug, Clone)]
pub struct Contract {
    /// The file's name, for messages.
    pub file_name: String,
    statements: Statements,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Statements {
    #[expect(dead_code, reason = "the statement is required, and has one value")]
    threads: Threads,
    size_field: Option<String>,
    host_function: Option<String>,
    #[serde(default)]
    owned: BTreeMap<String, OwnedStatement>,
    functions: BTreeMap<String, BTreeMap<String, String>>,
}

/// The threads on which the functions may be called.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Threads {
    Any,
}

/// A type whose values have one owner.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnedStatement {
    /// The C type of an address. Without one, the values are those of the handle or typedef with the owned type's name.
    r#type: Option<String>,
    /// The function that destroys a value. Without one, a value is valid as long as the handles with which it was created.
    destroy: Option<String>,
}

impl Contract {
    /// Reads a contract.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is not TOML, or has an unknown key.
    pub fn read(path: &Path) -> Result<Self, DriverError> {
        let text = input::read_toml(path, MAX_CONFIG_BYTES);
        let text = text.map_err(|source| DriverError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Self::parse(&name, &text)
    }

    /// Parses the text of the file `name`.
    ///
    /// # Errors
    /// Returns an error if the text is not TOML, or has an unknown key.
    pub fn parse(name: &str, text: &str) -> Result<Self, DriverError> {
        let statements = toml::from_str(text).map_err(|error| {
            let before = error.span().and_then(|span| text.get(..span.start));
            let line = before.unwrap_or_default().matches('\n').count() + 1;
            DriverError::Contract {
                name: format!("{name}:{line}"),
                what: error.message().to_owned(),
                help: "the keys are `threads`, `size_field`, `host_function`, `[owned]` and `[functions]`"
                    .to_owned(),
            }
        })?;
        Ok(Self {
            file_name: name.to_owned(),
            statements,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn rejects_contract_that_is_a_device_or_has_no_end() {
        let error = Contract::read(Path::new("/dev/zero")).unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse.toml");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(1 << 40).unwrap();
        assert!(Contract::read(&path).is_err());
    }

    #[test]
    fn rejects_contract_above_the_limit_of_a_configuration() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("driver.toml");
        let read = |padding: u64| {
            let padding = " ".repeat(padding as usize);
            let text = format!("threads = \"any\"\n[functions]\n{padding}");
            std::fs::write(&path, text).unwrap();
            Contract::read(&path)
        };
        assert!(read(1).is_ok());
        let error = read(MAX_CONFIG_BYTES).unwrap_err().to_string();
        assert!(error.contains("more than 1 MiB"), "{error}");
    }
}
