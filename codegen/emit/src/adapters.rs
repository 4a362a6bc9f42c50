//! Adapters for functions whose signature a later release broke under the same symbol. An adapter has the
//! newest signature and calls the older one. It may omit flags only: a length, for example, must reach the
//! callee. A signature that lacks other parameters has no adapter, and a call of it is an error.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use sp_expand::ty::{InScope, ident, print_param_type, print_return};
use sp_ir::{Function, Item, Param, Signature, Type};

use super::comment::safety;
use super::epochs::OlderDeclaration;
use crate::context::Context;
use crate::releases::{Span, arguments, format_span};

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
    let docs: Vec<String> = older.iter().map(OlderSignature::doc).collect();
    let adapters = older.iter().map(|it| it.adapter(name, &newest.signature));
    let entries = older.iter().map(|it| it.entry(name));
    (!older.is_empty()).then(|| OlderCode {
        adapters: adapters.collect(),
        builder_call: quote!(.with_older_signatures(&[#(#entries),*])),
        doc: docs.join(" "),
    })
}

/// A signature that a function has in older releases.
pub struct OlderSignature<'a> {
    /// The module of its epoch.
    pub module: &'a str,
    /// The first and the last release that has it.
    pub span: Span,
    /// The signature.
    pub signature: &'a Signature,
    /// The flags that it lacks; `None` if it differs in anything else.
    pub omitted_flags: Option<Vec<&'a str>>,
}

impl<'a> OlderSignature<'a> {
    /// Returns the older signatures of a function, oldest first.
    pub fn find_all(name: &str, newest: &'a Function, context: &Context<'a>) -> Vec<Self> {
        let modules = context.older.into_iter().flatten();
        modules
            .flat_map(|(module, older)| older.iter().map(move |older| (module, older)))
            .filter(|(_, older)| older.name == name)
            .filter_map(|(module, older)| Self::new(module, older, &newest.signature))
            .collect()
    }

    fn new(
        module: &'a str,
        older: &'a OlderDeclaration<'_>,
        newest: &'a Signature,
    ) -> Option<Self> {
        let Item::Function(Function { signature, .. }) = older.item else {
            return None;
        };
        Some(Self {
            module,
            span: older.span,
            signature,
            omitted_flags: omitted_flags(signature, newest),
        })
    }

    /// Returns a sentence about calls in the releases that have the signature.
    fn doc(&self) -> String {
        let (releases, module) = (format_span(self.span), self.module);
        match &self.omitted_flags {
            Some(flags) => format!("In {releases} `{}` is ignored.", flags.join("`, `")),
            None => format!(
                "In {releases} it has another signature; call it through `epochs::{module}`."
            ),
        }
    }

    fn adapter_name(&self, name: &str) -> proc_macro2::Ident {
        format_ident!("{name}_{}", self.module)
    }

    fn entry(&self, name: &str) -> TokenStream {
        let (first, last) = (arguments(self.span.0), arguments(self.span.1));
        let adapter = match self.omitted_flags {
            Some(_) => {
                let adapter = self.adapter_name(name);
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

    fn adapter(&self, name: &str, newest: &Signature) -> TokenStream {
        let Some(flags) = &self.omitted_flags else {
            return TokenStream::new();
        };
        let adapter = self.adapter_name(name);
        let params = newest.params.iter().map(|param| {
            let (name, ty) = (ident(&param.name), print_param_type(param, &InScope));
            quote!(#name: #ty)
        });
        let ret = print_return(&newest.ret, &InScope);
        let unused = flags.iter().map(|flag| ident(flag));
        let arguments = self.signature.params.iter().map(|param| ident(&param.name));
        let (module, name) = (ident(self.module), ident(name));
        let doc = format!(
            " `{name}` for the signature of {}, which has no `{}`.",
            format_span(self.span),
            flags.join("`, `")
        );
        let comment = safety("the caller guarantees the arguments, which are passed on unchanged.");
        quote! {
            #[doc = #doc]
            unsafe extern "C" fn #adapter(#(#params),*) #ret {
                #(let _ = #unused;)*
                let older = epochs::#module::#name.get();
                let older = older.expect("the lookup found it when it chose this adapter");
                #comment
                unsafe { older(#(#arguments),*) }
            }
        }
    }
}

/// Returns the flags that `newest` adds to `older`, or `None` if there is any other difference.
fn omitted_flags<'a>(older: &Signature, newest: &'a Signature) -> Option<Vec<&'a str>> {
    let printed = |param: &Param| print_param_type(param, &InScope).to_string();
    let contains = |params: &[Param], param: &Param| {
        let mut params = params.iter();
        params.any(|it| it.name == param.name && printed(it) == printed(param))
    };
    let keeps_all = older.params.iter().all(|it| contains(&newest.params, it));
    let added: Vec<&Param> = newest
        .params
        .iter()
        .filter(|it| !contains(&older.params, it))
        .collect();
    let are_flags = added.iter().all(|it| it.ty == Type::Bool);
    let are_named = newest.params.iter().all(|it| !it.name.is_empty());
    (keeps_all && are_flags && are_named && older.ret == newest.ret)
        .then(|| added.iter().map(|it| it.name.as_str()).collect())
}
