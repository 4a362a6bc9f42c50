//! Rust types of parameters for attributes, by their tokens: for one message in the author's words.
//!
//! A type of another name is not judged: the expansion requires it to implement the trait of its role.

use super::definition::AttributeDefinition;
use super::value::type_name;
use quote::ToTokens;
use sp_ops::{AttributeKind, AttributeType};
use syn::Type;

/// Types with one usual spelling, by the kind of attribute that they are parameters for.
const TYPES: [(Option<AttributeKind>, &[&str]); 9] = [
    (Some(AttributeKind::Bool), &["bool"]),
    (Some(AttributeKind::Int), &["i64", "i32", "usize"]),
    (Some(AttributeKind::Float), &["f32"]),
    (Some(AttributeKind::String), &["&str"]),
    (Some(AttributeKind::Type), &["DataType"]),
    (Some(AttributeKind::Shape), &["&PartialShape", "&[usize]"]),
    (Some(AttributeKind::Tensor), &["&TensorValue"]),
    (Some(AttributeKind::Function), &["&FunctionName"]),
    (
        None,
        &[
            "i8", "i16", "u8", "u16", "u32", "u64", "isize", "f64", "char", "String", "&String",
        ],
    ),
];

/// Types with one usual spelling, for lists of a kind of attribute.
const LISTS: [(Option<AttributeKind>, &[&str]); 9] = [
    (Some(AttributeKind::Bool), &["&[bool]"]),
    (Some(AttributeKind::Int), &["&[i64]"]),
    (Some(AttributeKind::Float), &["&[f32]"]),
    (Some(AttributeKind::String), &["&[String]"]),
    (Some(AttributeKind::Type), &["&[DataType]"]),
    (Some(AttributeKind::Shape), &["&[PartialShape]", "&[Shape]"]),
    (Some(AttributeKind::Tensor), &["&[TensorValue]"]),
    (Some(AttributeKind::Function), &["&[FunctionName]"]),
    (None, &["&[i32]", "&[u8]", "&[f64]", "&[&str]"]),
];

/// Returns the message for a parameter whose type cannot be that of the attribute; `None` if it is, or may be.
pub fn mismatch(op: &str, attribute: &AttributeDefinition, ty: &Type) -> Option<String> {
    let found = spelling(ty);
    let known = TYPES
        .iter()
        .chain(&LISTS)
        .any(|(_, names)| names.contains(&found.as_str()));
    let accepted = accepted(attribute.ty);
    if !known || accepted.contains(&found.as_str()) {
        return None;
    }
    let enumeration = match attribute.ty.kind {
        AttributeKind::String if !attribute.ty.is_list => {
            ", or an enum with `#[derive(AttributeValue)]`"
        }
        _ => "",
    };
    Some(format!(
        "attribute `{}` of `{op}` is of type {}: its parameter is `{}`{enumeration}, not `{found}`",
        attribute.name,
        type_name(attribute.ty),
        accepted.join("` or `"),
    ))
}

fn accepted(ty: AttributeType) -> &'static [&'static str] {
    let table = if ty.is_list { &LISTS } else { &TYPES };
    let found = table.iter().find(|(kind, _)| *kind == Some(ty.kind));
    found.map_or(&[], |(_, names)| names)
}

/// Returns the type as the tables spell it: without lifetimes and `Option`.
fn spelling(ty: &Type) -> String {
    match ty {
        Type::Group(group) => spelling(&group.elem),
        Type::Reference(it) => format!("&{}", spelling(&it.elem)),
        Type::Slice(it) => format!("[{}]", spelling(&it.elem)),
        Type::Path(path) => spelling_of_path(path),
        other => other.to_token_stream().to_string(),
    }
}

fn spelling_of_path(path: &syn::TypePath) -> String {
    let Some(last) = path.path.segments.last() else {
        return String::new();
    };
    match &last.arguments {
        syn::PathArguments::AngleBracketed(it) if last.ident == "Option" && it.args.len() == 1 => {
            match &it.args[0] {
                syn::GenericArgument::Type(ty) => spelling(ty),
                other => other.to_token_stream().to_string(),
            }
        }
        syn::PathArguments::None => last.ident.to_string(),
        _ => last.to_token_stream().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::definition::Definition;
    use super::*;
    use syn::parse_quote;

    fn message(op: &str, attribute: &str, ty: &Type) -> Option<String> {
        let definition = Definition::new(&sp_ops::find(op).unwrap());
        mismatch(op, definition.attribute(attribute).unwrap(), ty)
    }

    #[test]
    fn types_of_the_attribute_and_unknown_names_are_accepted() {
        let of_bool = |ty| message("MatMul", "transpose_a", &ty);
        assert_eq!(of_bool(parse_quote!(bool)), None);
        assert_eq!(of_bool(parse_quote!(Option<bool>)), None);
        assert_eq!(of_bool(parse_quote!(core::primitive::bool)), None);
        assert_eq!(of_bool(parse_quote!(MyFlag)), None);
        assert_eq!(message("Conv2D", "strides", &parse_quote!(&'a [i64])), None);
        assert_eq!(
            message("VarHandleOp", "shape", &parse_quote!(&[usize])),
            None
        );
    }

    #[test]
    fn message_names_attribute_types_and_what_was_found() {
        let text = message("MatMul", "transpose_a", &parse_quote!(i64)).unwrap();
        assert_eq!(
            text,
            "attribute `transpose_a` of `MatMul` is of type bool: its parameter is `bool`, not `i64`"
        );
        let text = message("Conv2D", "strides", &parse_quote!(i64)).unwrap();
        assert!(
            text.ends_with("is of type list(int): its parameter is `&[i64]`, not `i64`"),
            "{text}"
        );
        let text = message("Conv2D", "padding", &parse_quote!(String)).unwrap();
        assert!(text.contains("`&str`, or an enum with"), "{text}");
        let text = message("VarHandleOp", "shape", &parse_quote!(&[i64])).unwrap();
        assert!(
            text.contains("`&PartialShape` or `&[usize]`, not `&[i64]`"),
            "{text}"
        );
    }
}
