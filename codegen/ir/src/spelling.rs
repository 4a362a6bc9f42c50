//! The JSON form of types: the C spelling with every qualifier to the right, such as `char const*` or
//! `int64_t[8]`. Function types are objects, `{"function": {..}}`, and so are types derived from them.

use std::fmt;

use serde::de::{Error, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{Signature, Type};

/// Returns the C spelling, or `None` for function types and types derived from them.
fn c_spelling(ty: &Type) -> Option<String> {
    let text = match ty {
        Type::Pointer {
            pointee,
            mutable: true,
        } => c_spelling(pointee)? + "*",
        Type::Pointer { pointee, .. } => c_spelling(pointee)? + " const*",
        Type::Array { elem, len } => {
            // In C the outer length comes first: `char[2][4]` is an array of two arrays of four.
            let (mut elem, mut lengths) = (elem, format!("[{len}]"));
            while let Type::Array { elem: inner, len } = &**elem {
                (elem, lengths) = (inner, format!("{lengths}[{len}]"));
            }
            c_spelling(elem)? + &lengths
        }
        simple => return simple.c_name(),
    };
    Some(text)
}

/// Limit for the number of stars and brackets, so that no text overflows the stack.
const MAX_DEPTH: usize = 64;

fn parse(text: &str) -> Option<Type> {
    let depth = text.bytes().filter(|byte| matches!(byte, b'*' | b'['));
    (depth.count() <= MAX_DEPTH).then(|| parse_unlimited(text))?
}

fn parse_unlimited(text: &str) -> Option<Type> {
    if let Some(pointee) = text.strip_suffix('*') {
        let bare = pointee.strip_suffix(" const");
        let pointee = parse_unlimited(bare.unwrap_or(pointee))?;
        return Some(Type::pointer(pointee, bare.is_none()));
    }
    if text.ends_with(']') {
        return array(text);
    }
    let is_word = |char: char| char.is_ascii_alphanumeric() || char == '_';
    (!text.is_empty() && text.chars().all(is_word)).then(|| simple_type(text))
}

fn array(mut text: &str) -> Option<Type> {
    let mut lengths = Vec::new();
    while let Some((elem, len)) = text.strip_suffix(']').and_then(|it| it.rsplit_once('[')) {
        lengths.push(len.parse().ok()?);
        text = elem;
    }
    if lengths.is_empty() {
        return None;
    }
    let elem = parse_unlimited(text)?;
    Some(lengths.into_iter().fold(elem, Type::array))
}

fn simple_type(text: &str) -> Type {
    let int = |text: &str| match text.strip_suffix("_t")? {
        "8" => Some(8),
        "16" => Some(16),
        "32" => Some(32),
        "64" => Some(64),
        _ => None,
    };
    match text {
        "void" => Type::Void,
        "bool" => Type::Bool,
        "char" => Type::Char,
        "size_t" => Type::Size,
        "intptr_t" => Type::Address { signed: true },
        "uintptr_t" => Type::Address { signed: false },
        "float" => Type::Float { bits: 32 },
        "double" => Type::Float { bits: 64 },
        _ => {
            let bits = text.strip_prefix("_Float").and_then(|it| it.parse().ok());
            let signed = text.strip_prefix("int").and_then(int);
            let unsigned = text.strip_prefix("uint").and_then(int);
            match (bits, signed, unsigned) {
                (Some(bits), _, _) => Type::Float { bits },
                (_, Some(bits), _) => Type::Int { bits, signed: true },
                (_, _, Some(bits)) => Type::int(bits, false),
                _ => Type::Named(text.into()),
            }
        }
    }
}

impl Serialize for Type {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(text) = c_spelling(self) {
            return serializer.serialize_str(&text);
        }
        let mut map = serializer.serialize_map(None)?;
        match self {
            Type::Function(signature) => map.serialize_entry("function", signature)?,
            Type::Pointer { pointee, mutable } => {
                map.serialize_entry(if *mutable { "pointer" } else { "const_pointer" }, pointee)?;
            }
            Type::Array { elem, len } => map.serialize_entry("array", &(elem, len))?,
            _ => {}
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Type {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Type;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a C type")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Type, E> {
        parse(text).ok_or_else(|| E::custom(format_args!("`{text}` is not a C type")))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Type, A::Error> {
        let key: Option<String> = map.next_key()?;
        let ty = match key.as_deref() {
            Some("function") => Type::Function(Box::new(map.next_value::<Signature>()?)),
            Some(key @ ("pointer" | "const_pointer")) => Type::Pointer {
                mutable: key == "pointer",
                pointee: map.next_value()?,
            },
            Some("array") => {
                let (elem, len) = map.next_value()?;
                Type::Array { elem, len }
            }
            _ => {
                return Err(A::Error::custom(
                    "invalid type: expected `function`, `pointer`, `const_pointer` or `array`",
                ));
            }
        };
        match map.next_key::<String>()? {
            None => Ok(ty),
            Some(key) => Err(A::Error::custom(format_args!(
                "unexpected key `{key}` in a type"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(ty: &Type) -> String {
        let text = serde_json::to_string(ty).unwrap();
        assert_eq!(serde_json::from_str::<Type>(&text).unwrap(), *ty, "{text}");
        text
    }

    #[test]
    fn types_have_c_spelling() {
        let named = || Type::Named("TF_Status".into());
        assert_eq!(json(&named()), "\"TF_Status\"");
        assert_eq!(json(&Type::pointer(named(), true)), "\"TF_Status*\"");
        assert_eq!(json(&Type::pointer(Type::Char, false)), "\"char const*\"");
        assert_eq!(
            json(&Type::pointer(Type::pointer(Type::Char, false), false)),
            "\"char const* const*\""
        );
        let inner = Type::array(Type::int(8, false), 4);
        assert_eq!(json(&inner), "\"uint8_t[4]\"");
        assert_eq!(json(&Type::array(inner, 2)), "\"uint8_t[2][4]\"");
        assert_eq!(json(&Type::Float { bits: 64 }), "\"double\"");
        assert_eq!(json(&Type::Address { signed: true }), "\"intptr_t\"");
        assert_eq!(json(&Type::Named("int7_t".into())), "\"int7_t\"");
    }

    #[test]
    fn function_types_are_objects() {
        let run = Type::Function(Box::new(Signature::new(Vec::new(), Type::Void)));
        let text = r#"{"function":{"params":[],"ret":"void"}}"#;
        assert_eq!(json(&run), text);
        let expected = format!("{{\"pointer\":{text}}}");
        assert_eq!(json(&Type::pointer(run.clone(), true)), expected);
        assert_eq!(
            json(&Type::array(run, 2)),
            format!("{{\"array\":[{text},2]}}")
        );
    }

    #[test]
    fn rejects_malformed_types() {
        for text in [
            "\"\"",
            "\"a b\"",
            "\"x[\"",
            "\"x[y]\"",
            "\"x]\"",
            "\"[2]\"",
            "{}",
            "3",
            "{\"pointer\":\"\"}",
        ] {
            assert!(serde_json::from_str::<Type>(text).is_err(), "{text}");
        }
        for deep in ["*".repeat(100_000), "[1]".repeat(100_000)] {
            assert!(parse(&format!("char{deep}")).is_none());
        }
    }
}
