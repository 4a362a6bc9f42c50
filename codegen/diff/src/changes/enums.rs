//! Values of an enumeration.

use std::collections::HashMap;

use sp_ir::{Enum, Variant};

use super::{Ledger, constants};
use crate::change::{Both, Declared, Kind, Reason, Revalued};
use crate::likeness::Likeness;

/// An enumeration that both sides have.
pub fn compare<'p>(ledger: &mut Ledger<'_, 'p>, old: &'p Enum, new: &'p Enum) {
    match ledger.pair.like(&old.repr, &new.repr) {
        Likeness::Same => {}
        like => ledger.item(Kind::EnumRetyped(
            Both {
                old: &old.repr,
                new: &new.repr,
            },
            like,
        )),
    }
    if old.variants == new.variants {
        return;
    }
    let was: HashMap<&str, &Variant> = old
        .variants
        .iter()
        .map(|it| (it.name.as_str(), it))
        .collect();
    let is: HashMap<&str, &Variant> = new
        .variants
        .iter()
        .map(|it| (it.name.as_str(), it))
        .collect();
    let gone = old
        .variants
        .iter()
        .filter(|it| !is.contains_key(it.name.as_str()));
    let mut came: Vec<&Variant> = new
        .variants
        .iter()
        .filter(|it| !was.contains_key(it.name.as_str()))
        .collect();
    for variant in gone {
        went(ledger, variant, &mut came, old, new);
    }
    let revalued = revalued(&was, new);
    came.retain(|one| !told(ledger, one));
    if let Some(cause) = pushes(&came, &revalued) {
        let kind = Kind::VariantInserted(revalued);
        ledger.part(&cause.name, kind, None, Some(declared(cause, new)));
        came.retain(|one| one.name != cause.name);
    } else {
        for one in revalued {
            let (before, after) = (was[one.name], is[one.name]);
            let kind = Kind::VariantRevalued(one.value);
            ledger.part(
                one.name,
                kind,
                Some(declared(before, old)),
                Some(declared(after, new)),
            );
        }
    }
    for variant in &came {
        let kind = Kind::VariantAdded(variant.value);
        ledger.part(&variant.name, kind, None, Some(declared(variant, new)));
    }
    let same = |one: &&Variant| {
        is.get(one.name.as_str())
            .is_some_and(|it| it.value == one.value)
    };
    if came.is_empty()
        && old.variants.len() == new.variants.len()
        && old.variants.iter().all(|it| same(&it))
    {
        ledger.none(Reason::Order);
    }
}

fn declared<'p>(variant: &'p Variant, of: &'p Enum) -> Declared<'p> {
    Declared::Variant(&variant.name, variant.value, &of.loc)
}

/// A name that went: a macro has it now, or another name has its value, or it is gone.
fn went<'p>(
    ledger: &mut Ledger<'_, 'p>,
    variant: &'p Variant,
    came: &mut Vec<&'p Variant>,
    old: &'p Enum,
    new: &'p Enum,
) {
    let before = Some(declared(variant, old));
    let heir = came.iter().position(|one| one.value == variant.value);
    let heir = heir.map(|heir| came.remove(heir));
    let after = heir.map(|heir| declared(heir, new));
    let still = constants::number(&ledger.pair.new, &variant.name);
    let was = heir.and_then(|heir| constants::number(&ledger.pair.old, &heir.name));
    let kind = match (still.or(was), heir) {
        (Some(value), _) if value == variant.value => Kind::None(Reason::MacroForVariant),
        (Some(value), _) => Kind::VariantRevalued(Both {
            old: variant.value,
            new: value,
        }),
        (None, Some(_)) => Kind::VariantRenamed(variant.value),
        (None, None) => Kind::VariantRemoved(variant.value),
    };
    ledger.part(&variant.name, kind, before, after);
}

/// A newcomer that was a macro of the same value.
fn told(ledger: &mut Ledger, variant: &Variant) -> bool {
    let told = constants::number(&ledger.pair.old, &variant.name) == Some(variant.value);
    if told {
        ledger.part(
            &variant.name,
            Kind::None(Reason::MacroForVariant),
            None,
            None,
        );
    }
    told
}

fn revalued<'p>(was: &HashMap<&str, &'p Variant>, new: &'p Enum) -> Vec<Revalued<'p>> {
    let both = new.variants.iter().filter_map(|one| {
        let before = was.get(one.name.as_str())?;
        let value = Both {
            old: before.value,
            new: one.value,
        };
        (value.old != value.new).then_some(Revalued {
            name: &one.name,
            value,
        })
    });
    both.collect()
}

/// The newcomer that took the first pushed name's value, where all were pushed on together.
fn pushes<'p>(came: &[&'p Variant], revalued: &[Revalued]) -> Option<&'p Variant> {
    let first = revalued.iter().min_by_key(|one| one.value.old)?;
    let step = first.value.new - first.value.old;
    let together = revalued
        .iter()
        .all(|one| one.value.new - one.value.old == step && step > 0);
    let cause = came.iter().find(|one| one.value == first.value.old)?;
    let newcomers = came.iter().filter(|one| one.value >= first.value.old);
    (together && newcomers.count() as i64 >= step).then_some(*cause)
}
