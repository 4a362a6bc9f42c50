//! A proposal's declarations, and the snapshots of the releases.

use std::path::Path;

use sp_diff::Surface;
use sp_ir::Api;
use sp_parse::contract::ExcludedHeaders;
use sp_parse::contract::{KnownNames, Notes};
use sp_parse::extract::{Extracted, Job, TARGETS, extract_with};

use crate::root;

/// Facts about a proposal that its declarations do not show.
pub struct About {
    /// The folder in `tests/rfc`.
    pub folder: &'static str,
    pub title: &'static str,
    /// The API that it proposes.
    pub api: &'static str,
    /// The first release that has the API.
    pub first: &'static str,
    /// True if the proposal only has examples: a struct may have more members than they name.
    pub is_partial: bool,
    /// Names of types and slots, and the names under which they shipped.
    pub renames: &'static [(&'static str, &'static str)],
}

impl About {
    /// Returns the number of the RFC.
    pub fn number(&self) -> &str {
        self.folder.split('-').next().unwrap_or_default()
    }

    /// Returns the proposed name of what shipped as `name`.
    pub fn proposed_name<'a>(&self, name: &'a str) -> &'a str {
        let mut renames = self.renames.iter();
        renames
            .find(|(_, shipped)| *shipped == name)
            .map_or(name, |(proposed, _)| proposed)
    }
}

/// The names of the text of June 2020.
const OF_JUNE: &[(&str, &str)] = &[
    ("SE_AllocatorStats", "SP_AllocatorStats"),
    ("SE_Device", "SP_Device"),
    ("SE_DeviceMemoryBase", "SP_DeviceMemoryBase"),
    ("SE_Event", "SP_Event"),
    ("SE_Platform", "SP_Platform"),
    ("SE_Stream", "SP_Stream"),
    ("SE_StreamExecutor", "SP_StreamExecutor"),
    ("SE_Timer", "SP_Timer"),
    ("SE_TimerFns", "SP_TimerFns"),
    ("TF_StatusCallbackFn", "SE_StatusCallbackFn"),
    ("get_status", "get_stream_status"),
    ("memcpy_from_host", "memcpy_htod"),
    ("memcpy_to_host", "memcpy_dtoh"),
    ("poll_for_event_status", "get_event_status"),
];

pub const ALL: &[About] = &[
    About {
        folder: "257",
        title: "StreamExecutor C API",
        api: "stream_executor",
        first: "2.4",
        is_partial: false,
        renames: &[],
    },
    About {
        folder: "262",
        title: "Pluggable device for TensorFlow",
        api: "stream_executor",
        first: "2.4",
        is_partial: true,
        renames: &[],
    },
    About {
        folder: "389",
        title: "Modular TensorFlow profiler C API",
        api: "pluggable_profiler",
        first: "2.7",
        is_partial: false,
        renames: &[],
    },
    About {
        folder: "257-june",
        title: "StreamExecutor C API, text of June 2020",
        api: "stream_executor",
        first: "2.4",
        is_partial: false,
        renames: OF_JUNE,
    },
];

pub struct Proposal {
    pub about: &'static About,
    proposed: Vec<Api>,
    /// The snapshots of every release, oldest first.
    pub releases: Vec<(String, Vec<Api>)>,
}

impl Proposal {
    /// Reads the declarations with the notes of the first release.
    pub fn read(about: &'static About) -> Self {
        let include = root().join(format!("tests/rfc/{}/include", about.folder));
        let releases = releases(&root().join("generated/ir"));
        let first = releases.iter().find(|(release, _)| release == about.first);
        let known = KnownNames::AtHand(first.unwrap().1.clone());
        let notes = Notes::all().unwrap();
        let excluded = ExcludedHeaders::default();
        let job = Job {
            notes: &notes,
            excluded: &excluded,
            known: &known,
            include_root: &include,
            release: about.first,
            only: &[],
        };
        let read = extract_with(&job, TARGETS[0]).and_then(Extracted::into_apis);
        let read = read.map(|apis| rename(&apis, about.renames));
        Self {
            about,
            proposed: read.unwrap_or_else(|error| panic!("RFC {}: {error:?}", about.folder)),
            releases,
        }
    }

    pub fn api(&self) -> &Api {
        let mut apis = self.proposed.iter();
        apis.find(|api| api.name == self.about.api).unwrap()
    }

    /// Returns the proposed API. Its declarations were read for one target only.
    pub fn surface(&self) -> Surface {
        Surface {
            label: format!("RFC {}", self.about.folder),
            target: Some(TARGETS[0].into()),
            ..self.side(&self.proposed)
        }
    }

    /// Returns the same API of a release.
    pub fn release(&self, release: &str) -> Surface {
        Surface {
            label: release.into(),
            ..self.side(self.apis(release))
        }
    }

    pub fn apis(&self, release: &str) -> &[Api] {
        let found = self.releases.iter().find(|(one, _)| one == release);
        &found.unwrap().1
    }

    fn side(&self, apis: &[Api]) -> Surface {
        let apis = apis.iter().filter(|api| api.name == self.about.api);
        Surface {
            apis: apis.cloned().collect(),
            ..Surface::default()
        }
    }
}

/// Returns the declarations with the names under which they shipped.
fn rename(apis: &[Api], renames: &[(&str, &str)]) -> Vec<Api> {
    let text = serde_json::to_string(apis).unwrap();
    let is_part_of_name = |one: char| one.is_ascii_alphanumeric() || one == '_';
    let names = text.split_inclusive(|one| !is_part_of_name(one));
    let renamed = names.map(|part| {
        let name = part.trim_end_matches(|one| !is_part_of_name(one));
        let shipped = renames.iter().find(|(proposed, _)| *proposed == name);
        shipped.map_or(part.to_owned(), |(_, to)| part.replace(name, to))
    });
    serde_json::from_str(&renamed.collect::<String>()).unwrap()
}

fn releases(folder: &Path) -> Vec<(String, Vec<Api>)> {
    let mut found: Vec<(String, Vec<Api>)> = Vec::new();
    let mut apis = sp_data::snapshots::read_folder(folder, None).unwrap();
    let number = |api: &Api| -> u32 { api.release[2..].parse().unwrap() };
    apis.sort_by_key(number);
    for api in apis {
        let label = match api.preview {
            Some(_) => format!("{} (preview)", api.release),
            None => api.release.clone(),
        };
        match found.last_mut().filter(|(release, _)| *release == label) {
            Some((_, apis)) => apis.push(api),
            None => found.push((label, vec![api])),
        }
    }
    found
}
