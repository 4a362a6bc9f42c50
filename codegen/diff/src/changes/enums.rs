//! The enumerators of an enumeration.

use std::collections::HashMap;

use sp_ir::{Enum, Variant};

use super::{Changes, constants};
use crate::change::{Declaration, OldNew, UnreportedReason, ValueChange};
use crate::rules::ChangeKind;
use crate::similarity::Similarity;

type VariantsByName<'p> = HashMap<&'p str, &'p Variant>;

/// Compares an enumeration of both sides.
pub fn compare<'p>(changes: &mut Changes<'_, 'p>, old: &'p Enum, new: &'p Enum) {
    compare_integer_types(changes, old, new);
    if old.variants == new.variants {
        return;
    }
    let by_name = OldNew { old, new }.map(variants_by_name);
    let removed = without(&old.variants, &by_name.new);
    let mut added = without(&new.variants, &by_name.old);
    for variant in removed {
        push_removed(changes, variant, &mut added, OldNew { old, new });
    }
    added.retain(|variant| !push_former_macro(changes, variant));
    let revalued = revalued(&by_name.old, new);
    if let Some(inserted) = inserted(&added, &revalued) {
        let kind = ChangeKind::VariantInserted(revalued);
        let declaration = Some(declaration(inserted, new));
        changes.push_part(&inserted.name, kind, None, declaration);
        added.retain(|variant| variant.name != inserted.name);
    } else {
        for change in revalued {
            let before = declaration(by_name.old[change.name], old);
            let after = declaration(by_name.new[change.name], new);
            let kind = ChangeKind::VariantRevalued(change.value);
            changes.push_part(change.name, kind, Some(before), Some(after));
        }
    }
    for variant in &added {
        let kind = ChangeKind::VariantAdded(variant.value);
        let declaration = Some(declaration(variant, new));
        changes.push_part(&variant.name, kind, None, declaration);
    }
    if added.is_empty() && is_reordered(old, new, &by_name.new) {
        changes.push_unreported(UnreportedReason::Order);
    }
}

fn compare_integer_types<'p>(changes: &mut Changes<'_, 'p>, old: &'p Enum, new: &'p Enum) {
    let similarity = changes.pair.compare_types(&old.repr, &new.repr);
    if similarity != Similarity::Same {
        let integers = OldNew { old, new }.map(|item| &item.repr);
        changes.push_item(ChangeKind::EnumRetyped(integers, similarity));
    }
}

fn variants_by_name(item: &Enum) -> VariantsByName<'_> {
    let variants = item.variants.iter();
    variants
        .map(|variant| (variant.name.as_str(), variant))
        .collect()
}

/// Returns the variants whose names `other` does not have.
fn without<'p>(variants: &'p [Variant], other: &VariantsByName) -> Vec<&'p Variant> {
    let variants = variants.iter();
    variants
        .filter(|variant| !other.contains_key(variant.name.as_str()))
        .collect()
}

/// Returns true if both sides have the same enumerators in another order.
fn is_reordered(old: &Enum, new: &Enum, new_by_name: &VariantsByName) -> bool {
    let is_unchanged = |variant: &Variant| {
        let new = new_by_name.get(variant.name.as_str());
        new.is_some_and(|new| new.value == variant.value)
    };
    old.variants.len() == new.variants.len() && old.variants.iter().all(is_unchanged)
}

fn declaration<'p>(variant: &'p Variant, item: &'p Enum) -> Declaration<'p> {
    Declaration::Enumerator(&variant.name, variant.value, &item.loc)
}

/// Adds the change of a removed enumerator: a macro replaces it, another enumerator has its number, or it is absent.
fn push_removed<'p>(
    changes: &mut Changes<'_, 'p>,
    variant: &'p Variant,
    added: &mut Vec<&'p Variant>,
    enums: OldNew<&'p Enum>,
) {
    let replacement = added.iter().position(|other| other.value == variant.value);
    let replacement = replacement.map(|index| added.remove(index));
    let new_macro = constants::number(&changes.pair.new, &variant.name);
    let old_macro = replacement.and_then(|other| constants::number(&changes.pair.old, &other.name));
    let kind = match (new_macro.or(old_macro), replacement) {
        (Some(value), _) if value == variant.value => {
            ChangeKind::Unreported(UnreportedReason::MacroForEnumerator)
        }
        (Some(value), _) => ChangeKind::VariantRevalued(OldNew::new(variant.value, value)),
        (None, Some(_)) => ChangeKind::VariantRenamed(variant.value),
        (None, None) => ChangeKind::VariantRemoved(variant.value),
    };
    let before = Some(declaration(variant, enums.old));
    let after = replacement.map(|other| declaration(other, enums.new));
    changes.push_part(&variant.name, kind, before, after);
}

/// Adds the change of an added enumerator that replaces a macro of the same value. Returns true for such an enumerator.
fn push_former_macro(changes: &mut Changes, variant: &Variant) -> bool {
    let is_macro = constants::number(&changes.pair.old, &variant.name) == Some(variant.value);
    if is_macro {
        let kind = ChangeKind::Unreported(UnreportedReason::MacroForEnumerator);
        changes.push_part(&variant.name, kind, None, None);
    }
    is_macro
}

/// Returns the enumerators whose numbers changed.
fn revalued<'p>(old: &VariantsByName, new: &'p Enum) -> Vec<ValueChange<'p>> {
    let changes = new.variants.iter().filter_map(|variant| {
        let value = OldNew::new(old.get(variant.name.as_str())?.value, variant.value);
        (value.old != value.new).then_some(ValueChange {
            name: &variant.name,
            value,
        })
    });
    changes.collect()
}

/// Returns the added enumerator that increased the numbers of all `revalued` ones by the same step.
fn inserted<'p>(added: &[&'p Variant], revalued: &[ValueChange]) -> Option<&'p Variant> {
    let first = revalued.iter().min_by_key(|change| change.value.old)?;
    let step = first.value.new - first.value.old;
    let is_uniform = revalued
        .iter()
        .all(|change| change.value.new - change.value.old == step && step > 0);
    let cause = added
        .iter()
        .find(|variant| variant.value == first.value.old)?;
    let inserted = added
        .iter()
        .filter(|variant| variant.value >= first.value.old);
    (is_uniform && inserted.count() as i64 >= step).then_some(*cause)
}
