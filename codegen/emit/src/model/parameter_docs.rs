//! A line for the doc of a function: parameter directions, ownership transfers and stored parameters, which
//! its signature does not show.

use sp_ir::{Direction, Param, Scope, Signature, Transfer};

/// Returns a line such as ``Takes ownership of `builder`; writes `len`; the caller owns the return value.``,
/// or `None` if no fact is stated.
pub fn describe(signature: &Signature) -> Option<String> {
    let clauses = [
        clause("takes ownership of", signature, |it| {
            is_transferred(it) && !has_direction(it, Direction::Out)
        }),
        clause("transfers ownership of", signature, |it| {
            is_transferred(it) && has_direction(it, Direction::Out)
        }),
        clause("writes", signature, |it| {
            !is_transferred(it) && has_direction(it, Direction::Out)
        }),
        clause("reads and writes", signature, |it| {
            has_direction(it, Direction::InOut)
        }),
        clause("stores", signature, |it| {
            let scope = it.scope.as_ref().map(|it| it.value);
            !is_transferred(it) && scope == Some(Scope::Stored)
        }),
        return_clause(signature),
    ];
    let text = clauses.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let mut chars = text.chars();
    let first = chars.next()?.to_ascii_uppercase();
    Some(format!("{first}{}.", chars.as_str()))
}

fn clause(verb: &str, signature: &Signature, is_named: impl Fn(&Param) -> bool) -> Option<String> {
    let params = signature.params.iter();
    let names = params.filter(|it| !it.name.is_empty() && is_named(it));
    let names: Vec<String> = names.map(|it| format!("`{}`", it.name)).collect();
    (!names.is_empty()).then(|| format!("{verb} {}", names.join(", ")))
}

fn return_clause(signature: &Signature) -> Option<String> {
    let clause = match signature.ret_transfer.as_ref()?.value {
        Transfer::Full => "the caller owns the return value",
        Transfer::None => "the return value is borrowed",
    };
    Some(clause.to_owned())
}

fn is_transferred(param: &Param) -> bool {
    let transfer = param.transfer.as_ref().map(|it| it.value);
    transfer == Some(Transfer::Full)
}

fn has_direction(param: &Param, direction: Direction) -> bool {
    param.direction.as_ref().map(|it| it.value) == Some(direction)
}
