//! Structs that a function of the plugin may only read: they are the same after the call.

use super::arguments::Arguments;
use super::finding::finding;
use crate::runtime::description::{Field, Kind, Parameter, Structure, Type};
use crate::runtime::value::readable_size;
use std::cell::RefCell;

/// Parameters of structs that are not `const`, and that no slot fills.
const READ_ONLY: [&str; 2] = ["device_dst", "location"];
/// Numbers of a `..Params` struct that core sets.
const SET_BY_CORE: [&str; 4] = ["major_version", "minor_version", "patch_version", "ordinal"];

/// The bytes of a struct before the call.
struct Copy {
    parameter: usize,
    bytes: Vec<u8>,
}

thread_local! {
    /// The structs of each call that has not returned, by the name of its function.
    static COPIES: RefCell<Vec<(&'static str, Vec<Copy>)>> = const { RefCell::new(Vec::new()) };
}

/// Returns the struct behind a parameter, and true if core sets only some of its fields.
fn checked_struct(parameter: &Parameter) -> Option<(&'static Structure, bool)> {
    let structure = parameter.ty.pointed_struct().filter(|it| it.is_versioned)?;
    let is_const = matches!(parameter.ty, Type::Pointer { mutable: false, .. });
    let is_params = structure.name.ends_with("Params");
    let is_checked = is_const || is_params || READ_ONLY.contains(&parameter.name);
    is_checked.then_some((structure, is_params))
}

fn is_called(call: &Arguments<'_>) -> bool {
    matches!(call.function.kind, Kind::Slot | Kind::EntryPoint)
}

/// Returns true if the function may free what the struct describes.
fn is_end(call: &Arguments<'_>) -> bool {
    let name = call.function.short_name();
    name.starts_with("destroy") || name.contains("deallocate")
}

/// Notes the structs of a call.
///
/// # Safety
/// The arguments are those of a call.
pub unsafe fn before(call: &Arguments<'_>) {
    if !is_called(call) {
        return;
    }
    let mut copies = Vec::new();
    for (index, parameter) in call.function.parameters.iter().enumerate() {
        let address = call.values[index];
        if let Some((structure, _)) =
            checked_struct(parameter).filter(|_| address != 0 && !is_end(call))
        {
            // SAFETY: the caller passes a struct that is readable up to its size.
            let bytes = unsafe { read(structure, address) };
            copies.push(Copy {
                parameter: index,
                bytes,
            });
        }
    }
    let _ = COPIES.try_with(|it| it.borrow_mut().push((call.function.name, copies)));
}

/// # Safety
/// A `structure` is readable at `address`, up to its `struct_size`.
unsafe fn read(structure: &Structure, address: u64) -> Vec<u8> {
    // SAFETY: as the caller states.
    unsafe {
        let size = readable_size(structure, address as usize);
        std::slice::from_raw_parts(address as *const u8, size).to_vec()
    }
}

/// Checks the structs of a call that has returned.
///
/// # Safety
/// The arguments are those of a call that has returned.
pub unsafe fn after(call: &Arguments<'_>) {
    if !is_called(call) {
        return;
    }
    for copy in take(call.function.name) {
        let parameter = &call.function.parameters[copy.parameter];
        let Some((structure, is_params)) = checked_struct(parameter) else {
            continue;
        };
        // SAFETY: the struct is core's, which has it until the call returns to it.
        let bytes = unsafe { read(structure, call.values[copy.parameter]) };
        let mut fields = structure.fields.iter();
        let changed =
            fields.find(|it| is_checked(it, is_params) && has_changed(it, &copy.bytes, &bytes));
        if let Some(field) = changed {
            let detail = format!(
                "changed {}.{}, which it may only read",
                structure.name, field.name
            );
            finding("field_access", call.function.name, &detail);
        }
    }
}

/// Removes the structs of the last call of `name`, and those of calls within it that an exception has ended.
fn take(name: &str) -> Vec<Copy> {
    let taken = COPIES.try_with(|it| {
        let mut copies = it.borrow_mut();
        let index = copies.iter().rposition(|it| it.0 == name)?;
        copies.drain(index..).next()
    });
    taken.ok().flatten().map_or_else(Vec::new, |it| it.1)
}

fn is_checked(field: &Field, is_params: bool) -> bool {
    match is_params {
        true => field.ty.pointed_struct().is_some() || SET_BY_CORE.contains(&field.name),
        // The plugin may keep data of its own there.
        false => field.name != "ext",
    }
}

fn has_changed(field: &Field, before: &[u8], after: &[u8]) -> bool {
    let range = field.offset..field.offset + field.size;
    let (before, after) = (before.get(range.clone()), after.get(range));
    before.is_some() && after.is_some() && before != after
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fields_within_both_sizes_are_compared() {
        let ty = Type::Int {
            bits: 64,
            signed: false,
        };
        let field = Field {
            name: "size",
            offset: 8,
            size: 8,
            ty,
            is_required: false,
            is_reserved: false,
            slot: None,
        };
        assert!(has_changed(&field, &[0; 16], &[1; 16]));
        assert!(!has_changed(&field, &[0; 16], &[0; 16]));
        assert!(!has_changed(&field, &[0; 8], &[1; 16]));
    }
}
