//! Prints the table of functions and the methods that call them.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use sp_emit::printing::{print_param_type, print_type, safety};
use sp_ir::{Param, Type};

use super::{InScope, doc};
use crate::model::{Function, Model};
use crate::names;

/// Prints the names, the table and the methods.
pub fn print(model: &Model) -> TokenStream {
    let names = model.functions.iter().map(|function| &function.name);
    let fields = model.functions.iter().map(field);
    let lookups = model.functions.iter().map(lookup);
    let methods = model.functions.iter().map(|it| print_method(model, it));
    quote! {
        /// The functions of the header that are bound.
        pub const FUNCTIONS: &[&str] = &[#(#names),*];
        /// The functions of the library.
        #[derive(Clone, Copy)]
        struct Functions { #(#fields)* }
        impl Functions {
            fn find(lookup__: &mut Lookup) -> Self {
                Self { #(#lookups)* }
            }
        }
        /// The functions by their C names.
        ///
        /// # Safety
        /// Of every function: the arguments are as the driver's documentation demands. The types guarantee no more than C's do.
        impl Driver { #(#methods)* }
    }
}

fn field(function: &Function) -> TokenStream {
    let name = names::method(&function.name);
    let ty = function_type(function);
    quote!(#name: Option<#ty>,)
}

/// Prints the type of the function. Names of parameters may be those of types, so they are not printed.
fn function_type(function: &Function) -> TokenStream {
    let params = function.signature.params.iter();
    let params = params.map(|param| print_param_type(param, &InScope));
    let result = result(&function.signature.ret);
    // An exception of a driver in C++ then unwinds to the runtime's guard.
    quote!(unsafe extern "C-unwind" fn(#(#params),*) #result)
}

fn result(ty: &Type) -> TokenStream {
    match ty {
        Type::Void => TokenStream::new(),
        ty => {
            let ty = print_type(ty, &InScope);
            quote!(-> #ty)
        }
    }
}

fn lookup(function: &Function) -> TokenStream {
    let name = names::method(&function.name);
    let symbol = std::ffi::CString::new(function.symbol.as_str()).unwrap_or_default();
    let (symbol, text) = (Literal::c_string(&symbol), &function.name);
    let ty = function_type(function);
    let comment = safety("the header declares the function with this type.");
    quote!(#name: {
        #comment
        unsafe { lookup__.function::<#ty>(#symbol, #text) }
    },)
}

fn print_method(model: &Model, function: &Function) -> TokenStream {
    let name = names::method(&function.name);
    let text = &function.name;
    let declaration = sp_ir::c::declare(text, &function.signature);
    let doc = doc(&declaration, &function.loc);
    let alias = function.alias_of.as_ref();
    let alias = alias.map(|other| {
        let text = format!(" A macro for `{other}`.");
        quote!(#[doc = ""] #[doc = #text])
    });
    let params = &function.signature.params;
    let arguments = function.parameters.iter().map(|it| names::parsed(it));
    let arguments: Vec<_> = arguments.collect();
    let declared = params.iter().zip(&arguments).map(parameter);
    let status = model.status.as_ref();
    let status = status.filter(|it| it.ty == function.signature.ret);
    let is_status = status.is_some();
    let ret = match status.is_some_and(|it| !it.has_results) {
        true => quote!(()),
        false => match &function.signature.ret {
            Type::Void => quote!(()),
            ty => print_type(ty, &InScope),
        },
    };
    let comment =
        safety("the caller fulfills the driver's obligations, and the function has this type.");
    let call = quote!({ #comment unsafe { function__(#(#arguments),*) } });
    let value = match is_status {
        true => quote!(check(#text, #call)),
        false => quote!(Ok(#call)),
    };
    quote! {
        #[doc = #doc]
        #alias
        pub unsafe fn #name(&self, #(#declared),*) -> Result<#ret> {
            let function__ = self.functions.#name.ok_or(Error::Missing { function: #text })?;
            #value
        }
    }
}

fn parameter((param, name): (&Param, &Ident)) -> TokenStream {
    let ty = print_param_type(param, &InScope);
    quote!(#name: #ty)
}
