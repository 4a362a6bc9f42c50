//! What a signature does not show, in a line: who owns what passes, and for how long it is kept.

use sp_ir::{Direction, Param, Scope, Signature, Transfer};

/// `Takes over `builder`; writes `len`; what it returns is the caller's to end.`; nothing where
/// nothing is stated.
pub fn told(signature: &Signature) -> Option<String> {
    let clauses = [
        clause("takes over", signature, |it| {
            is_full(it) && !is(it, Direction::Out)
        }),
        clause("hands out", signature, |it| {
            is_full(it) && is(it, Direction::Out)
        }),
        clause("writes", signature, |it| {
            !is_full(it) && is(it, Direction::Out)
        }),
        clause("reads and writes", signature, |it| is(it, Direction::InOut)),
        clause("keeps", signature, |it| !is_full(it) && is_kept(it)),
        returned(signature),
    ];
    let text = clauses.into_iter().flatten().collect::<Vec<_>>().join("; ");
    let mut chars = text.chars();
    let first = chars.next()?.to_ascii_uppercase();
    Some(format!("{first}{}.", chars.as_str()))
}

fn clause(verb: &str, signature: &Signature, which: impl Fn(&Param) -> bool) -> Option<String> {
    let params = signature.params.iter();
    let names = params.filter(|it| !it.name.is_empty() && which(it));
    let names: Vec<String> = names.map(|it| format!("`{}`", it.name)).collect();
    (!names.is_empty()).then(|| format!("{verb} {}", names.join(", ")))
}

fn returned(signature: &Signature) -> Option<String> {
    let whose = match signature.ret_transfer.as_ref()?.value {
        Transfer::Full => "the caller's to end",
        Transfer::None => "not the caller's to end",
    };
    Some(format!("what it returns is {whose}"))
}

fn is_full(param: &Param) -> bool {
    let transfer = param.transfer.as_ref().map(|it| it.value);
    transfer == Some(Transfer::Full)
}

fn is(param: &Param, direction: Direction) -> bool {
    param.direction.as_ref().map(|it| it.value) == Some(direction)
}

fn is_kept(param: &Param) -> bool {
    param.scope.as_ref().map(|it| it.value) == Some(Scope::Stored)
}
