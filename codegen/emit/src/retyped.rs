//! Slots whose signature a later release changed while the struct kept its size, so that nothing in
//! it tells which is meant. An author writes the newest form once; what stores it takes the running
//! release's, in which the parameters that came later are null.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};
use sp_expand::ty::{InScope, ident, print_function_type, print_param_type, print_return};
use sp_ir::{Field, Item, Param, Signature, Struct, Type};

use super::comment::safety;
use crate::context::Context;
use crate::minor::{Minor, run};

/// What stores the retyped slots of an API.
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
        .flat_map(|(name, item)| slots(name, item, context))
        .map(|slot| slot.print())
        .collect()
}

/// A slot and the signature that it had.
pub struct Retyped<'a> {
    /// The struct.
    pub table: &'a str,
    /// Its field.
    pub slot: &'a str,
    /// What the newest release calls it with.
    pub newest: &'a Signature,
    /// What older ones called it with.
    pub older: &'a Signature,
    /// The first and the last of those.
    pub releases: (Minor, Minor),
    /// For each parameter of the newest signature, the older one's that it is.
    pub kept: Vec<Option<usize>>,
}

/// The slots of a struct that were retyped.
pub fn slots<'a>(table: &'a str, item: &'a Struct, context: &Context<'a>) -> Vec<Retyped<'a>> {
    let olds = context
        .old
        .into_iter()
        .flat_map(|modules| modules.values().flatten());
    let forms = olds.filter(|old| old.name == table);
    let all = forms.flat_map(|old| {
        let Item::Struct(form) = old.item else {
            return Vec::new();
        };
        let pairs = item
            .fields
            .iter()
            .filter_map(|field| Some((field, pair(field, form)?)));
        let retyped = pairs.filter_map(|(field, (newest, older))| {
            Some(Retyped {
                table,
                slot: &field.name,
                newest,
                older,
                releases: old.span,
                kept: kept(older, newest)?,
            })
        });
        retyped.collect()
    });
    all.collect()
}

/// Both signatures of a slot that stayed in its place and changed its parameters.
fn pair<'a>(field: &'a Field, form: &'a Struct) -> Option<(&'a Signature, &'a Signature)> {
    let before = form.fields.iter().find(|it| it.name == field.name)?;
    match (&field.ty, &before.ty) {
        (Type::Function(newest), Type::Function(older))
            if before.offset == field.offset && newest.params.len() != older.params.len() =>
        {
            Some((newest, older))
        }
        _ => None,
    }
}

/// Which parameter of `older` each of `newest` is, if there is one way to see it, and all that came
/// later can be null.
fn kept(older: &Signature, newest: &Signature) -> Option<Vec<Option<usize>>> {
    let len = newest.params.len();
    let forward = place(
        older.params.iter(),
        newest.params.iter().enumerate().collect(),
    )?;
    let backward = place(
        older.params.iter().rev(),
        newest.params.iter().enumerate().rev().collect(),
    )?;
    let mut backward = backward;
    backward.reverse();
    let find = |index: usize| forward.iter().position(|it| *it == index);
    let kept: Vec<_> = (0..len).map(find).collect();
    let later = kept
        .iter()
        .zip(&newest.params)
        .filter(|(kept, _)| kept.is_none());
    let nullable = later.fold(true, |all, (_, param)| {
        all && matches!(param.ty, Type::Pointer { .. })
    });
    (forward == backward && nullable && older.ret == newest.ret).then_some(kept)
}

/// Where each of `older` comes first among `newest`, in order.
fn place<'a>(
    older: impl Iterator<Item = &'a Param>,
    newest: Vec<(usize, &'a Param)>,
) -> Option<Vec<usize>> {
    let mut rest = newest.into_iter();
    older
        .map(|param| {
            rest.find(|(_, it)| alike(&it.ty, &param.ty))
                .map(|found| found.0)
        })
        .collect()
}

/// Whether one type passes for the other: constness is the compiler's concern alone.
fn alike(one: &Type, other: &Type) -> bool {
    match (one, other) {
        (Type::Pointer { pointee: one, .. }, Type::Pointer { pointee: other, .. }) => {
            alike(one, other)
        }
        _ => one == other,
    }
}

impl Retyped<'_> {
    fn print(&self) -> TokenStream {
        let Self {
            table,
            slot,
            newest,
            older,
            ..
        } = self;
        let author = format_ident!("{table}__{slot}");
        let setter = format_ident!("set_{slot}");
        let shim = format_ident!("{author}_v{}_{}", self.releases.0.0, self.releases.0.1);
        let (table_name, field) = (ident(table), ident(slot));
        let full = format!("{table}.{slot}");
        let trait_doc = format!(" A `{full}`, in the newest form.");
        let ret = print_return(&newest.ret, &InScope);
        let (newest_type, older_type) = (
            print_function_type(newest, &InScope),
            print_function_type(older, &InScope),
        );
        let newest_params = params(newest);
        let older_params = params(older);
        let arguments = self.arguments();
        let [first, last] = [self.releases.0, self.releases.1].map(release);
        let said = format!(
            " Stores `T` with the signature that the running host calls; in {} what came later is null.",
            run(self.releases)
        );
        let untold = format!(
            "{full} takes other arguments in {}, and whether this TensorFlow is one of these is not known",
            run(self.releases)
        );
        let shim_doc = format!(" `{full}` as {} calls it.", run(self.releases));
        let (passed, same_size) = (
            safety("the host's own arguments, passed on as they came."),
            safety("both are functions, and who calls it knows the older one."),
        );
        quote! {
            #[doc = #trait_doc]
            pub trait #author: 'static {
                #[doc = " Called by the host."]
                #[doc = ""]
                #[doc = " # Safety"]
                #[doc = " The arguments are as the header says; what came later may be null."]
                unsafe extern "C" fn call(#(#newest_params),*) #ret;
            }
            #[doc = #shim_doc]
            unsafe extern "C" fn #shim<T: #author>(#(#older_params),*) #ret {
                #passed
                unsafe { T::call(#(#arguments),*) }
            }
            impl #table_name {
                #[doc = #said]
                #[doc = ""]
                #[doc = " # Errors"]
                #[doc = " Where it is not known which release the host is."]
                pub fn #setter<T: #author>(table: &mut PrefixMut<'_, Self>) -> Result<()> {
                    let newest: #newest_type = T::call;
                    let older: #older_type = #shim::<T>;
                    #same_size
                    let older: #newest_type = unsafe { core::mem::transmute(older) };
                    let slot = match Host::running().is_in(Releases::between(#first, #last)) {
                        Some(true) => older,
                        Some(false) => newest,
                        None => return Err(Error::unimplemented(#untold)),
                    };
                    table.set(Self::#field, Some(slot));
                    Ok(())
                }
            }
        }
    }

    /// What the older form passes on to the newest.
    fn arguments(&self) -> Vec<TokenStream> {
        let all = self.kept.iter().zip(&self.newest.params);
        all.map(|(kept, param)| match (kept, &param.ty) {
            (Some(index), Type::Pointer { mutable, .. }) => {
                let name = name(*index, &self.older.params[*index]);
                let was = matches!(
                    &self.older.params[*index].ty,
                    Type::Pointer { mutable: true, .. }
                );
                match (was, mutable) {
                    (false, true) => quote!(#name.cast_mut()),
                    _ => quote!(#name),
                }
            }
            (Some(index), _) => {
                let name = name(*index, &self.older.params[*index]);
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
            let (name, ty) = (name(index, param), print_param_type(param, &InScope));
            quote!(#name: #ty)
        })
        .collect()
}

fn name(index: usize, param: &Param) -> Ident {
    match param.name.as_str() {
        "" => format_ident!("arg{index}"),
        name => ident(name),
    }
}

fn release((major, minor): Minor) -> TokenStream {
    let [major, minor] = [major, minor].map(Literal::u32_unsuffixed);
    quote!(Release::new(#major, #minor))
}
