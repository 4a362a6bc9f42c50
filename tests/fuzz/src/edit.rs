//! Edits of a snapshot's JSON: hostile texts, extreme numbers, and nodes that are removed or copied.

use arbitrary::{Result, Unstructured};
use serde_json::{Map, Value};

/// An identifier that the texts of [`BREAKOUTS`] declare; no output may have it as a token.
pub const MARK: &str = "sp_escape";

/// Texts that end the construct in which they are printed, unless they are escaped.
const BREAKOUTS: [&str; 36] = [
    "<sp-x onx=1>",
    "\"><sp-x onx=\"1",
    "' onx='1",
    "</pre></td></style></script><sp-x>",
    "<!-- sp-x",
    "&lt;sp-x&gt; &#60;sp-x>",
    "`<sp-x>`",
    "``` <sp-x>",
    "```",
    "~~~",
    "    fn sp_escape() {}",
    "a | b | c",
    "a \\| b \\\\| c",
    "`|` \\",
    "[sp-x](http://sp-x)",
    "![sp-x](http://sp-x)",
    "<http://sp-x>",
    "# sp-x",
    "*/ int sp_escape; /*",
    "// \\",
    "??/",
    "\"; fn sp_escape() {} //",
    "\"] fn sp_escape() {} #[doc = \"",
    "\nfn sp_escape() {}\n",
    "\n| a | b |\n",
    "\r\n::error::sp-x",
    "::error::sp-x",
    "\u{1b}[31msp-x",
    "\u{9b}31msp-x",
    "\u{7}\u{8}\u{7f}\0",
    "\u{202e}sp-x\u{2066}",
    "\u{2028}\u{2029}\u{85}",
    "../../../sp-x",
    "https://sp-x/%0a?a=b c#d",
    "{panic!()}",
    "{{ sp_x }} ${sp_x} %s {}",
];

/// Valid names and values that generated code could take for something else.
const WORDS: [&str; 40] = [
    "self",
    "Self",
    "crate",
    "super",
    "_",
    "__",
    "fn",
    "dyn",
    "try",
    "gen",
    "async",
    "macro_rules",
    "union",
    "static",
    "i32",
    "u8",
    "bool",
    "str",
    "Option",
    "Some",
    "None",
    "Result",
    "String",
    "Drop",
    "new",
    "drop",
    "main",
    "std",
    "core",
    "sp_runtime",
    "int",
    "double",
    "class",
    "NULL",
    "void",
    "struct_size",
    "TF_Status*",
    "char const*",
    "int64_t[8]",
    "2.21",
];

const NUMBERS: [i128; 14] = [
    0,
    1,
    3,
    7,
    8,
    64,
    255,
    4096,
    u32::MAX as i128,
    i64::MAX as i128,
    u64::MAX as i128,
    -1,
    i32::MIN as i128,
    i64::MIN as i128,
];

/// Changes one node of `snapshot`.
///
/// # Errors
/// Returns an error if `u` has no bytes left.
pub fn edit(snapshot: &mut Value, u: &mut Unstructured<'_>) -> Result<()> {
    let count = count(snapshot);
    let copied = match u.ratio(1, 8)? {
        true => nth(snapshot, &mut index(u, count)?).cloned(),
        false => None,
    };
    let Some(node) = nth(snapshot, &mut index(u, count)?) else {
        return Ok(());
    };
    if let Some(copied) = copied {
        *node = copied;
        return Ok(());
    }
    match node {
        Value::String(text) => edit_text(text, u)?,
        Value::Number(_) => *node = number(*u.choose(&NUMBERS)?),
        Value::Bool(value) => *value = !*value,
        Value::Array(list) => edit_list(list, u)?,
        Value::Object(map) => edit_map(map, u)?,
        Value::Null => {}
    }
    Ok(())
}

/// Returns a text for a label, which no snapshot has.
pub fn label(u: &mut Unstructured<'_>) -> Result<String> {
    let text = u.choose(&BREAKOUTS)?;
    Ok(text
        .chars()
        .filter(|it| !super::text::is_unprintable(*it))
        .collect())
}

fn index(u: &mut Unstructured<'_>, count: usize) -> Result<usize> {
    u.int_in_range(0..=count.saturating_sub(1))
}

fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(list) => list.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}

fn nth<'a>(value: &'a mut Value, index: &mut usize) -> Option<&'a mut Value> {
    if *index == 0 {
        return Some(value);
    }
    *index -= 1;
    match value {
        Value::Array(list) => list.iter_mut().find_map(|it| nth(it, index)),
        Value::Object(map) => map.values_mut().find_map(|it| nth(it, index)),
        _ => None,
    }
}

/// An identifier mostly becomes another, since every other text in its place is rejected.
fn edit_text(text: &mut String, u: &mut Unstructured<'_>) -> Result<()> {
    let is_word = text
        .bytes()
        .all(|it| it.is_ascii_alphanumeric() || b"_* ".contains(&it));
    let new = match (is_word, u.int_in_range(0..=15)?) {
        (true, 1..) => *u.choose(&WORDS)?,
        (_, 0) => u.arbitrary()?,
        _ => *u.choose(&BREAKOUTS)?,
    };
    *text = match u.int_in_range(0..=2)? {
        0 => new.to_owned(),
        1 => format!("{text}{new}"),
        _ => format!("{new}{text}"),
    };
    Ok(())
}

fn number(value: i128) -> Value {
    match u64::try_from(value) {
        Ok(value) => value.into(),
        Err(_) => i64::try_from(value).unwrap_or_default().into(),
    }
}

fn edit_list(list: &mut Vec<Value>, u: &mut Unstructured<'_>) -> Result<()> {
    if list.is_empty() {
        return Ok(());
    }
    let (first, second) = (index(u, list.len())?, index(u, list.len())?);
    match u.int_in_range(0..=2)? {
        0 => drop(list.remove(first)),
        1 => list.swap(first, second),
        _ => list.insert(second, list[first].clone()),
    }
    Ok(())
}

fn edit_map(map: &mut Map<String, Value>, u: &mut Unstructured<'_>) -> Result<()> {
    let keys: Vec<String> = map.keys().cloned().collect();
    if keys.is_empty() {
        return Ok(());
    }
    let (mut name, other) = (u.choose(&keys)?.clone(), u.choose(&keys)?);
    let value = match u.int_in_range(0..=2)? {
        0 => map.remove(&name),
        1 => map.get(other).cloned(),
        _ => {
            let value = map.remove(&name);
            edit_text(&mut name, u)?;
            value
        }
    };
    if let (Some(value), true) = (value, u.ratio(7, 8)?) {
        map.insert(name, value);
    }
    Ok(())
}
