//! The tables of the generated file, and what is recorded and checked of them.

use super::callback::Callback;
use super::description::{Function, Kind, Slot, Structure, Thunk, Type, flag};
use super::filter;
use super::settings::Settings;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

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
            if settings.capture.is_some() && filter::is_captured(function) {
                flags |= flag::CAPTURE;
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

/// Returns the struct that a plugin may fill behind a pointer of this type, or `None`.
pub fn filled_struct(ty: &Type) -> Option<&'static Structure> {
    match ty {
        Type::Pointer { mutable: true, .. } => ty.pointed_struct(),
        _ => None,
    }
}

/// Returns true if the struct, or one that it leads to, has a slot.
pub fn has_slots(structure: &Structure) -> bool {
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

#[cfg(test)]
mod tests {
    use super::super::description::{Field, Parameter};
    use super::*;

    static TABLE: Structure = Structure {
        name: "SP_Table",
        size: 8,
        is_versioned: true,
        fields: &[Field {
            name: "run",
            offset: 0,
            size: 8,
            ty: Type::Function,
            is_required: false,
            is_reserved: false,
            slot: Some(&SLOT),
        }],
    };
    unsafe extern "C-unwind" fn thunk() {}
    static SLOT: Slot = Slot {
        function: Function::new("SP_Table.run", Kind::Slot, &[], Type::Void),
        originals: [const { std::sync::atomic::AtomicUsize::new(0) };
            super::super::description::INSTANCES],
        thunks: [thunk; super::super::description::INSTANCES],
    };
    static PARAMETERS: [Parameter; 1] = [Parameter {
        name: "table",
        ty: Type::Pointer {
            pointee: &Type::Struct(&TABLE),
            mutable: true,
        },
        is_out: false,
    }];

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
