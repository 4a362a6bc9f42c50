//! Arguments and attributes as the text of an op definition: `x: N * T`, `T: {float, int32} = DT_FLOAT`.

use sp_ops::{
    AllowedValues, Argument, ArgumentType, Attribute, AttributeKind, AttributeType, DataType,
    ElementType, Value,
};

/// Parses `x: T`, `x: N * T` or `x: Ref(T)`, or returns `None` if the text is malformed.
pub(super) fn parse_argument(text: &str) -> Option<Argument> {
    let (name, ty) = parse_name(text)?;
    let inner = ty.strip_prefix("Ref(").and_then(|ty| ty.strip_suffix(')'));
    let element = |name: &str| match DataType::from_name(name.trim()) {
        Some(ty) => ElementType::Fixed(ty),
        None => ElementType::Attribute(name.trim().to_owned()),
    };
    let ty = match inner.unwrap_or(ty).split_once('*') {
        Some((count, ty)) => ArgumentType::Repeated {
            count: count.trim().to_owned(),
            element: element(ty),
        },
        None => ArgumentType::Single(element(inner.unwrap_or(ty))),
    };
    Some(Argument {
        name: name.to_owned(),
        ty,
        is_ref: inner.is_some(),
    })
}

/// Splits `name: rest`.
fn parse_name(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once(':')?;
    let name = name.trim();
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic());
    is_name.then_some((name, rest.trim()))
}

/// Parses an attribute, or returns `None` if the text is malformed.
pub(super) fn parse_attribute(text: &str) -> Option<Attribute> {
    let (name, text) = parse_name(text)?;
    let (declaration, default) = match text.split_once(" = ") {
        Some((declaration, default)) => (declaration, Some(default.trim())),
        None => (text, None),
    };
    let (item, minimum) = match declaration.split_once(" >= ") {
        Some((item, minimum)) => (item, Some(minimum.trim().parse().ok()?)),
        None => (declaration, None),
    };
    let item = item.trim();
    let list = item
        .strip_prefix("list(")
        .and_then(|it| it.strip_suffix(')'));
    let (kind, allowed) = parse_kind(list.unwrap_or(item))?;
    let is_list = list.is_some();
    let default = match default {
        Some(text) => Some(parse_default(kind, is_list, text)?),
        None => None,
    };
    Some(Attribute {
        name: name.to_owned(),
        ty: AttributeType { kind, is_list },
        minimum,
        default,
        allowed,
    })
}

/// Parses a type of attributes, or the allowed values in braces.
fn parse_kind(text: &str) -> Option<(AttributeKind, AllowedValues)> {
    let Some(values) = text.strip_prefix('{') else {
        let ty = AttributeType::from_name(text).filter(|it| !it.is_list)?;
        return Some((ty.kind, AllowedValues::Any));
    };
    let values = values.strip_suffix('}')?.split(',').map(str::trim);
    let strings = values.clone().map(|it| unquote(it).map(str::to_owned));
    let strings: Option<Vec<String>> = strings.collect();
    if let Some(strings) = strings {
        return Some((AttributeKind::String, AllowedValues::Strings(strings)));
    }
    let types: Option<Vec<DataType>> = values.map(DataType::from_name).collect();
    Some((AttributeKind::Type, AllowedValues::Types(types?)))
}

fn parse_default(kind: AttributeKind, is_list: bool, text: &str) -> Option<Value> {
    if !is_list {
        return parse_value(kind, text);
    }
    let items = text.strip_prefix('[')?.strip_suffix(']')?.split(',');
    let items = items.map(str::trim).filter(|it| !it.is_empty());
    let items: Option<Vec<Value>> = items.map(|it| parse_value(kind, it)).collect();
    Some(Value::List(items?))
}

fn parse_value(kind: AttributeKind, text: &str) -> Option<Value> {
    match kind {
        AttributeKind::Int => text.parse().ok().map(Value::Int),
        AttributeKind::Float => text.parse().ok().map(Value::Float),
        AttributeKind::Bool => text.parse().ok().map(Value::Bool),
        AttributeKind::String => unquote(text).map(|it| Value::String(it.to_owned())),
        AttributeKind::Type => {
            let name = text.strip_prefix("DT_")?.to_lowercase();
            DataType::from_name(&name).map(Value::Type)
        }
        _ => None,
    }
}

fn unquote(text: &str) -> Option<&str> {
    let quoted = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    quoted('\'').or_else(|| quoted('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the attribute as sp-ops prints it, without its name.
    fn parsed(text: &str) -> Option<String> {
        let attribute = parse_attribute(&format!("a: {text}"))?.to_string();
        attribute.strip_prefix("a: ").map(str::to_owned)
    }

    #[test]
    fn parses_kind_types_and_default() {
        for (text, expected) in [
            ("type", "type"),
            ("{float, int32} = DT_INT32", "type = int32 in float int32"),
            (
                "{'SAME', 'VALID'} = \"SAME\"",
                "string = \"SAME\" in \"SAME\" \"VALID\"",
            ),
            ("int >= 1", "int >= 1"),
            ("float = -0.5", "float = -0.5"),
            ("bool = true", "bool = true"),
            ("list({float}) >= 1", "list(type) >= 1 in float"),
            ("list(int) = [1, -1]", "list(int) = [1, -1]"),
            ("list(int) = []", "list(int) = []"),
        ] {
            assert_eq!(parsed(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn rejects_malformed_text() {
        for text in [
            "typ",
            "{float",
            "{flaot}",
            "int >= x",
            "int = 1.5",
            "type = float",
            "list(int = [1]",
            "list(list(int))",
            "",
        ] {
            assert_eq!(parsed(text), None, "{text}");
        }
        for text in ["x", ": T", "1: T"] {
            assert_eq!(parse_argument(text), None, "{text}");
        }
    }
}
