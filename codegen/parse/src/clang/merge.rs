//! What two threads have found, as one.
//!
//! A name that both have is a struct whose definition, or whose size, only one of them knows.

use sp_ir::Item;

use super::constant::Named;
use super::decl::{is_better, is_forward};
use super::{Declarations, Found};

/// What both halves have; nothing where one is mistaken of what the other knows.
pub fn both(halves: [Found; 2]) -> Option<Found> {
    let [mut all, mut other] = halves;
    let is_consistent = merge(&mut all.declared, &mut other.declared);
    for (name, _) in other.constants.iter().map(Named::place) {
        let comments = &mut other.declared.comments;
        all.declared.comments.take(name, comments);
    }
    all.constants.append(&mut other.constants);
    all.values.extend(other.values);
    is_consistent.then_some(all)
}

/// Adds the items and comments of another parse.
pub fn add(all: &mut Declarations, mut other: Declarations) {
    // One parse sees through to what another has behind a pointer only: either will do.
    merge(all, &mut other);
}

fn merge(all: &mut Declarations, other: &mut Declarations) -> bool {
    for (name, item) in std::mem::take(&mut other.items) {
        let known = all.items.get(&name);
        if known.is_none_or(|known| knows_more(&item, known)) {
            all.comments.take(&name, &mut other.comments);
            all.items.insert(name, item);
        }
    }
    all.comments.take_heads(&mut other.comments);
    all.behind.append(&mut other.behind);
    let (items, behind) = (&mut all.items, &all.behind);
    items.retain(|name, item| !is_forward(item) || !behind.contains(name));
    // What is behind a pointer for one half and defined for the other, the first did not see through.
    !behind.iter().any(|name| items.contains_key(name))
}

fn knows_more(item: &Item, known: &Item) -> bool {
    let has_size = |item: &Item| matches!(item, Item::Struct(one) if one.struct_size.is_some());
    is_better(item, known) || (has_size(item) && !has_size(known))
}
