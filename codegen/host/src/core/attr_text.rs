//! Attributes as the text of an op definition: `T: {float, int32} = DT_FLOAT`, `N: int >= 1`.

use super::attr::Attr;
use crate::dtype::DType;

/// The text of an attribute, without its name.
pub(super) struct AttrText {
    /// The type, as in an `OpDef`: `int`, `list(type)`.
    pub kind: String,
    /// The types that it allows; empty if it allows all.
    pub types: Vec<DType>,
    /// The default value.
    pub default: Option<Attr>,
}

/// The types of attributes, without lists.
const KINDS: [&str; 8] = [
    "string", "int", "float", "bool", "type", "shape", "tensor", "func",
];

impl AttrText {
    /// Parses the text, or returns `None` if it is malformed.
    pub fn parse(text: &str) -> Option<Self> {
        let (declaration, default) = match text.split_once(" = ") {
            Some((declaration, default)) => (declaration, Some(default.trim())),
            None => (text, None),
        };
        let item = match declaration.split_once(" >= ") {
            Some((item, minimum)) => minimum.trim().parse::<i64>().ok().map(|_| item)?,
            None => declaration,
        };
        let item = item.trim();
        let list = item
            .strip_prefix("list(")
            .and_then(|item| item.strip_suffix(')'));
        let (kind, types) = parse_kind(list.unwrap_or(item))?;
        let default = match default {
            Some(text) => Some(parse_default(&kind, list.is_some(), text)?),
            None => None,
        };
        let kind = match list {
            Some(_) => format!("list({kind})"),
            None => kind,
        };
        Some(Self {
            kind,
            types,
            default,
        })
    }
}

/// Parses a type of attributes, or the allowed values in braces.
fn parse_kind(text: &str) -> Option<(String, Vec<DType>)> {
    let Some(values) = text.strip_prefix('{') else {
        let kind = KINDS.contains(&text).then(|| text.to_owned())?;
        return Some((kind, Vec::new()));
    };
    let values: Vec<&str> = values
        .strip_suffix('}')?
        .split(',')
        .map(str::trim)
        .collect();
    if values.iter().all(|it| unquote(it).is_some()) {
        return Some(("string".to_owned(), Vec::new()));
    }
    let types: Option<Vec<DType>> = values.into_iter().map(DType::from_name).collect();
    Some(("type".to_owned(), types?))
}

fn parse_default(kind: &str, is_list: bool, text: &str) -> Option<Attr> {
    if !is_list {
        return parse_value(kind, text);
    }
    let items = text.strip_prefix('[')?.strip_suffix(']')?.split(',');
    let items = items.map(str::trim).filter(|it| !it.is_empty());
    let items: Option<Vec<Attr>> = items.map(|it| parse_value(kind, it)).collect();
    Some(Attr::List(items?))
}

fn parse_value(kind: &str, text: &str) -> Option<Attr> {
    match kind {
        "int" => text.parse().ok().map(Attr::Int),
        "float" => text.parse().ok().map(Attr::Float),
        "bool" => text.parse().ok().map(Attr::Bool),
        "string" => unquote(text).map(|it| Attr::Text(it.to_owned())),
        "type" => DType::from_name(&text.strip_prefix("DT_")?.to_lowercase()).map(Attr::Type),
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

    #[test]
    fn parses_kind_types_and_default() {
        for (text, kind, types, default) in [
            ("type", "type", 0, None),
            (
                "{float, int32} = DT_INT32",
                "type",
                2,
                Some(Attr::Type(DType::INT32)),
            ),
            (
                "{'SAME', 'VALID'} = \"SAME\"",
                "string",
                0,
                Some(Attr::Text("SAME".into())),
            ),
            ("int >= 1", "int", 0, None),
            ("float = -0.5", "float", 0, Some(Attr::Float(-0.5))),
            ("bool = true", "bool", 0, Some(Attr::Bool(true))),
            ("list({float}) >= 1", "list(type)", 1, None),
            (
                "list(int) = [1, -1]",
                "list(int)",
                0,
                Some(Attr::List(vec![Attr::Int(1), Attr::Int(-1)])),
            ),
            ("list(int) = []", "list(int)", 0, Some(Attr::List(vec![]))),
        ] {
            let parsed = AttrText::parse(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(parsed.kind, kind, "{text}");
            assert_eq!(parsed.types.len(), types, "{text}");
            assert_eq!(parsed.default, default, "{text}");
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
            "",
        ] {
            assert!(AttrText::parse(text).is_none(), "{text}");
        }
    }
}
