//! Slots whose signature a later release changed without a change of the struct's size, so that the struct
//! does not show which signature the host calls. An author writes a function with the newest signature. The
//! setter stores one with the running release's signature, and passes null for parameters that it lacks.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use sp_expand::ty::{InScope, ident, print_function_type, print_param_type, print_return};
use sp_ir::{Field, Item, Param, Signature, Struct, Type};

use super::comment::safety;
use crate::context::Context;
use crate::releases::{Span, arguments, format_span};

/// Emits the setters of the retyped slots of an API.
pub fn emit(context: &Context<'_>) -> TokenStream {
    let structs = context
        .api
        .items
        .iter()
        .filter_map(|(name, item)| match item {
            Item::Struct(item) => Some((name.as_str(), item)),
            _ => None,
        });
    structs
        .flat_map(|(name, item)| retyped_slots(name, item, context))
        .map(|slot| slot.print())
        .collect()
}

/// A slot with two signatures.
pub struct RetypedSlot<'a> {
    /// The struct.
    pub table: &'a str,
    /// Its field.
    pub slot: &'a str,
    /// The signature in the newest release.
    pub newest: &'a Signature,
    /// The signature in older releases.
    pub older: &'a Signature,
    /// The first and the last of these releases.
    pub releases: Span,
    /// For each parameter of the newest signature, its index in the older one; `None` if that lacks it.
    pub older_indexes: Vec<Option<usize>>,
}

/// Returns the retyped slots of a struct.
pub fn retyped_slots<'a>(
    table: &'a str,
    item: &'a Struct,
    context: &Context<'a>,
) -> Vec<RetypedSlot<'a>> {
    let older = context.older_declarations().filter(|it| it.name == table);
    let slots = older.flat_map(|declaration| {
        let Item::Struct(older_item) = declaration.item else {
            return Vec::new();
        };
        let pairs = item
            .fields
            .iter()
            .filter_map(|field| Some((field, signatures(field, older_item)?)));
        let slots = pairs.filter_map(|(field, (newest, older))| {
            Some(RetypedSlot {
                table,
                slot: &field.name,
                newest,
                older,
                releases: declaration.span,
                older_indexes: older_indexes(older, newest)?,
            })
        });
        slots.collect()
    });
    slots.collect()
}

/// Returns the newest and the older signature of a slot, if it kept its offset and the parameters differ.
fn signatures<'a>(
    field: &'a Field,
    older_item: &'a Struct,
) -> Option<(&'a Signature, &'a Signature)> {
    let older_field = older_item.fields.iter().find(|it| it.name == field.name)?;
    match (&field.ty, &older_field.ty) {
        (Type::Function(newest), Type::Function(older))
            if older_field.offset == field.offset && newest.params.len() != older.params.len() =>
        {
            Some((newest, older))
        }
        _ => None,
    }
}

/// Returns the index in `older` of each parameter of `newest`. `None` if the match is ambiguous, or if a
/// parameter that `older` lacks is not a pointer.
fn older_indexes(older: &Signature, newest: &Signature) -> Option<Vec<Option<usize>>> {
    let forward = match_params(
        older.params.iter(),
        newest.params.iter().enumerate().collect(),
    )?;
    let mut backward = match_params(
        older.params.iter().rev(),
        newest.params.iter().enumerate().rev().collect(),
    )?;
    backward.reverse();
    let older_index = |index: usize| forward.iter().position(|it| *it == index);
    let indexes: Vec<_> = (0..newest.params.len()).map(older_index).collect();
    let mut added = indexes
        .iter()
        .zip(&newest.params)
        .filter(|(index, _)| index.is_none());
    let are_pointers = added.all(|(_, param)| matches!(param.ty, Type::Pointer { .. }));
    (forward == backward && are_pointers && older.ret == newest.ret).then_some(indexes)
}

/// Returns, for each of `older`, the index of the first of `newest` with its type, in order.
fn match_params<'a>(
    older: impl Iterator<Item = &'a Param>,
    newest: Vec<(usize, &'a Param)>,
) -> Option<Vec<usize>> {
    let mut rest = newest.into_iter();
    older
        .map(|param| {
            rest.find(|(_, it)| is_same_but_const(&it.ty, &param.ty))
                .map(|found| found.0)
        })
        .collect()
}

/// Returns true if the types are equal except for constness, which has no effect in an ABI.
fn is_same_but_const(left: &Type, right: &Type) -> bool {
    match (left, right) {
        (Type::Pointer { pointee: left, .. }, Type::Pointer { pointee: right, .. }) => {
            is_same_but_const(left, right)
        }
        _ => left == right,
    }
}

impl RetypedSlot<'_> {
    fn print(&self) -> TokenStream {
        let Self {
            table,
            slot,
            newest,
            older,
            ..
        } = self;
        let (first, last) = self.releases;
        let span = format_span(self.releases);
        let author = format_ident!("{table}__{slot}");
        let setter = format_ident!("set_{slot}");
        let trampoline = format_ident!("{author}_v{}_{}", first.major, first.minor);
        let (table_name, field) = (ident(table), ident(slot));
        let full = format!("{table}.{slot}");
        let trait_doc = format!(" The function of the slot `{full}`, with its newest signature.");
        let ret = print_return(&newest.ret, &InScope);
        let (newest_type, older_type) = (
            print_function_type(newest, &InScope),
            print_function_type(older, &InScope),
        );
        let newest_params = params(newest);
        let older_params = params(older);
        let passed = self.passed_arguments();
        let (first, last) = (arguments(first), arguments(last));
        let setter_doc = format!(
            " Stores `T` with the signature that the running host calls. In {span} the parameters that a \
             later release added are null."
        );
        let unknown =
            format!("{full} has another signature in {span}, and the host's release is not known");
        let trampoline_doc = format!(" Calls `T` with the arguments of `{full}` in {span}.");
        let call_comment =
            safety("the host guarantees its arguments, which are passed on unchanged.");
        let transmute_comment = safety(
            "both are function pointers, and only a host with the older signature calls it.",
        );
        quote! {
            #[doc = #trait_doc]
            pub trait #author: 'static {
                #[doc = " Called by the host."]
                #[doc = ""]
                #[doc = " # Safety"]
                #[doc = " - The arguments are as the header states."]
                #[doc = " - Parameters that a later release added may be null."]
                unsafe extern "C" fn call(#(#newest_params),*) #ret;
            }
            #[doc = #trampoline_doc]
            unsafe extern "C" fn #trampoline<T: #author>(#(#older_params),*) #ret {
                #call_comment
                unsafe { T::call(#(#passed),*) }
            }
            impl #table_name {
                #[doc = #setter_doc]
                #[doc = ""]
                #[doc = " # Errors"]
                #[doc = " Returns an error if the host's release is not known."]
                pub fn #setter<T: #author>(table: &mut PrefixMut<'_, Self>) -> Result<()> {
                    let newest: #newest_type = T::call;
                    let older: #older_type = #trampoline::<T>;
                    #transmute_comment
                    let older: #newest_type = unsafe { core::mem::transmute(older) };
                    let older_releases = Releases::between(Release::new(#first), Release::new(#last));
                    let slot = match Host::running().is_in(older_releases) {
                        Some(true) => older,
                        Some(false) => newest,
                        None => return Err(Error::unimplemented(#unknown)),
                    };
                    table.set(Self::#field, Some(slot));
                    Ok(())
                }
            }
        }
    }

    /// Returns the arguments that the trampoline passes to the author's function.
    fn passed_arguments(&self) -> Vec<TokenStream> {
        let params = self.older_indexes.iter().zip(&self.newest.params);
        params
            .map(|(index, param)| match (index, &param.ty) {
                (Some(index), Type::Pointer { mutable, .. }) => {
                    let name = param_name(*index, &self.older.params[*index]);
                    let was_mutable = matches!(
                        &self.older.params[*index].ty,
                        Type::Pointer { mutable: true, .. }
                    );
                    match (was_mutable, mutable) {
                        (false, true) => quote!(#name.cast_mut()),
                        _ => quote!(#name),
                    }
                }
                (Some(index), _) => {
                    let name = param_name(*index, &self.older.params[*index]);
                    quote!(#name)
                }
                (None, Type::Pointer { mutable: true, .. }) => quote!(core::ptr::null_mut()),
                (None, _) => quote!(core::ptr::null()),
            })
            .collect()
    }
}

fn params(signature: &Signature) -> Vec<TokenStream> {
    let params = signature.params.iter().enumerate();
    params
        .map(|(index, param)| {
            let (name, ty) = (param_name(index, param), print_param_type(param, &InScope));
            quote!(#name: #ty)
        })
        .collect()
}

fn param_name(index: usize, param: &Param) -> Ident {
    match param.name.as_str() {
        "" => format_ident!("arg{index}"),
        name => ident(name),
    }
}
