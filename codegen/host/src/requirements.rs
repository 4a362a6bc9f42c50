//! Requirements on the structs that a plugin fills, with TensorFlow's messages if it has any. TensorFlow
//! checks few of them, and crashes if another one is violated.

use sp_ir::{Field, Presence, Struct};

use crate::quirks::Quirks;
use crate::record::{GuardedStruct, StructShape};
use crate::{Error, StatusCode};

/// Returns the reasons for which TensorFlow rejects a filled struct. Of `struct_size`, TensorFlow only checks
/// that it is not 0.
pub(crate) fn rejections(quirks: Quirks, record: &GuardedStruct) -> Vec<String> {
    let name = record.shape().name;
    let checked =
        null_required_fields(record).filter(|field| quirks.checks_field(name, &field.name));
    let empty = checked.map(|field| missing_field_message(name, &field.name));
    // TensorFlow has another message for graph optimizers.
    let is_zero = record.get("struct_size") == Some(0);
    let zero = is_zero.then(|| zero_size_message(record.shape()));
    zero.into_iter().chain(empty).collect()
}

/// Returns an error with these reasons, if any. TensorFlow reports the first only.
pub(crate) fn reject(reasons: &[String]) -> Result<(), Error> {
    let code = StatusCode::FAILED_PRECONDITION;
    match reasons.is_empty() {
        true => Ok(()),
        false => Err(Error::Refused(format!("{code}: {}", reasons.join("; ")))),
    }
}

fn missing_field_message(structure: &str, field: &str) -> String {
    format!("'{field}' field in {structure} must be set.")
}

/// Returns TensorFlow's messages about the required fields of a struct.
pub(crate) fn missing_field_messages(quirks: Quirks, name: &str, body: &Struct) -> Vec<String> {
    let is_required = |field: &&Field| {
        let presence = field.presence.as_ref().map(|it| it.value);
        presence == Some(Presence::Required) && quirks.checks_field(name, &field.name)
    };
    let required = body.fields.iter().filter(is_required);
    required
        .map(|it| missing_field_message(name, &it.name))
        .collect()
}

/// Structs whose size constant TensorFlow's messages spell differently from the headers.
const MISNAMED: [(&str, &str); 2] = [
    ("SP_StreamExecutor", "SP_STREAM_EXECUTOR_STRUCT_SIZE"),
    ("TP_ProfilerFns", "TF_PROFILER_FNS_STRUCT_SIZE"),
];

fn zero_size_message(shape: &StructShape) -> String {
    let StructShape { name, body, .. } = shape;
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

/// Returns all defects of a filled struct.
pub(crate) fn defects(record: &GuardedStruct) -> Vec<String> {
    let empty = missing_fields(record);
    size_defect(record)
        .into_iter()
        .chain(empty)
        .chain(out_of_bounds_writes(record))
        .collect()
}

/// Returns the defect of `struct_size`, which must be the end of a field in this release.
pub(crate) fn size_defect(record: &GuardedStruct) -> Option<String> {
    struct_size_defect(record.shape(), record.get("struct_size")?)
}

/// Returns the defect of the `struct_size` that was written into a struct.
pub(crate) fn struct_size_defect(shape: &StructShape, written: u64) -> Option<String> {
    let (name, host) = (shape.name, shape.struct_size());
    let mut known = shape.body.fields.iter();
    let known = known.any(|field| field.offset + field.size == written);
    if written == 0 {
        Some(zero_size_message(shape))
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
            "{name}.struct_size is {written}, which is not the end of a field"
        ))
    } else {
        None
    }
}

/// Returns messages about all required fields that are null, also those that TensorFlow does not check.
pub(crate) fn missing_fields(record: &GuardedStruct) -> Vec<String> {
    let name = record.shape().name;
    null_required_fields(record)
        .map(|field| missing_field_message(name, &field.name))
        .collect()
}

fn null_required_fields(record: &GuardedStruct) -> impl Iterator<Item = &Field> {
    let required = record.shape().required();
    let pointer = |ty: &sp_ir::Type| !matches!(ty, sp_ir::Type::Int { .. } | sp_ir::Type::Size);
    required.filter(move |field| pointer(&field.ty) && record.get(&field.name) == Some(0))
}

/// Returns the defect of a write before the struct.
pub(crate) fn underrun(record: &GuardedStruct) -> Option<String> {
    let bytes = record.underrun()?;
    let name = record.shape().name;
    Some(format!("something wrote {bytes} bytes before {name}"))
}

/// Returns the defects of writes before the struct and after its last field.
pub(crate) fn out_of_bounds_writes(record: &GuardedStruct) -> Vec<String> {
    let StructShape { name, .. } = record.shape();
    let before = underrun(record);
    let behind = record.overrun().map(|at| {
        let size = record.shape().struct_size();
        format!("something wrote byte {at} of {name}, whose struct_size is {size} in this release")
    });
    before.into_iter().chain(behind).collect()
}

/// Returns the defect of a platform name or device type: it must be a capital letter, then capital letters and
/// underscores.
pub(crate) fn name_defect(record: &GuardedStruct, field: &str) -> Option<String> {
    let text = record.text(field)?;
    let mut letters = text.chars();
    let first = letters
        .next()
        .is_some_and(|letter| letter.is_ascii_uppercase());
    let good = first && letters.all(|letter| letter.is_ascii_uppercase() || letter == '_');
    (!good).then(|| format!("Device name/type '{text}' must match [A-Z][A-Z_]*."))
}

/// Platforms that TensorFlow registers in some release. It compares names without regard to case: `Host` is `HOST`.
pub const CORE_PLATFORMS: [&str; 6] = ["CUDA", "HOST", "INTERPRETER", "ROCM", "SYCL", "TPU"];

/// Returns the defect of a platform name that a platform of core has.
pub(crate) fn taken_name_defect(name: &str) -> Option<String> {
    CORE_PLATFORMS.contains(&name).then(|| {
        format!("platform name '{name}' is that of a platform of core, which ends the process in a build that has it")
    })
}

/// Returns messages about the slots that a platform with unified memory must set.
pub(crate) fn missing_unified_memory_slots(
    platform: &GuardedStruct,
    table: &GuardedStruct,
) -> Vec<String> {
    if platform.get("supports_unified_memory").unwrap_or(0) == 0 {
        return vec![];
    }
    let slots = ["unified_memory_allocate", "unified_memory_deallocate"];
    let empty = slots.iter().filter(|slot| table.get(slot) == Some(0));
    empty
        .map(|slot| missing_field_message("SP_StreamExecutor", slot))
        .collect()
}

#[cfg(test)]
mod name_tests {
    use super::*;

    #[test]
    fn names_of_platforms_of_core_are_taken() {
        assert!(taken_name_defect("CUDA").unwrap().contains("'CUDA'"));
        assert!(taken_name_defect("HOST").is_some());
        assert_eq!(taken_name_defect("HOST_MEMORY"), None);
        assert_eq!(taken_name_defect("MYACCEL"), None);
    }
}
