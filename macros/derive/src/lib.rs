//! The procedural macros of a plugin. Each is a thin entry point; the expansions are in sp-expand.

#![deny(clippy::print_stderr, clippy::print_stdout, clippy::dbg_macro)]

use proc_macro::TokenStream;

/// Derives the `struct_size` protocol for a `repr(C)` struct: `STRUCT_SIZE`, a `Field` constant for
/// each field under its own name, and for a function table `fill`.
#[proc_macro_derive(Abi, attributes(abi))]
pub fn abi(input: TokenStream) -> TokenStream {
    expanded(sp_expand::derive(input.into()))
}

/// Marks the optional slots that an impl of a generated trait contains as present.
///
/// | argument | the other slots |
/// |---|---|
/// | `fallback = self.field: Type` | are those of another device |
/// | `absent = [slot, ..]` | are null; in the crate's tests, one that is not in the list is a compile error |
#[proc_macro_attribute]
pub fn vtable(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expanded(sp_expand::vtable(arguments.into(), item.into()))
}

/// Checks at compile time that the oldest supported release has the functions and fields that an item uses:
/// `#[plugin(min_release = "2.6")]` on a function, an `impl` or a module. `#[plugin]` takes the release
/// from `plugin!`.
///
/// It checks the functions on which the item calls `.get()` and the fields that it names, such as
/// `SP_Platform::force_memory_growth`. An error has the span of the name.
#[proc_macro_attribute]
pub fn plugin(arguments: TokenStream, item: TokenStream) -> TokenStream {
    expanded(sp_expand::plugin(arguments.into(), item.into()))
}

/// Expands the invocation by the macro beside a generated trait. Not for direct use.
#[doc(hidden)]
#[proc_macro]
pub fn forward_slots(input: TokenStream) -> TokenStream {
    expanded(sp_expand::forward_slots(input.into()))
}

/// Formats a message about a declined host: `decline_message!(TooOld, release)`. For sp-runtime.
#[doc(hidden)]
#[proc_macro]
pub fn decline_message(input: TokenStream) -> TokenStream {
    expanded(sp_expand::decline_message(input.into()))
}

/// Registers a function as a kernel of an op: `#[kernel(Sum, T = [f32, f64])]`.
///
/// The parameters of the function are the op's inputs, outputs and attributes, matched by name; the type of each states
/// its memory space. `#[op("name")]` on a parameter states a name that differs. `#[state]` marks the state that is
/// prepared from attributes, and `#[context]` device and stream. The function returns `Result<()>`.
///
/// | argument | meaning |
/// |---|---|
/// | `Sum` | the op, first |
/// | `T = [f32, f64]` | the types of a type attribute; they replace the type parameter of that name |
/// | `index_type: I = [i32]` | as above, for the type parameter `I` |
/// | `T: any = [f32, f64]` | one function for all of these types |
/// | `device = MyAccel` | a kernel of one device |
/// | `ignore = [axis]` | inputs that the kernel does not read |
/// | `releases = "2.6..2.14"` | the releases to register the kernel in |
/// | `needs = [TF_AssignVariable]` | functions that the host has to export |
/// | `priority = 1`, `label = "x"` | as in the C API |
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    let result = sp_expand::kernel(arguments.into(), item.clone());
    // The expansion keeps the item, so that the author sees no further errors about a missing name.
    result
        .unwrap_or_else(|error| [error.into_compile_error(), item].into_iter().collect())
        .into()
}

/// Defines an op: `#[op(Scale(x: T) -> (y: T), T: {f32, f64}, factor: float = 1.0)]` on its shape function.
///
/// The first argument is the op's signature; the types of its arguments are as in TensorFlow's op definitions, element
/// types also by their names in Rust: `T`, `f32`, `N * T`, `Ref(T)`, the name of a list of types. Then follow
/// attributes, as in TensorFlow, and properties.
///
/// | argument | meaning |
/// |---|---|
/// | `T: {f32, f64} = f32` | a type attribute with these types, and its default |
/// | `mode: {"SAME", "VALID"}` | a string attribute with these values |
/// | `N: int >= 1` | an attribute of type int; others are float, bool, string, type, shape, tensor, func |
/// | `sizes: list(int) >= 1 = [1]` | a list with its least length |
/// | `stateful`, `commutative`, `aggregate`, `allows_uninitialized_input` | properties of the op |
/// | `deprecated(26, "reason")` | the op is an error in graphs of this version and later |
///
/// The function receives the shapes of inputs by name, as `Shape` or, for a list, `Vec<Shape>`, and type attributes as
/// `DataType`. It returns the shapes of the outputs: `Result<Shape>`, or a tuple for several ones. Kernels name the op
/// by its path: `#[kernel(ops::Scale, T = [f32])]`.
#[proc_macro_attribute]
pub fn op(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let item = proc_macro2::TokenStream::from(item);
    let result = sp_expand::op(arguments.into(), item.clone());
    result
        .unwrap_or_else(|error| [error.into_compile_error(), item].into_iter().collect())
        .into()
}

/// Expands a kernel of an op that the plugin defines. Not for direct use.
#[doc(hidden)]
#[proc_macro]
pub fn kernel_of_op(input: TokenStream) -> TokenStream {
    expanded(sp_expand::kernel_of_op(input.into()))
}

/// Returns the registrations of kernels, in order: `kernels![relu, reduce::sum]`.
#[proc_macro]
pub fn kernels(input: TokenStream) -> TokenStream {
    expanded(sp_expand::kernels(input.into()))
}

/// Derives a function that reads an op's attributes by the names of the fields, or by `#[attribute("name")]`.
#[proc_macro_derive(Attributes, attributes(attribute))]
pub fn attributes(input: TokenStream) -> TokenStream {
    expanded(sp_expand::attributes(input.into()))
}

/// Derives an enum for a string attribute: `#[value("NHWC", "NDHWC")]` lists the strings of a variant. The enum is
/// `Copy`.
#[proc_macro_derive(AttributeValue, attributes(value))]
pub fn attribute_value(input: TokenStream) -> TokenStream {
    expanded(sp_expand::attribute_value(input.into()))
}

fn expanded(result: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    result.unwrap_or_else(syn::Error::into_compile_error).into()
}
