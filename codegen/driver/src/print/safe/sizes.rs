//! Prints the assignments of the sizes of structs: the driver accesses as many bytes of a struct as its field states, so a caller
//! cannot choose the size.

use proc_macro2::TokenStream;
use quote::quote;
use sp_ir::{Item, Struct, Type};

use super::{local_of, raw_type};
use crate::contract::SafeModel;
use crate::model::{Model, StatedSizes};
use crate::names;

/// An expression of a value, or of a reference to one.
pub enum Place {
    Value(TokenStream),
    Reference(TokenStream),
}

/// Prints the assignments for the value `place`, and for all structs within it. `None` if no struct has the field of the
/// contract.
pub fn print<'a>(
    model: &'a Model,
    safe: &'a SafeModel<'a>,
    place: &Place,
    ty: &'a Type,
) -> Option<TokenStream> {
    let mut printer = Printer {
        model,
        safe,
        sizes: StatedSizes::new(model, safe.size_field?),
    };
    printer.value(place, ty, 0)
}

struct Printer<'a> {
    model: &'a Model,
    safe: &'a SafeModel<'a>,
    sizes: StatedSizes<'a>,
}

impl<'a> Printer<'a> {
    fn value(&mut self, place: &Place, ty: &'a Type, nesting: usize) -> Option<TokenStream> {
        if self.sizes.find(ty).assignments == 0 {
            return None;
        }
        match self.model.resolve(ty) {
            Type::Array { elem, .. } => self.array(place, elem, nesting),
            Type::Named(name) => match self.model.item(name) {
                Some(Item::Struct(item)) => self.fields(place, name, item, nesting),
                _ => None,
            },
            _ => None,
        }
    }

    /// Prints a loop over a copy of the elements: those of a packed struct cannot be borrowed.
    fn array(&mut self, place: &Place, elem: &'a Type, nesting: usize) -> Option<TokenStream> {
        let (items, item) = (local_of("items", nesting), local_of("item", nesting));
        let element = self.value(&Place::Reference(quote!(#item)), elem, nesting + 1)?;
        let array = match place {
            Place::Value(it) => quote!(#it),
            Place::Reference(it) => quote!(*#it),
        };
        Some(quote! {
            let mut #items = #array;
            for #item in &mut #items { #element }
            #array = #items;
        })
    }

    fn fields(
        &mut self,
        place: &Place,
        name: &str,
        item: &'a Struct,
        nesting: usize,
    ) -> Option<TokenStream> {
        let (Place::Value(place) | Place::Reference(place)) = place;
        let idents = names::fields(item.fields.iter().map(|it| it.name.as_str()));
        let assignments = item
            .fields
            .iter()
            .zip(&idents)
            .filter_map(|(field, ident)| {
                let place = quote!(#place.#ident);
                if !self.sizes.is_size(field) {
                    return self.value(&Place::Value(place), &field.ty, nesting + 1);
                }
                let ty = raw_type(self.safe, &Type::Named(name.to_owned()));
                Some(quote!(#place = ::core::mem::size_of::<#ty>() as _;))
            });
        let assignments: TokenStream = assignments.collect();
        (!assignments.is_empty()).then_some(assignments)
    }
}
