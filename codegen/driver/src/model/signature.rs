//! Functions that cannot be bound.

use sp_ir::{Function, Type};

use super::layout::Sizes;

/// Returns the reason why a function cannot be bound, or `None` if it can.
pub fn problem(function: &Function, sizes: &Sizes) -> Option<String> {
    if function.inline {
        return Some("is inline: the library does not export it".to_owned());
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
