//! `#[kernel(op = "MatMul", T = [f32, f64])]` on the function that computes an op.
//!
//! The function stays as it is. Beside it appears `entries()`, the registrations of the op: one for
//! each combination of the listed types, in the order of the function's type parameters. A function
//! over `Host` serves every device; one over `OnDevice<'_, D>` serves `D`.

use crate::layout::Span;
use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{
    FnArg, GenericArgument, ItemFn, LitInt, LitStr, Path, PathArguments, PathSegment, Token, Type,
    bracketed,
};

/// Expands the attribute.
///
/// # Errors
/// Spanned, where the arguments or the function do not have the form above.
pub fn attribute(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let arguments: Arguments = syn::parse2(arguments)?;
    let function: ItemFn = syn::parse2(item)?;
    let shape = Shape::of(&function)?;
    arguments.check_generics(&function)?;
    let entries = entries(&arguments, &function, &shape);
    Ok(quote! { #function #entries })
}

fn entries(arguments: &Arguments, function: &ItemFn, shape: &Shape) -> TokenStream {
    let doc = format!("The registrations of `{}`.", arguments.op.value());
    let combinations = arguments.combinations();
    let bodies = combinations
        .iter()
        .enumerate()
        .map(|(n, types)| body(n, types, function, shape));
    let rows = combinations
        .iter()
        .enumerate()
        .map(|(n, types)| arguments.row(n, types, shape));
    let (generics, device) = match &shape.device {
        Some(device) => (None, quote! { #device }),
        None => (Some(quote! { <D: ::sp_plugin::Device> }), quote! { D }),
    };
    quote! {
        #[doc = #doc]
        pub fn entries #generics () -> ::std::vec::Vec<::sp_plugin::kernel::Entry<#device>> {
            #(#bodies)*
            ::std::vec![#(#rows),*]
        }
    }
}

/// The function with these types, as a type of its own, so that it can be a set of `extern "C"`
/// callbacks. It is not generic: the computation is compiled here, once, and not again in each
/// plugin that registers it.
fn body(n: usize, types: &[&Type], function: &ItemFn, shape: &Shape) -> TokenStream {
    let (body, name) = (body_name(n), &function.sig.ident);
    let turbofish = (!types.is_empty()).then(|| quote! { ::<#(#types),*> });
    let attributes = match &shape.attributes {
        Some(ty) => quote! { #ty },
        None => quote! { () },
    };
    let pass = shape.attributes.is_some().then(|| quote! { attributes });
    let (kind, cx) = match &shape.device {
        Some(device) => (
            quote! { ::sp_plugin::kernel::Kernel<#device> },
            quote! { ::sp_plugin::kernel::OnDevice<'_, #device> },
        ),
        None => (
            quote! { ::sp_plugin::kernel::HostKernel },
            quote! { ::sp_plugin::kernel::Host<'_> },
        ),
    };
    quote! {
        struct #body;
        impl #kind for #body {
            type Attributes = #attributes;
            #[allow(unused_variables)]
            fn compute(cx: &#cx, attributes: &#attributes) -> ::sp_plugin::Result<()> {
                #name #turbofish (cx, #pass)
            }
        }
    }
}

fn body_name(n: usize) -> Ident {
    quote::format_ident!("Body{n}")
}

/// What the function's parameters say: `(cx: &Host<'_>)` or `(cx: &OnDevice<'_, D>)`, and
/// `attributes: &A` where the op has any.
struct Shape {
    device: Option<Type>,
    attributes: Option<Type>,
}

impl Shape {
    fn of(function: &ItemFn) -> syn::Result<Self> {
        let inputs: Vec<&FnArg> = function.sig.inputs.iter().collect();
        let (cx, attributes) = match inputs[..] {
            [cx] => (cx, None),
            [cx, attributes] => (cx, Some(referent(attributes)?.clone())),
            _ => {
                return Err(syn::Error::new_spanned(
                    &function.sig,
                    "a kernel takes `cx: &Host<'_>` or `cx: &OnDevice<'_, D>`, and then `attributes: &A` if it has any",
                ));
            }
        };
        Ok(Self {
            device: device(referent(cx)?)?,
            attributes,
        })
    }
}

fn referent(input: &FnArg) -> syn::Result<&Type> {
    if let FnArg::Typed(typed) = input
        && let Type::Reference(reference) = &*typed.ty
    {
        return Ok(&reference.elem);
    }
    Err(syn::Error::new_spanned(
        input,
        "a kernel's parameters are shared references",
    ))
}

fn device(cx: &Type) -> syn::Result<Option<Type>> {
    let segment = match cx {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    };
    match segment {
        Some(segment) if segment.ident == "Host" => Ok(None),
        Some(segment) if segment.ident == "OnDevice" => type_argument(segment).map(Some),
        _ => Err(syn::Error::new_spanned(
            cx,
            "expected `Host<'_>` or `OnDevice<'_, D>`",
        )),
    }
}

fn type_argument(segment: &PathSegment) -> syn::Result<Type> {
    let missing = || syn::Error::new_spanned(segment, "name the device: `OnDevice<'_, MyAccel>`");
    let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
        return Err(missing());
    };
    let mut types = arguments.args.iter().filter_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    });
    types.next().ok_or_else(missing)
}

/// `op = "Sum", T = [f32], host = ["reduction_indices"], priority = 1, releases = "2.6..2.10",
/// needs = [TF_AssignVariable]`.
struct Arguments {
    op: LitStr,
    types: Vec<(Ident, Vec<Type>)>,
    host: Vec<LitStr>,
    priority: Option<LitInt>,
    releases: Option<Span>,
    needs: Vec<Path>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let start = input.span();
        let (mut op, mut types, mut host) = (None, Vec::new(), Vec::new());
        let (mut priority, mut releases, mut needs) = (None, None, Vec::new());
        while !input.is_empty() {
            let key: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            match key.to_string().as_str() {
                "op" => op = Some(input.parse()?),
                "host" => host = list(input)?,
                "priority" => priority = Some(input.parse()?),
                "releases" => releases = Some(span(&input.parse()?)?),
                "needs" => needs = list(input)?,
                name if name.starts_with(char::is_uppercase) || name == "dtype" => {
                    types.push((key, list(input)?))
                }
                _ => {
                    return Err(syn::Error::new(
                        key.span(),
                        "expected `op`, `host`, `priority`, `releases`, `needs`, or one of the op's type attributes, such as `T = [f32]`",
                    ));
                }
            }
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        let op = op.ok_or_else(|| {
            syn::Error::new(start, "say which op this computes: `op = \"MatMul\"`")
        })?;
        Ok(Self {
            op,
            types,
            host,
            priority,
            releases,
            needs,
        })
    }
}

/// `"2.6..2.10"`, or `"2.6.."` without an end.
fn span(literal: &LitStr) -> syn::Result<Span> {
    let span = literal.value().parse();
    span.map_err(|message: String| syn::Error::new(literal.span(), message))
}

fn list<T: Parse>(input: ParseStream<'_>) -> syn::Result<Vec<T>> {
    let inner;
    bracketed!(inner in input);
    Ok(Punctuated::<T, Token![,]>::parse_terminated(&inner)?
        .into_iter()
        .collect())
}

impl Arguments {
    fn check_generics(&self, function: &ItemFn) -> syn::Result<()> {
        let generics = &function.sig.generics;
        if generics.type_params().count() == self.types.len() {
            return Ok(());
        }
        let listed: Vec<String> = self
            .types
            .iter()
            .map(|(name, _)| name.to_string())
            .collect();
        let message = format!(
            "{} lists the type attributes [{}]: the function needs one type parameter for each, in that order",
            self.op.value(),
            listed.join(", ")
        );
        Err(syn::Error::new_spanned(&function.sig.ident, message))
    }

    /// Every choice of one type from each list.
    fn combinations(&self) -> Vec<Vec<&Type>> {
        self.types
            .iter()
            .fold(vec![Vec::new()], |rows, (_, choices)| {
                rows.iter()
                    .flat_map(|row| {
                        choices
                            .iter()
                            .map(move |choice| [&row[..], &[choice]].concat())
                    })
                    .collect()
            })
    }

    fn row(&self, n: usize, types: &[&Type], shape: &Shape) -> TokenStream {
        let body = body_name(n);
        let kernel = match shape.device {
            Some(_) => quote! { #body },
            None => quote! { ::sp_plugin::kernel::OnHost<#body> },
        };
        let op = c_string(&self.op);
        let names = self.types.iter().map(|(name, _)| {
            Literal::c_string(&std::ffi::CString::new(name.to_string()).unwrap_or_default())
        });
        let host = self.host.iter().map(c_string);
        let priority = self
            .priority
            .as_ref()
            .map(|value| quote! { .priority(#value) });
        let releases = self.releases.map(|span| {
            let releases = span.print(&quote! { ::sp_plugin });
            quote! { .on(#releases) }
        });
        let needs = &self.needs;
        quote! {
            ::sp_plugin::kernel::Entry::of::<#kernel>(#op)
                #(.constrain::<#types>(#names))*
                #(.in_host_memory(#host))*
                #priority
                #releases
                #(.by_means_of(&#needs))*
        }
    }
}

fn c_string(text: &LitStr) -> TokenStream {
    match std::ffi::CString::new(text.value()) {
        Ok(value) => {
            let mut literal = Literal::c_string(&value);
            literal.set_span(text.span());
            quote! { #literal }
        }
        Err(_) => syn::Error::new(text.span(), "a name has no NUL in it").to_compile_error(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_entry_for_each_combination_of_types() {
        let text = attribute(
            quote! { op = "Cast", SrcT = [f32, i64], DstT = [f32, bool, u8] },
            quote! { fn cast<S: Element, D: Element>(cx: &Host<'_>) -> Result<()> { todo() } },
        );
        assert_eq!(text.unwrap().to_string().matches("Entry :: of").count(), 6);
    }

    #[test]
    fn what_it_needs_stands_in_each_entry() {
        let text = attribute(
            quote! { op = "Assign", T = [f32, i64], needs = [TF_AssignVariable, means::OTHER] },
            quote! { fn assign<T: Element>(cx: &Host<'_>) -> Result<()> { Ok(()) } },
        );
        let text = text.unwrap().to_string();
        assert_eq!(text.matches("by_means_of (& TF_AssignVariable)").count(), 2);
        assert_eq!(text.matches("by_means_of (& means :: OTHER)").count(), 2);
    }

    #[test]
    fn refusals_say_what_is_wanted() {
        let cases = [
            (
                quote! { T = [f32] },
                quote! { fn f<T>(cx: &Host<'_>) {} },
                "which op",
            ),
            (
                quote! { op = "A", T = [f32] },
                quote! { fn f(cx: &Host<'_>) {} },
                "one type parameter",
            ),
            (
                quote! { op = "A" },
                quote! { fn f(cx: &Elsewhere) {} },
                "OnDevice",
            ),
            (
                quote! { op = "A" },
                quote! { fn f(cx: &OnDevice<'_>) {} },
                "name the device",
            ),
            (
                quote! { op = "A", hosts = [] },
                quote! { fn f(cx: &Host<'_>) {} },
                "type attributes",
            ),
        ];
        for (arguments, item, expected) in cases {
            let error = attribute(arguments, item).unwrap_err().to_string();
            assert!(
                error.contains(expected),
                "{error:?} should say {expected:?}"
            );
        }
    }
}
