//! The lint `function_unexported`: a header declares a function that a library should export, and no library does.

use sp_data::release::Release;
use sp_data::symbols::{Symbols, WheelKey};
use sp_ir::Api;
use std::collections::BTreeSet;

/// The lint's id.
pub const ID: &str = "function_unexported";

/// A function that a release declares and that a wheel of it does not export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unexported {
    /// Its API.
    pub api: String,
    /// The function.
    pub function: String,
    /// The release of the headers.
    pub release: String,
    /// The wheels that were read and do not export it.
    pub absent: BTreeSet<WheelKey>,
    /// The wheels that export it.
    pub exported: BTreeSet<WheelKey>,
}

/// Returns the functions that an API declares and that some wheel of its release does not export. Skips releases of
/// which no wheel was read, inline functions, and functions that plugins define.
pub fn find_unexported(api: &Api, symbols: &Symbols) -> Vec<Unexported> {
    let Ok(release) = api.release.parse::<Release>() else {
        return Vec::new();
    };
    let of_release = |cells: &mut dyn Iterator<Item = WheelKey>| -> BTreeSet<WheelKey> {
        cells.filter(|cell| cell.release == release.key()).collect()
    };
    let functions = api.items.iter();
    let functions = functions.filter_map(|(name, item)| Some((name, item.as_function()?)));
    let functions = functions.filter(|(_, function)| function.is_exported_by_core());
    let mut found = Vec::new();
    for (name, function) in functions {
        let known = symbols.availability(&function.symbol);
        let absent = of_release(&mut known.absent.into_iter());
        if !absent.is_empty() {
            found.push(Unexported {
                api: api.name.clone(),
                function: name.to_string(),
                release: api.release.clone(),
                absent,
                exported: of_release(&mut known.exported.into_keys()),
            });
        }
    }
    found
}

impl Unexported {
    /// Returns true if none of the wheels that were read exports the function.
    pub fn is_in_no_wheel(&self) -> bool {
        self.exported.is_empty()
    }

    /// Describes the finding.
    pub fn message(&self) -> String {
        if self.is_in_no_wheel() {
            return format!("no library of {} exports it", self.release);
        }
        let cells = self.absent.iter();
        let wheels = cells.map(|cell| format!("{} on {}", cell.package, cell.platform));
        let wheels: Vec<String> = wheels.collect();
        format!(
            "the wheels {} of {} do not export it",
            wheels.join(", "),
            self.release
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
    use sp_data::platform::WheelPlatform;
    use sp_data::symbols::table::{Table, WheelExports};
    use sp_ir::{Function, Item, Loc, Signature, Type};
    use std::collections::BTreeMap;

    fn api(release: &str) -> Api {
        let function = |name: &str, inline: bool| {
            let signature = Signature::new(Vec::new(), Type::Void);
            let mut function = Function::new(signature, name, Loc::new("t/c/x.h", 1));
            function.inline = inline;
            (name.into(), Item::Function(function))
        };
        let items = [("TF_A", false), ("TF_B", false), ("TF_Inline", true)];
        let items = items.map(|(name, inline)| function(name, inline));
        Api::new("demo", release, items.into())
    }

    /// tensorflow-cpu dropped them one release before tensorflow.
    #[test]
    fn finds_functions_absent_from_one_2_19_package() {
        let symbols = Symbols::embedded().unwrap();
        for (release, is_in_no_wheel) in
            [("2.18", None), ("2.19", Some(false)), ("2.20", Some(true))]
        {
            let name = format!("kernels_experimental/{release}.json");
            let snapshot = SNAPSHOTS.iter().find(|(file, _)| *file == name);
            let api = Api::from_json(snapshot.unwrap().1.text()).unwrap();
            let found = find_unexported(&api, &symbols);
            match is_in_no_wheel {
                None => assert!(found.is_empty(), "{found:?}"),
                Some(is_in_no_wheel) => {
                    assert_eq!(found.len(), 14, "{release}");
                    assert!(
                        found
                            .iter()
                            .all(|function| function.is_in_no_wheel() == is_in_no_wheel),
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
        let mut linux = Table::new("tensorflow-cpu", WheelPlatform::LinuxX86_64);
        linux.insert("2.20".parse().unwrap(), column(&["TF_A"]));
        linux.insert("2.21".parse().unwrap(), column(&["TF_A"]));
        let mut arm = Table::new("tensorflow", WheelPlatform::LinuxAarch64);
        arm.insert("2.21".parse().unwrap(), column(&["TF_A", "TF_B"]));
        Symbols::from_tables(vec![linux, arm])
    }

    #[test]
    fn distinguishes_no_wheel_from_some_wheels() {
        let found = find_unexported(&api("2.20"), &symbols());
        assert_eq!(found.len(), 1);
        assert!(found[0].is_in_no_wheel() && found[0].function == "TF_B");
        let found = find_unexported(&api("2.21"), &symbols());
        assert!(!found[0].is_in_no_wheel());
        assert_eq!(
            found[0].to_string(),
            "function_unexported: demo: TF_B: the wheels tensorflow-cpu on x86_64-unknown-linux-gnu of 2.21 do not export it"
        );
    }

    #[test]
    fn skips_release_without_symbols() {
        assert!(find_unexported(&api("2.22"), &symbols()).is_empty());
    }
}
