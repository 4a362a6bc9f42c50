//! Generation of the layer's library from the IR of one release: a crate of its own without dependencies.

mod functions;
mod model;
mod types;

use crate::runtime::filter::{group_names, matches};
use functions::{callback, description, wrapper};
use model::Model;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use sp_emit::printing::format_items;
use sp_ir::{Api, Field, Presence, Side, Struct, StructSize};
use std::collections::BTreeMap;

/// Lists the files of the runtime with their text.
macro_rules! runtime {
    ($($path:literal)*) => {
        &[$((concat!("runtime/", $path), include_str!(concat!("../runtime/", $path)))),*]
    };
}

/// The files of the runtime, by their path in the generated crate.
const RUNTIME: &[(&str, &str)] = runtime! {
    "call.rs"
    "callback.rs"
    "capture/content.rs"
    "capture/device.rs"
    "capture/file.rs"
    "capture/format.rs"
    "capture/gate.rs"
    "capture/kernels.rs"
    "capture/mod.rs"
    "capture/payload.rs"
    "capture/plugin_report.rs"
    "capture/records.rs"
    "capture/registrations.rs"
    "capture/running.rs"
    "check/arguments.rs"
    "check/clock.rs"
    "check/contexts.rs"
    "check/finding.rs"
    "check/handles.rs"
    "check/inputs.rs"
    "check/kernel.rs"
    "check/memory.rs"
    "check/mod.rs"
    "check/objects.rs"
    "check/order.rs"
    "check/structs.rs"
    "check/uses.rs"
    "core.rs"
    "description.rs"
    "elf.rs"
    "exchange.rs"
    "filter.rs"
    "guard.rs"
    "host.rs"
    "interpose.rs"
    "log.rs"
    "mod.rs"
    "record.rs"
    "report.rs"
    "settings.rs"
    "shared.rs"
    "signals.rs"
    "system.rs"
    "tables.rs"
    "value.rs"
};

/// The root of the generated crate.
const ROOT_TEXT: &str = include_str!("library_root.rs");

/// The file that the compiler is given.
pub const ROOT: &str = "library.rs";

/// Source files by their path in the generated crate.
pub type Files = BTreeMap<String, String>;

/// Returns the source files of the library for the release of `apis`.
pub fn generate(apis: &[Api]) -> Files {
    let mut files: Files = RUNTIME
        .iter()
        .map(|(path, text)| ((*path).into(), (*text).into()))
        .collect();
    files.insert(ROOT.into(), ROOT_TEXT.into());
    files.insert("generated.rs".into(), format_items(items(apis)));
    files
}

/// Returns the first part of `filter` that includes nothing of the release, or `None`.
pub fn unmatched(filter: &str, apis: &[Api]) -> Option<String> {
    let names = names(apis);
    let parts = filter.split(',').map(str::trim).filter(|it| !it.is_empty());
    let is_known = |part: &str| {
        let part = part.strip_prefix('-').unwrap_or(part);
        group_names().any(|it| it == part) || names.iter().any(|it| matches(part, it))
    };
    let mut unmatched = parts.filter(|it| !is_known(it));
    unmatched.next().map(str::to_owned)
}

/// Returns the names of the groups of a filter, separated by commas.
pub fn groups() -> String {
    group_names().collect::<Vec<_>>().join(", ")
}

/// Returns the names of all functions, slots and callbacks.
fn names(apis: &[Api]) -> Vec<String> {
    let model = Model::new(apis);
    let functions = [Side::Core, Side::Plugin].map(|side| model.functions(side));
    let functions = functions.into_iter().flatten();
    let mut names = Vec::new();
    for (symbol, item) in functions {
        names.push(symbol.to_owned());
        let taken = model.callbacks(symbol, &item.signature);
        names.extend(taken.into_iter().map(|it| it.name));
    }
    for (owner, item) in model
        .structs()
        .filter(|(_, item)| item.struct_size.is_some())
    {
        for field in &item.fields {
            let Some(signature) = model.function_type(&field.ty) else {
                continue;
            };
            let name = format!("{owner}.{}", field.name);
            let taken = model.callbacks(&name, signature);
            names.extend(taken.into_iter().map(|it| it.name));
            names.push(name);
        }
    }
    names
}

/// The code of the generated file, and the names of its statics.
#[derive(Default)]
struct Code {
    items: Vec<TokenStream>,
    slots: Vec<Ident>,
    functions: Vec<TokenStream>,
    entry_points: Vec<Ident>,
    callbacks: Vec<Ident>,
}

fn items(apis: &[Api]) -> TokenStream {
    let model = Model::new(apis);
    let mut code = Code::default();
    for (name, item) in model.enums() {
        code.items.push(types::enumeration(name, item));
    }
    for (name, item) in model.structs() {
        add_struct(&model, name, item, &mut code);
    }
    for (symbol, item) in model.functions(Side::Core) {
        add_host_function(&model, symbol, &item.signature, &mut code);
    }
    for (symbol, item) in model.functions(Side::Plugin) {
        let (name, tokens) = callback(&model, symbol, "EntryPoint", &item.signature);
        code.items.push(tokens);
        code.entry_points.push(name);
    }
    let release = apis.first().map_or("", |api| api.release.as_str());
    code.print(release)
}

impl Code {
    fn print(self, release: &str) -> TokenStream {
        let Self {
            items,
            slots,
            functions,
            entry_points,
            callbacks,
        } = self;
        quote! {
            #![allow(dead_code, unused_imports, unused_variables, non_snake_case, non_upper_case_globals, clippy::all)]
            use crate::runtime::call;
            use crate::runtime::callback::{Callback, Known, Stubs, Target};
            use crate::runtime::description::{Enumeration, Field, Function, Kind, Parameter, Slot, Structure, Thunk, Type};
            use crate::runtime::tables::{HostFunction, Tables};
            use std::arch::global_asm;
            use std::mem::transmute;
            use std::ptr::null_mut;
            use std::sync::atomic::{AtomicPtr, AtomicUsize};
            #[repr(C)]
            #[derive(Clone, Copy)]
            struct Words<const N: usize>([u64; N]);
            pub static TABLES: Tables = Tables {
                release: #release,
                functions: &[#(#functions),*],
                entry_points: &[#(&#entry_points),*],
                slots: &[#(&#slots),*],
                callbacks: &[#(&#callbacks),*],
            };
            #(#items)*
        }
    }
}

fn add_struct(model: &Model<'_>, name: &str, item: &Struct, code: &mut Code) {
    let is_versioned = item.struct_size.is_some();
    let value = item.struct_size.as_ref().map(|it: &StructSize| it.value);
    let size = Literal::u64_unsuffixed(value.unwrap_or(item.layout.size));
    let mut fields = Vec::new();
    for field in &item.fields {
        fields.push(add_field(model, name, field, is_versioned, code));
    }
    let constant = types::structure_name(name);
    code.items.push(quote! {
        static #constant: Structure =
            Structure { name: #name, size: #size, is_versioned: #is_versioned, fields: &[#(#fields),*] };
    });
}

fn add_field(
    model: &Model<'_>,
    owner: &str,
    field: &Field,
    is_versioned: bool,
    code: &mut Code,
) -> TokenStream {
    let (name, ty) = (&field.name, types::describe(model, &field.ty));
    let offset = Literal::u64_unsuffixed(field.offset);
    let size = Literal::u64_unsuffixed(field.size);
    let is_required = field
        .presence
        .as_ref()
        .is_some_and(|it| it.value == Presence::Required);
    let is_reserved = field.is_reserved();
    let signature = model
        .function_type(&field.ty)
        .filter(|it| is_versioned && model.is_callable(it));
    let slot = match signature {
        Some(signature) => {
            let slot = add_slot(model, &format!("{owner}.{name}"), signature, code);
            quote!(Some(&#slot))
        }
        None => quote!(None),
    };
    quote!(Field { name: #name, offset: #offset, size: #size, ty: #ty, is_required: #is_required, is_reserved: #is_reserved, slot: #slot })
}

fn add_slot(model: &Model<'_>, name: &str, signature: &sp_ir::Signature, code: &mut Code) -> Ident {
    let constant = format_ident!("SLOT_{}", name.replace('.', "_").to_uppercase());
    let thunk = format_ident!("thunk_{}", name.replace('.', "_"));
    let taken = model.callbacks(name, signature);
    for it in &taken {
        add_callback(model, &it.name, "HostCallback", it.signature, code);
    }
    let head = quote!(#thunk<const INSTANCE: usize>);
    let (function, original) = (
        quote!(#constant.function),
        quote!(#constant.original(INSTANCE)),
    );
    let code_of_thunk = wrapper(model, &head, signature, &function, &original, &taken);
    let description = description(model, name, "Slot", signature);
    let addresses = (0..4).map(|index| {
        let index = Literal::usize_unsuffixed(index);
        quote!(unsafe { transmute::<*const (), Thunk>(#thunk::<#index> as *const ()) })
    });
    code.items.push(quote! {
        #code_of_thunk
        static #constant: Slot = Slot {
            function: #description,
            originals: [const { AtomicUsize::new(0) }; 4],
            thunks: [#(#addresses),*],
        };
    });
    code.slots.push(constant.clone());
    constant
}

fn add_host_function(
    model: &Model<'_>,
    symbol: &str,
    signature: &sp_ir::Signature,
    code: &mut Code,
) {
    let (constant, head) = (
        format_ident!("FUNCTION_{symbol}"),
        format_ident!("host_{symbol}"),
    );
    let taken = model.callbacks(symbol, signature);
    for it in &taken {
        add_callback(model, &it.name, "Callback", it.signature, code);
    }
    let (function, original) = (quote!(#constant), quote!(#constant.original()));
    let wrapper = wrapper(
        model,
        &quote!(#head),
        signature,
        &function,
        &original,
        &taken,
    );
    let description = description(model, symbol, "Host", signature);
    code.items.push(quote! {
        #wrapper
        static #constant: Function = #description;
    });
    code.functions.push(quote! {
        HostFunction { function: &#constant, wrapper: unsafe { transmute::<*const (), Thunk>(#head as *const ()) } }
    });
}

fn add_callback(
    model: &Model<'_>,
    name: &str,
    kind: &str,
    signature: &sp_ir::Signature,
    code: &mut Code,
) {
    let (constant, tokens) = callback(model, name, kind, signature);
    code.items.push(tokens);
    code.callbacks.push(constant);
}
