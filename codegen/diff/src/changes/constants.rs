//! Macros and constants. A different spelling of the same value is not reported.

use sp_ir::{Constant, Item, Value};

use super::Changes;
use crate::change::UnreportedReason;
use crate::rules::ChangeKind;
use crate::view::SurfaceView;

/// The maximum length of a chain of macros that name other macros.
const DEPTH: usize = 8;

/// Compares a constant of both sides.
pub fn compare(changes: &mut Changes, old: &Constant, new: &Constant) {
    if old.value == new.value {
        return;
    }
    let pair = changes.pair;
    let kind = match (&old.value, &new.value) {
        _ if is_version(&changes.path) => ChangeKind::Unreported(UnreportedReason::VersionMacro),
        (Value::Int(_), Value::Int(_))
            if is_struct_size(&pair.old, &changes.path)
                && is_struct_size(&pair.new, &changes.path) =>
        {
            ChangeKind::Unreported(UnreportedReason::Consequence)
        }
        _ if evaluate(&pair.old, &old.value) == evaluate(&pair.new, &new.value) => {
            ChangeKind::Unreported(UnreportedReason::Alias)
        }
        _ => ChangeKind::ConstChanged,
    };
    changes.push_item(kind);
}

/// Returns the kind of change for a constant that only one side has: `kind`, unless `other` has an enumerator of that
/// name and value.
pub fn one_sided_kind<'p>(
    other: &SurfaceView,
    name: &str,
    constant: &Constant,
    kind: ChangeKind<'p>,
) -> ChangeKind<'p> {
    let mut enumerators = enumerators(other);
    let enumerator = enumerators.find(|(enumerator, _)| *enumerator == name);
    match (enumerator, &constant.value) {
        (Some((_, number)), Value::Int(value)) if *value == number => {
            ChangeKind::Unreported(UnreportedReason::MacroForEnumerator)
        }
        (Some(_), Value::Name(_)) => ChangeKind::Unreported(UnreportedReason::MacroForEnumerator),
        _ => kind,
    }
}

/// Returns true for a version macro, which is compared as part of the API's version.
fn is_version(name: &str) -> bool {
    ["_MAJOR", "_MINOR", "_PATCH"]
        .iter()
        .any(|suffix| name.ends_with(suffix))
}

/// Returns true if the constant is the size of a struct, according to its name and value.
fn is_struct_size(view: &SurfaceView, name: &str) -> bool {
    name.ends_with("_SIZE")
        && view
            .items
            .iter()
            .any(|(struct_name, entry)| match &*entry.item {
                Item::Struct(item) => view.size_constant(struct_name, item.layout) == Some(name),
                _ => false,
            })
}

/// Returns the names and numbers of all enumerators.
fn enumerators<'v>(view: &'v SurfaceView) -> impl Iterator<Item = (&'v str, i64)> {
    let enums = view.items.values().filter_map(|it| it.item.as_enum());
    let variants = enums.flat_map(|item| &item.variants);
    variants.map(|variant| (variant.name.as_str(), variant.value))
}

/// Replaces names of enumerators and other constants by their values.
fn evaluate(view: &SurfaceView, value: &Value) -> Value {
    let mut value = value.clone();
    for _ in 0..DEPTH {
        let Value::Name(name) = &value else { break };
        let number = enumerators(view)
            .find(|(enumerator, _)| enumerator == name)
            .map(|(_, number)| number);
        value = match (number, view.item(name)) {
            (Some(number), _) => Value::Int(number),
            (None, Some(Item::Constant(other))) => other.value.clone(),
            _ => break,
        };
    }
    value
}

/// Returns the number of the constant called `name`.
pub fn number(view: &SurfaceView, name: &str) -> Option<i64> {
    let constant = view.item(name)?.as_constant()?;
    match evaluate(view, &constant.value) {
        Value::Int(value) => Some(value),
        _ => None,
    }
}
