//! Updates the sp-* crates in an author's `Cargo.lock`. The author's packages are preserved. Packages that only sp-*
//! crates need are added and removed with them.

use crate::scaffold::lock::{LockedPackage, format_lock, root_lock};
use crate::scaffold::vendor;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use toml::{Table, Value};

/// The result of [`merge`].
#[derive(Debug, PartialEq, Eq)]
pub enum MergedLock {
    /// The lock is up to date.
    Unchanged,
    /// The lock has parts that cannot be preserved; has the reason.
    Unsupported(String),
    /// The new lock.
    Changed {
        /// Its text.
        text: String,
        /// Added and removed packages: `+syn 3.0.0`, `-syn 2.0.0`.
        packages: Vec<String>,
    },
}

/// Name and version of a package. They are unique unless a lock has packages from different sources.
type Key = (String, String);

/// The packages of a lock, each with the keys of its dependencies.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Packages(BTreeMap<Key, (LockedPackage, Vec<Key>)>);

/// Replaces the sp-* crates in the lock `author_lock` by those of sp-gen's own lock.
///
/// # Errors
/// Returns an error if `author_lock` is not a lock.
pub fn merge(author_lock: &str) -> Result<MergedLock, String> {
    let table: Table = author_lock
        .parse()
        .map_err(|error: toml::de::Error| error.message().to_owned())?;
    let version = table.get("version").cloned().unwrap_or(Value::from(3));
    if let Some(other) = table
        .keys()
        .find(|key| !["version", "package"].contains(&key.as_str()))
    {
        return Ok(MergedLock::Unsupported(format!(
            "it has a section `{other}`"
        )));
    }
    if let Some(problem) = problem_of_packages(&table)? {
        return Ok(MergedLock::Unsupported(problem));
    }
    let Some(old) = Packages::read(&table, LockedPackage::from_lock) else {
        return Ok(MergedLock::Unsupported(
            "two of its packages differ only in their source".to_owned(),
        ));
    };
    let sp_crates = Packages::read(&root_lock(), LockedPackage::from_root_lock);
    let sp_crates = sp_crates.unwrap_or(Packages(BTreeMap::new()));
    let new = old.clone().with(&sp_crates);
    if new == old {
        return Ok(MergedLock::Unchanged);
    }
    let packages = new.difference(&old);
    let printed: Vec<LockedPackage> = new.0.into_values().map(|(package, _)| package).collect();
    let text = format_lock(&version, &printed);
    Ok(MergedLock::Changed { text, packages })
}

/// Returns the part of a package that would be lost, or `None` if there is none.
///
/// # Errors
/// Returns an error if something is no package.
fn problem_of_packages(table: &Table) -> Result<Option<String>, String> {
    const KEYS: [&str; 5] = ["name", "version", "source", "checksum", "dependencies"];
    let packages = match table.get("package") {
        None => return Ok(None),
        Some(packages) => packages.as_array().ok_or("`package` is no list")?,
    };
    for package in packages {
        let package = package.as_table().ok_or("a package is no table")?;
        let text = |key: &str| package.get(key).and_then(Value::as_str);
        let name = text("name").ok_or("a package has no name")?;
        text("version").ok_or_else(|| format!("the package `{name}` has no version"))?;
        if let Some(key) = package.keys().find(|it| !KEYS.contains(&it.as_str())) {
            return Ok(Some(format!("the package `{name}` has a key `{key}`")));
        }
    }
    Ok(None)
}

impl Packages {
    /// Reads a lock. Returns `None` if it has two packages of the same name and version.
    fn read(table: &Table, package: fn(&Table) -> LockedPackage) -> Option<Self> {
        let tables = table.get("package").and_then(Value::as_array);
        let tables = tables.into_iter().flatten().filter_map(Value::as_table);
        let packages: Vec<LockedPackage> = tables.map(package).collect();
        let keys: Vec<Key> = packages.iter().map(key).collect();
        // A dependency without a version is the first package of its name.
        let mut by_name: HashMap<&str, &Key> = HashMap::new();
        for key in &keys {
            by_name.entry(&key.0).or_insert(key);
        }
        let known: HashSet<&Key> = keys.iter().collect();
        let find = |dependency: &String| {
            let mut words = dependency.split(' ');
            let (name, version) = (words.next()?, words.next());
            let key = match version {
                Some(version) => *known.get(&(name.to_owned(), version.to_owned()))?,
                None => *by_name.get(name)?,
            };
            Some(key.clone())
        };
        let count = packages.len();
        let row = |package: LockedPackage| {
            let dependencies = package.dependencies.iter().filter_map(find).collect();
            (key(&package), (package, dependencies))
        };
        let mut read = Self(packages.into_iter().map(row).collect());
        read.redirect(&BTreeMap::new());
        (read.0.len() == count).then_some(read)
    }

    /// Replaces the sp-* crates and their dependencies by those of `sp_crates`.
    fn with(mut self, sp_crates: &Self) -> Self {
        let mut replacements = BTreeMap::new();
        let replaced = self.0.iter().filter(|entry| is_sp_crate(entry.1));
        let replaced: Vec<Key> = replaced.map(|entry| entry.0.clone()).collect();
        for old in replaced {
            self.0.remove(&old);
            let new = sp_crates.0.keys().find(|key| key.0 == old.0);
            replacements.extend(new.map(|new| (old, new.clone())));
        }
        for key in sp_crates.reachable(replacements.values().cloned().collect()) {
            let row = sp_crates.0[&key].clone();
            match self.compatible(&key).filter(|_| !is_sp_crate(&row)) {
                Some(existing) if existing == key => {
                    // A feature that was off may be on now and add dependencies.
                    if let Some((_, dependencies)) = self.0.get_mut(&key) {
                        dependencies.extend_from_slice(&row.1);
                    }
                    continue;
                }
                Some(existing) if parse_version(&existing.1) > parse_version(&key.1) => {
                    replacements.insert(key, existing);
                    continue;
                }
                Some(existing) => {
                    self.0.remove(&existing);
                    replacements.insert(existing, key.clone());
                }
                None => {}
            }
            self.0.insert(key, row);
        }
        self.redirect(&replacements);
        self.remove_unreachable();
        self
    }

    /// Returns the package that is semver-compatible with `wanted`.
    fn compatible(&self, wanted: &Key) -> Option<Key> {
        let range = |version: &str| {
            let (major, minor, patch) = parse_version(version)?;
            Some(match (major, minor) {
                (0, 0) => (0, 0, patch),
                (0, minor) => (0, minor, 0),
                (major, _) => (major, 0, 0),
            })
        };
        let range_of = range(&wanted.1)?;
        let matches = |key: &&Key| key.0 == wanted.0 && range(&key.1) == Some(range_of);
        self.0.keys().find(matches).cloned()
    }

    /// Replaces the dependencies that are keys of `replacements` by their values, and updates the text.
    fn redirect(&mut self, replacements: &BTreeMap<Key, Key>) {
        let known: BTreeSet<Key> = self.0.keys().cloned().collect();
        for (package, dependencies) in self.0.values_mut() {
            let keys = dependencies.iter();
            let keys = keys.map(|key| replacements.get(key).unwrap_or(key).clone());
            let mut keys: Vec<Key> = keys.filter(|key| known.contains(key)).collect();
            keys.sort();
            keys.dedup();
            package.dependencies = keys
                .iter()
                .map(|(name, version)| format!("{name} {version}"))
                .collect();
            *dependencies = keys;
        }
    }

    /// Removes packages that the author's packages do not need.
    fn remove_unreachable(&mut self) {
        let own = self
            .0
            .iter()
            .filter(|(_, row)| row.0.source.is_none() && !is_sp_crate(row));
        let reachable = self.reachable(own.map(|(key, _)| key.clone()).collect());
        self.0.retain(|key, _| reachable.contains(key));
    }

    /// Returns `from` with its direct and transitive dependencies.
    fn reachable(&self, from: Vec<Key>) -> BTreeSet<Key> {
        let (mut found, mut pending) = (BTreeSet::new(), from);
        while let Some(key) = pending.pop() {
            let row = self.0.get(&key);
            if row.is_some() && found.insert(key) {
                pending.extend(
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

fn key(package: &LockedPackage) -> Key {
    (package.name.clone(), package.version.clone())
}

fn is_sp_crate((package, _): &(LockedPackage, Vec<Key>)) -> bool {
    package.source.is_none() && vendor::crate_names().any(|name| name == package.name)
}

/// Parses `1.2.3`, with or without build metadata. Returns `None` for a pre-release.
fn parse_version(version: &str) -> Option<(u64, u64, u64)> {
    let core = version.split('+').next()?;
    let mut numbers = core.split('.').map(|part| part.parse::<u64>().ok());
    Some((numbers.next()??, numbers.next()??, numbers.next()??))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scaffold::lock::plugin_lock;

    const REGISTRY: &str = "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";

    fn fresh() -> String {
        plugin_lock("myaccel", &["sp-cpu".to_owned()])
    }

    fn package(name: &str, version: &str, rest: &str) -> String {
        format!("\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n{rest}")
    }

    fn changed(author_lock: &str) -> (String, Vec<String>) {
        match merge(author_lock).unwrap() {
            MergedLock::Changed { text, packages } => (text, packages),
            other => panic!("{other:?}"),
        }
    }

    /// Returns the version of the package `name` in a lock.
    fn version(lock: &str, name: &str) -> String {
        let head = format!("name = \"{name}\"\nversion = \"");
        let rest = lock.split(&head).nth(1);
        let rest = rest.unwrap_or_else(|| panic!("{name} in {lock}"));
        rest.split('"').next().unwrap().to_owned()
    }

    #[test]
    fn lock_of_new_is_unchanged() {
        assert_eq!(merge(&fresh()), Ok(MergedLock::Unchanged));
    }

    #[test]
    fn lock_whose_packages_cannot_be_kept_is_no_lock_that_is_up_to_date() {
        let numbered = fresh() + "\n[[package]]\nname = 5\nversion = \"1.0.0\"\n";
        assert_eq!(merge(&numbered), Err("a package has no name".to_owned()));
        let unversioned = fresh() + "\n[[package]]\nname = \"a\"\n";
        let reason = "the package `a` has no version".to_owned();
        assert_eq!(merge(&unversioned), Err(reason));
        let replaced = fresh() + &package("a", "1.0.0", "replace = \"b 1.0.0\"\n");
        let reason = "the package `a` has a key `replace`".to_owned();
        assert_eq!(merge(&replaced), Ok(MergedLock::Unsupported(reason)));
    }

    #[test]
    fn preserves_author_packages_and_adds_new_dependencies() {
        let own = package(
            "left-pad",
            "1.2.3",
            &format!("{REGISTRY}checksum = \"00\"\n"),
        );
        let fresh = fresh();
        let lost = fresh
            .split("\n[[package]]\n")
            .filter(|package| !package.starts_with("name = \"syn\""));
        let author_lock = lost.collect::<Vec<_>>().join("\n[[package]]\n");
        let author_lock = author_lock.replace(
            "dependencies = [\n \"sp-cpu\",",
            "dependencies = [\n \"left-pad\",\n \"sp-cpu\",",
        );
        let (text, packages) = changed(&format!("{author_lock}{own}"));
        assert!(
            text.contains("name = \"left-pad\"\nversion = \"1.2.3\"\n") && text.contains(REGISTRY)
        );
        let syn = version(&fresh, "syn");
        assert_eq!(packages, [format!("+syn {syn}")]);
        assert_eq!(version(&text, "syn"), syn);
        assert_eq!(merge(&text), Ok(MergedLock::Unchanged), "the second time");
    }

    #[test]
    fn preserves_newer_compatible_package_and_replaces_older_one() {
        let fresh = fresh();
        let syn = version(&fresh, "syn");
        let major = syn.split('.').next().unwrap();
        let named = |version: &str| format!("name = \"syn\"\nversion = \"{version}\"");
        let with = |version: &str| fresh.replace(&named(&syn), &named(version));
        let newer = format!("{major}.999.0");
        assert_eq!(merge(&with(&newer)), Ok(MergedLock::Unchanged));
        let older = format!("{major}.0.0");
        if older != syn {
            let (text, packages) = changed(&with(&older));
            assert_eq!(text, fresh);
            assert_eq!(packages, [format!("+syn {syn}"), format!("-syn {older}")]);
        }
    }

    #[test]
    fn removes_package_that_only_older_sp_crate_needed() {
        let fresh = fresh();
        let old = package(
            "once-needed",
            "0.3.0",
            &format!("{REGISTRY}checksum = \"00\"\n"),
        );
        let head = "name = \"sp-runtime\"\nversion = \"0.1.0\"\ndependencies = [\n";
        assert!(fresh.contains(head));
        let author_lock = fresh.replace(head, &format!("{head} \"once-needed\",\n"));
        let (text, packages) = changed(&format!("{author_lock}{old}"));
        assert_eq!(packages, ["-once-needed 0.3.0"]);
        assert_eq!(text, fresh);
    }

    #[test]
    fn states_version_of_packages_with_equal_names() {
        let fresh = fresh();
        let second = package("syn", "1.0.0", &format!("{REGISTRY}checksum = \"00\"\n"));
        let author_lock = fresh.replace(
            "dependencies = [\n \"sp-cpu\",",
            "dependencies = [\n \"sp-cpu\",\n \"syn 1.0.0\",",
        );
        let syn = version(&fresh, "syn");
        let author_lock = author_lock.replace("\n \"syn\",", &format!("\n \"syn {syn}\","));
        let expected = Ok(MergedLock::Unchanged);
        assert_eq!(merge(&format!("{author_lock}{second}")), expected);
    }

    #[test]
    fn lock_of_many_packages_is_merged_in_linear_time() {
        let count = 10_000;
        let own = (0..count).map(|index| {
            let dependencies =
                (1..=20).map(|step| format!(" \"own-{}\",\n", (index + step) % count));
            let dependencies: String = dependencies.collect();
            let rest = format!("dependencies = [\n{dependencies}]\n");
            package(&format!("own-{index}"), "0.1.0", &rest)
        });
        let author_lock = format!("{}{}", fresh(), own.collect::<String>());
        let old_cpu = "name = \"sp-cpu\"\nversion = \"";
        let author_lock = author_lock.replace(old_cpu, &format!("{old_cpu}9"));
        let start = std::time::Instant::now();
        let (text, packages) = changed(&author_lock);
        assert!(
            text.contains("own-9999") && packages.len() == 2,
            "{packages:?}"
        );
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    }

    #[test]
    fn preserves_unsupported_lock_and_rejects_invalid_one() {
        let patched = format!(
            "{}\n[[patch.unused]]\nname = \"x\"\nversion = \"1.0.0\"\n",
            fresh()
        );
        assert!(
            matches!(merge(&patched), Ok(MergedLock::Unsupported(reason)) if reason.contains("patch"))
        );
        assert!(merge("<<<<<<< ours").is_err());
    }
}
