//! `#[op(Name(x: T) -> (y: T), T: {f32, f64})]` on the shape function of an op that the plugin defines.
//!
//! A macro cannot see the items of other files. So the expansion contains a macro of the op's name whose body is the
//! definition, as a table of sp-ops. `#[kernel(ops::Name, ..)]` expands to a call of that macro, which passes the
//! definition and the kernel to [`kernel_of_op`](crate::kernel_of_op). From there on it is a kernel like those of TensorFlow's ops.
//!
//! The name is a path that rustc resolves: a misspelled op is its error, with the nearest name, and editors find the
//! definition. The alternative was a file of definitions in TensorFlow's text, which both macros read. It separates
//! an op from its shape function, errors have no position in it, editors complete nothing, and cargo must be made to
//! watch it.

mod attribute_syntax;
mod parse;
mod print;
mod shapes;

use crate::kernel::Function;
use parse::ParsedOp;
use print::Printed;
use proc_macro2::TokenStream;
use quote::quote;
use shapes::resolve;
use syn::ItemFn;

/// Expands the attribute. An expansion with errors contains the function, so that the author sees no other errors.
///
/// # Errors
/// Returns an error if the item is not a function.
pub fn attribute(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut errors = Vec::new();
    let function = Function::new(syn::parse2::<ItemFn>(item)?, &mut errors);
    let op = match syn::parse2::<ParsedOp>(arguments) {
        Ok(op) => {
            op.check(&mut errors);
            Some(op)
        }
        Err(error) => {
            errors.push(error);
            None
        }
    };
    let definition = op.map(|op| {
        let parameters = resolve(&op, &function, &mut errors);
        Printed {
            op: &op,
            function: &function,
            parameters: &parameters,
            is_valid: errors.is_empty(),
        }
        .print()
    });
    let errors = errors.iter().map(syn::Error::to_compile_error);
    let item = &function.item;
    Ok(quote! {
        #item
        #definition
        #(#errors)*
    })
}

#[cfg(test)]
mod tests;
