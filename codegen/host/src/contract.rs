//! Comparison of a plugin's use of the C API with the contract of a release.
//!
//! The sizes that a plugin writes into its structs show which releases it was built for. In another release a
//! field may have another offset, and a function other parameters. Such a plugin loads, and TensorFlow
//! interprets its fields and calls differently.

use std::collections::BTreeSet;
use std::fmt;

use sp_ir::{Field, History, Record, Signature};

/// Contract of the releases, which the sizes, fields and imports of a plugin are compared with.
#[derive(Debug, Clone, Copy)]
pub struct Contract<'a> {
    /// The releases, including the verified one.
    pub history: &'a History,
    /// The functions of TensorFlow that the plugin's file imports.
    pub imports: &'a BTreeSet<String>,
}

/// A struct that a plugin filled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FilledStruct {
    pub name: String,
    /// Its `struct_size` as the plugin wrote it.
    pub size: u64,
    /// Offsets of the plugin's fields that are not 0.
    pub offsets: Vec<u64>,
}

/// `SP_Platform 35 8,16,34`, as it is reported to the parent.
impl fmt::Display for FilledStruct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offsets: Vec<String> = self.offsets.iter().map(u64::to_string).collect();
        write!(f, "{} {} {}", self.name, self.size, offsets.join(","))
    }
}

impl FilledStruct {
    /// Parses what `Display` writes, or returns `None`.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(' ');
        let (name, size, offsets) = (parts.next()?, parts.next()?, parts.next()?);
        let offsets = offsets.split(',').filter(|it| !it.is_empty());
        Some(Self {
            name: name.to_owned(),
            size: size.parse().ok()?,
            offsets: offsets.map(|it| it.parse().ok()).collect::<Option<_>>()?,
        })
    }
}

/// The result of a comparison.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Comparison {
    /// Uses that the release interprets differently.
    pub differences: Vec<String>,
    /// Uses whose signature the file does not show.
    pub unclear: Vec<String>,
    /// The releases that the plugin was built for, as far as its structs tell.
    pub built_for: Vec<String>,
}

impl Comparison {
    /// Returns the detail of a check that passes.
    pub fn summary(&self) -> String {
        let sizes = format!("struct sizes of {}", release_range(&self.built_for));
        let parts: Vec<String> = [sizes].into_iter().chain(self.unclear.clone()).collect();
        parts.join("; ")
    }
}

impl Contract<'_> {
    /// Compares a plugin that filled `written` with `release`.
    pub(crate) fn compare(&self, release: &str, written: &[FilledStruct]) -> Comparison {
        let built_for = self.built_for(written);
        let is_built_for_it = built_for.iter().any(|it| it == release);
        let fields = written
            .iter()
            .filter_map(|it| self.moved_fields(release, it));
        let functions = self.functions(release, written);
        let signatures = functions.iter().filter_map(|function| {
            self.changed_signature(release, function, &built_for)
                .filter(|_| !is_built_for_it)
        });
        let unclear = functions
            .iter()
            .filter(|_| is_built_for_it)
            .filter_map(|function| self.unclear_signature(release, function, &built_for));
        Comparison {
            differences: fields.chain(signatures).collect(),
            unclear: unclear.collect(),
            built_for,
        }
    }

    /// Returns the releases in which all structs have the sizes that were written, and all imports are declared.
    fn built_for(&self, written: &[FilledStruct]) -> Vec<String> {
        let has_sizes = |release: &&String| {
            written.iter().all(|it| {
                let record = record(self.history, &it.name, release);
                record.and_then(struct_size) == Some(it.size)
            })
        };
        let declares_imports = |release: &&&String| {
            let known = self.imports.iter();
            let mut known = known.filter_map(|name| self.history.functions.get(name));
            known.all(|epochs| epochs.iter().any(|it| it.releases.contains(release)))
        };
        let sized: Vec<&String> = self.history.releases.iter().filter(has_sizes).collect();
        let declaring: Vec<&&String> = sized.iter().filter(declares_imports).collect();
        match declaring.is_empty() {
            true => sized.into_iter().cloned().collect(),
            false => declaring.into_iter().copied().cloned().collect(),
        }
    }

    /// Returns the set fields at whose offsets the release has other fields, if the struct has the size of another
    /// layout.
    fn moved_fields(&self, release: &str, written: &FilledStruct) -> Option<String> {
        let host = record(self.history, &written.name, release)?;
        let mut layouts = self.history.structs.get(&written.name)?.iter();
        let meant = layouts.find(|epoch| struct_size(&epoch.shape) == Some(written.size))?;
        if struct_size(host) == Some(written.size) {
            return None;
        }
        let moved = written.offsets.iter().filter_map(|offset| {
            let (set, taken) = (field_at(&meant.shape, *offset)?, field_at(host, *offset)?);
            let is_same = set.name == taken.name
                || meant.shape.renamed_field(set, host) == Some(taken)
                || host.renamed_field(taken, &meant.shape) == Some(set);
            (!is_same).then(|| format!("`{}` is `{}`", set.name, taken.name))
        });
        let moved: Vec<String> = moved.collect();
        (!moved.is_empty()).then(|| {
            format!(
                "{} is filled as in {} (struct_size {}): in {release} {}",
                written.name,
                release_range(&meant.releases),
                written.size,
                moved.join(", ")
            )
        })
    }

    /// Returns the functions that the plugin imports and the slots that it sets, by their names in the history.
    fn functions(&self, release: &str, written: &[FilledStruct]) -> Vec<SignatureHistory<'_>> {
        let imports = self.imports.iter().filter_map(|name| {
            let epochs = self.history.functions.get(name)?;
            Some((name.clone(), "is called", epochs))
        });
        let slots = written.iter().flat_map(|it| {
            let host = record(self.history, &it.name, release);
            let fields = it.offsets.iter();
            let fields = fields.filter_map(move |offset| field_at(host?, *offset));
            fields.filter_map(|field| {
                let name = format!("{}.{}", it.name, field.name);
                let epochs = self.history.slots.get(&name)?;
                Some((name, "is defined", epochs))
            })
        });
        let all = imports.chain(slots);
        all.map(|(name, verb, epochs)| SignatureHistory { name, verb, epochs })
            .collect()
    }

    /// Returns the difference between the release's signature and those of the releases that the plugin was built for.
    fn changed_signature(
        &self,
        release: &str,
        function: &SignatureHistory<'_>,
        built_for: &[String],
    ) -> Option<String> {
        let host = function.epoch(release)?;
        let meant: Option<Vec<usize>> = built_for.iter().map(|it| function.epoch(it)).collect();
        let meant = meant.filter(|it| !it.is_empty() && !it.contains(&host))?;
        let old = &function.epochs[meant[0]];
        Some(format!(
            "{} {} as in {}: {release} has {}",
            function.name,
            function.verb,
            release_range(&old.releases),
            parameters(&old.shape, &function.epochs[host].shape)
        ))
    }

    /// Returns a message if the releases that the plugin was built for have different signatures of the function.
    fn unclear_signature(
        &self,
        release: &str,
        function: &SignatureHistory<'_>,
        built_for: &[String],
    ) -> Option<String> {
        let host = function.epoch(release)?;
        let mut others = built_for.iter().filter_map(|it| function.epoch(it));
        let other = others.find(|epoch| *epoch != host)?;
        let other = release_range(&function.epochs[other].releases);
        Some(format!(
            "{} has other parameters in {other}, and the file does not show which it {} with",
            function.name, function.verb
        ))
    }
}

/// A function or slot with its signatures.
struct SignatureHistory<'a> {
    name: String,
    verb: &'static str,
    epochs: &'a [sp_ir::Epoch<Signature>],
}

impl SignatureHistory<'_> {
    fn epoch(&self, release: &str) -> Option<usize> {
        let has = |epoch: &sp_ir::Epoch<Signature>| epoch.releases.iter().any(|it| it == release);
        self.epochs.iter().position(has)
    }
}

fn record<'a>(history: &'a History, name: &str, release: &str) -> Option<&'a Record> {
    let mut epochs = history.structs.get(name)?.iter();
    let epoch = epochs.find(|epoch| epoch.releases.iter().any(|it| it == release))?;
    Some(&epoch.shape)
}

fn struct_size(record: &Record) -> Option<u64> {
    record.struct_size.as_ref().map(|size| size.value)
}

fn field_at(record: &Record, offset: u64) -> Option<&Field> {
    record.fields.iter().find(|field| field.offset == offset)
}

/// `2.5 to 2.9`.
fn release_range(releases: &[String]) -> String {
    match releases {
        [] => "no known release".into(),
        [release] => release.clone(),
        [first, .., last] => format!("{first} to {last}"),
    }
}

/// Returns the parameters that only one of the signatures has.
fn parameters(old: &Signature, new: &Signature) -> String {
    let names = |signature: &Signature| -> Vec<String> {
        let params = signature.params.iter();
        params.map(|it| it.name.clone()).collect()
    };
    let (old, new) = (names(old), names(new));
    let only = |these: &[String], those: &[String]| -> Vec<String> {
        let differ = these.iter().filter(|it| !those.contains(it));
        differ.map(|it| format!("`{it}`")).collect()
    };
    match (only(&new, &old), only(&old, &new)) {
        (added, removed) if added.is_empty() && removed.is_empty() => "other parameters".into(),
        (added, removed) if removed.is_empty() => format!("{} too", added.join(", ")),
        (added, removed) if added.is_empty() => format!("no {}", removed.join(", ")),
        (added, removed) => format!("{} in place of {}", added.join(", "), removed.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_ir::Api;

    const SNAPSHOTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../generated/ir");

    fn history() -> History {
        let names = ["stream_executor", "grappler", "kernels_experimental"];
        let releases = (crate::quirks::FIRST_MINOR..=21).map(|minor| format!("2.{minor}"));
        let paths = releases
            .flat_map(|release| names.map(|name| format!("{SNAPSHOTS}/{name}/{release}.json")));
        // 2.5 has no kernels_experimental.
        let texts = paths.filter_map(|path| std::fs::read_to_string(path).ok());
        let apis = texts.map(|text| Api::from_json(&text).unwrap());
        History::from_apis(&apis.collect::<Vec<_>>())
    }

    fn written(name: &str, size: u64, offsets: &[u64]) -> FilledStruct {
        FilledStruct {
            name: name.into(),
            size,
            offsets: offsets.to_vec(),
        }
    }

    #[test]
    fn filled_struct_round_trips() {
        for struct_ in [written("SP_Platform", 35, &[8, 34]), written("S", 8, &[])] {
            assert_eq!(FilledStruct::parse(&struct_.to_string()), Some(struct_));
        }
        assert_eq!(FilledStruct::parse("S 8"), None);
    }

    #[test]
    fn reports_moved_field_and_changed_signature() {
        let (history, imports) = (history(), BTreeSet::from(["TF_AssignVariable".into()]));
        let contract = Contract {
            history: &history,
            imports: &imports,
        };
        let structs = [
            written("SP_Platform", 35, &[8]),
            written("TP_OptimizerConfigs", 88, &[60]),
        ];
        let found = contract.compare("2.10", &structs);
        assert_eq!(found.built_for, ["2.9"]);
        assert_eq!(
            found.differences,
            [
                "TP_OptimizerConfigs is filled as in 2.5 to 2.9 (struct_size 88): in 2.10 `layout_optimizer` is `pin_to_host_optimization`",
                "TF_AssignVariable is called as in 2.6 to 2.9: 2.10 has `validate_shape` too",
            ]
        );
        assert_eq!(contract.compare("2.9", &structs).differences, [""; 0]);
        // The set field has not moved, and the size fits several releases.
        let structs = [written("TP_OptimizerConfigs", 88, &[16])];
        let found = contract.compare("2.9", &structs);
        assert_eq!((found.differences.len(), found.unclear.len()), (0, 0));
        let structs = [written("SP_Platform", 35, &[8])];
        let found = contract.compare("2.10", &structs);
        assert_eq!(found.differences, [""; 0]);
        assert_eq!(found.unclear.len(), 1, "{found:?}");
    }
}
