//! Prints the methods that access bit-fields.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use sp_emit::printing::{print_type, safety};
use sp_ir::Type;

use super::InScope;
use crate::model::{Accessor, Model};
use crate::names;

/// Prints the methods of a struct or union. A union's bytes may be those of another member, which has padding.
pub fn print(model: &Model, ident: &Ident, accessors: &[Accessor], is_union: bool) -> TokenStream {
    let getters: Vec<Ident> = accessors.iter().map(|it| getter(&it.name)).collect();
    let methods = accessors.iter().zip(&getters).map(|(accessor, getter)| {
        let setter = setter(&accessor.name, &getters);
        let access = Access {
            model,
            accessor,
            is_union,
        };
        access.print(getter, &setter)
    });
    quote!(impl #ident { #(#methods)* })
}

/// Returns the name of the method that reads a bit-field. Traits of the struct have methods too.
fn getter(name: &str) -> Ident {
    match name {
        "clone" | "clone_from" | "default" => format_ident!("{name}_"),
        name => sp_expand::ident(name),
    }
}

/// Returns the name of the method that writes a bit-field; another bit-field may have it.
fn setter(name: &str, getters: &[Ident]) -> Ident {
    let mut setter = sp_expand::ident(&format!("set_{name}"));
    while getters.contains(&setter) {
        setter = format_ident!("{setter}_");
    }
    setter
}

struct Access<'a> {
    model: &'a Model,
    accessor: &'a Accessor,
    is_union: bool,
}

impl Access<'_> {
    fn print(&self, getter: &Ident, setter: &Ident) -> TokenStream {
        let it = self.accessor;
        let (name, ty, width) = (&it.name, &it.ty, &it.width);
        let declaration = sp_ir::c::member(name, ty);
        let get = format!(" Returns the bit-field `{declaration} : {width}`.");
        let set = format!(" Sets the bit-field `{name}` to the lowest bits of a value.");
        let (unsafety, safety_doc) = self.unsafety();
        let (read, write) = (self.read(), self.write());
        let ty = print_type(ty, &InScope);
        quote! {
            #[doc = #get]
            #safety_doc
            pub #unsafety fn #getter(&self) -> #ty { #read }
            #[doc = #set]
            #safety_doc
            pub #unsafety fn #setter(&mut self, value__: #ty) { #write }
        }
    }

    fn unsafety(&self) -> (TokenStream, TokenStream) {
        match self.is_union {
            true => (
                quote!(unsafe),
                quote! {
                    ///
                    /// # Safety
                    /// - The bytes of the bit-field are initialized, as those of the default value are.
                },
            ),
            false => (TokenStream::new(), TokenStream::new()),
        }
    }

    fn read(&self) -> TokenStream {
        let storage = sp_expand::ident(&self.accessor.storage);
        let (offset, width) = self.position();
        let bits = self.in_union(&quote!(read_bits(&self.#storage, #offset, #width)));
        let value = self.converted(&quote!(sign_extended(bits__, #width)));
        quote! {
            let bits__ = #bits;
            #value
        }
    }

    /// Prints the conversion of the variable `bits__`; `extended` is the same as a signed number.
    fn converted(&self, extended: &TokenStream) -> TokenStream {
        let ty = print_type(&self.accessor.ty, &InScope);
        let resolved = self.model.resolve(&self.accessor.ty);
        match self.model.enumeration(&self.accessor.ty) {
            Some((name, item)) => {
                let (name, repr) = (names::item(name), print_type(&item.repr, &InScope));
                match is_signed(&item.repr) {
                    true => quote!(#name(#extended as #repr)),
                    false => quote!(#name(bits__ as #repr)),
                }
            }
            None if *resolved == Type::Bool => quote!(bits__ != 0),
            None if is_signed(resolved) => quote!(#extended as #ty),
            None => quote!(bits__ as #ty),
        }
    }

    fn write(&self) -> TokenStream {
        let storage = sp_expand::ident(&self.accessor.storage);
        let (offset, width) = self.position();
        let value = match self.model.enumeration(&self.accessor.ty) {
            Some(_) => quote!(value__.0 as u64),
            None => quote!(value__ as u64),
        };
        self.in_union(&quote!(write_bits(&mut self.#storage, #offset, #width, #value)))
    }

    fn position(&self) -> (Literal, Literal) {
        let literal = Literal::u64_unsuffixed;
        (literal(self.accessor.offset), literal(self.accessor.width))
    }

    fn in_union(&self, expression: &TokenStream) -> TokenStream {
        if !self.is_union {
            return expression.clone();
        }
        let comment = safety("the caller guarantees that the bytes are initialized.");
        quote!({ #comment unsafe { #expression } })
    }
}

/// Returns true for a signed integer; `char` is one on x86-64.
fn is_signed(ty: &Type) -> bool {
    match ty {
        Type::Int { signed, .. } | Type::Address { signed } => *signed,
        Type::Char => cfg!(target_arch = "x86_64"),
        _ => false,
    }
}
