//! A function whose signature a later release broke, and no symbol tells: an adapter with the newest
//! signature calls the older form, as long as all that it leaves out are flags. A length that went
//! unsaid would be another matter, so such a form has no adapter, and calls to it are refused.

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use sp_expand::ty::{InScope, ident, print_param_type, print_return};
use sp_ir::{Function, Item, Param, Signature, Type};

use super::comment::safety;
use super::epochs::Old;
use crate::context::Context;
use crate::minor::{Minor, run};

/// The older forms of a function of core.
pub struct Adapted {
    /// The adapters.
    pub functions: TokenStream,
    /// What tells them to the [`Function`].
    pub before: TokenStream,
    /// What each leaves out, for the function's doc.
    pub told: String,
}

/// What stands before `newest`, if it ever had another signature.
pub fn of(name: &str, newest: &Function, context: &Context<'_>) -> Option<Adapted> {
    let forms = Form::all(name, newest, context);
    let told: Vec<String> = forms.iter().map(Form::told).collect();
    let functions = forms.iter().map(|it| it.adapter(name, &newest.signature));
    let older = forms.iter().map(|it| it.older(name));
    (!forms.is_empty()).then(|| Adapted {
        functions: functions.collect(),
        before: quote!(.with_older_signatures(&[#(#older),*])),
        told: told.join(" "),
    })
}

/// A signature of some releases, beside the newest.
pub struct Form<'a> {
    /// The module of its epoch.
    pub module: &'a str,
    /// The first and the last release that has it.
    pub span: (Minor, Minor),
    /// The signature.
    pub older: &'a Signature,
    /// The flags that it lacks; nothing where it lacks anything else.
    pub lacks: Option<Vec<&'a str>>,
}

impl<'a> Form<'a> {
    /// The signatures that a function had before its newest, by release.
    pub fn all(name: &str, newest: &'a Function, context: &Context<'a>) -> Vec<Self> {
        let modules = context.old.into_iter().flatten();
        modules
            .flat_map(|(module, olds)| olds.iter().map(move |old| (module, old)))
            .filter(|(_, old)| old.name == name)
            .filter_map(|(module, old)| Form::of(module, old, &newest.signature))
            .collect()
    }

    fn of(module: &'a str, old: &'a Old<'_>, newest: &'a Signature) -> Option<Self> {
        let Item::Function(Function { signature, .. }) = old.item else {
            return None;
        };
        Some(Self {
            module,
            span: old.span,
            older: signature,
            lacks: lacks(signature, newest),
        })
    }

    /// What becomes of a call there, for a doc.
    fn told(&self) -> String {
        let (releases, module) = (run(self.span), self.module);
        match &self.lacks {
            Some(flags) => format!("In {releases} `{}` is not looked at.", flags.join("`, `")),
            None => format!(
                "In {releases} it takes other arguments, and is called through `epochs::{module}`."
            ),
        }
    }

    fn adapter_name(&self, name: &str) -> proc_macro2::Ident {
        format_ident!("{name}_{}", self.module)
    }

    fn older(&self, name: &str) -> TokenStream {
        let [first, last] = [self.span.0, self.span.1].map(|(major, minor)| {
            let (major, minor) = (
                Literal::u32_unsuffixed(major),
                Literal::u32_unsuffixed(minor),
            );
            quote!(Release::new(#major, #minor))
        });
        let adapter = match self.lacks {
            Some(_) => {
                let adapter = self.adapter_name(name);
                quote!(Some(#adapter))
            }
            None => quote!(None),
        };
        quote! {
            OlderSignature { releases: Releases::between(#first, #last), adapter: #adapter }
        }
    }

    fn adapter(&self, name: &str, newest: &Signature) -> TokenStream {
        let Some(flags) = &self.lacks else {
            return TokenStream::new();
        };
        let adapter = self.adapter_name(name);
        let params = newest.params.iter().map(|param| {
            let (name, ty) = (ident(&param.name), print_param_type(param, &InScope));
            quote!(#name: #ty)
        });
        let ret = print_return(&newest.ret, &InScope);
        let unused = flags.iter().map(|flag| ident(flag));
        let arguments = self.older.params.iter().map(|param| ident(&param.name));
        let (module, name) = (ident(self.module), ident(name));
        let doc = format!(
            " `{name}` in {}, which knows no `{}`.",
            run(self.span),
            flags.join("`, `")
        );
        let why = safety("the caller's arguments, passed on as they came.");
        quote! {
            #[doc = #doc]
            unsafe extern "C" fn #adapter(#(#params),*) #ret {
                #(let _ = #unused;)*
                let older = epochs::#module::#name.get();
                let older = older.expect("it was found when its adapter was chosen");
                #why
                unsafe { older(#(#arguments),*) }
            }
        }
    }
}

/// The flags that `newest` has besides what `older` has, if that is all.
fn lacks<'a>(older: &Signature, newest: &'a Signature) -> Option<Vec<&'a str>> {
    let printed = |param: &Param| print_param_type(param, &InScope).to_string();
    let among = |params: &[Param], param: &Param| {
        let mut params = params.iter();
        params.any(|it| it.name == param.name && printed(it) == printed(param))
    };
    let kept = older.params.iter().all(|it| among(&newest.params, it));
    let added: Vec<&Param> = newest
        .params
        .iter()
        .filter(|it| !among(&older.params, it))
        .collect();
    let flags = added.iter().all(|it| it.ty == Type::Bool);
    let named = newest.params.iter().all(|it| !it.name.is_empty());
    (kept && flags && named && older.ret == newest.ret)
        .then(|| added.iter().map(|it| it.name.as_str()).collect())
}
