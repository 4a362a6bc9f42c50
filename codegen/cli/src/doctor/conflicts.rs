//! Libraries that one process loads and that share a file, a file name, a platform name or a device type.

use super::answer::{Counts, Survey};
use super::{Step, StepKind};
use crate::scaffold::name::CORE_DEVICES;
use sp_host::CORE_PLATFORMS;
use sp_system::input::{self, MAX_LIBRARY_BYTES};
use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::path::Path;

/// The part of TensorFlow's message about a second platform of one name.
pub const PLATFORM_MESSAGE: &str = "platform is already registered with name";

/// The part of TensorFlow's message about a second plugin with one device type.
const TYPE_MESSAGE: &str = "Duplicate registration of device factory";

/// A plugin that has devices if it is loaded alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkingPlugin {
    /// Its path.
    pub path: String,
    /// The types of its devices.
    pub device_types: BTreeSet<String>,
    /// The name of its platform, if it states it.
    pub platform: Option<String>,
}

/// Returns the steps of files that are copies of another one, or have its file name.
pub fn steps_of_files(survey: &Survey) -> Vec<Step> {
    let copies = copies(survey);
    let copied = copies.iter().map(|[first, second]| {
        let detail = format!("{second} is the same plugin as {first}: TensorFlow loads both");
        Step::failed(StepKind::Folder, &detail, "remove one of them")
    });
    let is_copy = |path: &str| copies.iter().any(|[_, second]| second == path);
    let named_alike = file_name_pairs(survey).into_iter();
    let named_alike = named_alike.filter(|[_, second]| !is_copy(second));
    let named_alike = named_alike.map(|[first, second]| {
        let detail = format!(
            "{second} has the file name of {first}: TensorFlow loads both, and ends the process if they are versions of one \
             plugin, which have one platform name"
        );
        Step::unknown(StepKind::Folder, &detail, "remove one of them: `pip uninstall` its package, or unset TF_PLUGGABLE_DEVICE_LIBRARY_PATH")
    });
    copied.chain(named_alike).collect()
}

fn libraries(survey: &Survey) -> impl Iterator<Item = &str> {
    let files = survey.folders().flat_map(|folder| &folder.files);
    files.filter(|it| it.is_library).map(|it| it.path.as_str())
}

/// Returns the libraries that have the file name of an earlier one, each after that one.
fn file_name_pairs(survey: &Survey) -> Vec<[&str; 2]> {
    let mut first = BTreeMap::new();
    let mut pairs = Vec::new();
    for path in libraries(survey) {
        match first.entry(Path::new(path).file_name()) {
            Entry::Occupied(known) => pairs.push([*known.get(), path]),
            Entry::Vacant(entry) => drop(entry.insert(path)),
        }
    }
    pairs
}

/// Returns the pairs of libraries that have the same content, or are one file under two names.
fn copies(survey: &Survey) -> Vec<[String; 2]> {
    let mut by_length: BTreeMap<u64, Vec<&str>> = BTreeMap::new();
    for path in libraries(survey) {
        if let Ok(metadata) = Path::new(path).metadata() {
            by_length.entry(metadata.len()).or_default().push(path);
        }
    }
    let mut copies = Vec::new();
    // Only files of one length can be equal; the others are not read.
    for paths in by_length.into_values().filter(|paths| paths.len() > 1) {
        let mut first: BTreeMap<[u8; 32], &str> = BTreeMap::new();
        for path in paths {
            let Ok(hash) = input::sha256(Path::new(path), MAX_LIBRARY_BYTES) else {
                continue;
            };
            match first.get(&hash) {
                Some(known) => copies.push([(*known).to_owned(), path.to_owned()]),
                None => drop(first.insert(hash, path)),
            }
        }
    }
    copies
}

/// Returns the step of a plugin that states a name of TensorFlow's own platforms or devices.
pub fn step_of_core(counts: &Counts) -> Option<Step> {
    let kind = StepKind::Names;
    let (platform, device_type) = counts.names.as_deref()?.split_once(' ')?;
    if CORE_DEVICES.contains(&device_type) {
        let detail = format!(
            "its device type {device_type} is TensorFlow's own: an op for which both have a kernel is an error"
        );
        let advice = "build it with another device type (`sp-gen new --device-type`)";
        return Some(Step::failed(kind, &detail, advice));
    }
    CORE_PLATFORMS.contains(&platform).then(|| {
        let detail = format!(
            "its platform has the name {platform} of one of TensorFlow's own, which ends the process in a build that has it"
        );
        Step::unknown(kind, &detail, "build it with another name (`sp-gen new --platform-name`)")
    })
}

/// Returns a step for each name that several plugins have.
pub fn steps_of_names(plugins: &[WorkingPlugin]) -> Vec<Step> {
    let platforms = shared_names(plugins, |it| &it.platform).map(|(name, paths)| {
        let subject = format!("the platform name {name}");
        step_of_name(&subject, PLATFORM_MESSAGE, "--platform-name", &paths)
    });
    let types = shared_names(plugins, |it| &it.device_types).map(|(name, paths)| {
        let subject = format!("the device type {name}");
        step_of_name(&subject, TYPE_MESSAGE, "--device-type", &paths)
    });
    platforms.chain(types).collect()
}

/// Returns the names that several plugins have, with the paths of these.
fn shared_names<'a, Names: IntoIterator<Item = &'a String>>(
    plugins: &'a [WorkingPlugin],
    names: impl Fn(&'a WorkingPlugin) -> Names,
) -> impl Iterator<Item = (&'a str, Vec<&'a str>)> {
    let mut paths: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for plugin in plugins {
        for name in names(plugin) {
            paths.entry(name).or_default().push(&plugin.path);
        }
    }
    paths.into_iter().filter(|(_, paths)| paths.len() > 1)
}

/// Returns the paths of the plugins whose files contain the name of the platform that TensorFlow's message states as
/// registered twice; all paths if the message is another one, or if not several files contain the name.
pub fn paths_of_platform<'a>(message: &str, plugins: &'a [WorkingPlugin]) -> Vec<&'a str> {
    let all: Vec<&str> = plugins.iter().map(|it| it.path.as_str()).collect();
    let quoted = message.split_once(PLATFORM_MESSAGE);
    let Some(name) = quoted.and_then(|(_, rest)| rest.split('"').nth(1)) else {
        return all;
    };
    let mut named = all.clone();
    named.retain(|path| contains_text(Path::new(path), name));
    if named.len() > 1 { named } else { all }
}

/// Returns true if the file contains the text as a string of C.
fn contains_text(path: &Path, text: &str) -> bool {
    let text = format!("{text}\0");
    let bytes = input::read(path, MAX_LIBRARY_BYTES).unwrap_or_default();
    bytes.windows(text.len()).any(|it| it == text.as_bytes())
}

/// Returns the step of a name; `message` is that of TensorFlow, `option` sets the name in `sp-gen new`.
fn step_of_name(subject: &str, message: &str, option: &str, paths: &[&str]) -> Step {
    let detail = format!(
        "{} have {subject}. TensorFlow ends a process that loads them (`{message}`); of two plugins of sp-gen the later one \
         has no devices instead",
        paths.join(" and ")
    );
    let advice = format!(
        "remove all but one, or build the others with another name (`sp-gen new {option}`)"
    );
    Step::failed(StepKind::Names, &detail, &advice)
}

#[cfg(test)]
impl WorkingPlugin {
    /// Returns a plugin with one type of devices.
    pub fn new(path: &str, platform: Option<&str>, device_type: &str) -> Self {
        Self {
            path: path.to_owned(),
            device_types: BTreeSet::from([device_type.to_owned()]),
            platform: platform.map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::StepVerdict::{Failed, Unknown};
    use crate::doctor::answer::PluginFolder;

    #[test]
    fn libraries_of_one_file_name_in_two_folders_are_both_named() {
        let root = tempfile::tempdir().unwrap();
        let folder = |name, files: &[_]| PluginFolder::new(&root.path().join(name), files);
        let survey = Survey {
            plugins: vec![
                folder("user", &[("liba.so", "old"), ("libb.so", "b")]),
                folder("venv", &[("liba.so", "new"), ("libc.so", "b")]),
            ],
            named: Some(folder("named", &[("libb.so", "b"), ("libc.so", "c")])),
            ..Survey::default()
        };
        let prefix = format!("{}/", root.path().display());
        let detail = |step: &Step| step.detail.replace(&prefix, "");
        let start = |step: &Step| detail(step).split(": ").next().unwrap().to_owned();
        let steps = steps_of_files(&survey);
        let found: Vec<_> = steps.iter().map(|it| (it.verdict, start(it))).collect();
        let expected = [
            (Failed, "venv/libc.so is the same plugin as user/libb.so"),
            (Failed, "named/libb.so is the same plugin as user/libb.so"),
            (Unknown, "venv/liba.so has the file name of user/liba.so"),
            (Unknown, "named/libc.so has the file name of venv/libc.so"),
        ];
        assert_eq!(found, expected.map(|(it, text)| (it, text.to_owned())));
    }

    #[test]
    fn plugins_of_one_platform_name_or_device_type_are_named() {
        let plugins = [
            ("a.so", Some("P"), "NPU"),
            ("b.so", Some("Q"), "NPU"),
            ("c.so", Some("P"), "GPU"),
            ("d.so", None, "X"),
            ("e.so", None, "Y"),
        ];
        let steps =
            steps_of_names(&plugins.map(|(path, name, ty)| WorkingPlugin::new(path, name, ty)));
        let found = steps.iter().map(|it| it.detail.split(". ").next().unwrap());
        let found: Vec<_> = found.collect();
        let expected = [
            "a.so and c.so have the platform name P",
            "a.so and b.so have the device type NPU",
        ];
        assert_eq!(found, expected);
        for (step, message, option) in [
            (&steps[0], PLATFORM_MESSAGE, "--platform-name"),
            (&steps[1], TYPE_MESSAGE, "--device-type"),
        ] {
            assert!(step.detail.contains(message) && step.advice.contains(option));
        }
    }

    #[test]
    fn message_about_a_platform_names_the_files_that_contain_it() {
        let root = tempfile::tempdir().unwrap();
        let files = [
            ("a.so", "\0NPU\0"),
            ("b.so", "NPU_TWO\0"),
            ("c.so", "\0NPU\0y"),
        ];
        let files = PluginFolder::new(root.path(), &files).files.into_iter();
        let plugins: Vec<_> = files
            .map(|it| WorkingPlugin::new(&it.path, None, "X"))
            .collect();
        let found = |name: &str| {
            let message = format!("INTERNAL: {PLATFORM_MESSAGE}: \"{name}\"");
            paths_of_platform(&message, &plugins)
        };
        assert_eq!(found("NPU"), [&*plugins[0].path, &*plugins[2].path]);
        assert_eq!(found("NPU_TWO").len(), 3, "one file contains it");
        assert_eq!(paths_of_platform("terminated", &plugins).len(), 3);
    }

    #[test]
    fn names_of_tensorflow_are_a_step_of_the_plugin() {
        let verdict = |names: Option<&str>| {
            let names = names.map(str::to_owned);
            let step = step_of_core(&Counts {
                names,
                ..Counts::default()
            });
            step.map(|it| (it.step, it.verdict))
        };
        let expected = |verdict| Some((StepKind::Names, verdict));
        assert_eq!(verdict(Some("MYACCEL CPU")), expected(Failed));
        assert_eq!(verdict(Some("CUDA NPU")), expected(Unknown));
        assert_eq!(
            [Some("MYACCEL GPU"), Some(""), None].map(verdict),
            [None; 3]
        );
    }
}
