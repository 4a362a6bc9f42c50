//! The tables of the generated file, and the exchange of slots by their thunks.

use super::callback::Callback;
use super::description::{Function, Kind, Slot, Structure, Thunk, Type, flag};
use super::filter;
use super::report;
use super::settings::Settings;
use super::value::readable_size;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A function of core, and its wrapper.
#[derive(Debug)]
pub struct HostFunction {
    /// The function.
    pub function: &'static Function,
    /// The wrapper.
    pub wrapper: Thunk,
}

/// All that the generated file describes.
#[derive(Debug)]
pub struct Tables {
    /// The release.
    pub release: &'static str,
    /// The functions of core, sorted by name.
    pub functions: &'static [HostFunction],
    /// The entry points of plugins.
    pub entry_points: &'static [&'static Callback],
    /// The slots.
    pub slots: &'static [&'static Slot],
    /// The callbacks that functions take.
    pub callbacks: &'static [&'static Callback],
}

static NO_TABLES: Tables = Tables {
    release: "",
    functions: &[],
    entry_points: &[],
    slots: &[],
    callbacks: &[],
};
static TABLES: OnceLock<&'static Tables> = OnceLock::new();

/// Returns the tables; before [`set_tables`] they are empty.
pub fn tables() -> &'static Tables {
    TABLES.get().copied().unwrap_or(&NO_TABLES)
}

/// Sets the tables.
pub fn set_tables(tables: &'static Tables) {
    let _ = TABLES.set(tables);
}

impl Tables {
    /// Returns all functions, slots and callbacks.
    fn all(&self) -> impl Iterator<Item = &'static Function> {
        let callbacks = self.entry_points.iter().chain(self.callbacks);
        let callbacks = callbacks.map(|it| &it.function);
        let slots = self.slots.iter().map(|it| &it.function);
        let functions = self.functions.iter().map(|it| it.function);
        functions.chain(slots).chain(callbacks)
    }

    /// Decides which calls are recorded and checked.
    pub fn apply(&self, settings: &Settings) {
        for function in self.all() {
            let traces = settings.traces() && filter::includes(&settings.filter, function);
            let mut flags = if traces { flag::TRACE } else { 0 };
            if settings.validates {
                flags |= flag::CHECK;
            }
            if fills_tables(function) {
                flags |= flag::FILLS;
            }
            function.flags.store(flags, Ordering::Release);
        }
    }

    /// Returns the function of core `name`.
    pub fn function(&self, name: &str) -> Option<&'static HostFunction> {
        let found = self
            .functions
            .binary_search_by(|it| it.function.name.cmp(name));
        Some(&self.functions[found.ok()?])
    }

    /// Returns the entry point `name`.
    pub fn entry_point(&self, name: &str) -> Option<&'static Callback> {
        let mut points = self.entry_points.iter().copied();
        points.find(|it| it.function.name == name)
    }
}

/// Returns true if the plugin fills tables behind a parameter of `function`.
fn fills_tables(function: &Function) -> bool {
    let is_plugin = matches!(function.kind, Kind::EntryPoint | Kind::Slot);
    let structs = function
        .parameters
        .iter()
        .filter_map(|it| filled_struct(&it.ty));
    is_plugin && !function.short_name().starts_with("destroy") && structs.into_iter().any(has_slots)
}

/// Returns the struct that a plugin may fill behind a pointer.
fn filled_struct(ty: &Type) -> Option<&'static Structure> {
    match ty {
        Type::Pointer { mutable: true, .. } => ty.pointed_struct(),
        _ => None,
    }
}

fn has_slots(structure: &Structure) -> bool {
    let mut fields = structure.fields.iter();
    let is_table = |structure: &'static Structure| has_slots(structure);
    fields.any(|field| {
        let inner = match &field.ty {
            Type::Struct(inner) => Some(*inner),
            ty => filled_struct(ty),
        };
        field.slot.is_some() || inner.is_some_and(is_table)
    })
}

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
    use super::super::description::{Field, INSTANCES, Parameter};
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

    #[test]
    fn destroying_functions_fill_no_tables() {
        let named = |name| Function::new(name, Kind::Slot, &PARAMETERS, Type::Void);
        assert!(fills_tables(&named(
            "SP_PlatformFns.create_stream_executor"
        )));
        assert!(!fills_tables(&named(
            "SP_PlatformFns.destroy_stream_executor"
        )));
    }
}
