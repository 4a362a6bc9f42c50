//! Functions that cannot be bound.

use sp_ir::{Function, Type};

use super::layout::Sizes;

/// Returns the reason why a function cannot be bound, or `None` if it can.
/// `forward` is the function that an inline function only calls.
pub fn problem(function: &Function, forward: Option<&String>, sizes: &Sizes) -> Option<String> {
    if function.inline {
        let reason = "is inline: the library does not export it";
        return Some(match forward {
            Some(other) => format!("{reason}; it only calls `{other}`"),
            None => reason.to_owned(),
        });
    }
    let signature = &function.signature;
    let types = signature.params.iter().map(|param| &param.ty);
    types
        .chain([&signature.ret])
        .find_map(|ty| type_problem(ty, sizes))
}

fn type_problem(ty: &Type, sizes: &Sizes) -> Option<String> {
    // The element type of `va_list` on x86_64; on aarch64 it is `std::__va_list`.
    if ty.named().is_some_and(|name| name.contains("__va_list")) {
        return Some("takes a `va_list`".to_owned());
    }
    match ty {
        Type::Named(name) if !sizes.is_passable(name) => Some(format!(
            "passes `{name}` by value, whose fields are not bound"
        )),
        _ => None,
    }
}
