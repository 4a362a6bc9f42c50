//! The macros of a plugin. Each is a thin entry point; what it expands to is in sp-expand.

#![deny(clippy::print_stderr, clippy::print_stdout, clippy::dbg_macro)]

use proc_macro::TokenStream;

/// Derives the `struct_size` protocol for a `repr(C)` struct: `STRUCT_SIZE`, a `Field` constant for
/// each field under its own name, and for a function table `fill`.
#[proc_macro_derive(Abi, attributes(abi))]
pub fn abi(input: TokenStream) -> TokenStream {
    expanded(sp_expand::derive(input.into()))
}

/// Marks which slots an impl of a generated trait provides; with
/// `#[vtable(fallback = self.field: Type)]` the rest runs on another device.
#[proc_macro_attribute]
pub fn vtable(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expanded(sp_expand::vtable(arguments.into(), item.into()))
}

/// Checks at compile time that the oldest release which an item is for has what it names:
/// `#[plugin(min_release = "2.6")]` on a function, an `impl` or a module; `#[plugin]` takes the
/// release that `plugin!` was told.
///
/// The functions whose `.get()` it calls and the fields (`SP_Platform::force_memory_growth`) that it
/// names are checked, each at its place.
#[proc_macro_attribute]
pub fn plugin(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expanded(sp_expand::plugin(arguments.into(), item.into()))
}

/// Called back by the macro beside a generated trait; not for use by hand.
#[doc(hidden)]
#[proc_macro]
pub fn forward_slots(input: TokenStream) -> TokenStream {
    expanded(sp_expand::forward_slots(input.into()))
}

/// Registers a function as the kernel of an op: `#[kernel(op = "MatMul", T = [f32, f64])]`.
///
/// The function takes `cx: &Host<'_>` (serves every device) or `cx: &OnDevice<'_, D>` (serves `D`),
/// then `attributes: &A` if the op has attributes that it needs, and returns `Result<()>`. It has
/// one type parameter for each listed type attribute, in that order. `host = ["axis"]` names
/// arguments that are to be in host memory; `priority = 1` is TensorFlow's own.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    let result = sp_expand::kernel(arguments.into(), item.clone());
    // With the function still there, the error is the only one that the author sees.
    result
        .unwrap_or_else(|error| [error.into_compile_error(), item].into_iter().collect())
        .into()
}

/// Derives reading an op's attributes by the names of the fields, or by `#[attribute("name")]`.
#[proc_macro_derive(Attributes, attributes(attribute))]
pub fn attributes(input: TokenStream) -> TokenStream {
    expanded(sp_expand::attributes(input.into()))
}

fn expanded(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(syn::Error::into_compile_error).into()
}
