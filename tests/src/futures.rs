//! Hypothetical releases after the newest one, and the behavior that a plugin must have in each.
//!
//! Plugins in Rust read the host's headers; plugins in C compare struct sizes only. One table has the
//! expected behavior of both.

use std::fs;
use std::io;
use std::path::Path;

use sp_ir::{Api, Field, Item, Presence, Signature, Stated, Struct, Type};

use crate::c_declarations::header;
use crate::snapshots;

/// A hypothetical release.
#[derive(Debug)]
pub struct Future {
    /// The change, in the form of a test's name.
    pub name: &'static str,
    /// The release that the host states; empty if the process does not export `TF_Version`.
    pub release: &'static str,
    /// The changes to the structs of the newest release.
    pub changes: &'static [Change],
    /// The headers and validation messages of the installation.
    pub headers: Headers,
    /// The behavior of a plugin in Rust.
    pub rust: Expected,
    /// The behavior of a plugin in C.
    pub c: Expected,
}

/// A change of one struct.
#[derive(Debug)]
pub enum Change {
    /// Appends an optional slot.
    AppendOptional(&'static str),
    /// Appends a required slot.
    AppendRequired(&'static str),
    /// Appends a data member.
    AppendData(&'static str),
    /// Inserts an optional slot before the field.
    Insert(&'static str, &'static str),
    /// Removes the field.
    Remove(&'static str, &'static str),
    /// Swaps the fields.
    Swap(&'static str, &'static str, &'static str),
    /// Adds a parameter to the slot.
    AddParameter(&'static str, &'static str),
    /// Changes the enumerator's value.
    Revalue(&'static str, &'static str, i64),
}

/// The headers and messages of an installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Headers {
    /// Headers of this release, and a library with the validation messages of its required fields.
    Matching,
    /// Headers of this release, and a library without validation messages.
    WithoutMessages,
    /// No headers.
    Absent,
    /// Headers without the changes.
    Outdated,
    /// Headers that end within the first struct.
    Truncated,
    /// Headers outside of the folder for experiments.
    Moved,
    /// Headers as in `Moved`, and at each former path one that includes the header at its new path.
    Forwarded,
}

/// The behavior of a plugin.
#[derive(Debug)]
pub enum Expected {
    /// The plugin computes, and prints no line.
    Runs,
    /// The plugin computes, and prints one line that contains this text.
    RunsAndReports(&'static str),
    /// The plugin reports no devices, and prints one line that contains this text.
    Declines(&'static str),
    /// The plugin cannot detect the change, since no struct size differs. It must not be run.
    Unnoticed,
}

use Change::*;
use Expected::*;

const EXECUTOR: &str = "SP_StreamExecutor";
const SIZES_ONLY: &str = "structs are accepted by their sizes";
const LONGER_EXECUTOR: &str = "SP_StreamExecutor is ";

/// Defines the list: `name: release, headers, [changes] => expected of a plugin in Rust, and of one in C`.
macro_rules! futures {
    ($($name:ident: $release:literal, $headers:ident, [$($change:expr),*] => $rust:expr, $c:expr;)*) => {
        /// All hypothetical releases.
        pub const FUTURES: &[Future] = &[$(Future {
            name: stringify!($name),
            release: $release,
            changes: &[$($change),*],
            headers: Headers::$headers,
            rust: $rust,
            c: $c,
        },)*];
    };
}

futures! {
    nothing_changed: "2.30", Matching, [] => Runs, RunsAndReports(SIZES_ONLY);
    nothing_changed_without_headers: "2.31", Absent, [] => RunsAndReports(SIZES_ONLY), RunsAndReports(SIZES_ONLY);
    optional_slot_appended: "2.32", Matching, [AppendOptional(EXECUTOR)] => Runs, Declines(LONGER_EXECUTOR);
    optional_slot_appended_without_messages: "2.33", WithoutMessages, [AppendOptional(EXECUTOR)]
        => Declines("SP_StreamExecutor.new_field is new, and its libraries have no validation messages"),
            Declines(LONGER_EXECUTOR);
    // The size is compared before the headers are read.
    optional_slot_appended_without_headers: "2.34", Absent, [AppendOptional(EXECUTOR)]
        => Declines(LONGER_EXECUTOR), Declines(LONGER_EXECUTOR);
    required_slot_appended: "2.35", Matching, [AppendRequired(EXECUTOR)]
        => Declines("it requires SP_StreamExecutor.new_field"), Declines(LONGER_EXECUTOR);
    data_appended: "2.36", WithoutMessages, [AppendData("SP_Platform"), AppendData("SP_DeviceMemoryBase")]
        => Runs, Declines("SP_Platform is 48 bytes, expected 34 or 35");
    optional_slot_inserted: "2.37", Matching, [Insert(EXECUTOR, "create_stream")] => Runs, Declines(LONGER_EXECUTOR);
    slots_reordered: "2.38", Matching, [
        Swap(EXECUTOR, "allocate", "host_callback"),
        Swap("SP_PlatformFns", "get_device_count", "destroy_device_fns"),
        Swap("SE_PlatformRegistrationParams", "platform", "platform_fns")]
        => Runs, Unnoticed;
    slot_retyped: "2.39", Matching, [AddParameter(EXECUTOR, "memcpy_dtoh")]
        => Declines("SP_StreamExecutor.memcpy_dtoh is `"), Unnoticed;
    required_slot_removed: "2.40", Matching, [Remove(EXECUTOR, "create_event")]
        => Declines("SP_StreamExecutor.create_event is absent"), Unnoticed;
    optional_slot_removed: "2.41", Matching, [Remove(EXECUTOR, "block_host_until_done")] => Runs, Unnoticed;
    slot_removed_and_another_appended: "2.42", Matching, [
        Remove(EXECUTOR, "block_host_until_done"), AppendOptional(EXECUTOR)]
        => Runs, Unnoticed;
    enumerator_revalued: "2.44", Matching, [Revalue("SE_EventStatus", "SE_EVENT_COMPLETE", 7)]
        => Declines("the declaration of SE_EventStatus has changed"), Unnoticed;
    header_contradicts_struct_size: "2.45", Outdated, [AppendData("SP_Platform")]
        => Declines("SP_Platform is 48 bytes, and its headers declare 35"), Declines("SP_Platform is 48 bytes");
    // The pointers to the tables have fixed offsets, and the tables have known sizes.
    registration_structs_extended_without_headers: "2.47", Absent, [
        AppendData("SE_CreateStreamExecutorParams"), AppendData("SE_CreateDeviceFnsParams")]
        => RunsAndReports(SIZES_ONLY), RunsAndReports(SIZES_ONLY);
    header_truncated: "2.46", Truncated, [] => Declines("its headers could not be read"), RunsAndReports(SIZES_ONLY);
    header_moved: "2.48", Moved, [] => Runs, RunsAndReports(SIZES_ONLY);
    header_moved_and_optional_slot_appended: "2.49", Moved, [AppendOptional(EXECUTOR)]
        => Runs, Declines(LONGER_EXECUTOR);
    header_moved_and_slots_reordered: "2.51", Moved, [Swap(EXECUTOR, "allocate", "host_callback")] => Runs, Unnoticed;
    header_moved_and_included_from_former_path: "2.50", Forwarded, [AppendOptional(EXECUTOR)]
        => Runs, Declines(LONGER_EXECUTOR);
    release_not_stated: "", Matching, [] => Runs, RunsAndReports(SIZES_ONLY);
    release_not_stated_without_headers: "", Absent, [] => RunsAndReports(SIZES_ONLY), RunsAndReports(SIZES_ONLY);
    release_not_stated_and_slots_reordered: "", Matching, [Swap(EXECUTOR, "allocate", "host_callback")]
        => Runs, Unnoticed;
    release_not_stated_and_required_slot_removed: "", Matching, [Remove(EXECUTOR, "create_event")]
        => Declines("SP_StreamExecutor.create_event is absent"), Unnoticed;
}

impl Future {
    /// Returns the hypothetical release called `name`.
    ///
    /// # Panics
    /// Panics if the table has no such release.
    pub fn find(name: &str) -> &'static Self {
        let found = FUTURES.iter().find(|future| future.name == name);
        found.unwrap_or_else(|| panic!("FUTURES has no release {name}"))
    }

    /// Returns the APIs of this release.
    pub fn apis(&self) -> Vec<Api> {
        let mut apis = newest_snapshots();
        for api in &mut apis {
            self.release.clone_into(&mut api.release);
            api.preview = None;
        }
        for change in self.changes {
            let (name, apply) = change.target();
            let item = apis.iter_mut().find_map(|api| api.items.get_mut(name));
            apply(item.expect("the newest release has the item"), change);
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
            Headers::Outdated => newest_snapshots(),
            _ => self.apis(),
        };
        for api in apis.iter().filter(|api| !api.items.is_empty()) {
            let mut text = header(api);
            if self.headers == Headers::Truncated {
                let end = text.find("typedef struct SE_").unwrap_or(text.len() / 2);
                text.truncate(end + 60);
            }
            let items = &mut api.items.values();
            let item = items.next().expect("APIs without items are filtered out");
            let file = &*item.loc().file;
            let moved = file.replace("/experimental/", "/");
            let path = match self.headers {
                Headers::Moved | Headers::Forwarded => &moved,
                _ => file,
            };
            write_header(folder, path, &text)?;
            if self.headers == Headers::Forwarded && moved != file {
                write_header(folder, file, &format!("#include \"{moved}\"\n"))?;
            }
        }
        Ok(())
    }
}

/// Writes a header, whose path is below the include folder of `folder`.
fn write_header(folder: &Path, path: &str, text: &str) -> io::Result<()> {
    let path = folder.join("include").join(path);
    fs::create_dir_all(path.parent().expect("the path of a header has a parent"))?;
    fs::write(path, text)
}

/// Returns the snapshots of the newest committed release.
fn newest_snapshots() -> Vec<Api> {
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
    /// Returns the name of the changed item, and the function that changes it.
    fn target(&self) -> (&'static str, Apply) {
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
        panic!("{change:?} does not fit the item's kind");
    };
    let variant = item
        .variants
        .iter_mut()
        .find(|variant| variant.name == *name);
    variant.expect("the enumeration has the enumerator").value = *value;
}

fn change_struct(item: &mut Item, change: &Change) {
    let Item::Struct(item) = item else {
        panic!("{change:?} does not fit the item's kind");
    };
    match change {
        AppendOptional(_) => item.fields.push(slot_field(item, Presence::Optional)),
        AppendRequired(_) => item.fields.push(slot_field(item, Presence::Required)),
        AppendData(_) => item.fields.push(data_field(item)),
        Insert(_, before) => {
            let index = position(item, before);
            item.fields
                .insert(index, slot_field(item, Presence::Optional));
        }
        Remove(_, field) => drop(item.fields.remove(position(item, field))),
        Swap(_, first, second) => {
            let (first, second) = (position(item, first), position(item, second));
            item.fields.swap(first, second);
        }
        AddParameter(_, field) => {
            let index = position(item, field);
            let Type::Function(signature) = &mut item.fields[index].ty else {
                panic!("{field} is not a slot");
            };
            let first = signature.params[0].clone();
            signature.params.push(first);
        }
        Revalue(..) => {}
    }
    lay_out(item);
}

fn position(item: &Struct, name: &str) -> usize {
    let found = item.fields.iter().position(|field| field.name == name);
    found.unwrap_or_else(|| panic!("the struct has no field {name}"))
}

/// Returns a data member with the type of `ext`.
fn data_field(item: &Struct) -> Field {
    let ext = item.fields.iter().find(|field| field.name == "ext");
    Field {
        name: "new_field".into(),
        ..ext.expect("every changed struct has `ext`").clone()
    }
}

/// Returns a slot without parameters.
fn slot_field(item: &Struct, presence: Presence) -> Field {
    let mut slot = data_field(item);
    slot.ty = Type::Function(Box::new(Signature::new(Vec::new(), Type::Void)));
    if let Some(stated) = slot.presence.take() {
        slot.presence = Some(Stated {
            value: presence,
            ..stated
        });
    }
    slot
}

/// Recomputes offsets and sizes by C's rules, for members that are aligned to their size.
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
