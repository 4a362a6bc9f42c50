//! Reads directions and ownership transfer in functions' comments: "takes ownership of the `builder` pointer", "*tensor
//! is populated and its ownership is passed to the caller", "places it into *val", "Caller takes ownership of returned
//! TF_Tensor", as in kernels.h.

use sp_ir::{Direction, Evidence, Function, Item, Param, Transfer, Type};

use super::{Items, state};
use crate::clang::{Comment, Comments};
use crate::identifier::split_identifier;

/// Phrases for a result that the caller owns. The first letter may be capital, so it is omitted.
const OWNED_RESULT: [&str; 6] = [
    "aller takes ownership of returned",
    "aller takes ownership of the returned",
    "aller takes ownership of the result",
    "ownership of which is transferred to the caller",
    "aller is responsible for freeing the list",
    "aller is responsible for freeing the returned",
];

/// Phrases for a result that the callee still owns.
const BORROWED_RESULT: [&str; 3] = [
    "aller does not take ownership of returned",
    "aller does not take ownership of the returned",
    "aller does not take ownership of the result",
];

/// Adds the facts that functions' comments state about parameters and results.
pub fn annotate(items: &mut Items, comments: &Comments) {
    for (name, item) in items {
        let Item::Function(function) = item else {
            continue;
        };
        for comment in comments.get(name, "") {
            apply(function, comment);
        }
    }
}

fn apply(function: &mut Function, comment: &Comment) {
    let text = comment.text.replace('\n', " ");
    if let Some(transfer) = result_transfer(&text).filter(|_| is_writable(&function.signature.ret))
    {
        let evidence = Evidence::Comment(comment.loc.clone());
        state(&mut function.signature.ret_transfer, transfer, evidence);
    }
    for param in function
        .signature
        .params
        .iter_mut()
        .filter(|param| !param.name.is_empty())
    {
        let evidence = || Evidence::Comment(comment.loc.clone());
        if is_writable(&param.ty) && is_output(&text, &param.name) {
            state(&mut param.direction, Direction::Out, evidence());
            if points_to_pointer(param) && text.contains("ownership") && text.contains("caller") {
                state(&mut param.transfer, Transfer::Full, evidence());
            }
        }
        if let Some(transfer) = param_transfer(&text, &param.name) {
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

/// Returns true if the text states that the function writes to `*name`.
fn is_output(text: &str, name: &str) -> bool {
    // The headers' comments write `*vals` for `values`.
    let is_target = |word: &str| word == name || (name == "values" && word == "vals");
    words_after(text, "into *").any(is_target)
        || text.contains(&format!("*{name} is populated and"))
}

fn result_transfer(text: &str) -> Option<Transfer> {
    let has_any = |phrases: &[&str]| phrases.iter().any(|phrase| text.contains(phrase));
    match () {
        () if has_any(&BORROWED_RESULT) => Some(Transfer::None),
        () if has_any(&OWNED_RESULT) => Some(Transfer::Full),
        () => None,
    }
}

/// Reads "takes ownership of the `builder` pointer" or "does not take ownership of `builder`".
fn param_transfer(text: &str, name: &str) -> Option<Transfer> {
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

/// Returns the identifier after each occurrence of `phrase`.
fn words_after<'t>(text: &'t str, phrase: &'t str) -> impl Iterator<Item = &'t str> {
    let rests = text.split(phrase).skip(1);
    rests.map(|rest| split_identifier(rest).0)
}
