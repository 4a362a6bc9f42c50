//! What TensorFlow demands of the structs that a plugin filled. It demands more by crashing than by
//! checking; both are refusals here.

use crate::record::{Record, Shape};

/// What TensorFlow refuses of a filled struct, or crashes on. Sizes and bounds are asked for by checks:
/// TensorFlow looks whether `struct_size` is 0, and no further.
pub(crate) fn refusals(record: &Record) -> Vec<String> {
    let name = record.shape().name;
    let unset = record.get("struct_size") == Some(0);
    let unset = unset.then(|| format!("{name}.struct_size is 0"));
    unset.into_iter().chain(empty_fields(record)).collect()
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
    let shape = record.shape();
    let (name, host) = (shape.name, shape.struct_size());
    let written = record.get("struct_size")?;
    let known = shape
        .body
        .fields
        .iter()
        .any(|field| field.offset + field.size == written);
    if written == 0 {
        Some(format!("{name}.struct_size is 0"))
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

/// Fields that must be set and are not.
pub(crate) fn empty_fields(record: &Record) -> Vec<String> {
    let shape = record.shape();
    let empty = shape
        .required()
        .filter(|field| record.get(&field.name) == Some(0));
    let pointer = |ty: &sp_ir::Type| !matches!(ty, sp_ir::Type::Int { .. } | sp_ir::Type::Size);
    empty
        .filter(|field| pointer(&field.ty))
        .map(|field| format!("{}.{} is not set", shape.name, field.name))
        .collect()
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
    let struct_name = record.shape().name;
    let text = record.text(field)?;
    let mut letters = text.chars();
    let first = letters
        .next()
        .is_some_and(|letter| letter.is_ascii_uppercase());
    let good = first && letters.all(|letter| letter.is_ascii_uppercase() || letter == '_');
    (!good)
        .then(|| format!("{struct_name}.{field} is {text:?}; TensorFlow takes [A-Z][A-Z_]* only"))
}

/// A pair that is needed where the platform says that it has unified memory.
pub(crate) fn unified(platform: &Record, table: &Record) -> Vec<String> {
    if platform.get("supports_unified_memory").unwrap_or(0) == 0 {
        return vec![];
    }
    let slots = ["unified_memory_allocate", "unified_memory_deallocate"];
    let empty = slots.iter().filter(|slot| table.get(slot) == Some(0));
    empty
        .map(|slot| {
            format!("SP_StreamExecutor.{slot} is not set, and SP_Platform says unified memory")
        })
        .collect()
}
