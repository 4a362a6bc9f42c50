//! The few words that several rules say.

use sp_ir::{Direction, Scope, Transfer};

use super::change::{Relaid, Revalued};

/// Some names, and how many more: `a, b and 3 more`.
pub fn list(names: &[&str]) -> String {
    const SHOWN: usize = 4;
    let shown = names
        .iter()
        .take(SHOWN)
        .copied()
        .collect::<Vec<_>>()
        .join(", ");
    match names.len().checked_sub(SHOWN) {
        Some(more @ 1..) => format!("{shown} and {more} more"),
        _ => shown,
    }
}

/// The first name that a change is about.
pub fn first(told: &Relaid) -> String {
    told.names().first().copied().unwrap_or_default().into()
}

/// What stands behind the last dot of an item's path.
pub fn last(item: &str) -> &str {
    item.rsplit('.').next().unwrap_or(item)
}

/// Where the members that a change is about begin.
pub fn offset(told: &Relaid) -> u64 {
    told.fields.iter().map(|one| one.offset).min().unwrap_or(0)
}

/// What became of members, and where: `a and b were inserted at 256`.
pub fn placed(told: &Relaid, done: &str) -> String {
    let were = match told.fields.len() {
        1 => "was",
        _ => "were",
    };
    let names = list(&told.names());
    format!("{names} {were} {done} {}", offset(told))
}

/// How many members moved, and what became of the size.
pub fn moves(told: &Relaid) -> String {
    let moved = match told.moved.as_slice() {
        [] => String::new(),
        [one] => format!("; {one} moved"),
        many => format!("; {} members moved", many.len()),
    };
    moved + &size(told)
}

/// What became of the size: `; 264 to 288 bytes`.
pub fn size(told: &Relaid) -> String {
    let (old, new) = match (told.announced.old, told.announced.new) {
        (Some(old), Some(new)) => (old, new),
        _ => (told.size.old, told.size.new),
    };
    match old == new {
        true => String::new(),
        false => format!("; {old} to {new} bytes"),
    }
}

/// What NEW's size macro says.
pub fn announced(told: &Relaid) -> u64 {
    let size = told
        .structure
        .and_then(|both| both.new.struct_size.as_ref());
    size.map_or(told.size.new, |size| size.value)
}

/// Which way a value goes.
pub fn way(way: Direction) -> &'static str {
    match way {
        Direction::In => "in",
        Direction::Out => "out",
        Direction::InOut => "both ways",
    }
}

/// Whether a value is given away.
pub fn given(said: Transfer) -> &'static str {
    match said {
        Transfer::None => "lent",
        Transfer::Full => "given away",
    }
}

/// How long a value is kept.
pub fn kept(said: Scope) -> &'static str {
    match said {
        Scope::Call => "for the call",
        Scope::Stored => "beyond the call",
    }
}

/// Names and their numbers: `A is 3, before 2`.
pub fn revalued(others: &[Revalued]) -> String {
    let one = |it: &Revalued| format!("{} is {}, before {}", it.name, it.value.new, it.value.old);
    let all: Vec<String> = others.iter().map(one).collect();
    list(&all.iter().map(String::as_str).collect::<Vec<_>>())
}
