//! Merges the results of parses of different headers.
//!
//! If two parses declare a struct, only one of them may contain its definition or its size.

use sp_ir::Item;

use super::Declarations;
use super::decl::{completes, is_forward};

/// Adds the items and comments of a parse of other headers. A struct may be hidden behind a pointer in one parse and defined
/// in another: either declaration is usable.
pub fn add(all: &mut Declarations, mut other: Declarations) {
    for (name, item) in other.items {
        let known = all.items.get(&name);
        if known.is_none_or(|known| is_more_complete(&item, known)) {
            all.comments.take_item(&name, &mut other.comments);
            all.items.insert(name, item);
        }
    }
    for (name, visibility) in other.visibility {
        all.visibility.entry(name).or_insert(visibility);
    }
    all.comments.take_heads(&mut other.comments);
    all.hidden_structs.append(&mut other.hidden_structs);
    let hidden = &all.hidden_structs;
    all.items
        .retain(|name, item| !is_forward(item) || !hidden.contains(name));
}

fn is_more_complete(item: &Item, known: &Item) -> bool {
    let has_size = |item: &Item| matches!(item, Item::Struct(item) if item.struct_size.is_some());
    completes(item, known) || (has_size(item) && !has_size(known))
}
