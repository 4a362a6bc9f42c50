//! What TensorFlow demands of the structs that a plugin filled, in its own words where it has any: it
//! demands more by crashing than by checking.

use sp_ir::{Field, Presence, Struct};

use crate::quirks::Quirks;
use crate::record::{Record, Shape};
use crate::{Code, Error};

/// What TensorFlow refuses of a filled struct. Sizes and bounds are asked for by checks: TensorFlow
/// looks whether `struct_size` is 0, and no further.
pub(crate) fn refusals(quirks: Quirks, record: &Record) -> Vec<String> {
    let name = record.shape().name;
    let looked_at = empty(record).filter(|field| quirks.checks_field(name, &field.name));
    let empty = looked_at.map(|field| must_be_set(name, &field.name));
    no_size(record).into_iter().chain(empty).collect()
}

/// Refuses for these reasons as TensorFlow does, which stops at the first.
pub(crate) fn refuse(reasons: &[String]) -> Result<(), Error> {
    let code = Code::FAILED_PRECONDITION;
    match reasons.is_empty() {
        true => Ok(()),
        false => Err(Error::Refused(format!("{code}: {}", reasons.join("; ")))),
    }
}

fn must_be_set(structure: &str, field: &str) -> String {
    format!("'{field}' field in {structure} must be set.")
}

/// Returns TensorFlow's messages about the required fields of a struct.
pub(crate) fn messages(quirks: Quirks, name: &str, body: &Struct) -> Vec<String> {
    let is_required = |field: &&Field| {
        let presence = field.presence.as_ref().map(|it| it.value);
        presence == Some(Presence::Required) && quirks.checks_field(name, &field.name)
    };
    let required = body.fields.iter().filter(is_required);
    required.map(|it| must_be_set(name, &it.name)).collect()
}

/// Sizes that TensorFlow's messages call by names that no header has.
const MISNAMED: [(&str, &str); 2] = [
    ("SP_StreamExecutor", "SP_STREAM_EXECUTOR_STRUCT_SIZE"),
    ("TP_ProfilerFns", "TF_PROFILER_FNS_STRUCT_SIZE"),
];

/// That `struct_size` is 0; of a graph optimizer's structs TensorFlow says it in other words.
fn no_size(record: &Record) -> Option<String> {
    (record.get("struct_size") == Some(0)).then(|| zero_size(record.shape()))
}

fn zero_size(shape: &Shape) -> String {
    let Shape { name, body, .. } = shape;
    let own = body.struct_size.as_ref().map_or("", |size| &size.symbol);
    let misnamed = MISNAMED.iter().find(|(structure, _)| structure == name);
    let symbol = misnamed.map_or(own, |(_, symbol)| symbol);
    match name.starts_with("TP_Optimizer") {
        true => format!("struct_size field in {name} must be set to {symbol}."),
        false => format!(
            "Expected initialized `{name}` structure with `struct_size` field set to {symbol}. Found `struct_size` = 0."
        ),
    }
}

/// What is wrong with a filled struct, by all that is asked of one.
pub(crate) fn all(record: &Record) -> Vec<String> {
    let empty = empty_fields(record);
    size(record)
        .into_iter()
        .chain(empty)
        .chain(bounds(record))
        .collect()
}

/// `struct_size` must be the end of a field that the host knows.
pub(crate) fn size(record: &Record) -> Option<String> {
    written_size(record.shape(), record.get("struct_size")?)
}

/// Returns the defect of the `struct_size` that was written into a struct.
pub(crate) fn written_size(shape: &Shape, written: u64) -> Option<String> {
    let (name, host) = (shape.name, shape.struct_size());
    let known = shape
        .body
        .fields
        .iter()
        .any(|field| field.offset + field.size == written);
    if written == 0 {
        Some(zero_size(shape))
    } else if written == shape.body.layout.size && written != host {
        Some(format!(
            "{name}.struct_size is {written}, its sizeof; without tail padding it is {host}"
        ))
    } else if written > host {
        Some(format!(
            "{name}.struct_size is {written}, above the {host} of this release"
        ))
    } else if !known {
        Some(format!(
            "{name}.struct_size is {written}, which is the end of no field"
        ))
    } else {
        None
    }
}

/// Fields that must be set and are not, whether TensorFlow looks or not.
pub(crate) fn empty_fields(record: &Record) -> Vec<String> {
    let name = record.shape().name;
    empty(record)
        .map(|field| must_be_set(name, &field.name))
        .collect()
}

fn empty(record: &Record) -> impl Iterator<Item = &Field> {
    let required = record.shape().required();
    let pointer = |ty: &sp_ir::Type| !matches!(ty, sp_ir::Type::Int { .. } | sp_ir::Type::Size);
    required.filter(move |field| pointer(&field.ty) && record.get(&field.name) == Some(0))
}

/// Whether somebody wrote before the struct.
pub(crate) fn underrun(record: &Record) -> Option<String> {
    let bytes = record.underrun()?;
    let name = record.shape().name;
    Some(format!("something wrote {bytes} bytes before {name}"))
}

/// Whether somebody wrote before the struct, or behind its last member.
pub(crate) fn bounds(record: &Record) -> Vec<String> {
    let Shape { name, .. } = record.shape();
    let before = underrun(record);
    let behind = record.overrun().map(|at| {
        let size = record.shape().struct_size();
        format!("something wrote byte {at} of {name}, whose struct_size is {size} in this release")
    });
    before.into_iter().chain(behind).collect()
}

/// A name of a platform or device type: a capital letter, then capital letters and underscores.
pub(crate) fn name(record: &Record, field: &str) -> Option<String> {
    let text = record.text(field)?;
    let mut letters = text.chars();
    let first = letters
        .next()
        .is_some_and(|letter| letter.is_ascii_uppercase());
    let good = first && letters.all(|letter| letter.is_ascii_uppercase() || letter == '_');
    (!good).then(|| format!("Device name/type '{text}' must match [A-Z][A-Z_]*."))
}

/// A pair that is needed where the platform says that it has unified memory.
pub(crate) fn unified(platform: &Record, table: &Record) -> Vec<String> {
    if platform.get("supports_unified_memory").unwrap_or(0) == 0 {
        return vec![];
    }
    let slots = ["unified_memory_allocate", "unified_memory_deallocate"];
    let empty = slots.iter().filter(|slot| table.get(slot) == Some(0));
    empty
        .map(|slot| must_be_set("SP_StreamExecutor", slot))
        .collect()
}
