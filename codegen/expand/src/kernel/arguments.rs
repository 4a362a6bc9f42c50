//! The arguments of the attribute: `Sum, T = [f32, f64], priority = 1`.

use crate::layout::ReleaseSpan;
use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
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
    /// The releases to register the kernel in.
    pub releases: Option<ReleaseSpan>,
    /// The functions that the host has to export.
    pub needs: Vec<Path>,
    /// Inputs that the kernel does not read.
    pub ignore: Vec<Ident>,
}

/// A type attribute and its types: `T = [f32]`, `index_type: I = [i32]` or `T: any = [f32]`.
pub struct TypeList {
    /// The name of the attribute.
    pub attribute: Ident,
    /// The type parameter after the colon.
    pub parameter: Option<Ident>,
    /// True for `any`: one function for all types.
    pub is_any: bool,
    /// The types.
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
            releases: None,
            needs: Vec::new(),
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
        input.parse::<Token![=]>()?;
        match key.to_string().as_str() {
            "device" => self.device = Some(input.parse()?),
            "priority" => self.priority = Some(input.parse()?),
            "label" => self.label = Some(input.parse()?),
            "releases" => self.releases = Some(parse_releases(&input.parse()?)?),
            "needs" => self.needs = parse_list(input)?,
            "ignore" => self.ignore = parse_list(input)?,
            _ => self.parse_types(key, None, input)?,
        }
        Ok(())
    }

    fn parse_types(
        &mut self,
        attribute: Ident,
        parameter: Option<Ident>,
        input: ParseStream<'_>,
    ) -> syn::Result<()> {
        let is_any = parameter.as_ref().is_some_and(|it| it == "any");
        self.types.push(TypeList {
            attribute,
            parameter: parameter.filter(|_| !is_any),
            is_any,
            types: parse_list(input)?,
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

fn parse_list<T: Parse>(input: ParseStream<'_>) -> syn::Result<Vec<T>> {
    let inner;
    bracketed!(inner in input);
    Ok(Punctuated::<T, Token![,]>::parse_terminated(&inner)?
        .into_iter()
        .collect())
}
