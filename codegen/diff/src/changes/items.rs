//! Items: which were added or removed, and which correspond to each other.

use std::borrow::Cow;
use std::collections::BTreeSet;

use sp_ir::{Function, Item, Type};

use super::{Changes, constants, enums, functions, parameters, records};
use crate::change::{Declaration, UnreportedReason};
use crate::pair::SurfacePair;
use crate::rules::{Change, ChangeKind};
use crate::similarity::Similarity;
use crate::view::SurfaceView;

/// An item and its name.
type NamedItem<'p> = (&'p str, &'p Item);

/// Compares the items that both sides have.
pub fn compare<'p>(pair: &'p SurfacePair<'p>, found: &mut Vec<Change<'p>>) {
    for old_name in &pair.old.order {
        let Some((partner, name_change)) = find_partner(pair, old_name) else {
            continue;
        };
        let old = &pair.old.items[old_name];
        let Some((new_name, new)) = pair.new.items.get_key_value(partner) else {
            continue;
        };
        let mut changes = Changes {
            pair,
            api: new.api,
            path: Cow::Borrowed(*new_name),
            old: Declaration::Item(old_name, &old.item),
            new: Declaration::Item(new_name, &new.item),
            found,
        };
        if let Some(kind) = name_change {
            changes.push_item(kind);
        }
        if old.api != new.api {
            changes.push_unreported(UnreportedReason::MovedToOtherApi);
        }
        compare_items(&mut changes, (old_name, &old.item), (new_name, &new.item));
    }
}

/// Returns NEW's name for an item of OLD, and the change of the name.
fn find_partner<'p>(
    pair: &'p SurfacePair<'p>,
    name: &str,
) -> Option<(&'p str, Option<ChangeKind<'p>>)> {
    if let Some(other) = pair.renamed.get(name) {
        let is_anonymous = other.contains("__") || name.contains("__");
        let kind = match is_anonymous {
            true => ChangeKind::Unreported(UnreportedReason::Anonymous),
            false => ChangeKind::TypeRenamed,
        };
        return Some((other, Some(kind)));
    }
    if let Some(other) = pair.aliased.get(name) {
        let kind = ChangeKind::Unreported(UnreportedReason::Alias);
        return Some((other, Some(kind)));
    }
    let (same_name, entry) = pair.new.items.get_key_value(name)?;
    let old_is_alias = matches!(pair.old.item(name), Some(Item::Alias(_)));
    let new_is_alias = matches!(&*entry.item, Item::Alias(_));
    // The item behind such an alias is compared under its own name.
    let is_compared_elsewhere = || {
        let mut aliased = pair.aliased.iter();
        aliased.any(|(old, new)| old == name || new == name)
    };
    (old_is_alias == new_is_alias || !is_compared_elsewhere()).then_some((*same_name, None))
}

fn compare_items<'p>(
    changes: &mut Changes<'_, 'p>,
    (old_name, old): NamedItem<'p>,
    (new_name, new): NamedItem<'p>,
) {
    match (old, new) {
        (Item::Struct(old), Item::Struct(new)) => {
            records::compare_structs(changes, (old_name, old), (new_name, new))
        }
        (Item::Union(old), Item::Union(new)) => {
            records::compare_unions(changes, (old_name, old), (new_name, new))
        }
        (Item::Enum(old), Item::Enum(new)) => enums::compare(changes, old, new),
        (Item::Function(old), Item::Function(new)) => functions::compare(changes, old, new),
        (Item::Callback(old), Item::Callback(new)) => {
            let caller = changes.pair.new.caller(new_name);
            parameters::compare_callback(changes, &old.signature, &new.signature, caller);
        }
        (Item::Constant(old), Item::Constant(new)) => constants::compare(changes, old, new),
        (Item::Handle(old), Item::Handle(new)) => {
            if old.pointer != new.pointer {
                changes.push_item(ChangeKind::HandleRetyped);
            }
        }
        (Item::Alias(old), Item::Alias(new)) => {
            match changes.pair.compare_types(&old.ty, &new.ty) {
                Similarity::Same if old.ty == new.ty => {}
                Similarity::Same => changes.push_unreported(UnreportedReason::Alias),
                similarity => changes.push_item(ChangeKind::AliasRetyped(similarity)),
            }
        }
        _ => compare_kinds(changes, (old_name, old), (new_name, new)),
    }
}

/// Adds the change of a name that is another kind of declaration.
fn compare_kinds<'p>(
    changes: &mut Changes<'_, 'p>,
    (old_name, old): NamedItem,
    (new_name, new): NamedItem,
) {
    let as_type = |name: &str, item: &Item| match item {
        Item::Alias(alias) => alias.ty.clone(),
        _ => Type::Named(name.into()),
    };
    let is_type = |item: &Item| !matches!(item, Item::Function(_) | Item::Constant(_));
    let similarity = match (old, new) {
        // Code that used the opaque type has only pointers to it.
        (Item::Handle(handle), Item::Struct(_) | Item::Union(_))
        | (Item::Struct(_) | Item::Union(_), Item::Handle(handle))
            if !handle.pointer =>
        {
            Similarity::Respelled
        }
        _ if is_type(old) && is_type(new) => changes
            .pair
            .compare_definitions(&as_type(old_name, old), &as_type(new_name, new)),
        _ => Similarity::Other,
    };
    changes.push_item(ChangeKind::KindChanged(similarity));
}

/// Adds the APIs and items that only one side has.
pub fn compare_one_sided<'p>(pair: &'p SurfacePair<'p>, found: &mut Vec<Change<'p>>) {
    push_apis(&pair.new, &pair.old, &ChangeKind::ApiAdded, found);
    push_apis(&pair.old, &pair.new, &ChangeKind::ApiRemoved, found);
    push_removed(pair, found);
    push_added(pair, found);
}

fn push_removed<'p>(pair: &'p SurfacePair<'p>, found: &mut Vec<Change<'p>>) {
    let names = pair.old.order.iter();
    for name in names.filter(|name| find_partner(pair, name).is_none()) {
        let kinds = OneSidedKinds {
            function: ChangeKind::FunctionRemoved,
            constant: ChangeKind::ConstRemoved,
            ty: ChangeKind::TypeRemoved,
        };
        let entry = &pair.old.items[name];
        found.push(Change {
            api: entry.api,
            item: (*name).into(),
            kind: one_sided_kind(&pair.old, &pair.new, name, kinds),
            old: Some(Declaration::Item(name, &entry.item)),
            new: None,
        });
    }
}

fn push_added<'p>(pair: &'p SurfacePair<'p>, found: &mut Vec<Change<'p>>) {
    let partners = pair.renamed.values().chain(pair.aliased.values());
    let partners: BTreeSet<&str> = partners.map(String::as_str).collect();
    let is_added = |name: &&&str| {
        let is_unchanged = pair.old.items.contains_key(*name)
            && find_partner(pair, name).is_some_and(|(partner, _)| partner == **name);
        !is_unchanged && !partners.contains(*name)
    };
    for name in pair.new.order.iter().filter(is_added) {
        let kinds = OneSidedKinds {
            function: ChangeKind::FunctionAdded,
            constant: ChangeKind::ConstAdded,
            ty: ChangeKind::TypeAdded,
        };
        let entry = &pair.new.items[name];
        found.push(Change {
            api: entry.api,
            item: (*name).into(),
            kind: one_sided_kind(&pair.new, &pair.old, name, kinds),
            old: None,
            new: Some(Declaration::Item(name, &entry.item)),
        });
    }
}

/// The kinds of change for an added or a removed item.
struct OneSidedKinds<'p> {
    function: fn(&'p Function) -> ChangeKind<'p>,
    constant: ChangeKind<'p>,
    ty: ChangeKind<'p>,
}

/// Returns the kind of change for an item of `view` that `other` does not have.
fn one_sided_kind<'p>(
    view: &'p SurfaceView,
    other: &SurfaceView,
    name: &str,
    kinds: OneSidedKinds<'p>,
) -> ChangeKind<'p> {
    let entry = &view.items[name];
    match &*entry.item {
        Item::Alias(_) if other.items.contains_key(name) => {
            ChangeKind::Unreported(UnreportedReason::Alias)
        }
        _ if !other.apis.contains_key(entry.api) => {
            ChangeKind::Unreported(UnreportedReason::Consequence)
        }
        Item::Function(function) => (kinds.function)(function),
        Item::Constant(constant) => {
            constants::one_sided_kind(other, name, constant, kinds.constant)
        }
        _ if is_anonymous(name, view) => ChangeKind::Unreported(UnreportedReason::Anonymous),
        _ => kinds.ty,
    }
}

/// Adds the APIs of `view` that `other` does not have.
fn push_apis<'p>(
    view: &'p SurfaceView,
    other: &SurfaceView,
    kind: &ChangeKind<'p>,
    found: &mut Vec<Change<'p>>,
) {
    let mut names: Vec<&str> = view.apis.keys().copied().collect();
    names.retain(|name| !other.apis.contains_key(name));
    names.sort_unstable();
    found.extend(names.into_iter().map(|name| Change {
        api: name,
        item: name.to_string(),
        kind: kind.clone(),
        old: None,
        new: None,
    }));
}

/// Returns true for an anonymous type of C, which has the name of the enclosing item, `__` and a suffix.
fn is_anonymous(name: &str, view: &SurfaceView) -> bool {
    let enclosing = name.rsplit_once("__").map(|(enclosing, _)| enclosing);
    enclosing.is_some_and(|enclosing| view.item(enclosing).is_some())
}
