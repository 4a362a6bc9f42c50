//! Adapters for functions whose signature a later release broke under the same symbol. An adapter has the
//! newest signature and calls the older one. It may omit flags only: a length, for example, must reach the
//! callee. A signature that lacks other parameters has no adapter, and a call of it is an error.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use sp_expand::ident;
use sp_ir::{Function, Signature};

use super::comment::safety;
use super::releases::arguments;
use super::ty::{InScope, print_param_type, print_return};
use crate::model::context::Context;
use crate::model::older_signatures::OlderSignature;
use crate::model::releases::format_span;

/// The code for the older signatures of a function.
pub struct OlderCode {
    /// The adapters.
    pub adapters: TokenStream,
    /// The call that passes them to the `Function`.
    pub builder_call: TokenStream,
    /// Sentences for the function's doc.
    pub doc: String,
}

/// Prints the older signatures of a function, or returns `None` if there are none.
pub fn print(name: &str, newest: &Function, context: &Context<'_>) -> Option<OlderCode> {
    let older = OlderSignature::find_all(name, newest, context);
    let docs: Vec<String> = older.iter().map(doc).collect();
    let adapters = older
        .iter()
        .map(|it| print_adapter(name, it, &newest.signature));
    let entries = older.iter().map(|it| entry(name, it));
    (!older.is_empty()).then(|| OlderCode {
        adapters: adapters.collect(),
        builder_call: quote!(.with_older_signatures(&[#(#entries),*])),
        doc: docs.join(" "),
    })
}

/// Returns a sentence about calls in the releases that have the older signature.
fn doc(older: &OlderSignature<'_>) -> String {
    let (releases, module) = (format_span(older.span), older.module);
    match &older.omitted_flags {
        Some(flags) => format!("In {releases} `{}` is ignored.", flags.join("`, `")),
        None => {
            format!("In {releases} it has another signature; call it through `epochs::{module}`.")
        }
    }
}

fn adapter_name(function: &str, older: &OlderSignature<'_>) -> Ident {
    format_ident!("{function}_{}", older.module)
}

/// Prints the `OlderSignature` of sp-runtime.
fn entry(function: &str, older: &OlderSignature<'_>) -> TokenStream {
    let (first, last) = (arguments(older.span.0), arguments(older.span.1));
    let adapter = match older.omitted_flags {
        Some(_) => {
            let adapter = adapter_name(function, older);
            quote!(Some(#adapter))
        }
        None => quote!(None),
    };
    quote! {
        OlderSignature {
            releases: Releases::between(Release::new(#first), Release::new(#last)),
            adapter: #adapter
        }
    }
}

fn print_adapter(function: &str, older: &OlderSignature<'_>, newest: &Signature) -> TokenStream {
    let Some(flags) = &older.omitted_flags else {
        return TokenStream::new();
    };
    let adapter = adapter_name(function, older);
    let params = newest.params.iter().map(|param| {
        let (name, ty) = (ident(&param.name), print_param_type(param, &InScope));
        quote!(#name: #ty)
    });
    let ret = print_return(&newest.ret, &InScope);
    let unused = flags.iter().map(|flag| ident(flag));
    let arguments = older.signature.params.iter().map(|it| ident(&it.name));
    let (module, name) = (ident(older.module), ident(function));
    let doc = format!(
        " `{function}` for the signature of {}, which has no `{}`.",
        format_span(older.span),
        flags.join("`, `")
    );
    let comment = safety("the caller guarantees the arguments, which are passed on unchanged.");
    quote! {
        #[doc = #doc]
        unsafe extern "C-unwind" fn #adapter(#(#params),*) #ret {
            #(let _ = #unused;)*
            let older = epochs::#module::#name.get();
            let older = older.expect("the lookup found it when it chose this adapter");
            #comment
            unsafe { older(#(#arguments),*) }
        }
    }
}
