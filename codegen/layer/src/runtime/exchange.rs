//! The exchange of the slots of a plugin's tables by their thunks.

use super::description::{Function, Slot, Structure, Type};
use super::report;
use super::tables::{filled_struct, has_slots};
use super::value::readable_size;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Exchanges the slots of all tables that the arguments lead to.
///
/// # Safety
/// The arguments are those of a call of `function` that has returned.
pub unsafe fn exchange_slots(function: &Function, arguments: &[u64]) {
    for (parameter, address) in function.parameters.iter().zip(arguments) {
        if let Some(structure) = filled_struct(&parameter.ty) {
            // SAFETY: the host owns the struct, and the plugin has filled it.
            unsafe { exchange(structure, *address as usize) };
        }
    }
}

/// # Safety
/// `address` is null, or that of a `structure` which is readable up to its `struct_size` and writable in its slots.
unsafe fn exchange(structure: &Structure, address: usize) {
    if address == 0 || !has_slots(structure) {
        return;
    }
    // SAFETY: as the caller states.
    let limit = unsafe { readable_size(structure, address) };
    for field in structure.fields {
        if field.offset + field.size > limit {
            continue;
        }
        let position = address + field.offset;
        if let Some(slot) = field.slot {
            // SAFETY: the field is within the struct, and a slot is as wide as a pointer.
            unsafe { exchange_slot(slot, position) };
        } else if let Type::Struct(inner) = &field.ty {
            // SAFETY: the field is within the struct.
            unsafe { exchange(inner, position) };
        } else if let Some(inner) = filled_struct(&field.ty) {
            // SAFETY: the field is within the struct, and points to a struct of the host or is null.
            unsafe { exchange(inner, (position as *const usize).read_unaligned()) };
        }
    }
}

/// # Safety
/// `position` is the address of a slot that is readable and writable.
unsafe fn exchange_slot(slot: &'static Slot, position: usize) {
    // SAFETY: a slot in a struct of the host is aligned. The plugin has filled it, and the host reads it later.
    let place = unsafe { AtomicUsize::from_ptr(position as *mut usize) };
    let original = place.load(Ordering::Acquire);
    if original == 0 {
        return;
    }
    match slot.thunk(original) {
        Some(thunk) => place.store(thunk, Ordering::Release),
        None => report::line_once(
            slot.function.name,
            "has more than 4 functions: some of its calls are not shown",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::description::{Field, INSTANCES, Kind, Parameter};
    use super::*;

    unsafe extern "C-unwind" fn thunk() {}

    static SLOT: Slot = Slot {
        function: Function::new("SP_Table.run", Kind::Slot, &[], Type::Void),
        originals: [const { AtomicUsize::new(0) }; INSTANCES],
        thunks: [thunk; INSTANCES],
    };
    const SIZE: Type = Type::Int {
        bits: 64,
        signed: false,
    };
    static TABLE: Structure = Structure {
        name: "SP_Table",
        size: 24,
        is_versioned: true,
        fields: &[
            field("struct_size", 0, SIZE, None),
            field("run", 8, Type::Function, Some(&SLOT)),
            field("late", 16, Type::Function, Some(&SLOT)),
        ],
    };
    static PARAMS: Structure = Structure {
        name: "SE_Params",
        size: 16,
        is_versioned: true,
        fields: &[
            field("struct_size", 0, SIZE, None),
            field(
                "table",
                8,
                Type::Pointer {
                    pointee: &Type::Struct(&TABLE),
                    mutable: true,
                },
                None,
            ),
        ],
    };
    static PARAMETERS: [Parameter; 1] = [Parameter {
        name: "params",
        ty: Type::Pointer {
            pointee: &Type::Struct(&PARAMS),
            mutable: true,
        },
        is_out: false,
    }];

    const fn field(
        name: &'static str,
        offset: usize,
        ty: Type,
        slot: Option<&'static Slot>,
    ) -> Field {
        Field {
            name,
            offset,
            size: 8,
            ty,
            is_required: false,
            is_reserved: false,
            slot,
        }
    }

    #[test]
    fn exchanges_slots_behind_pointers_within_struct_size() {
        let mut table = [16_usize, 0x1234, 0x5678];
        let params = [16_usize, table.as_mut_ptr() as usize];
        let function = Function::new("SE_InitPlugin", Kind::EntryPoint, &PARAMETERS, Type::Void);
        // SAFETY: the argument is the address of a struct of the described layout.
        unsafe { exchange_slots(&function, &[params.as_ptr() as u64]) };
        assert_eq!(table, [16, thunk as *const () as usize, 0x5678]);
        assert_eq!(SLOT.original(0), 0x1234);
    }
}
