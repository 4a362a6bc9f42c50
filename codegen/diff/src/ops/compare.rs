//! Differences between the definitions of an op in two releases.

use super::{ArgumentKind, OpChange};
use crate::change::OldNew;
use sp_ops::{AllowedValues, Argument, Attribute, OpDef, Value};

/// Returns the differences between two definitions of an op; `None` stands for a release without the op.
pub fn compare(old: Option<&OpDef>, new: Option<&OpDef>) -> Vec<OpChange> {
    match (old, new) {
        (None, None) => Vec::new(),
        (None, Some(_)) => vec![OpChange::OpAdded],
        (Some(_), None) => vec![OpChange::OpRemoved],
        (Some(old), Some(new)) => compare_definitions(old, new),
    }
}

fn compare_definitions(old: &OpDef, new: &OpDef) -> Vec<OpChange> {
    let mut found = Vec::new();
    for (kind, old, new) in [
        (ArgumentKind::Input, &old.inputs, &new.inputs),
        (ArgumentKind::Output, &old.outputs, &new.outputs),
    ] {
        compare_arguments(kind, old, new, &mut found);
    }
    compare_attributes(&old.attributes, &new.attributes, &mut found);
    let added = new.flags.iter().filter(|flag| !old.flags.contains(flag));
    let removed = old.flags.iter().filter(|flag| !new.flags.contains(flag));
    found.extend(added.map(|flag| OpChange::FlagChanged(*flag, true)));
    found.extend(removed.map(|flag| OpChange::FlagChanged(*flag, false)));
    found
}

fn compare_arguments(
    kind: ArgumentKind,
    old: &[Argument],
    new: &[Argument],
    found: &mut Vec<OpChange>,
) {
    let common = |arguments: &[Argument], others: &[Argument]| -> Vec<String> {
        let is_common = |it: &&Argument| others.iter().any(|other| other.name == it.name);
        arguments
            .iter()
            .filter(is_common)
            .map(|it| it.name.clone())
            .collect()
    };
    for argument in old {
        match new.iter().find(|it| it.name == argument.name) {
            None => found.push(OpChange::ArgumentRemoved(kind, argument.clone())),
            Some(changed) if changed != argument => {
                let both = OldNew::new(argument.clone(), changed.clone());
                found.push(OpChange::ArgumentRetyped(kind, both));
            }
            Some(_) => {}
        }
    }
    let added = new
        .iter()
        .filter(|it| !old.iter().any(|other| other.name == it.name));
    found.extend(added.map(|it| OpChange::ArgumentAdded(kind, it.clone())));
    let order = OldNew::new(common(old, new), common(new, old));
    if order.old != order.new {
        found.push(OpChange::ArgumentMoved(kind, order));
    }
}

fn compare_attributes(old: &[Attribute], new: &[Attribute], found: &mut Vec<OpChange>) {
    for attribute in old {
        match new.iter().find(|it| it.name == attribute.name) {
            None => found.push(OpChange::AttributeRemoved(attribute.clone())),
            Some(changed) => compare_attribute(attribute, changed, found),
        }
    }
    let added = new
        .iter()
        .filter(|it| !old.iter().any(|other| other.name == it.name));
    found.extend(added.cloned().map(|attribute| match attribute.default {
        Some(_) => OpChange::AttributeAdded(attribute),
        None => OpChange::AttributeRequired(attribute, None),
    }));
}

fn compare_attribute(old: &Attribute, new: &Attribute, found: &mut Vec<OpChange>) {
    let name = || old.name.clone();
    if old.ty != new.ty {
        let both = OldNew::new(old.clone(), new.clone());
        return found.push(OpChange::AttributeRetyped(both));
    }
    if text(&old.default) != text(&new.default) {
        let former_default = old.default.clone();
        found.push(match new.default.clone() {
            Some(default) => OpChange::DefaultChanged(name(), former_default, default),
            None => OpChange::AttributeRequired(new.clone(), former_default),
        });
    }
    if old.minimum != new.minimum {
        let minimums = OldNew::new(old.minimum, new.minimum);
        found.push(OpChange::MinimumChanged(name(), minimums));
    }
    match (allowed(&old.allowed), allowed(&new.allowed)) {
        (None, None) => {}
        (Some(_), None) => found.push(OpChange::ValuesAdded(name(), Vec::new())),
        (None, Some(_)) => found.push(OpChange::ValuesRemoved(name(), Vec::new())),
        (Some(old), Some(new)) => {
            let (added, removed) = (difference(&new, &old), difference(&old, &new));
            if !added.is_empty() {
                found.push(OpChange::ValuesAdded(name(), added));
            }
            if !removed.is_empty() {
                found.push(OpChange::ValuesRemoved(name(), removed));
            }
        }
    }
}

/// Returns the text of a default, in which NaN is equal to itself.
fn text(default: &Option<Value>) -> Option<String> {
    default.as_ref().map(ToString::to_string)
}

/// Returns the allowed values as text, or `None` if all are allowed.
fn allowed(values: &AllowedValues) -> Option<Vec<String>> {
    match values {
        AllowedValues::Any => None,
        AllowedValues::Types(types) => Some(types.iter().map(ToString::to_string).collect()),
        AllowedValues::Strings(strings) => {
            let values = strings.iter().cloned().map(Value::String);
            Some(values.map(|it| it.to_string()).collect())
        }
    }
}

/// Returns the values of `all` that are not in `others`.
fn difference(all: &[String], others: &[String]) -> Vec<String> {
    let values = all.iter().filter(|it| !others.contains(it));
    values.cloned().collect()
}
