//! The imports of the file.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use std::collections::BTreeSet;

/// The imported names, by module.
#[derive(Default)]
pub struct Imports {
    root: BTreeSet<&'static str>,
    kernel: BTreeSet<&'static str>,
    marker: BTreeSet<&'static str>,
    op: BTreeSet<&'static str>,
}

impl Imports {
    /// Imports a name of `sp_plugin`.
    pub fn root(&mut self, name: &'static str) {
        self.root.insert(name);
    }

    /// Imports a name of `sp_plugin::kernel`.
    pub fn kernel(&mut self, name: &'static str) {
        self.kernel.insert(name);
    }

    /// Imports a name of `sp_plugin::kernel::marker`.
    pub fn marker(&mut self, name: &'static str) {
        self.marker.insert(name);
    }

    /// Imports a name of `sp_plugin::op`.
    pub fn op(&mut self, name: &'static str) {
        self.op.insert(name);
    }

    /// Prints the imports, with the device's type if there is one.
    pub fn print(&self, device: Option<&syn::Path>) -> TokenStream {
        let modules = [
            (quote!(sp_plugin), &self.root),
            (quote!(sp_plugin::kernel), &self.kernel),
            (quote!(sp_plugin::kernel::marker), &self.marker),
            (quote!(sp_plugin::op), &self.op),
        ];
        let uses = modules.iter().filter_map(|(module, names)| {
            let names: Vec<_> = names.iter().map(|it| format_ident!("{it}")).collect();
            match &names[..] {
                [] => None,
                [name] => Some(quote!(use #module::#name;)),
                names => Some(quote!(use #module::{#(#names),*};)),
            }
        });
        let device = device
            .filter(|it| it.segments.len() > 1)
            .map(|it| quote!(use #it;));
        quote!(#(#uses)* #device)
    }
}
