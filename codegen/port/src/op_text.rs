//! The texts of `Input`, `Output` and `Attr`: `values: N * T`, `T: {float, half} = DT_FLOAT`.

use crate::chain::shorten;
use crate::element::from_enumerator;
use sp_ops::{
    AllowedValues, Argument, ArgumentType, Attribute, AttributeKind, AttributeType, DataType,
    ElementType, Value,
};

/// The groups of types in lists of allowed types.
const GROUPS: [(&str, &str); 3] = [
    (
        "numbertype",
        "float double int32 uint8 int16 int8 complex64 int64 qint8 quint8 qint32 bfloat16 qint16 quint16 uint16 complex128 half uint32 uint64",
    ),
    (
        "realnumbertype",
        "float double int32 uint8 int16 int8 int64 bfloat16 uint16 half uint32 uint64",
    ),
    ("quantizedtype", "qint8 quint8 qint32 qint16 quint16"),
];

/// Reads `name: N * T`, `name: Ref(float)`.
///
/// # Errors
/// Returns an error that names what is no argument.
pub fn argument(text: &str) -> Result<Argument, String> {
    let invalid = || format!("`{}` is no argument", shorten(text));
    let (name, ty) = text.split_once(':').ok_or_else(invalid)?;
    let (name, ty) = (name.trim(), ty.trim());
    let inner = ty.strip_prefix("Ref(").and_then(|it| it.strip_suffix(')'));
    let (is_ref, ty) = (inner.is_some(), inner.unwrap_or(ty).trim());
    let ty = match ty.split_once('*') {
        Some((count, element)) => ArgumentType::Repeated {
            count: count.trim().to_owned(),
            element: element_type(element.trim()),
        },
        None => ArgumentType::Single(element_type(ty)),
    };
    let names = match &ty {
        ArgumentType::Repeated { count, element } => [count.as_str(), text_of(element)],
        ArgumentType::Single(element) => [text_of(element), name],
        ArgumentType::List(list) => [list, name],
    };
    match is_name(name) && names.into_iter().all(is_name) {
        true => Ok(Argument {
            name: name.to_owned(),
            ty,
            is_ref,
        }),
        false => Err(invalid()),
    }
}

fn text_of(element: &ElementType) -> &str {
    match element {
        ElementType::Attribute(name) => name,
        ElementType::Fixed(_) => "fixed",
    }
}

fn is_name(text: &str) -> bool {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    text.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_') && text.chars().all(is_part)
}

fn element_type(name: &str) -> ElementType {
    match data_type(name) {
        Some(ty) => ElementType::Fixed(ty),
        None => ElementType::Attribute(name.to_owned()),
    }
}

/// Other names of types.
const ALIASES: [(&str, &str); 3] = [
    ("float16", "half"),
    ("float32", "float"),
    ("float64", "double"),
];

fn data_type(name: &str) -> Option<DataType> {
    let alias = ALIASES.iter().find(|(known, _)| *known == name);
    DataType::from_name(alias.map_or(name, |(_, name)| name)).filter(|it| it.name().is_some())
}

/// Reads `name: type`, with the least value, the default and the allowed values. The second result is a default that a
/// definition in Rust cannot have.
///
/// # Errors
/// Returns an error that names what is no attribute.
pub fn attribute(text: &str) -> Result<(Attribute, Option<String>), String> {
    let invalid = |part: &str| {
        format!(
            "`{}` of `{}` is not known here",
            shorten(part),
            shorten(text)
        )
    };
    let (name, rest) = text.split_once(':').ok_or_else(|| invalid(text))?;
    let (name, rest) = (name.trim(), rest.trim());
    if !is_name(name) {
        return Err(invalid(name));
    }
    let (ty, rest) = split_type(rest).ok_or_else(|| invalid(rest))?;
    let (ty, allowed) = attribute_type(ty).ok_or_else(|| invalid(ty))?;
    let (minimum, default) = split_bounds(rest).ok_or_else(|| invalid(rest))?;
    let value = match default {
        Some(text) => default_value(ty, text).map_err(|()| invalid(text))?,
        None => None,
    };
    let omitted = default.filter(|_| value.is_none()).map(str::to_owned);
    let attribute = Attribute {
        name: name.to_owned(),
        ty,
        minimum,
        default: value,
        allowed,
    };
    Ok((attribute, omitted))
}

/// Splits `>= 1 = 2` into the least value and the default. Returns `None` for another text.
fn split_bounds(text: &str) -> Option<(Option<i64>, Option<&str>)> {
    let (minimum, rest) = match text.strip_prefix(">=") {
        Some(rest) => {
            let (number, default) = rest.split_at(rest.find('=').unwrap_or(rest.len()));
            (Some(number.trim().parse().ok()?), default)
        }
        None => (None, text),
    };
    match rest.strip_prefix('=') {
        Some(default) => Some((minimum, Some(default.trim()))),
        None => rest.trim().is_empty().then_some((minimum, None)),
    }
}

/// Returns the value of a default, or `None` if a definition in Rust cannot have it: a shape, a tensor, a function, a
/// string with an escape, a number that is not finite.
fn default_value(ty: AttributeType, text: &str) -> Result<Option<Value>, ()> {
    let is_optional = match ty.kind {
        AttributeKind::Shape | AttributeKind::Tensor | AttributeKind::Function => true,
        AttributeKind::String => text.starts_with(['\'', '"', '[']),
        AttributeKind::Float => ty.is_list || text.parse::<f32>().is_ok(),
        AttributeKind::Int | AttributeKind::Bool | AttributeKind::Type => false,
    };
    match value(ty, text) {
        None if !is_optional => Err(()),
        found => Ok(found),
    }
}

/// Splits a text after its type: a word, values in braces, or a list in parentheses.
fn split_type(text: &str) -> Option<(&str, &str)> {
    let end = match text.chars().next()? {
        '{' => text.find('}')? + 1,
        _ if text.starts_with("list") => text.find(')')? + 1,
        _ => text.find([' ', '=', '>']).unwrap_or(text.len()),
    };
    let (ty, rest) = text.split_at(end);
    Some((ty.trim(), rest.trim()))
}

fn attribute_type(text: &str) -> Option<(AttributeType, AllowedValues)> {
    let list = text.strip_prefix("list").map(str::trim_start);
    let item = list.and_then(|it| it.strip_prefix('(')?.strip_suffix(')'));
    let (is_list, item) = (item.is_some(), item.unwrap_or(text).trim());
    if let Some(values) = item.strip_prefix('{').and_then(|it| it.strip_suffix('}')) {
        let (kind, allowed) = allowed_values(values)?;
        return Some((AttributeType { kind, is_list }, allowed));
    }
    if let Some(types) = group(item) {
        let kind = AttributeKind::Type;
        return Some((
            AttributeType { kind, is_list },
            AllowedValues::Types(sorted(types)),
        ));
    }
    let ty = AttributeType::from_name(item).filter(|it| !it.is_list)?;
    Some((AttributeType { is_list, ..ty }, AllowedValues::Any))
}

/// Reads values in braces: strings, or types and groups of types.
fn allowed_values(text: &str) -> Option<(AttributeKind, AllowedValues)> {
    let items = split_items(text);
    if items.first()?.starts_with(['\'', '"']) {
        let strings = items.into_iter().map(quoted).collect::<Option<_>>()?;
        return Some((AttributeKind::String, AllowedValues::Strings(strings)));
    }
    let types = |it: &str| group(it).or_else(|| Some(vec![data_type(it)?]));
    let types: Vec<Vec<DataType>> = items.into_iter().map(types).collect::<Option<_>>()?;
    Some((
        AttributeKind::Type,
        AllowedValues::Types(sorted(types.concat())),
    ))
}

fn group(name: &str) -> Option<Vec<DataType>> {
    let (_, types) = GROUPS.iter().find(|(known, _)| *known == name)?;
    types.split(' ').map(DataType::from_name).collect()
}

fn sorted(mut types: Vec<DataType>) -> Vec<DataType> {
    types.sort_unstable();
    types.dedup();
    types
}

/// Splits items at their commas; a comma at the end is allowed. No string of an attribute has a comma.
fn split_items(text: &str) -> Vec<&str> {
    let items = text.split(',').map(str::trim);
    items.filter(|it| !it.is_empty()).collect()
}

fn list_items(text: &str) -> Option<Vec<&str>> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    Some(split_items(inner))
}

fn quoted(text: &str) -> Option<String> {
    let mark = text.chars().next().filter(|it| matches!(it, '\'' | '"'))?;
    let inner = text.strip_prefix(mark)?.strip_suffix(mark)?;
    let is_plain = |it: char| matches!(it, ' '..='~') && !matches!(it, '"' | '\'' | '\\');
    inner.chars().all(is_plain).then(|| inner.to_owned())
}

fn value(ty: AttributeType, text: &str) -> Option<Value> {
    if !ty.is_list {
        return item(ty.kind, text);
    }
    let items = list_items(text)?.into_iter().map(|it| item(ty.kind, it));
    items.collect::<Option<_>>().map(Value::List)
}

fn item(kind: AttributeKind, text: &str) -> Option<Value> {
    Some(match kind {
        AttributeKind::String => Value::String(quoted(text)?),
        AttributeKind::Int => Value::Int(text.parse().ok()?),
        AttributeKind::Float => Value::Float(text.parse().ok().filter(|it: &f32| it.is_finite())?),
        AttributeKind::Bool => Value::Bool(text.to_ascii_lowercase().parse().ok()?),
        AttributeKind::Type => Value::Type(from_enumerator(text).or_else(|| data_type(text))?),
        AttributeKind::Shape | AttributeKind::Tensor | AttributeKind::Function => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_read_as_tensorflow_reads_them() {
        for (text, expected) in [
            ("T: type", "T: type"),
            ("T : {float,half,}=DT_HALF", "T: type = half in float half"),
            ("T: {float16, float64}", "T: type in double half"),
            ("N: int >= 1 = 2", "N: int >= 1 = 2"),
            ("N: int>=1", "N: int >= 1"),
            ("l: list(int) >= 4", "l: list(int) >= 4"),
            ("l: list(float) = [1, -2.5]", "l: list(float) = [1.0, -2.5]"),
            (
                "l: list({float, int32}) = []",
                "l: list(type) = [] in float int32",
            ),
            ("s: string = ''", "s: string = \"\""),
            ("s: {'A', \"B\"} = 'B'", "s: string = \"B\" in \"A\" \"B\""),
            ("b: bool = True", "b: bool = true"),
            (
                "q: quantizedtype",
                "q: type in qint8 quint8 qint32 qint16 quint16",
            ),
            ("f: func", "f: func"),
            ("l: list(shape) = []", "l: list(shape) = []"),
        ] {
            assert_eq!(
                attribute(text).map(|(it, _)| it.to_string()).as_deref(),
                Ok(expected)
            );
        }
        let (shape, omitted) = attribute("s: shape = { unknown_rank: true }").unwrap();
        assert_eq!(
            (shape.default, omitted.as_deref()),
            (None, Some("{ unknown_rank: true }"))
        );
        for text in ["f: float = -inf", "s: string = '\n'"] {
            let (attribute, omitted) = attribute(text).unwrap();
            assert_eq!(
                (attribute.default, omitted.is_some()),
                (None, true),
                "{text}"
            );
        }
    }

    #[test]
    fn groups_are_those_of_tensorflows_ops() {
        let types = |op: &str| {
            let newest = *sp_ops::releases().last().unwrap();
            let op = sp_ops::find(op).unwrap().in_release(newest).unwrap();
            op.attribute("T").unwrap().allowed.clone()
        };
        for (group, op) in [
            ("numbertype", "Cumsum"),
            ("realnumbertype", "Relu6"),
            ("quantizedtype", "Dequantize"),
        ] {
            let (attribute, _) = attribute(&format!("T: {group}")).unwrap();
            assert_eq!(attribute.allowed, types(op), "{group}");
        }
    }

    #[test]
    fn arguments_are_read_as_tensorflow_reads_them() {
        for (text, expected) in [
            ("x: T", "x: T"),
            ("x:float", "x: float"),
            ("x : N*T", "x: N * T"),
            ("x: N * string", "x: N * string"),
            ("x: Ref(T)", "x: Ref(T)"),
        ] {
            assert_eq!(
                argument(text).map(|it| it.to_string()).as_deref(),
                Ok(expected)
            );
        }
    }

    #[test]
    fn malformed_texts_are_errors() {
        for text in ["x", "x: ", ": T", "x: a b", "x y: T", "x: N *", "x: 1"] {
            assert!(argument(text).is_err(), "{text}");
        }
        for text in [
            "T",
            "T:",
            "T: typ",
            "T: {",
            "T: {float",
            "T: {x}",
            "N: int >= x",
            "N: int = x",
            "N: int 1",
            "l: list(int = [1]",
            "l: list(list(int))",
            "s: {'a\\\\'}",
            "f: float = x",
            "T: {}",
            "t: type = DT_INVALID",
        ] {
            assert!(attribute(text).is_err(), "{text}");
        }
    }
}
