//! Attributes in the arguments of `#[op(..)]`: `T: {f32, f64} = f32`, `N: int >= 1`, `sizes: list(int) = []`.

use crate::kernel::element::data_type_of_name;
use proc_macro2::{Ident, Span};
use sp_ops::{AllowedValues, Attribute, AttributeKind, AttributeType, DataType, Value};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Lit, LitStr, Token, braced, bracketed, parenthesized};

/// The kinds of attributes, by their names in an `OpDef`.
const KINDS: [(&str, AttributeKind); 8] = [
    ("string", AttributeKind::String),
    ("int", AttributeKind::Int),
    ("float", AttributeKind::Float),
    ("bool", AttributeKind::Bool),
    ("type", AttributeKind::Type),
    ("shape", AttributeKind::Shape),
    ("tensor", AttributeKind::Tensor),
    ("func", AttributeKind::Function),
];

/// Parses the rest of an attribute: `{f32, f64} = f32`, `int >= 1`, `list(float) = []`.
pub fn parse_attribute(name: String, input: ParseStream<'_>) -> syn::Result<Attribute> {
    let is_list = !input.peek(syn::token::Brace) && input.fork().call(Ident::parse_any)? == "list";
    let (kind, allowed) = match is_list {
        true => {
            Ident::parse_any(input)?;
            let inner;
            parenthesized!(inner in input);
            parse_kind(&inner)?
        }
        false => parse_kind(input)?,
    };
    let minimum = match input.parse::<Option<Token![>=]>>()? {
        Some(_) => Some(parse_integer(input)?),
        None => None,
    };
    let ty = AttributeType { kind, is_list };
    let default = match input.parse::<Option<Token![=]>>()? {
        Some(equals) => {
            let span = if input.is_empty() {
                equals.span
            } else {
                input.span()
            };
            let value = parse_value(ty, input)?;
            check_allowed(&value, &allowed, span)?;
            Some(value)
        }
        None => None,
    };
    Ok(Attribute {
        name,
        ty,
        minimum,
        default,
        allowed,
    })
}

/// Parses the name of a kind, or a list of types or strings in braces.
fn parse_kind(input: ParseStream<'_>) -> syn::Result<(AttributeKind, AllowedValues)> {
    if !input.peek(syn::token::Brace) {
        let ident = Ident::parse_any(input)?;
        let kind = KINDS.iter().find(|(name, _)| ident == name);
        let unknown = || {
            let names: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
            let message = format!(
                "`{ident}` is no type of an attribute: expected {}, list(..), or values in braces, `{{f32, f64}}`",
                names.join(", ")
            );
            syn::Error::new(ident.span(), message)
        };
        return Ok((kind.ok_or_else(unknown)?.1, AllowedValues::Any));
    }
    let inner;
    let brace = braced!(inner in input);
    if inner.is_empty() {
        return Err(syn::Error::new(
            brace.span.join(),
            "list the values: types, `{f32, f64}`, or strings, `{\"SAME\", \"VALID\"}`",
        ));
    }
    if inner.peek(LitStr) {
        let values = Punctuated::<LitStr, Token![,]>::parse_terminated(&inner)?;
        let values = values.iter().map(parse_string);
        let values = values.collect::<syn::Result<_>>()?;
        return Ok((AttributeKind::String, AllowedValues::Strings(values)));
    }
    let types = inner.parse_terminated(parse_type, Token![,])?;
    let mut types: Vec<DataType> = types.into_iter().collect();
    types.sort_unstable();
    types.dedup();
    Ok((AttributeKind::Type, AllowedValues::Types(types)))
}

fn check_allowed(value: &Value, allowed: &AllowedValues, span: Span) -> syn::Result<()> {
    let is_allowed = match (value, allowed) {
        (Value::List(items), _) => {
            return items
                .iter()
                .try_for_each(|it| check_allowed(it, allowed, span));
        }
        (Value::Type(it), AllowedValues::Types(types)) => types.contains(it),
        (Value::String(it), AllowedValues::Strings(strings)) => strings.contains(it),
        _ => true,
    };
    match is_allowed {
        true => Ok(()),
        false => Err(syn::Error::new(
            span,
            format!("the default is none of the allowed values:{allowed}"),
        )),
    }
}

fn parse_value(ty: AttributeType, input: ParseStream<'_>) -> syn::Result<Value> {
    if !ty.is_list {
        return parse_item(ty.kind, input);
    }
    let inner;
    bracketed!(inner in input);
    let mut items = Vec::new();
    while !inner.is_empty() {
        items.push(parse_item(ty.kind, &inner)?);
        if !inner.is_empty() {
            inner.parse::<Token![,]>()?;
        }
    }
    Ok(Value::List(items))
}

fn parse_item(kind: AttributeKind, input: ParseStream<'_>) -> syn::Result<Value> {
    Ok(match kind {
        AttributeKind::String => Value::String(parse_string(&input.parse()?)?),
        AttributeKind::Int => Value::Int(parse_integer(input)?),
        AttributeKind::Float => Value::Float(parse_float(input)?),
        AttributeKind::Bool => Value::Bool(input.parse::<syn::LitBool>()?.value),
        AttributeKind::Type => Value::Type(parse_type(input)?),
        AttributeKind::Shape | AttributeKind::Tensor | AttributeKind::Function => {
            return Err(input.error(format!(
                "an attribute of type {} has no default here",
                kind.name()
            )));
        }
    })
}

fn parse_type(input: ParseStream<'_>) -> syn::Result<DataType> {
    let ident = Ident::parse_any(input)?;
    let unknown = || {
        let message =
            format!("`{ident}` is no element type: expected one such as f32, Bool or string");
        syn::Error::new(ident.span(), message)
    };
    data_type_of_name(&ident.to_string()).ok_or_else(unknown)
}

/// Returns the text of a string that needs no escapes in TensorFlow's text.
fn parse_string(literal: &LitStr) -> syn::Result<String> {
    let value = literal.value();
    let is_plain = |it: char| matches!(it, ' '..='~') && !matches!(it, '"' | '\'' | '\\');
    match value.chars().all(is_plain) {
        true => Ok(value),
        false => Err(syn::Error::new(
            literal.span(),
            "expected printable ASCII without quotation marks and backslashes",
        )),
    }
}

fn parse_integer(input: ParseStream<'_>) -> syn::Result<i64> {
    let is_negative = input.parse::<Option<Token![-]>>()?.is_some();
    let value: i64 = input.parse::<syn::LitInt>()?.base10_parse()?;
    Ok(if is_negative { -value } else { value })
}

fn parse_float(input: ParseStream<'_>) -> syn::Result<f32> {
    let is_negative = input.parse::<Option<Token![-]>>()?.is_some();
    let literal: Lit = input.parse()?;
    let value: f32 = match &literal {
        Lit::Float(it) => it.base10_parse()?,
        Lit::Int(it) => it.base10_parse()?,
        _ => return Err(syn::Error::new(literal.span(), "expected a number")),
    };
    Ok(if is_negative { -value } else { value })
}
