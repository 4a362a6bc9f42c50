//! What functions' comments say of ownership and of results: "takes ownership of the `builder`
//! pointer", "*tensor is populated and its ownership is passed to the caller", "places it into
//! *val", "Caller takes ownership of returned TF_Tensor", as in kernels.h.

use sp_ir::{Direction, Evidence, Function, Item, Param, Transfer, Type};

use super::{Items, state};
use crate::clang::{Comment, Comments};

/// How headers say that what a function returns is the caller's.
const HANDS_BACK: [&str; 6] = [
    "aller takes ownership of returned",
    "aller takes ownership of the returned",
    "aller takes ownership of the result",
    "ownership of which is transferred to the caller",
    "aller is responsible for freeing the list",
    "aller is responsible for freeing the returned",
];

/// How headers say that what a function returns stays the callee's.
const KEEPS: [&str; 3] = [
    "aller does not take ownership of returned",
    "aller does not take ownership of the returned",
    "aller does not take ownership of the result",
];

/// States what functions' comments say of their parameters and results.
pub fn annotate(items: &mut Items, comments: &Comments) {
    for (name, item) in items {
        let Item::Function(function) = item else {
            continue;
        };
        for comment in comments.of(name, "") {
            apply(function, comment);
        }
    }
}

fn apply(function: &mut Function, comment: &Comment) {
    let text = comment.text.replace('\n', " ");
    if let Some(transfer) = returned(&text).filter(|_| is_writable(&function.signature.ret)) {
        let evidence = Evidence::Comment(comment.loc.clone());
        state(&mut function.signature.ret_transfer, transfer, evidence);
    }
    for param in function
        .signature
        .params
        .iter_mut()
        .filter(|one| !one.name.is_empty())
    {
        let evidence = || Evidence::Comment(comment.loc.clone());
        if is_writable(&param.ty) && hands_out(&text, &param.name) {
            state(&mut param.direction, Direction::Out, evidence());
            if points_to_pointer(param) && text.contains("ownership") && text.contains("caller") {
                state(&mut param.transfer, Transfer::Full, evidence());
            }
        }
        if let Some(transfer) = taken(&text, &param.name) {
            state(&mut param.transfer, transfer, evidence());
        }
    }
}

fn is_writable(ty: &Type) -> bool {
    matches!(ty, Type::Pointer { mutable: true, .. })
}

fn points_to_pointer(param: &Param) -> bool {
    matches!(&param.ty, Type::Pointer { pointee, .. } if matches!(**pointee, Type::Pointer { .. }))
}

/// Whether `*name` (or the array's `*names`) is where the result goes.
fn hands_out(text: &str, name: &str) -> bool {
    let into = word_after(text, "into *").any(|word| word == name || word == plural(name));
    into || text.contains(&format!("*{name} is populated and"))
}

/// The headers say `*vals` of a parameter called `values`.
fn plural(name: &str) -> &str {
    if name == "values" { "vals" } else { name }
}

fn returned(text: &str) -> Option<Transfer> {
    let has = |words: &[&str]| words.iter().any(|words| text.contains(words));
    match () {
        () if has(&KEEPS) => Some(Transfer::None),
        () if has(&HANDS_BACK) => Some(Transfer::Full),
        () => None,
    }
}

/// "takes ownership of the `builder` pointer", or "does not take ownership of" it.
fn taken(text: &str, name: &str) -> Option<Transfer> {
    let has = |verb: &str| {
        let quoted =
            |article: &str| text.contains(&format!("{verb} ownership of {article}`{name}`"));
        quoted("") || quoted("the ")
    };
    match () {
        () if has("not take") => Some(Transfer::None),
        () if has("takes") && !text.contains("caller takes ownership") => Some(Transfer::Full),
        () => None,
    }
}

fn word_after<'t>(text: &'t str, lead: &'t str) -> impl Iterator<Item = &'t str> {
    text.split(lead).skip(1).map(|rest| {
        let end = rest.find(|one: char| !one.is_alphanumeric() && one != '_');
        &rest[..end.unwrap_or(rest.len())]
    })
}
