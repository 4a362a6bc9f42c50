//! Structs of both sides: their `struct_size`, and required fields.

use super::arguments::Arguments;
use super::finding::finding;
use crate::runtime::description::{Field, Kind, Structure, Type};

/// Slots that fill a struct each time that they are called.
const FILLING: [&str; 2] = ["allocate", "get_allocator_stats"];

/// Checks the structs that core passes to an entry point.
///
/// # Safety
/// The arguments are those of a call.
pub unsafe fn before(call: &Arguments<'_>) {
    if call.function.kind != Kind::EntryPoint {
        return;
    }
    for (parameter, address) in call.function.parameters.iter().zip(call.values) {
        let Some(structure) = parameter.ty.pointed_struct().filter(|it| it.is_versioned) else {
            continue;
        };
        // SAFETY: core has filled the struct.
        let size = unsafe { stated_size(*address) };
        if size != structure.size {
            let expected = structure.size;
            let detail = format!(
                "TensorFlow's {} is {size} bytes, expected {expected}: it is of another release",
                structure.name
            );
            finding("release_contract", call.function.name, &detail);
        }
    }
}

/// Checks the structs that the plugin has filled.
///
/// # Safety
/// The arguments are those of a call that has returned.
pub unsafe fn after(call: &Arguments<'_>) {
    let name = call.function.short_name();
    let is_filling = match call.function.kind {
        Kind::EntryPoint => true,
        Kind::Slot => name.starts_with("create_") || FILLING.contains(&name),
        _ => false,
    };
    // SAFETY: the status lives until the call returns to core.
    if !is_filling || !unsafe { call.is_ok() } {
        return;
    }
    let rule = if FILLING.contains(&name) {
        "output_struct_sizes"
    } else {
        "struct_sizes"
    };
    for (parameter, address) in call.function.parameters.iter().zip(call.values) {
        if let (Type::Pointer { mutable: true, .. }, Some(structure)) =
            (&parameter.ty, parameter.ty.pointed_struct())
        {
            // SAFETY: core owns the struct, and the plugin has filled it.
            unsafe { check(rule, call.function.name, structure, *address) };
        }
    }
}

/// # Safety
/// `address` is null or that of a struct.
unsafe fn check(rule: &'static str, subject: &str, structure: &Structure, address: u64) {
    if address == 0 || !structure.is_versioned {
        return;
    }
    // SAFETY: `struct_size` is the first field.
    let size = unsafe { stated_size(address) };
    if let Some(problem) = problem_of_size(structure, size) {
        finding(
            rule,
            subject,
            &format!("{}.struct_size is {size}, {problem}", structure.name),
        );
    }
    for field in structure
        .fields
        .iter()
        .filter(|it| it.offset + it.size <= size.min(structure.size))
    {
        let position = address + field.offset as u64;
        // SAFETY: the field is within the struct.
        let is_null = field.size == 8 && unsafe { (position as *const u64).read_unaligned() } == 0;
        if field.is_required && is_null {
            let detail = format!("'{}' field in {} must be set", field.name, structure.name);
            finding("required_fields", subject, &detail);
        }
        if field.is_reserved && !is_null {
            let detail = format!(
                "left {}.{} non-null; the header reserves it",
                structure.name, field.name
            );
            finding("field_access", subject, &detail);
        }
        if let (Type::Pointer { mutable: true, .. }, Some(inner)) =
            (&field.ty, field.ty.pointed_struct())
        {
            // SAFETY: the field is a pointer to a struct of core, or null.
            unsafe {
                check(
                    rule,
                    subject,
                    inner,
                    (position as *const u64).read_unaligned(),
                )
            };
        }
    }
}

/// Returns why `size` is no valid `struct_size`, or `None`.
fn problem_of_size(structure: &Structure, size: usize) -> Option<&'static str> {
    let is_end = |field: &Field| field.offset + field.size == size;
    match size {
        0 => Some("so that the struct is ignored"),
        _ if size > structure.size => Some("above that of the host"),
        _ if !structure.fields.iter().any(is_end) => Some("which is not the end of a field"),
        _ => None,
    }
}

/// # Safety
/// Eight bytes at `address` are readable, or it is null.
unsafe fn stated_size(address: u64) -> usize {
    match address {
        0 => 0,
        // SAFETY: as the caller states.
        _ => unsafe { (address as *const usize).read_unaligned() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn field(name: &'static str, offset: usize) -> Field {
        let ty = Type::Int {
            bits: 64,
            signed: false,
        };
        Field {
            name,
            offset,
            size: 8,
            ty,
            is_required: false,
            is_reserved: false,
            slot: None,
        }
    }

    #[test]
    fn struct_size_is_the_end_of_a_field_within_the_hosts_struct() {
        static FIELDS: [Field; 3] = [
            field("struct_size", 0),
            field("first", 8),
            field("second", 16),
        ];
        let structure = Structure {
            name: "SP_Demo",
            size: 24,
            is_versioned: true,
            fields: &FIELDS,
        };
        assert_eq!(problem_of_size(&structure, 24), None);
        assert_eq!(problem_of_size(&structure, 16), None);
        assert!(problem_of_size(&structure, 20).is_some_and(|it| it.contains("end of a field")));
        assert!(problem_of_size(&structure, 32).is_some_and(|it| it.contains("above")));
        assert!(problem_of_size(&structure, 0).is_some());
    }
}
