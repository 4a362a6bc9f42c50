//! Prints the planned functions as a file in Rust.

mod doc;
mod imports;
mod kernel;
mod op;
mod parameters;
mod shape_function;
mod signatures;
mod types;

use crate::plan::{Options, Plan};
use crate::registration::{Registrations, Source};
use imports::Imports;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use signatures::Signatures;
use sp_emit::printing::format_items;

/// The data that the file is printed from.
pub(crate) struct Input<'a> {
    pub sources: &'a [Source],
    pub registrations: &'a Registrations,
    pub plan: &'a Plan,
    pub options: &'a Options,
}

/// Prints a file with a function for each kernel and op, a list of the kernels, and what has no function.
pub fn print(
    sources: &[Source],
    registrations: &Registrations,
    plan: &Plan,
    options: &Options,
) -> String {
    let input = Input {
        sources,
        registrations,
        plan,
        options,
    };
    let mut imports = Imports::default();
    let mut signatures = Signatures::default();
    let kernels: Vec<TokenStream> = plan
        .kernels
        .iter()
        .map(|it| kernel::print(it, &input, &mut imports, &mut signatures))
        .collect();
    let ops = print_ops(&input, &mut signatures);
    let table = print_table(plan, &mut imports);
    let uses = imports.print(options.device.as_ref().filter(|_| has_device_kernel(plan)));
    let doc = doc::print_file(&input);
    let text = format_items(quote! {
        #doc
        #uses
        #ops
        #table
        #(#kernels)*
    });
    signatures.restore(&text)
}

fn has_device_kernel(plan: &Plan) -> bool {
    plan.kernels.iter().any(|it| it.is_on_device)
}

/// Prints the module of the ops.
fn print_ops(input: &Input<'_>, signatures: &mut Signatures) -> TokenStream {
    let mut imports = Imports::default();
    let ops: Vec<TokenStream> = input
        .plan
        .ops
        .iter()
        .filter_map(|it| op::print(it, input, &mut imports, signatures))
        .collect();
    if ops.is_empty() {
        return TokenStream::new();
    }
    let uses = imports.print(None);
    quote! {
        /// The ops: move them to the module `ops` of the plugin.
        pub mod ops {
            #uses
            #(#ops)*
        }
    }
}

/// Prints the list of the kernels.
fn print_table(plan: &Plan, imports: &mut Imports) -> TokenStream {
    if plan.kernels.is_empty() {
        return TokenStream::new();
    }
    imports.kernel("Kernel");
    imports.kernel("kernels");
    let functions = plan.kernels.iter();
    let functions = functions.map(|it| format_ident!("{}", it.function));
    quote! {
        /// Returns the kernels, in order.
        pub fn table() -> Vec<&'static Kernel> {
            kernels![#(#functions),*]
        }
    }
}
