//! The part of TensorFlow's APIs that a plugin uses, read from its library: the entry points that it exports, the
//! functions that it imports, and the function names in its data, which it may look up at run time.
//!
//! The result may contain too much, never too little: every function name in the plugin's data counts as used.

mod reachable;
mod runtime;
mod stated;

use sp_system::errors;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use serde::Serialize;
use sp_ir::Api;
use thiserror::Error;

pub use runtime::HostReleases;
pub use stated::{Loss, StatedFacts};

use crate::Finding;
use reachable::{FunctionIndex, reachable_names};
use sp_library::binary::LibraryError;
use sp_library::names::LibraryNames;
use sp_system::input::{self, MAX_LIBRARY_BYTES};

/// The functions and APIs that a plugin uses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PluginUsage {
    /// The plugin's library.
    pub path: PathBuf,
    /// The entry points that it exports: `SE_InitPlugin`.
    pub entry_points: BTreeSet<String>,
    /// The functions that the dynamic linker resolves.
    pub imports: BTreeSet<String>,
    /// The functions that the library contains only the names of, and may look up.
    pub lookups: BTreeSet<String>,
    /// The APIs of these functions.
    pub apis: BTreeSet<String>,
    /// The runtime of sp-gen that the plugin has, such as `sp-plugin 0.1.0`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime: Option<String>,
    /// The statements of the plugin's section.
    #[serde(skip)]
    stated: StatedFacts,
    /// The functions that the plugin looks up, by API.
    #[serde(skip)]
    lookups_by_api: BTreeMap<String, BTreeSet<String>>,
    /// The APIs of the imported functions.
    #[serde(skip)]
    imported_apis: BTreeSet<String>,
    /// The names of the functions and of every type that they use.
    #[serde(skip)]
    reachable: BTreeSet<String>,
}

errors! {
    /// A plugin whose use of the APIs cannot be determined.
    #[derive(Debug, Error, Diagnostic)]
    pub enum PluginError in plugin {
        /// The library cannot be read.
        Unreadable {
            path: PathBuf,
            /// The error of the system.
            source: std::io::Error,
        } = unreadable: ("plugin {} cannot be read: {source}", path.display());

        /// The file is not a library.
        Library(LibraryError) = transparent;

        /// The library does not use TensorFlow's C APIs.
        Unrelated {
            path: PathBuf,
            /// The entry points of the APIs.
            entry_points: String,
        }
            = unrelated: ("plugin {} exports no entry point and uses no function of TensorFlow's C APIs",
                path.display()),
            help("a plugin exports at least one of: {entry_points}");
    }
}

impl PluginUsage {
    /// Reads which functions of `apis` the plugin at `path` uses. The APIs may be of several releases.
    ///
    /// # Errors
    /// Returns an error if the file is not a library, or uses none of the APIs.
    pub fn read<'a>(
        path: &Path,
        apis: impl Iterator<Item = &'a Api> + Clone,
    ) -> Result<Self, PluginError> {
        let functions = FunctionIndex::new(apis.clone());
        let bytes =
            input::read(path, MAX_LIBRARY_BYTES).map_err(|source| PluginError::Unreadable {
                path: path.to_owned(),
                source,
            })?;
        let is_known = |name: &str| functions.is_entry_point(name).is_some();
        let stated = StatedFacts::read(&bytes);
        let names = LibraryNames::read(&path.display().to_string(), &bytes, &is_known)?;
        let usage = Self::from_names(path, &functions, &names, apis).with_stated(stated);
        match usage.apis.is_empty() {
            true => Err(PluginError::Unrelated {
                path: path.to_owned(),
                entry_points: functions.entry_points().collect::<Vec<_>>().join(", "),
            }),
            false => Ok(usage),
        }
    }

    /// Returns the usage of a plugin that exports an entry point of an API, and uses no functions of TensorFlow.
    pub fn from_entry_point(path: &Path, entry_point: &str, api: &str) -> Self {
        Self {
            path: path.to_owned(),
            entry_points: BTreeSet::from([entry_point.to_owned()]),
            apis: BTreeSet::from([api.to_owned()]),
            ..Self::default()
        }
    }

    fn from_names<'a>(
        path: &Path,
        functions: &FunctionIndex,
        names: &LibraryNames,
        apis: impl Iterator<Item = &'a Api> + Clone,
    ) -> Self {
        let select = |names: &BTreeSet<String>, is_entry_point: bool| -> BTreeSet<String> {
            let matches = |name: &&String| functions.is_entry_point(name) == Some(is_entry_point);
            names.iter().filter(matches).cloned().collect()
        };
        let entry_points = select(&names.exported, true);
        let imports = select(&names.imported, false);
        let lookups: BTreeSet<String> = select(&names.literals, false)
            .difference(&imports)
            .cloned()
            .collect();
        let all = [&entry_points, &imports, &lookups].into_iter().flatten();
        let reachable = reachable_names(all.clone().cloned().collect(), apis);
        let apis_of = |name| functions.apis(name).map(String::from);
        let apis = all.flat_map(|name| apis_of(name)).collect();
        let mut lookups_by_api: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for name in &lookups {
            for api in apis_of(name) {
                lookups_by_api.entry(api).or_default().insert(name.clone());
            }
        }
        let imported_apis = imports.iter().flat_map(|name| apis_of(name)).collect();
        Self {
            path: path.to_owned(),
            entry_points,
            imports,
            lookups,
            apis,
            runtime: None,
            stated: StatedFacts::default(),
            lookups_by_api,
            imported_apis,
            reachable,
        }
    }

    fn with_stated(self, stated: StatedFacts) -> Self {
        Self {
            runtime: stated.runtime.clone(),
            stated,
            ..self
        }
    }

    /// Returns the finding with its effect on this plugin: that on its runtime, if it has one of sp-gen. Otherwise a
    /// function that it looks up cannot prevent loading, nor can an API of which it imports no function.
    pub fn judge(&self, finding: Finding, hosts: HostReleases) -> Finding {
        match &self.runtime {
            Some(runtime) if !self.imports.contains(finding.owner()) => {
                self.judge_runtime(runtime, finding, hosts)
            }
            _ => self.judge_lookup(finding),
        }
    }

    fn judge_lookup(&self, finding: Finding) -> Finding {
        let item = finding.owner();
        let is_looked_up = self.lookups.contains(item)
            || (item == finding.api && !self.imported_apis.contains(item));
        match is_looked_up {
            true => finding.as_lookup(),
            false => finding,
        }
    }

    /// Returns true if a finding concerns an item that the plugin uses.
    pub fn concerns(&self, finding: &Finding) -> bool {
        let item = finding.owner();
        self.reachable.contains(item) || (item == finding.api && self.apis.contains(item))
    }
}

impl fmt::Display for PluginUsage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &BTreeSet<String>| names.iter().cloned().collect::<Vec<_>>().join(", ");
        let entry_points = match self.entry_points.is_empty() {
            true => "no entry point".into(),
            false => list(&self.entry_points),
        };
        write!(
            f,
            "only the part that {} uses: it exports {entry_points}, imports {} functions and looks up {}, of {}",
            self.path.display(),
            self.imports.len(),
            self.lookups.len(),
            list(&self.apis)
        )?;
        match &self.runtime {
            Some(runtime) => write!(f, ". It is judged by what its runtime does, {runtime}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Impact, Outcome};
    use crate::sample;

    /// Returns a breaking finding about `item` that has no effect.
    fn without_effect(item: &str) -> Finding {
        let mut finding = sample::diff().findings.swap_remove(0);
        finding.item = item.into();
        finding.impact = Impact::Breaking;
        for effect in [
            &mut finding.directions.old_on_new,
            &mut finding.directions.new_on_old,
        ] {
            effect.outcome = Outcome::Works;
        }
        finding
    }

    #[test]
    fn judges_lookup_of_looked_up_functions_only() {
        let usage = PluginUsage {
            lookups: BTreeSet::from(["TF_NewStatus".to_owned()]),
            ..PluginUsage::default()
        };
        let impact = |item: &str| {
            usage
                .judge(without_effect(item), HostReleases::default())
                .impact
        };
        assert_eq!(impact("TF_NewStatus"), Impact::Compatible);
        assert_eq!(impact("SP_StreamExecutor.mem_zero"), Impact::Breaking);
    }

    /// Returns the usage of a plugin with a runtime, which looks up these functions.
    fn with_runtime(lookups: &[&str]) -> PluginUsage {
        let usage = PluginUsage {
            lookups: lookups.iter().map(|it| (*it).to_owned()).collect(),
            ..PluginUsage::default()
        };
        let section =
            b"runtime sp-plugin 0.1.0 2.21\nkernel Relu TF_NewStatus\nrequired TF_GetInput\n";
        usage.with_stated(StatedFacts::parse(section))
    }

    /// Returns a breaking finding with the outcome in both directions.
    fn with_outcome(item: &str, outcome: Outcome) -> Finding {
        let mut finding = without_effect(item);
        for effect in [
            &mut finding.directions.old_on_new,
            &mut finding.directions.new_on_old,
        ] {
            (effect.outcome, effect.guarded) = (outcome, outcome);
        }
        finding
    }

    #[test]
    fn runtime_adapts_to_known_releases_and_declines_others() {
        let hosts = |new: &str| HostReleases {
            old: "2.5".parse().ok(),
            new: new.parse().ok(),
        };
        let judge = |new: &str, outcome| {
            let finding = with_outcome("SP_StreamExecutor.mem_zero", outcome);
            with_runtime(&[]).judge(finding, hosts(new))
        };
        let known = judge("2.21", Outcome::CorruptsMemory);
        assert_eq!(known.impact, Impact::Compatible);
        assert_eq!(known.directions.old_on_new.outcome, Outcome::Works);
        let unknown = judge("2.22", Outcome::CorruptsMemory);
        assert_eq!(unknown.impact, Impact::Breaking);
        assert_eq!(unknown.directions.old_on_new.outcome, Outcome::Declined);
        assert_eq!(unknown.directions.new_on_old.outcome, Outcome::Works);
    }

    #[test]
    fn absent_function_loses_the_kernels_that_need_it() {
        let judge = |item: &str| {
            let finding = with_outcome(item, Outcome::MissesFunction);
            let usage = with_runtime(&["TF_NewStatus", "TF_Other", "TF_GetInput"]);
            usage.judge(finding, HostReleases::default())
        };
        let reduced = judge("TF_NewStatus");
        assert_eq!(reduced.impact, Impact::Reduced);
        let why = &reduced.directions.old_on_new.why;
        assert!(why.contains("loses kernels of Relu"), "{why}");
        let error = judge("TF_Other");
        assert_eq!(error.impact, Impact::Reduced);
        let outcome = error.directions.old_on_new.outcome;
        assert_eq!(outcome, Outcome::MissesFunction);
        assert_eq!(judge("TF_GetInput").impact, Impact::Breaking);
    }
}
