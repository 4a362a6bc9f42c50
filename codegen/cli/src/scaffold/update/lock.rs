//! The author's `Cargo.lock` with this sp-gen's crates: the packages of the author's stay, those that only our
//! crates need come and go with them.

use crate::scaffold::lock::{Locked, print, root_lock};
use crate::scaffold::vendor;
use std::collections::{BTreeMap, BTreeSet};
use toml::{Table, Value};

/// The result of [`merge`].
#[derive(Debug, PartialEq, Eq)]
pub enum Merged {
    /// The lock has our crates already.
    Same,
    /// The lock has parts that would be lost.
    Left(String),
    /// The lock's new text, and the packages that come and go: `+syn 3.0.0`, `-syn 2.0.0`.
    Changed {
        /// The text.
        text: String,
        /// The packages.
        packages: Vec<String>,
    },
}

/// Name and version, which are unique in a lock but for packages of two sources.
type Key = (String, String);

/// A lock's packages, each with the keys of its dependencies.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Packages(BTreeMap<Key, (Locked, Vec<Key>)>);

/// Returns the lock `theirs` with the packages of our crates as they are in our own lock.
///
/// # Errors
/// Returns an error if `theirs` is no lock.
pub fn merge(theirs: &str) -> Result<Merged, String> {
    let table: Table = theirs
        .parse()
        .map_err(|error: toml::de::Error| error.message().to_owned())?;
    let version = table.get("version").cloned().unwrap_or(Value::from(3));
    if let Some(other) = table
        .keys()
        .find(|key| !["version", "package"].contains(&key.as_str()))
    {
        return Ok(Merged::Left(format!("it has a section `{other}`")));
    }
    let Some(old) = Packages::read(&table, Locked::verbatim) else {
        return Ok(Merged::Left(
            "two of its packages differ only in their source".to_owned(),
        ));
    };
    let ours = Packages::read(&root_lock(), Locked::of);
    let ours = ours.unwrap_or(Packages(BTreeMap::new()));
    let new = old.clone().with(&ours);
    if new == old {
        return Ok(Merged::Same);
    }
    let packages = new.difference(&old);
    let printed: Vec<Locked> = new.0.into_values().map(|(package, _)| package).collect();
    let text = print(&version, &printed);
    Ok(Merged::Changed { text, packages })
}

impl Packages {
    /// Reads a lock; `None` if a name and version are there twice.
    fn read(table: &Table, package: fn(&Table) -> Locked) -> Option<Self> {
        let tables = table.get("package").and_then(Value::as_array);
        let tables = tables.into_iter().flatten().filter_map(Value::as_table);
        let packages: Vec<Locked> = tables.map(package).collect();
        let keys: Vec<Key> = packages.iter().map(key).collect();
        let find = |dependency: &String| {
            let mut words = dependency.split(' ');
            let (name, version) = (words.next()?, words.next());
            let is_it = |key: &&Key| key.0 == name && version.is_none_or(|it| it == key.1);
            keys.iter().find(is_it).cloned()
        };
        let count = packages.len();
        let row = |package: Locked| {
            let dependencies = package.dependencies.iter().filter_map(find).collect();
            (key(&package), (package, dependencies))
        };
        let mut read = Self(packages.into_iter().map(row).collect());
        read.redirect(&BTreeMap::new());
        (read.0.len() == count).then_some(read)
    }

    /// Replaces our crates and what they need by those of `ours`.
    fn with(mut self, ours: &Self) -> Self {
        let mut instead = BTreeMap::new();
        let replaced: Vec<Key> = self
            .0
            .iter()
            .filter(|it| is_our_crate(it.1))
            .map(|it| it.0.clone())
            .collect();
        for old in replaced {
            self.0.remove(&old);
            let new = ours.0.keys().find(|key| key.0 == old.0);
            instead.extend(new.map(|new| (old, new.clone())));
        }
        for key in ours.reached(instead.values().cloned().collect()) {
            let row = ours.0[&key].clone();
            match self.compatible(&key).filter(|_| !is_our_crate(&row)) {
                Some(theirs) if theirs == key => {
                    // Another feature of it may be on now, and with it a dependency.
                    self.add_dependencies(&key, &row.1);
                    continue;
                }
                Some(theirs) if release(&theirs.1) > release(&key.1) => {
                    instead.insert(key, theirs);
                    continue;
                }
                Some(theirs) => {
                    self.0.remove(&theirs);
                    instead.insert(theirs, key.clone());
                }
                None => {}
            }
            self.0.insert(key, row);
        }
        self.redirect(&instead);
        self.drop_unreached();
        self
    }

    /// Returns the package that cargo would use in place of `wanted`.
    fn compatible(&self, wanted: &Key) -> Option<Key> {
        let range = |version: &str| {
            let (major, minor, patch) = release(version)?;
            Some(match (major, minor) {
                (0, 0) => (0, 0, patch),
                (0, minor) => (0, minor, 0),
                (major, _) => (major, 0, 0),
            })
        };
        let range_of = range(&wanted.1)?;
        let is_it = |key: &&Key| key.0 == wanted.0 && range(&key.1) == Some(range_of);
        self.0.keys().find(is_it).cloned()
    }

    fn add_dependencies(&mut self, key: &Key, more: &[Key]) {
        if let Some((_, dependencies)) = self.0.get_mut(key) {
            dependencies.extend_from_slice(more);
        }
    }

    /// Makes every dependency on a key of `instead` one on its value, in the text too.
    fn redirect(&mut self, instead: &BTreeMap<Key, Key>) {
        let known: BTreeSet<Key> = self.0.keys().cloned().collect();
        for (package, dependencies) in self.0.values_mut() {
            let mut keys: Vec<Key> = dependencies
                .iter()
                .map(|key| instead.get(key).unwrap_or(key).clone())
                .filter(|key| known.contains(key))
                .collect();
            keys.sort();
            keys.dedup();
            package.dependencies = keys
                .iter()
                .map(|(name, version)| format!("{name} {version}"))
                .collect();
            *dependencies = keys;
        }
    }

    /// Removes what no package of the author's needs any more.
    fn drop_unreached(&mut self) {
        let own = self
            .0
            .iter()
            .filter(|(_, row)| row.0.source.is_none() && !is_our_crate(row));
        let reached = self.reached(own.map(|(key, _)| key.clone()).collect());
        self.0.retain(|key, _| reached.contains(key));
    }

    /// Returns `from` and all that they depend on.
    fn reached(&self, from: Vec<Key>) -> BTreeSet<Key> {
        let (mut found, mut open) = (BTreeSet::new(), from);
        while let Some(key) = open.pop() {
            let row = self.0.get(&key);
            if row.is_some() && found.insert(key) {
                open.extend(
                    row.into_iter()
                        .flat_map(|(_, dependencies)| dependencies.clone()),
                );
            }
        }
        found
    }

    fn difference(&self, old: &Self) -> Vec<String> {
        let only = |left: &Self, right: &Self, mark: char| -> Vec<String> {
            let keys = left.0.keys().filter(|key| !right.0.contains_key(*key));
            keys.map(|(name, version)| format!("{mark}{name} {version}"))
                .collect()
        };
        [only(self, old, '+'), only(old, self, '-')].concat()
    }
}

fn key(package: &Locked) -> Key {
    (package.name.clone(), package.version.clone())
}

fn is_our_crate((package, _): &(Locked, Vec<Key>)) -> bool {
    package.source.is_none() && vendor::crates().any(|name| name == package.name)
}

/// Parses `1.2.3`, with or without build metadata; `None` for a pre-release.
fn release(version: &str) -> Option<(u64, u64, u64)> {
    let plain = version.split('+').next()?;
    let mut numbers = plain.split('.').map(|part| part.parse::<u64>().ok());
    Some((numbers.next()??, numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaffold::lock::lock;

    const REGISTRY: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";

    fn fresh() -> String {
        lock("myaccel", &["sp-cpu".to_owned()])
    }

    fn package(name: &str, version: &str, rest: &str) -> String {
        format!("\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{rest}")
    }

    fn changed(theirs: &str) -> (String, Vec<String>) {
        match merge(theirs).unwrap() {
            Merged::Changed { text, packages } => (text, packages),
            other => panic!("{other:?}"),
        }
    }

    /// Returns the version of the package `name` in a lock.
    fn version(lock: &str, name: &str) -> String {
        let head = format!("name = \"{name}\"\nversion = \"");
        let rest = lock
            .split(&head)
            .nth(1)
            .unwrap_or_else(|| panic!("{name} in {lock}"));
        rest.split('"').next().unwrap().to_owned()
    }

    #[test]
    fn leaves_a_lock_that_new_wrote() {
        assert_eq!(merge(&fresh()), Ok(Merged::Same));
    }

    #[test]
    fn keeps_the_authors_packages_and_adds_what_our_crates_need() {
        let own = package(
            "left-pad",
            "1.2.3",
            &format!("{REGISTRY}checksum = \"00\"\n"),
        );
        let fresh = fresh();
        let lost = fresh
            .split("\n[[package]]\n")
            .filter(|it| !it.starts_with("name = \"syn\""));
        let theirs = lost.collect::<Vec<_>>().join("\n[[package]]\n");
        let theirs = theirs.replace(
            "dependencies = [\n \"sp-cpu\",",
            "dependencies = [\n \"left-pad\",\n \"sp-cpu\",",
        );
        let (text, packages) = changed(&format!("{theirs}{own}"));
        assert!(
            text.contains("name = \"left-pad\"\nversion = \"1.2.3\"\n") && text.contains(REGISTRY)
        );
        let syn = version(&fresh, "syn");
        assert_eq!(packages, [format!("+syn {syn}")]);
        assert_eq!(version(&text, "syn"), syn);
        assert_eq!(merge(&text), Ok(Merged::Same), "the second time");
    }

    #[test]
    fn keeps_a_newer_compatible_package_and_replaces_an_older_one() {
        let fresh = fresh();
        let syn = version(&fresh, "syn");
        let major = syn.split('.').next().unwrap();
        let named = |version: &str| format!("name = \"syn\"\nversion = \"{version}\"");
        let with = |version: &str| fresh.replace(&named(&syn), &named(version));
        let newer = format!("{major}.999.0");
        assert_eq!(merge(&with(&newer)), Ok(Merged::Same));
        let older = format!("{major}.0.0");
        if older != syn {
            let (text, packages) = changed(&with(&older));
            assert_eq!(text, fresh);
            assert_eq!(packages, [format!("+syn {syn}"), format!("-syn {older}")]);
        }
    }

    #[test]
    fn drops_a_package_that_only_an_older_crate_of_ours_needed() {
        let fresh = fresh();
        let old = package(
            "once-needed",
            "0.3.0",
            &format!("{REGISTRY}checksum = \"00\"\n"),
        );
        let head = "name = \"sp-runtime\"\nversion = \"0.1.0\"\ndependencies = [\n";
        assert!(fresh.contains(head));
        let theirs = fresh.replace(head, &format!("{head} \"once-needed\",\n"));
        let (text, packages) = changed(&format!("{theirs}{old}"));
        assert_eq!(packages, ["-once-needed 0.3.0"]);
        assert_eq!(text, fresh);
    }

    #[test]
    fn names_a_version_where_two_packages_share_a_name() {
        let fresh = fresh();
        let second = package("syn", "1.0.0", &format!("{REGISTRY}checksum = \"00\"\n"));
        let theirs = fresh.replace(
            "dependencies = [\n \"sp-cpu\",",
            "dependencies = [\n \"sp-cpu\",\n \"syn 1.0.0\",",
        );
        let syn = version(&fresh, "syn");
        let theirs = theirs.replace("\n \"syn\",", &format!("\n \"syn {syn}\","));
        assert_eq!(merge(&format!("{theirs}{second}")), Ok(Merged::Same));
    }

    #[test]
    fn leaves_what_it_cannot_write_again_and_rejects_what_is_no_lock() {
        let patched = format!(
            "{}\n[[patch.unused]]\nname = \"x\"\nversion = \"1.0.0\"\n",
            fresh()
        );
        assert!(matches!(merge(&patched), Ok(Merged::Left(reason)) if reason.contains("patch")));
        assert!(merge("<<<<<<< ours").is_err());
    }
}
