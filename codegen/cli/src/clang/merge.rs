//! One set of declarations of two that were read apart.
//!
//! What both have is equal, but that one may know more of a struct: its definition, or its size.

use sp_ir::Item;

use super::Declarations;
use super::decl::{is_better, is_forward};

/// The declarations of both halves; nothing where one is missing, or is mistaken of the other.
pub fn both(halves: [Declarations; 2]) -> Option<Declarations> {
    let [mut all, mut other] = halves;
    for (name, item) in std::mem::take(&mut other.items) {
        let known = all.items.get(&name);
        if known.is_none_or(|known| knows_more(&item, known)) {
            all.comments.take(&name, &mut other.comments);
            all.items.insert(name, item);
        }
    }
    all.behind.append(&mut other.behind);
    let (items, behind) = (&mut all.items, &all.behind);
    items.retain(|name, item| !is_forward(item) || !behind.contains(name));
    // What is behind a pointer for one half is defined for the other, so the first was mistaken.
    let is_consistent = !behind.iter().any(|name| items.contains_key(name));
    is_consistent.then_some(all)
}

fn knows_more(item: &Item, known: &Item) -> bool {
    let has_size = |item: &Item| matches!(item, Item::Struct(one) if one.struct_size.is_some());
    is_better(item, known) || (has_size(item) && !has_size(known))
}
