//! What calls pass and return. Parameters are one where they have one name, or, nameless, one type.

use sp_ir::{Param, Side, Signature, Type};

use super::{Ledger, facts};
use crate::change::{Both, Called, Kind, Reason};
use crate::likeness::Likeness;
use crate::pair::Pair;
use sp_ir::c::spell;

/// One difference between two lists of parameters. Numbers count from 0.
enum Step {
    Added(usize),
    Removed(usize),
    Moved(usize, usize),
    Kept(usize, usize),
}

/// A function: each difference is a change.
pub fn function<'p>(
    ledger: &mut Ledger<'_, 'p>,
    old: &'p Signature,
    new: &'p Signature,
    caller: Side,
) {
    if old == new {
        return;
    }
    let called = |what: String| Called {
        signature: Both { old, new },
        caller,
        what,
        by_symbol: true,
    };
    for step in steps(&old.params, &new.params) {
        match step {
            Step::Added(at) => {
                let what = told("added", &new.params[at], at);
                part(
                    ledger,
                    &new.params[at],
                    at,
                    Kind::ParameterAdded(called(what)),
                );
            }
            Step::Removed(at) => {
                let what = told("removed", &old.params[at], at);
                part(
                    ledger,
                    &old.params[at],
                    at,
                    Kind::ParameterRemoved(called(what)),
                );
            }
            Step::Moved(from, at) => {
                let what = format!(
                    "{} moved from {} to {}",
                    named(&new.params[at], at),
                    from + 1,
                    at + 1
                );
                part(
                    ledger,
                    &new.params[at],
                    at,
                    Kind::ParameterMoved(called(what)),
                );
            }
            Step::Kept(from, at) => kept(
                ledger,
                &old.params[from],
                &new.params[at],
                at,
                caller,
                &called,
            ),
        }
    }
    returned(ledger, old, new, caller, &called);
}

/// A slot or callback: what a binary sees of it is one change.
pub fn callback<'p>(
    ledger: &mut Ledger<'_, 'p>,
    old: &'p Signature,
    new: &'p Signature,
    caller: Side,
) {
    if old == new {
        return;
    }
    let steps = steps(&old.params, &new.params);
    let mut words = Vec::new();
    for step in &steps {
        match step {
            Step::Added(at) => words.push(told("added", &new.params[*at], *at)),
            Step::Removed(at) => words.push(told("removed", &old.params[*at], *at)),
            Step::Moved(from, at) => {
                words.push(format!(
                    "{} moved from {} to {}",
                    named(&new.params[*at], *at),
                    from + 1,
                    at + 1
                ));
            }
            Step::Kept(from, at) => {
                let (was, is) = (&old.params[*from], &new.params[*at]);
                if !ledger.pair.like(&was.ty, &is.ty).is_binary() {
                    words.push(format!(
                        "{} is {}, before {}",
                        named(is, *at),
                        spell(&is.ty),
                        spell(&was.ty)
                    ));
                }
            }
        }
    }
    if !ledger.pair.like(&old.ret, &new.ret).is_binary() {
        words.push(format!(
            "returns {}, before {}",
            spell(&new.ret),
            spell(&old.ret)
        ));
    }
    let called = |what: String| Called {
        signature: Both { old, new },
        caller,
        what,
        by_symbol: false,
    };
    if !words.is_empty() {
        let what = words.join("; ");
        ledger.item(Kind::CallbackSignature(called(what)));
    }
    for step in steps {
        if let Step::Kept(from, at) = step {
            let (was, is) = (&old.params[from], &new.params[at]);
            if ledger.pair.like(&was.ty, &is.ty).is_binary() {
                kept(ledger, was, is, at, caller, &called);
            }
        }
    }
    if ledger.pair.like(&old.ret, &new.ret).is_binary() {
        returned(ledger, old, new, caller, &called);
    }
}

fn kept<'p>(
    ledger: &mut Ledger<'_, 'p>,
    old: &'p Param,
    new: &'p Param,
    at: usize,
    caller: Side,
    called: &impl Fn(String) -> Called<'p>,
) {
    let what = || {
        format!(
            "{} is {}, before {}",
            named(new, at),
            spell(&new.ty),
            spell(&old.ty)
        )
    };
    if let Some(kind) = retyped(ledger.pair, &old.ty, &new.ty, || {
        Kind::ParameterRetyped(called(what()))
    }) {
        part(ledger, new, at, kind);
    }
    if old.name != new.name {
        let said = old.name.is_empty() || new.name.is_empty();
        let kind = if said {
            Kind::None(Reason::Stated)
        } else {
            Kind::ParameterRenamed
        };
        part(ledger, new, at, kind);
    }
    let path = format!("{}({})", ledger.path, named(new, at));
    facts::parameter(ledger, &path, Both { old, new }, caller);
}

/// What is said of a type that differs: as `worst` has it, where a binary sees it.
pub fn retyped<'p>(
    pair: &Pair,
    old: &'p Type,
    new: &'p Type,
    worst: impl FnOnce() -> Kind<'p>,
) -> Option<Kind<'p>> {
    let both = Both { old, new };
    match pair.like(old, new) {
        Likeness::Same if bare(old) == bare(new) => None,
        Likeness::Same => Some(Kind::None(Reason::Alias)),
        Likeness::Const => Some(Kind::Constness(both)),
        Likeness::Respelled => Some(Kind::Respelled(both)),
        _ => Some(worst()),
    }
}

/// The type as C spells it, without the names of a callback's parameters.
fn bare(ty: &Type) -> String {
    match ty {
        Type::Function(signature) => {
            let params = signature.params.iter().map(|param| bare(&param.ty));
            format!(
                "{}({})",
                bare(&signature.ret),
                params.collect::<Vec<_>>().join(",")
            )
        }
        ty => spell(ty),
    }
}

fn returned<'p>(
    ledger: &mut Ledger<'_, 'p>,
    old: &'p Signature,
    new: &'p Signature,
    caller: Side,
    called: &impl Fn(String) -> Called<'p>,
) {
    let what = || format!("returns {}, before {}", spell(&new.ret), spell(&old.ret));
    if let Some(kind) = retyped(ledger.pair, &old.ret, &new.ret, || {
        Kind::ReturnRetyped(called(what()))
    }) {
        ledger.item(kind);
    }
    let transfer = Both {
        old: &old.ret_transfer,
        new: &new.ret_transfer,
    };
    let path = format!("{}()", ledger.path);
    facts::transfer(ledger, path, transfer, caller.other());
}

fn part<'p>(ledger: &mut Ledger<'_, 'p>, param: &Param, at: usize, kind: Kind<'p>) {
    let item = format!("{}({})", ledger.path, named(param, at));
    let (old, new) = (Some(ledger.old), Some(ledger.new));
    ledger.push(item, kind, old, new);
}

fn told(word: &str, param: &Param, at: usize) -> String {
    format!("{} {word} at {}", named(param, at), at + 1)
}

/// The parameter's name, or its type and place.
fn named(param: &Param, at: usize) -> String {
    match param.name.is_empty() {
        true => format!("#{} {}", at + 1, spell(&param.ty)),
        false => param.name.clone(),
    }
}

/// What became of each parameter: the longest run of common ones is kept, and what stands between
/// them on both sides is paired.
fn steps(old: &[Param], new: &[Param]) -> Vec<Step> {
    let named = |all: &[Param]| all.iter().all(|one| !one.name.is_empty());
    let by_name = named(old) && named(new);
    let same = |one: &Param, two: &Param| match by_name {
        true => one.name == two.name,
        false => one.ty == two.ty,
    };
    let mut pairs = common(old, new, &same);
    let mut steps = Vec::new();
    let (mut left, mut right) = (Vec::new(), Vec::new());
    pairs.push((old.len(), new.len()));
    let (mut from, mut at) = (0, 0);
    for (i, j) in pairs {
        let both = (i - from).min(j - at);
        let beside =
            |k: usize| by_name && (elsewhere(&old[from + k], new) || elsewhere(&new[at + k], old));
        for k in 0..both {
            match beside(k) {
                true => (left.push(from + k), right.push(at + k)).0,
                false => steps.push(Step::Kept(from + k, at + k)),
            }
        }
        left.extend(from + both..i);
        right.extend(at + both..j);
        if i < old.len() {
            steps.push(Step::Kept(i, j));
        }
        (from, at) = (i + 1, j + 1);
    }
    for from in left {
        let found = right.iter().position(|at| same(&old[from], &new[*at]));
        match found {
            Some(found) => steps.push(Step::Moved(from, right.remove(found))),
            None => steps.push(Step::Removed(from)),
        }
    }
    steps.extend(right.into_iter().map(Step::Added));
    steps
}

fn elsewhere(param: &Param, all: &[Param]) -> bool {
    all.iter().any(|other| other.name == param.name)
}

/// The longest common subsequence, as pairs of places.
pub fn common<T>(old: &[T], new: &[T], same: &impl Fn(&T, &T) -> bool) -> Vec<(usize, usize)> {
    let (rows, columns) = (old.len(), new.len());
    let mut best = vec![vec![0_u32; columns + 1]; rows + 1];
    for i in (0..rows).rev() {
        for j in (0..columns).rev() {
            best[i][j] = match same(&old[i], &new[j]) {
                true => best[i + 1][j + 1] + 1,
                false => best[i + 1][j].max(best[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < rows && j < columns {
        if same(&old[i], &new[j]) {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if best[i + 1][j] >= best[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}
