//! `#[kernel(op = "MatMul", T = [f32, f64])]` on the function that computes an op.
//!
//! The function does not change. The expansion adds `entries()`, which returns the registrations of the op:
//! one for each combination of the listed types, in the order of the function's type parameters. A function
//! that takes `Host` works for every device, one that takes `OnDevice<'_, D>` for `D`.

use crate::layout::ReleaseSpan;
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
/// Returns a spanned error if the arguments or the function do not have the form above.
pub fn attribute(arguments: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let arguments: Arguments = syn::parse2(arguments)?;
    let function: ItemFn = syn::parse2(item)?;
    let signature = KernelSignature::parse(&function)?;
    arguments.check_generics(&function)?;
    let entries = entries(&arguments, &function, &signature);
    Ok(quote! { #function #entries })
}

fn entries(arguments: &Arguments, function: &ItemFn, signature: &KernelSignature) -> TokenStream {
    let doc = format!("The registrations of `{}`.", arguments.op.value());
    let combinations = arguments.combinations();
    let kernel_types = combinations
        .iter()
        .enumerate()
        .map(|(index, types)| kernel_type(index, types, function, signature));
    let entries = combinations
        .iter()
        .enumerate()
        .map(|(index, types)| arguments.entry(index, types, signature));
    let (generics, device) = match &signature.device {
        Some(device) => (None, quote! { #device }),
        None => (Some(quote! { <D: ::sp_plugin::Device> }), quote! { D }),
    };
    quote! {
        #[doc = #doc]
        pub fn entries #generics () -> ::std::vec::Vec<::sp_plugin::kernel::Entry<#device>> {
            #(#kernel_types)*
            ::std::vec![#(#entries),*]
        }
    }
}

/// Prints a type for the function with these type arguments. The `extern "C"` callbacks have that type as their
/// argument.
///
/// The type is not generic, so that the computation is compiled once, in the author's crate, and not in
/// each plugin that registers it.
fn kernel_type(
    index: usize,
    types: &[&Type],
    function: &ItemFn,
    signature: &KernelSignature,
) -> TokenStream {
    let (kernel, name) = (kernel_type_name(index), &function.sig.ident);
    let turbofish = (!types.is_empty()).then(|| quote! { ::<#(#types),*> });
    let attributes = match &signature.attributes {
        Some(ty) => quote! { #ty },
        None => quote! { () },
    };
    let pass = signature
        .attributes
        .is_some()
        .then(|| quote! { attributes });
    let (kind, cx) = match &signature.device {
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
        struct #kernel;
        impl #kind for #kernel {
            type Attributes = #attributes;
            #[allow(unused_variables)]
            fn compute(cx: &#cx, attributes: &#attributes) -> ::sp_plugin::Result<()> {
                #name #turbofish (cx, #pass)
            }
        }
    }
}

fn kernel_type_name(index: usize) -> Ident {
    quote::format_ident!("Kernel{index}")
}

/// The types in the function's parameters: `(cx: &Host<'_>)` or `(cx: &OnDevice<'_, D>)`, and
/// `attributes: &A` if the kernel reads attributes.
struct KernelSignature {
    device: Option<Type>,
    attributes: Option<Type>,
}

impl KernelSignature {
    fn parse(function: &ItemFn) -> syn::Result<Self> {
        let inputs: Vec<&FnArg> = function.sig.inputs.iter().collect();
        let (cx, attributes) = match inputs[..] {
            [cx] => (cx, None),
            [cx, attributes] => (cx, Some(referenced_type(attributes)?.clone())),
            _ => {
                return Err(syn::Error::new_spanned(
                    &function.sig,
                    "expected the parameters `cx: &Host<'_>` or `cx: &OnDevice<'_, D>`, and then optionally `attributes: &A`",
                ));
            }
        };
        Ok(Self {
            device: parse_device(referenced_type(cx)?)?,
            attributes,
        })
    }
}

fn referenced_type(input: &FnArg) -> syn::Result<&Type> {
    if let FnArg::Typed(typed) = input
        && let Type::Reference(reference) = &*typed.ty
    {
        return Ok(&reference.elem);
    }
    Err(syn::Error::new_spanned(
        input,
        "expected a shared reference, such as `&Host<'_>`",
    ))
}

fn parse_device(cx: &Type) -> syn::Result<Option<Type>> {
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

/// The arguments of the attribute: `op = "Sum", T = [f32], host = ["reduction_indices"], priority = 1,
/// releases = "2.6..2.10", needs = [TF_AssignVariable]`.
struct Arguments {
    op: LitStr,
    types: Vec<(Ident, Vec<Type>)>,
    host: Vec<LitStr>,
    priority: Option<LitInt>,
    releases: Option<ReleaseSpan>,
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
                "host" => host = parse_list(input)?,
                "priority" => priority = Some(input.parse()?),
                "releases" => releases = Some(parse_releases(&input.parse()?)?),
                "needs" => needs = parse_list(input)?,
                name if name.starts_with(char::is_uppercase) || name == "dtype" => {
                    types.push((key, parse_list(input)?))
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
        let op =
            op.ok_or_else(|| syn::Error::new(start, "the op is missing: add `op = \"MatMul\"`"))?;
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

/// Parses `"2.6..2.10"`, or `"2.6.."` for an open-ended run.
fn parse_releases(literal: &LitStr) -> syn::Result<ReleaseSpan> {
    let span = literal.value().parse();
    span.map_err(|message: String| syn::Error::new(literal.span(), message))
}

fn parse_list<T: Parse>(input: ParseStream<'_>) -> syn::Result<Vec<T>> {
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

    /// Returns every combination of one type from each list.
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

    fn entry(&self, index: usize, types: &[&Type], signature: &KernelSignature) -> TokenStream {
        let kernel_type = kernel_type_name(index);
        let kernel = match signature.device {
            Some(_) => quote! { #kernel_type },
            None => quote! { ::sp_plugin::kernel::OnHost<#kernel_type> },
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
            let releases = span.to_tokens(&quote! { ::sp_plugin });
            quote! { .in_releases(#releases) }
        });
        let needs = &self.needs;
        quote! {
            ::sp_plugin::kernel::Entry::new::<#kernel>(#op)
                #(.constrain::<#types>(#names))*
                #(.in_host_memory(#host))*
                #priority
                #releases
                #(.requires_function(&#needs))*
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
        Err(_) => syn::Error::new(text.span(), "the name must not contain NUL").to_compile_error(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_entry_for_each_combination_of_types() {
        let text = attribute(
            quote! { op = "Cast", SrcT = [f32, i64], DstT = [f32, bool, u8] },
            quote! { fn cast<S: Element, D: Element>(cx: &Host<'_>) -> Result<()> { todo() } },
        );
        assert_eq!(text.unwrap().to_string().matches("Entry :: new").count(), 6);
    }

    #[test]
    fn adds_required_functions_to_each_entry() {
        let text = attribute(
            quote! { op = "Assign", T = [f32, i64], needs = [TF_AssignVariable, means::OTHER] },
            quote! { fn assign<T: Element>(cx: &Host<'_>) -> Result<()> { Ok(()) } },
        );
        let text = text.unwrap().to_string();
        assert_eq!(
            text.matches("requires_function (& TF_AssignVariable)")
                .count(),
            2
        );
        assert_eq!(
            text.matches("requires_function (& means :: OTHER)").count(),
            2
        );
    }

    #[test]
    fn errors_state_expected_form() {
        let cases = [
            (
                quote! { T = [f32] },
                quote! { fn f<T>(cx: &Host<'_>) {} },
                "op is missing",
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
                "{error:?} should contain {expected:?}"
            );
        }
    }
}
