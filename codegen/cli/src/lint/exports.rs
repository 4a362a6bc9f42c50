//! `function_unexported`: a header declares a function for export and no library exports it.

use sp_data::release::Release;
use sp_data::symbols::{Symbols, WheelKey};
use sp_ir::{Api, Function, Item, Side};
use std::collections::BTreeSet;

/// The lint's id.
pub const ID: &str = "function_unexported";

/// A function that a release declares and does not export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unexported {
    /// Its API.
    pub api: String,
    /// The function.
    pub function: String,
    /// The release of the headers.
    pub release: String,
    /// The wheels that were read and lack it.
    pub absent: BTreeSet<WheelKey>,
    /// Wheels of the release that do have it; where there are none, no library exports it.
    pub exported: BTreeSet<WheelKey>,
}

/// What an API at its release declares and some wheel of that release lacks. Nothing is said of a
/// release that no wheel was read of, of inline functions, and of what a plugin defines.
pub fn unexported(api: &Api, symbols: &Symbols) -> Vec<Unexported> {
    let Ok(release) = api.release.parse::<Release>() else {
        return Vec::new();
    };
    let of = |cells: &mut dyn Iterator<Item = WheelKey>| -> BTreeSet<WheelKey> {
        cells.filter(|cell| cell.release == release.key()).collect()
    };
    let functions = api.items.iter().filter_map(|(name, item)| match item {
        Item::Function(function) if is_core(function) => Some((name, function)),
        _ => None,
    });
    let mut found = Vec::new();
    for (name, function) in functions {
        let known = symbols.availability(&function.symbol);
        let absent = of(&mut known.absent.into_iter());
        if !absent.is_empty() {
            found.push(Unexported {
                api: api.name.clone(),
                function: name.to_string(),
                release: api.release.clone(),
                absent,
                exported: of(&mut known.exported.into_keys()),
            });
        }
    }
    found
}

fn is_core(function: &Function) -> bool {
    let by = function.exported_by.as_ref().map(|by| by.value);
    !function.inline && by != Some(Side::Plugin)
}

impl Unexported {
    /// Whether no wheel of the release that was read exports it.
    pub fn is_nowhere(&self) -> bool {
        self.exported.is_empty()
    }

    /// What is wrong, in words.
    pub fn message(&self) -> String {
        if self.is_nowhere() {
            return format!("no library of {} exports it", self.release);
        }
        let cells = self.absent.iter();
        let wheels = cells.map(|cell| format!("{} on {}", cell.package, cell.platform));
        let wheels: Vec<String> = wheels.collect();
        format!(
            "in {} it is missing from {}",
            self.release,
            wheels.join(", ")
        )
    }
}

impl std::fmt::Display for Unexported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{ID}: {}: {}: {}",
            self.api,
            self.function,
            self.message()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_data::embedded::SNAPSHOTS;
    use sp_data::platform::Platform;
    use sp_data::symbols::table::{Table, WheelExports};
    use sp_ir::{Loc, SCHEMA, Signature, Type};
    use std::collections::BTreeMap;

    fn api(release: &str) -> Api {
        let function = |name: &str, inline: bool| {
            let function = Function {
                doc: None,
                signature: Signature {
                    params: Vec::new(),
                    ret: Type::Void,
                    ret_transfer: None,
                },
                exported_by: None,
                instead: None,
                inline,
                symbol: name.into(),
                loc: Loc {
                    file: "t/c/x.h".into(),
                    line: 1,
                },
            };
            (name.into(), Item::Function(function))
        };
        let text = format!(
            r#"{{"schema": {SCHEMA}, "name": "demo", "release": "{release}", "items": {{}}}}"#
        );
        let mut api = Api::from_json(&text).unwrap();
        let items = [("TF_A", false), ("TF_B", false), ("TF_Inline", true)];
        api.items
            .extend(items.map(|(name, inline)| function(name, inline)));
        api
    }

    /// The package without an accelerator lost them a release before the other did.
    #[test]
    fn the_experimental_kernel_functions_of_2_19_are_in_one_package_only() {
        let symbols = Symbols::embedded().unwrap();
        for (release, nowhere) in [("2.18", None), ("2.19", Some(false)), ("2.20", Some(true))] {
            let name = format!("kernels_experimental/{release}.json");
            let snapshot = SNAPSHOTS.iter().find(|(file, _)| *file == name);
            let api = Api::from_json(snapshot.unwrap().1).unwrap();
            let found = unexported(&api, &symbols);
            match nowhere {
                None => assert!(found.is_empty(), "{found:?}"),
                Some(nowhere) => {
                    assert_eq!(found.len(), 14, "{release}");
                    assert!(
                        found.iter().all(|one| one.is_nowhere() == nowhere),
                        "{release}"
                    );
                }
            }
        }
    }

    fn symbols() -> Symbols {
        let library = BTreeSet::from(["cc".to_owned()]);
        let column = |names: &[&str]| WheelExports {
            wheel: "x.whl".into(),
            functions: names
                .iter()
                .map(|name| ((*name).to_owned(), library.clone()))
                .collect(),
            versions: BTreeMap::new(),
        };
        let mut linux = Table::new("tensorflow-cpu", Platform::LinuxX86_64);
        linux.insert("2.20".parse().unwrap(), column(&["TF_A"]));
        linux.insert("2.21".parse().unwrap(), column(&["TF_A"]));
        let mut arm = Table::new("tensorflow", Platform::LinuxAarch64);
        arm.insert("2.21".parse().unwrap(), column(&["TF_A", "TF_B"]));
        Symbols::from_tables(vec![linux, arm])
    }

    #[test]
    fn what_no_library_exports_is_told_from_what_one_lacks() {
        let found = unexported(&api("2.20"), &symbols());
        assert_eq!(found.len(), 1);
        assert!(found[0].is_nowhere() && found[0].function == "TF_B");
        let found = unexported(&api("2.21"), &symbols());
        assert!(!found[0].is_nowhere());
        assert_eq!(
            found[0].to_string(),
            "function_unexported: demo: TF_B: in 2.21 it is missing from tensorflow-cpu on x86_64-unknown-linux-gnu"
        );
    }

    #[test]
    fn of_a_release_that_was_not_read_nothing_is_said() {
        assert!(unexported(&api("2.22"), &symbols()).is_empty());
    }
}
