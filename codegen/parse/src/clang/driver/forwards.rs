//! Inline functions that only call another function with their own parameters.

use std::collections::BTreeMap;

use clang_sys::CXCursor_FunctionDecl;

use super::super::cursor::Cursor;
use super::super::node::{Node, Selection};
use super::super::unit::Unit;
use crate::identifier::split_identifier;

/// Returns the function that each inline function calls, if it does nothing else. Bodies are not parsed, so their text decides.
pub fn find(unit: &Unit, nodes: &[Node]) -> BTreeMap<String, String> {
    let own = nodes.iter();
    let own = own.filter(|node| node.selection == Selection::Describable);
    let functions = own.filter(|node| is_inline(node.cursor));
    let calls = functions.filter_map(|node| {
        let end = node.cursor.extent()?.end;
        let text = unit.text(&node.header);
        let called = called(text.get(end.offset as usize..)?, node.cursor)?;
        Some((node.cursor.name(), called))
    });
    calls.collect()
}

fn is_inline(cursor: Cursor) -> bool {
    cursor.kind() == CXCursor_FunctionDecl && (cursor.is_inline() || cursor.is_static())
}

/// Returns the function that the body `{ return NAME(PARAMETERS); }` at the start of `text` calls.
fn called(text: &str, function: Cursor) -> Option<String> {
    let (body, _) = text.trim_start().strip_prefix('{')?.split_once('}')?;
    let body = body.trim();
    let call = match split_identifier(body) {
        ("return", rest) => rest.trim_start(),
        _ => body,
    };
    let (name, rest) = split_identifier(call);
    let spelled: String = rest.split_whitespace().collect();
    let parameters = function.arguments();
    let parameters: Vec<String> = parameters.iter().map(|it| it.name()).collect();
    let is_call = spelled == format!("({});", parameters.join(","));
    (is_call && !name.is_empty()).then(|| name.to_owned())
}
