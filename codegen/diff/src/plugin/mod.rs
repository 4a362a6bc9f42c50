//! Which part of TensorFlow's APIs a plugin uses, read from its library: the entry points that it
//! exports, the functions that it imports, and those whose names it carries to look them up.
//!
//! It may find too much, never too little: a name in the plugin's data counts as used.

mod reach;

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use serde::Serialize;
use sp_ir::Api;
use thiserror::Error;

use crate::Finding;
use reach::{Known, reach};
use sp_library::binary::LibraryError;
use sp_library::names::LibraryNames;

/// What a plugin uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Usage {
    /// Its library.
    pub path: PathBuf,
    /// The entry points that it exports: `SE_InitPlugin`.
    pub entry_points: BTreeSet<String>,
    /// The functions that the dynamic linker finds for it.
    pub imports: BTreeSet<String>,
    /// The functions that it has the names of, and looks up itself.
    pub lookups: BTreeSet<String>,
    /// The APIs of all of these.
    pub apis: BTreeSet<String>,
    /// The APIs that it imports functions of.
    #[serde(skip)]
    imported_apis: BTreeSet<String>,
    /// Functions, and every type that they lead to.
    #[serde(skip)]
    reached: BTreeSet<String>,
}

/// A plugin's library that says nothing of what it uses.
#[derive(Debug, Error, Diagnostic)]
pub enum PluginError {
    /// It cannot be read.
    #[error("the plugin {} cannot be read: {source}", path.display())]
    #[diagnostic(code(sp_gen::plugin::unreadable))]
    Unreadable {
        /// The library.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It is no library.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Library(#[from] LibraryError),
    /// It has to do with TensorFlow in no way that can be seen.
    #[error("{} exports no entry point and names no function of TensorFlow's C APIs", path.display())]
    #[diagnostic(
        code(sp_gen::plugin::unrelated),
        help("a plugin exports one or more of: {entry_points}")
    )]
    Unrelated {
        /// The library.
        path: PathBuf,
        /// What it could export.
        entry_points: String,
    },
}

impl Usage {
    /// What the plugin at `path` uses of `apis`, which may be of several releases.
    ///
    /// # Errors
    /// Where it is no ELF library, or uses nothing of them.
    pub fn of<'a>(
        path: &Path,
        apis: impl Iterator<Item = &'a Api> + Clone,
    ) -> Result<Self, PluginError> {
        let known = Known::of(apis.clone());
        let bytes = std::fs::read(path).map_err(|source| PluginError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
        let wanted = |name: &str| known.is_entry_point(name).is_some();
        let names = LibraryNames::read(&path.display().to_string(), bytes, &wanted)?;
        let usage = Self::from(path, &known, &names, apis);
        match usage.apis.is_empty() {
            true => Err(PluginError::Unrelated {
                path: path.to_owned(),
                entry_points: known.entry_points().collect::<Vec<_>>().join(", "),
            }),
            false => Ok(usage),
        }
    }

    fn from<'a>(
        path: &Path,
        known: &Known,
        names: &LibraryNames,
        apis: impl Iterator<Item = &'a Api> + Clone,
    ) -> Self {
        let of = |names: &BTreeSet<String>, entry: bool| -> BTreeSet<String> {
            let is = |name: &&String| known.is_entry_point(name) == Some(entry);
            names.iter().filter(is).cloned().collect()
        };
        let (entry_points, imports) = (of(&names.exported, true), of(&names.imported, false));
        let lookups: BTreeSet<String> = of(&names.literals, false)
            .difference(&imports)
            .cloned()
            .collect();
        let all = [&entry_points, &imports, &lookups].into_iter().flatten();
        let reached = reach(all.clone().cloned().collect(), apis);
        let apis_of = |name| known.apis(name).map(String::from);
        let apis = all.flat_map(|name| apis_of(name)).collect();
        let imported_apis = imports.iter().flat_map(|name| apis_of(name)).collect();
        Self {
            path: path.to_owned(),
            entry_points,
            imports,
            lookups,
            apis,
            imported_apis,
            reached,
        }
    }

    /// Returns the finding as it concerns the plugin: what the plugin does not import cannot keep its library
    /// from loading.
    pub fn judge(&self, finding: Finding) -> Finding {
        let item = finding.owner();
        let is_imported = self.imports.contains(item)
            || (item == finding.api && self.imported_apis.contains(item));
        match is_imported {
            true => finding,
            false => finding.as_lookup(),
        }
    }

    /// Whether a finding concerns the plugin.
    pub fn concerns(&self, finding: &Finding) -> bool {
        let item = finding.owner();
        self.reached.contains(item) || (item == finding.api && self.apis.contains(item))
    }
}

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
        let entry_points = match self.entry_points.is_empty() {
            true => "no entry point".into(),
            false => list(&self.entry_points),
        };
        write!(
            f,
            "only what {} uses: it exports {entry_points}, imports {} and looks up {} functions, of {}",
            self.path.display(),
            self.imports.len(),
            self.lookups.len(),
            list(&self.apis)
        )
    }
}
