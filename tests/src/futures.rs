//! Made-up releases after the newest: what TensorFlow may change, and what a plugin must do there.
//!
//! One table serves the plugins in Rust, which read the host's headers, and those in C, which know
//! struct sizes only.

use std::fs;
use std::io;
use std::path::Path;

use sp_ir::{Api, Field, Item, Presence, Signature, Stated, Struct, Type};

use crate::c_declarations::header;
use crate::snapshots;

/// A made-up release.
#[derive(Debug)]
pub struct Future {
    /// The change, as a test's name.
    pub name: &'static str,
    /// The release that it states; empty if the process does not export `TF_Version`.
    pub release: &'static str,
    /// The changes to the structs of the newest release.
    pub changes: &'static [Change],
    /// The files beside the libraries.
    pub headers: Headers,
    /// The behavior of a plugin in Rust.
    pub rust: Expected,
    /// The behavior of a plugin in C.
    pub c: Expected,
}

/// A change of one struct.
#[derive(Debug)]
pub enum Change {
    /// An optional slot at the end.
    AppendOptional(&'static str),
    /// A required slot at the end.
    AppendRequired(&'static str),
    /// A data member at the end.
    AppendData(&'static str),
    /// An optional slot before the field.
    Insert(&'static str, &'static str),
    /// The field is gone.
    Remove(&'static str, &'static str),
    /// The fields change places.
    Swap(&'static str, &'static str, &'static str),
    /// The field has one parameter more.
    AddParameter(&'static str, &'static str),
    /// The enumerator has another value.
    Revalue(&'static str, &'static str, i64),
}

/// The headers and messages of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Headers {
    /// Headers of this release, messages of its required fields.
    True,
    /// Headers of this release, and a library without messages.
    WithoutMessages,
    /// No headers.
    Absent,
    /// The headers of the release before the changes.
    Outdated,
    /// Headers that end within the first struct.
    Truncated,
}

/// The behavior of a plugin.
#[derive(Debug)]
pub enum Expected {
    /// It computes, and writes no line.
    Runs,
    /// It computes, and writes one line with these words.
    RunsAndReports(&'static str),
    /// It has no devices, and writes one line with these words.
    Declines(&'static str),
    /// It does not notice the change, which sizes do not show, and must not be run.
    Unnoticed,
}

use Change::*;
use Expected::*;

const EXECUTOR: &str = "SP_StreamExecutor";
const SIZES_ONLY: &str = "structs are accepted by their sizes";
const LONGER_EXECUTOR: &str = "SP_StreamExecutor is ";

/// The table.
pub const FUTURES: &[Future] = &[
    Future {
        name: "nothing_changed",
        release: "2.30",
        changes: &[],
        headers: Headers::True,
        rust: Runs,
        c: RunsAndReports(SIZES_ONLY),
    },
    Future {
        name: "nothing_changed_without_headers",
        release: "2.31",
        changes: &[],
        headers: Headers::Absent,
        rust: RunsAndReports(SIZES_ONLY),
        c: RunsAndReports(SIZES_ONLY),
    },
    Future {
        name: "optional_slot_appended",
        release: "2.32",
        changes: &[AppendOptional(EXECUTOR)],
        headers: Headers::True,
        rust: Runs,
        c: Declines(LONGER_EXECUTOR),
    },
    Future {
        name: "optional_slot_appended_without_messages",
        release: "2.33",
        changes: &[AppendOptional(EXECUTOR)],
        headers: Headers::WithoutMessages,
        rust: Declines(
            "SP_StreamExecutor.newcomer is new, and its libraries have no validation messages",
        ),
        c: Declines(LONGER_EXECUTOR),
    },
    Future {
        name: "optional_slot_appended_without_headers",
        release: "2.34",
        changes: &[AppendOptional(EXECUTOR)],
        headers: Headers::Absent,
        // The line that sizes decide comes first.
        rust: Declines(LONGER_EXECUTOR),
        c: Declines(LONGER_EXECUTOR),
    },
    Future {
        name: "required_slot_appended",
        release: "2.35",
        changes: &[AppendRequired(EXECUTOR)],
        headers: Headers::True,
        rust: Declines("it requires SP_StreamExecutor.newcomer"),
        c: Declines(LONGER_EXECUTOR),
    },
    Future {
        name: "data_appended",
        release: "2.36",
        changes: &[AppendData("SP_Platform"), AppendData("SP_DeviceMemoryBase")],
        headers: Headers::WithoutMessages,
        rust: Runs,
        c: Declines("SP_Platform is 48 bytes, expected 34 or 35"),
    },
    Future {
        name: "optional_slot_inserted",
        release: "2.37",
        changes: &[Insert(EXECUTOR, "create_stream")],
        headers: Headers::True,
        rust: Runs,
        c: Declines(LONGER_EXECUTOR),
    },
    Future {
        name: "slots_reordered",
        release: "2.38",
        changes: &[
            Swap(EXECUTOR, "allocate", "host_callback"),
            Swap("SP_PlatformFns", "get_device_count", "destroy_device_fns"),
            Swap("SE_PlatformRegistrationParams", "platform", "platform_fns"),
        ],
        headers: Headers::True,
        rust: Runs,
        c: Unnoticed,
    },
    Future {
        name: "slot_retyped",
        release: "2.39",
        changes: &[AddParameter(EXECUTOR, "memcpy_dtoh")],
        headers: Headers::True,
        rust: Declines("SP_StreamExecutor.memcpy_dtoh is `"),
        c: Unnoticed,
    },
    Future {
        name: "required_slot_removed",
        release: "2.40",
        changes: &[Remove(EXECUTOR, "create_event")],
        headers: Headers::True,
        rust: Declines("SP_StreamExecutor.create_event is absent"),
        c: Unnoticed,
    },
    Future {
        name: "optional_slot_removed",
        release: "2.41",
        changes: &[Remove(EXECUTOR, "block_host_until_done")],
        headers: Headers::True,
        rust: Runs,
        c: Unnoticed,
    },
    Future {
        name: "slot_removed_and_another_appended",
        release: "2.42",
        changes: &[
            Remove(EXECUTOR, "block_host_until_done"),
            AppendOptional(EXECUTOR),
        ],
        headers: Headers::True,
        rust: Runs,
        c: Unnoticed,
    },
    Future {
        name: "enumerator_revalued",
        release: "2.44",
        changes: &[Revalue("SE_EventStatus", "SE_EVENT_COMPLETE", 7)],
        headers: Headers::True,
        rust: Declines("the declaration of SE_EventStatus has changed"),
        c: Unnoticed,
    },
    Future {
        name: "header_that_states_other_sizes",
        release: "2.45",
        changes: &[AppendData("SP_Platform")],
        headers: Headers::Outdated,
        rust: Declines("SP_Platform is 48 bytes, and its headers declare 35"),
        c: Declines("SP_Platform is 48 bytes"),
    },
    Future {
        name: "registration_structs_longer_without_headers",
        release: "2.47",
        changes: &[
            AppendData("SE_CreateStreamExecutorParams"),
            AppendData("SE_CreateDeviceFnsParams"),
        ],
        headers: Headers::Absent,
        // The views of the tables are found at fixed offsets, and the tables themselves are known.
        rust: RunsAndReports(SIZES_ONLY),
        c: RunsAndReports(SIZES_ONLY),
    },
    Future {
        name: "header_truncated",
        release: "2.46",
        changes: &[],
        headers: Headers::Truncated,
        rust: Declines("its headers could not be read"),
        c: RunsAndReports(SIZES_ONLY),
    },
    Future {
        name: "release_not_stated",
        release: "",
        changes: &[],
        headers: Headers::True,
        rust: Runs,
        c: Runs,
    },
];

impl Future {
    /// Returns the future called `name`.
    ///
    /// # Panics
    /// Panics if there is none.
    pub fn named(name: &str) -> &'static Self {
        let found = FUTURES.iter().find(|it| it.name == name);
        found.unwrap_or_else(|| panic!("no future is called {name}"))
    }

    /// Returns the APIs of this release.
    pub fn apis(&self) -> Vec<Api> {
        let mut apis = base();
        for api in &mut apis {
            self.release.clone_into(&mut api.release);
            api.preview = None;
        }
        for change in self.changes {
            let (name, apply) = change.parts();
            let item = apis.iter_mut().find_map(|api| api.items.get_mut(name));
            apply(item.expect("the newest release has it"), change);
        }
        apis
    }

    /// Writes the headers below `folder`, as an installation has them.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn write_headers(&self, folder: &Path) -> io::Result<()> {
        let apis = match self.headers {
            Headers::Absent => return Ok(()),
            Headers::Outdated => base(),
            _ => self.apis(),
        };
        for api in apis.iter().filter(|api| !api.items.is_empty()) {
            let mut text = header(api);
            if self.headers == Headers::Truncated {
                let end = text.find("typedef struct SE_").unwrap_or(text.len() / 2);
                text.truncate(end + 60);
            }
            let file = &api.items.values().next().expect("it has items").loc().file;
            let path = folder.join("include").join(&**file);
            fs::create_dir_all(path.parent().expect("a file has a folder"))?;
            fs::write(path, text)?;
        }
        Ok(())
    }
}

/// Returns the APIs of the newest release that is committed.
fn base() -> Vec<Api> {
    let folder = crate::root().join("generated/ir/stream_executor");
    let files = fs::read_dir(folder).expect("generated/ir is committed");
    let minors = files.filter_map(|file| {
        let name = file.ok()?.file_name().into_string().ok()?;
        name.strip_prefix("2.")?
            .strip_suffix(".json")?
            .parse::<u32>()
            .ok()
    });
    let newest = minors.max().expect("there are snapshots");
    snapshots(&format!("2.{newest}"))
}

type Apply = fn(&mut Item, &Change);

impl Change {
    /// Returns the name of the item that is changed, and the function that changes it.
    fn parts(&self) -> (&'static str, Apply) {
        let name = match self {
            AppendOptional(name) | AppendRequired(name) => name,
            AppendData(name) => name,
            Insert(name, _) | Remove(name, _) | AddParameter(name, _) => name,
            Swap(name, ..) => name,
            Revalue(name, ..) => return (name, revalue),
        };
        (name, change_struct)
    }
}

fn revalue(item: &mut Item, change: &Change) {
    let (Item::Enum(item), Revalue(_, name, value)) = (item, change) else {
        panic!("{change:?} is of another item");
    };
    let variant = item.variants.iter_mut().find(|it| it.name == *name);
    variant.expect("it has the enumerator").value = *value;
}

fn change_struct(item: &mut Item, change: &Change) {
    let Item::Struct(item) = item else {
        panic!("{change:?} is of another item");
    };
    match change {
        AppendOptional(_) => item.fields.push(slot(item, Presence::Optional)),
        AppendRequired(_) => item.fields.push(slot(item, Presence::Required)),
        AppendData(_) => item.fields.push(data(item)),
        Insert(_, before) => {
            let at = position(item, before);
            item.fields.insert(at, slot(item, Presence::Optional));
        }
        Remove(_, field) => drop(item.fields.remove(position(item, field))),
        Swap(_, one, other) => {
            let (one, other) = (position(item, one), position(item, other));
            item.fields.swap(one, other);
        }
        AddParameter(_, field) => {
            let at = position(item, field);
            let Type::Function(signature) = &mut item.fields[at].ty else {
                panic!("{field} is no slot");
            };
            let first = signature.params[0].clone();
            signature.params.push(first);
        }
        Revalue(..) => {}
    }
    lay_out(item);
}

fn position(item: &Struct, name: &str) -> usize {
    let found = item.fields.iter().position(|it| it.name == name);
    found.unwrap_or_else(|| panic!("there is no field {name}"))
}

/// Returns a member like `ext`, without facts of its own.
fn data(item: &Struct) -> Field {
    let ext = item.fields.iter().find(|it| it.name == "ext");
    Field {
        name: "newcomer".into(),
        ..ext.expect("every struct has one").clone()
    }
}

fn slot(item: &Struct, presence: Presence) -> Field {
    let mut slot = data(item);
    slot.ty = Type::Function(Box::new(Signature {
        params: Vec::new(),
        ret: Type::Void,
        ret_transfer: None,
    }));
    if let Some(stated) = slot.presence.take() {
        slot.presence = Some(Stated {
            value: presence,
            ..stated
        });
    }
    slot
}

/// Computes offsets and sizes anew, as C does for members that are aligned to their size.
fn lay_out(item: &mut Struct) {
    let mut end = 0;
    for field in &mut item.fields {
        field.offset = u64::next_multiple_of(end, field.size);
        end = field.offset + field.size;
    }
    item.layout.size = end.next_multiple_of(item.layout.align);
    if let Some(size) = &mut item.struct_size {
        size.value = end;
    }
}
