//! The arguments of the attribute: `Sum, T = [f32, f64], priority = 1`.

use super::element::all_types;
use crate::layout::ReleaseSpan;
use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, LitStr, Path, Token, Type, bracketed};

/// The arguments of the attribute.
pub struct Arguments {
    /// The op.
    pub op: Ident,
    /// The listed type attributes.
    pub types: Vec<TypeList>,
    /// The device, for a kernel of one device.
    pub device: Option<Type>,
    /// The priority.
    pub priority: Option<Expr>,
    /// The label.
    pub label: Option<LitStr>,
    /// True for `asynchronous`: a call may end after its function has returned.
    pub is_asynchronous: bool,
    /// The releases to register the kernel in.
    pub releases: Option<ReleaseSpan>,
    /// The functions that the host has to export.
    pub needs: Vec<Path>,
    /// The function that gets the builder.
    pub configure: Option<Path>,
    /// Inputs that the kernel does not read.
    pub ignore: Vec<Ident>,
}

/// A type attribute and its types: `T = [f32]`, `index_type: I = [i32]`, `T: any = [f32]` or `T = [..]`.
pub struct TypeList {
    /// The name of the attribute.
    pub attribute: Ident,
    /// The type parameter after the colon.
    pub parameter: Option<Ident>,
    /// True for `any`: one function for all types.
    pub is_any: bool,
    /// True for `[..]`: the types that the op allows.
    pub is_all: bool,
    /// The types; for `[..]` all that have a Rust type.
    pub types: Vec<Type>,
}

impl Arguments {
    fn new(op: Ident) -> Self {
        Self {
            op,
            types: Vec::new(),
            device: None,
            priority: None,
            label: None,
            is_asynchronous: false,
            releases: None,
            needs: Vec::new(),
            configure: None,
            ignore: Vec::new(),
        }
    }

    fn parse_argument(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let key = Ident::parse_any(input)?;
        if input.peek(Token![:]) {
            input.parse::<Token![:]>()?;
            let parameter: Ident = input.parse()?;
            input.parse::<Token![=]>()?;
            return self.parse_types(key, Some(parameter), input);
        }
        if key == "asynchronous" {
            return self.parse_asynchronous(input);
        }
        input.parse::<Token![=]>()?;
        match key.to_string().as_str() {
            "device" => self.device = Some(input.parse()?),
            "priority" => self.priority = Some(input.parse()?),
            "label" => self.label = Some(input.parse()?),
            "releases" => self.releases = Some(parse_releases(&input.parse()?)?),
            "configure" => self.configure = Some(input.parse()?),
            "needs" => self.needs = parse_list(input)?,
            "ignore" => self.ignore = parse_list(input)?,
            _ => self.parse_types(key, None, input)?,
        }
        Ok(())
    }

    fn parse_asynchronous(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        if input.peek(Token![=]) {
            return Err(
                input.error("`asynchronous` has no value: leave the argument out for `false`")
            );
        }
        self.is_asynchronous = true;
        Ok(())
    }

    fn parse_types(
        &mut self,
        attribute: Ident,
        parameter: Option<Ident>,
        input: ParseStream<'_>,
    ) -> syn::Result<()> {
        let is_any = parameter.as_ref().is_some_and(|it| it == "any");
        let (is_all, types) = parse_type_list(input)?;
        self.types.push(TypeList {
            attribute,
            parameter: parameter.filter(|_| !is_any),
            is_any,
            is_all,
            types,
        });
        Ok(())
    }
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut arguments = Self::new(parse_op(input)?);
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if !input.is_empty() {
                arguments.parse_argument(input)?;
            }
        }
        Ok(arguments)
    }
}

fn parse_op(input: ParseStream<'_>) -> syn::Result<Ident> {
    let missing = |span: Span| {
        syn::Error::new(
            span,
            "the op is missing: begin with its name, as in `#[kernel(MatMul, T = [f32])]`",
        )
    };
    if input.is_empty() {
        return Err(missing(input.span()));
    }
    let op = Ident::parse_any(input)?;
    match input.is_empty() || input.peek(Token![,]) {
        true => Ok(op),
        false => Err(missing(op.span())),
    }
}

/// Parses `"2.6..2.10"`, or `"2.6.."` for an open-ended run.
fn parse_releases(literal: &LitStr) -> syn::Result<ReleaseSpan> {
    let span = literal.value().parse();
    span.map_err(|message: String| syn::Error::new(literal.span(), message))
}

/// Parses `[f32, i64]`, or `[..]`, for which it returns true.
fn parse_type_list(input: ParseStream<'_>) -> syn::Result<(bool, Vec<Type>)> {
    let inner;
    bracketed!(inner in input);
    if inner.peek(Token![..]) {
        let span = inner.parse::<Token![..]>()?.span();
        return match inner.is_empty() {
            true => Ok((true, all_types(span))),
            false => Err(inner.error("`[..]` is every type that the op allows: list nothing else")),
        };
    }
    let types = Punctuated::<Type, Token![,]>::parse_terminated(&inner)?;
    Ok((false, types.into_iter().collect()))
}

fn parse_list<T: Parse>(input: ParseStream<'_>) -> syn::Result<Vec<T>> {
    let inner;
    bracketed!(inner in input);
    Ok(Punctuated::<T, Token![,]>::parse_terminated(&inner)?
        .into_iter()
        .collect())
}
