//! Parameters and results of calls. Parameters correspond by name, or by type if one has no name.

use sp_ir::c::spell;
use sp_ir::{Param, Side, Signature, Type};

use super::{Changes, facts};
use crate::change::{CallChange, OldNew, UnreportedReason};
use crate::pair::SurfacePair;
use crate::rules::ChangeKind;
use crate::similarity::Similarity;

/// One difference between two parameter lists. Indexes start with 0.
#[derive(Clone, Copy)]
enum ParamStep {
    Added(usize),
    Removed(usize),
    Moved(OldNew<usize>),
    Matched(OldNew<usize>),
}

/// The signatures of a call on both sides.
#[derive(Clone, Copy)]
struct ComparedCall<'p> {
    signature: OldNew<&'p Signature>,
    caller: Side,
}

impl<'p> ComparedCall<'p> {
    fn change(self, description: String) -> CallChange<'p> {
        CallChange {
            signature: self.signature,
            caller: self.caller,
            description,
        }
    }

    fn params(self, index: OldNew<usize>) -> OldNew<&'p Param> {
        OldNew::new(
            &self.signature.old.params[index.old],
            &self.signature.new.params[index.new],
        )
    }

    fn steps(self) -> Vec<ParamStep> {
        compare_params(&self.signature.old.params, &self.signature.new.params)
    }

    /// Describes an added, removed or moved parameter.
    fn describe(self, step: ParamStep) -> String {
        match step {
            ParamStep::Added(index) => {
                let name = param_name(&self.signature.new.params[index], index);
                format!("{name} was added as parameter {}", index + 1)
            }
            ParamStep::Removed(index) => {
                let name = param_name(&self.signature.old.params[index], index);
                format!("{name} was removed (parameter {})", index + 1)
            }
            ParamStep::Moved(index) | ParamStep::Matched(index) => {
                let name = param_name(&self.signature.new.params[index.new], index.new);
                let (old, new) = (index.old + 1, index.new + 1);
                format!("{name} moved from parameter {old} to {new}")
            }
        }
    }

    fn describe_retyped(self, index: OldNew<usize>) -> String {
        let params = self.params(index);
        let name = param_name(params.new, index.new);
        let types = params.map(|param| spell(&param.ty));
        format!(
            "the type of {name} changed from {} to {}",
            types.old, types.new
        )
    }

    fn describe_convention(self) -> Option<String> {
        let convention = |signature: &Signature| match &signature.convention {
            Some(convention) => convention.clone(),
            None => "C".to_owned(),
        };
        let OldNew { old, new } = self.signature.map(convention);
        (old != new).then(|| format!("the calling convention changed from {old} to {new}"))
    }

    fn describe_result(self) -> String {
        let types = self.signature.map(|signature| spell(&signature.ret));
        format!(
            "the return type changed from {} to {}",
            types.old, types.new
        )
    }
}

/// Compares a function: each difference is a change.
pub fn compare_function<'p>(
    changes: &mut Changes<'_, 'p>,
    old: &'p Signature,
    new: &'p Signature,
    caller: Side,
) {
    if old == new {
        return;
    }
    let call = ComparedCall {
        signature: OldNew { old, new },
        caller,
    };
    for step in call.steps() {
        let change = || call.change(call.describe(step));
        match step {
            ParamStep::Added(index) => {
                let kind = ChangeKind::ParameterAdded(change());
                push_param(changes, &new.params[index], index, kind);
            }
            ParamStep::Removed(index) => {
                let kind = ChangeKind::ParameterRemoved(change());
                push_param(changes, &old.params[index], index, kind);
            }
            ParamStep::Moved(index) => {
                let kind = ChangeKind::ParameterMoved(change());
                push_param(changes, &new.params[index.new], index.new, kind);
            }
            ParamStep::Matched(index) => compare_param(changes, call, index),
        }
    }
    if let Some(description) = call.describe_convention() {
        changes.push_item(ChangeKind::CallingConventionChanged(
            call.change(description),
        ));
    }
    compare_result(changes, call);
}

/// Compares a function pointer or callback: all that a binary sees of it is one change.
pub fn compare_callback<'p>(
    changes: &mut Changes<'_, 'p>,
    old: &'p Signature,
    new: &'p Signature,
    caller: Side,
) {
    if old == new {
        return;
    }
    let pair = changes.pair;
    let call = ComparedCall {
        signature: OldNew { old, new },
        caller,
    };
    let mut descriptions = Vec::new();
    let mut compatible = Vec::new();
    for step in call.steps() {
        match step {
            ParamStep::Matched(index) => {
                let types = call.params(index).map(|param| &param.ty);
                let similarity = pair.compare_parameters(types.old, types.new);
                match similarity.is_binary_compatible() {
                    true => compatible.push(index),
                    false => descriptions.push(call.describe_retyped(index)),
                }
            }
            step => descriptions.push(call.describe(step)),
        }
    }
    let results = pair.compare_types(&old.ret, &new.ret);
    let has_compatible_result = results.is_binary_compatible();
    if !has_compatible_result {
        descriptions.push(call.describe_result());
    }
    descriptions.extend(call.describe_convention());
    if !descriptions.is_empty() {
        let change = call.change(descriptions.join("; "));
        changes.push_item(ChangeKind::CallbackSignatureChanged(change));
    }
    for index in compatible {
        compare_param(changes, call, index);
    }
    if has_compatible_result {
        compare_result(changes, call);
    }
}

/// Compares a parameter that both sides have.
fn compare_param<'p>(changes: &mut Changes<'_, 'p>, call: ComparedCall<'p>, index: OldNew<usize>) {
    let params = call.params(index);
    let retyped = || ChangeKind::ParameterRetyped(call.change(call.describe_retyped(index)));
    let types = params.map(|param| &param.ty);
    let similarity = changes.pair.compare_parameters(types.old, types.new);
    if let Some(kind) = similar_type_change(similarity, types, retyped) {
        push_param(changes, params.new, index.new, kind);
    }
    let names = params.map(|param| param.name.as_str());
    if names.old != names.new {
        let kind = match names.old.is_empty() || names.new.is_empty() {
            true => ChangeKind::Unreported(UnreportedReason::StatedOnOneSide),
            false => ChangeKind::ParameterRenamed(names),
        };
        push_param(changes, params.new, index.new, kind);
    }
    let path = format!("{}({})", changes.path, param_name(params.new, index.new));
    facts::compare_parameter(changes, &path, params, call.caller);
}

/// Returns the kind of change between two types: `incompatible` if binaries see it, or `None` if they are the same.
pub fn type_change<'p>(
    pair: &SurfacePair,
    types: OldNew<&'p Type>,
    incompatible: impl FnOnce() -> ChangeKind<'p>,
) -> Option<ChangeKind<'p>> {
    let similarity = pair.compare_types(types.old, types.new);
    similar_type_change(similarity, types, incompatible)
}

/// Returns the kind of change between two types with this similarity.
fn similar_type_change<'p>(
    similarity: Similarity,
    types: OldNew<&'p Type>,
    incompatible: impl FnOnce() -> ChangeKind<'p>,
) -> Option<ChangeKind<'p>> {
    let spelling = types.map(spell_without_names);
    match similarity {
        Similarity::Same if spelling.old == spelling.new => None,
        Similarity::Same => Some(ChangeKind::Unreported(UnreportedReason::Alias)),
        Similarity::Const => Some(ChangeKind::ConstnessChanged(types)),
        Similarity::Respelled => Some(ChangeKind::TypeRespelled(types)),
        _ => Some(incompatible()),
    }
}

/// Spells a type in C, without the names of a callback's parameters.
fn spell_without_names(ty: &Type) -> String {
    match ty {
        Type::Function(signature) => {
            let params = signature.params.iter();
            let params = params.map(|param| spell_without_names(&param.ty));
            let params = params.collect::<Vec<_>>().join(",");
            format!("{}({params})", spell_without_names(&signature.ret))
        }
        ty => spell(ty),
    }
}

fn compare_result<'p>(changes: &mut Changes<'_, 'p>, call: ComparedCall<'p>) {
    let retyped = || ChangeKind::ReturnRetyped(call.change(call.describe_result()));
    let types = call.signature.map(|signature| &signature.ret);
    if let Some(kind) = type_change(changes.pair, types, retyped) {
        changes.push_item(kind);
    }
    let transfers = call.signature.map(|signature| &signature.ret_transfer);
    let path = format!("{}()", changes.path);
    facts::compare_transfer(changes, &path, transfers, call.caller.other());
}

fn push_param<'p>(
    changes: &mut Changes<'_, 'p>,
    param: &Param,
    index: usize,
    kind: ChangeKind<'p>,
) {
    let item = format!("{}({})", changes.path, param_name(param, index));
    let (old, new) = (Some(changes.old), Some(changes.new));
    changes.push(item, kind, old, new);
}

/// Returns the parameter's name, or its number and type if it has none.
fn param_name(param: &Param, index: usize) -> String {
    match param.name.is_empty() {
        true => format!("#{} {}", index + 1, spell(&param.ty)),
        false => param.name.clone(),
    }
}

/// Compares two parameter lists. The longest common subsequence matches; the parameters between its elements are
/// matched in order, unless the other list has them elsewhere.
fn compare_params(old: &[Param], new: &[Param]) -> Vec<ParamStep> {
    let have_names = |params: &[Param]| params.iter().all(|param| !param.name.is_empty());
    let by_name = have_names(old) && have_names(new);
    let is_same = |old: &Param, new: &Param| match by_name {
        true => old.name == new.name,
        false => old.ty == new.ty,
    };
    let mut common = longest_common_subsequence(old, new, &is_same);
    common.push((old.len(), new.len()));
    let mut steps = Vec::new();
    let (mut unmatched_old, mut unmatched_new) = (Vec::new(), Vec::new());
    let (mut old_start, mut new_start) = (0, 0);
    for (old_end, new_end) in common {
        let count = (old_end - old_start).min(new_end - new_start);
        for offset in 0..count {
            let index = OldNew::new(old_start + offset, new_start + offset);
            let is_elsewhere =
                by_name && (has_name(&old[index.old], new) || has_name(&new[index.new], old));
            if is_elsewhere {
                unmatched_old.push(index.old);
                unmatched_new.push(index.new);
            } else {
                steps.push(ParamStep::Matched(index));
            }
        }
        unmatched_old.extend(old_start + count..old_end);
        unmatched_new.extend(new_start + count..new_end);
        if old_end < old.len() {
            steps.push(ParamStep::Matched(OldNew::new(old_end, new_end)));
        }
        (old_start, new_start) = (old_end + 1, new_end + 1);
    }
    for old_index in unmatched_old {
        let mut candidates = unmatched_new.iter();
        let found = candidates.position(|new_index| is_same(&old[old_index], &new[*new_index]));
        steps.push(match found {
            Some(found) => ParamStep::Moved(OldNew::new(old_index, unmatched_new.remove(found))),
            None => ParamStep::Removed(old_index),
        });
    }
    steps.extend(unmatched_new.into_iter().map(ParamStep::Added));
    steps
}

fn has_name(param: &Param, params: &[Param]) -> bool {
    params.iter().any(|other| other.name == param.name)
}

/// Returns the longest common subsequence of two lists, as pairs of indexes.
pub fn longest_common_subsequence<T>(
    old: &[T],
    new: &[T],
    is_same: &impl Fn(&T, &T) -> bool,
) -> Vec<(usize, usize)> {
    let mut lengths = vec![vec![0_u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            lengths[i][j] = match is_same(&old[i], &new[j]) {
                true => lengths[i + 1][j + 1] + 1,
                false => lengths[i + 1][j].max(lengths[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut pairs) = (0, 0, Vec::new());
    while i < old.len() && j < new.len() {
        if is_same(&old[i], &new[j]) {
            pairs.push((i, j));
            (i, j) = (i + 1, j + 1);
        } else if lengths[i + 1][j] >= lengths[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}
