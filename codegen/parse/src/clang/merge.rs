//! Merges the results of parses of different headers.
//!
//! If two parses declare a struct, only one of them may contain its definition or its size.

use sp_ir::Item;

use super::constant::NamedConstant;
use super::decl::{completes, is_forward};
use super::{Declarations, Parsed};

/// Merges the results of two parts of one set of headers, or returns `None` if they contradict each other.
pub fn parts(parts: [Parsed; 2]) -> Option<Parsed> {
    let [mut all, mut other] = parts;
    let is_consistent = merge(&mut all.declared, &mut other.declared);
    for (name, _) in other.constants.iter().map(NamedConstant::name_and_loc) {
        let comments = &mut other.declared.comments;
        all.declared.comments.take_item(name, comments);
    }
    all.constants.append(&mut other.constants);
    all.values.extend(other.values);
    is_consistent.then_some(all)
}

/// Adds the items and comments of a parse of other headers.
pub fn add(all: &mut Declarations, mut other: Declarations) {
    // A struct may be hidden behind a pointer in one parse and defined in another: either declaration is usable.
    merge(all, &mut other);
}

/// Returns false if a struct is hidden behind a pointer in one result and defined in the other.
fn merge(all: &mut Declarations, other: &mut Declarations) -> bool {
    for (name, item) in std::mem::take(&mut other.items) {
        let known = all.items.get(&name);
        if known.is_none_or(|known| is_more_complete(&item, known)) {
            all.comments.take_item(&name, &mut other.comments);
            all.items.insert(name, item);
        }
    }
    for (name, visibility) in std::mem::take(&mut other.visibility) {
        all.visibility.entry(name).or_insert(visibility);
    }
    all.comments.take_heads(&mut other.comments);
    all.hidden_structs.append(&mut other.hidden_structs);
    let (items, hidden) = (&mut all.items, &all.hidden_structs);
    items.retain(|name, item| !is_forward(item) || !hidden.contains(name));
    !hidden.iter().any(|name| items.contains_key(name))
}

fn is_more_complete(item: &Item, known: &Item) -> bool {
    let has_size = |item: &Item| matches!(item, Item::Struct(item) if item.struct_size.is_some());
    completes(item, known) || (has_size(item) && !has_size(known))
}
