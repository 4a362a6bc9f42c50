//! Which items came, went, or are compared with which.

use std::collections::BTreeSet;

use sp_ir::{Item, Type};

use super::{Ledger, constants, enums, functions, parameters, records};
use crate::abi::change::{Change, Declared, Kind, Reason};
use crate::abi::likeness::Likeness;
use crate::abi::pair::Pair;

/// Compares all items of the two sides.
pub fn compare<'p>(pair: &'p Pair<'p>, found: &mut Vec<Change<'p>>) {
    apis(pair, found);
    let (mut was, mut is) = (BTreeSet::new(), BTreeSet::new());
    for name in sorted(pair.old.items.keys()) {
        let Some((partner, reason)) = partner(pair, name) else {
            continue;
        };
        let (Some((old, _)), Some((new, entry))) = (
            pair.old.items.get_key_value(name),
            pair.new.items.get_key_value(partner),
        ) else {
            continue;
        };
        was.insert(*old);
        is.insert(*new);
        let (one, two) = (&*pair.old.items[old].item, &*entry.item);
        let mut ledger = Ledger {
            pair,
            api: entry.api,
            path: (*new).to_string(),
            old: Declared::Item(old, one),
            new: Declared::Item(new, two),
            found: &mut *found,
        };
        if let Some(kind) = reason {
            ledger.item(kind);
        }
        if pair.old.items[old].api != entry.api {
            ledger.none(Reason::Rehomed);
        }
        items(&mut ledger, old, one, new, two);
    }
    one_sided(pair, &was, &is, found);
}

fn sorted<'a, 'b: 'a>(names: impl Iterator<Item = &'a &'b str>) -> Vec<&'b str> {
    let mut names: Vec<&str> = names.copied().collect();
    names.sort_unstable();
    names
}

/// NEW's name for OLD's item, and what is to be said of the name itself.
fn partner<'p>(pair: &'p Pair<'p>, name: &str) -> Option<(&'p str, Option<Kind<'p>>)> {
    if let Some(other) = pair.renamed.get(name) {
        let nameless = other.contains("__") || name.contains("__");
        let kind = if nameless {
            Kind::None(Reason::Nameless)
        } else {
            Kind::TypeRenamed
        };
        return Some((other, Some(kind)));
    }
    if let Some(other) = pair.aliased.get(name) {
        return Some((other, Some(Kind::None(Reason::Alias))));
    }
    let (same, entry) = pair.new.items.get_key_value(name)?;
    // An alias whose thing is compared under its own name has nothing of its own to compare.
    let old_is_alias = matches!(pair.old.item(name), Some(Item::Alias(_)));
    let new_is_alias = matches!(&*entry.item, Item::Alias(_));
    (old_is_alias == new_is_alias)
        .then_some((*same, None))
        .or_else(|| {
            let told = pair
                .aliased
                .iter()
                .any(|(old, new)| old == name || new == name);
            (!told).then_some((*same, None))
        })
}

fn apis<'p>(pair: &'p Pair<'p>, found: &mut Vec<Change<'p>>) {
    let mut api = |name: &'p str, kind| {
        let item = name.to_string();
        found.push(Change {
            api: name,
            item,
            kind,
            old: None,
            new: None,
        });
    };
    for name in sorted(pair.new.apis.keys()) {
        if !pair.old.apis.contains_key(name) {
            api(name, Kind::ApiAdded);
        }
    }
    for name in sorted(pair.old.apis.keys()) {
        if !pair.new.apis.contains_key(name) {
            api(name, Kind::ApiRemoved);
        }
    }
}

fn items<'p>(
    ledger: &mut Ledger<'_, 'p>,
    old: &'p str,
    one: &'p Item,
    new: &'p str,
    two: &'p Item,
) {
    match (one, two) {
        (Item::Struct(one), Item::Struct(two)) => records::structs(ledger, old, one, new, two),
        (Item::Union(one), Item::Union(two)) => records::unions(ledger, old, one, new, two),
        (Item::Enum(one), Item::Enum(two)) => enums::compare(ledger, one, two),
        (Item::Function(one), Item::Function(two)) => functions::compare(ledger, one, two),
        (Item::Callback(one), Item::Callback(two)) => {
            let caller = ledger.pair.new.caller(new);
            parameters::callback(ledger, &one.signature, &two.signature, caller);
        }
        (Item::Constant(one), Item::Constant(two)) => constants::compare(ledger, one, two),
        (Item::Handle(one), Item::Handle(two)) => {
            if one.pointer != two.pointer {
                ledger.item(Kind::HandleRetyped);
            }
        }
        (Item::Alias(one), Item::Alias(two)) => match ledger.pair.like(&one.ty, &two.ty) {
            Likeness::Same if one.ty == two.ty => {}
            Likeness::Same => ledger.none(Reason::Alias),
            like => ledger.item(Kind::AliasRetyped(like)),
        },
        _ => kinds(ledger, old, one, new, two),
    }
}

/// A name that is another kind of thing.
fn kinds<'p>(ledger: &mut Ledger<'_, 'p>, old: &str, one: &Item, new: &str, two: &Item) {
    let named = |name: &str, item: &Item| match item {
        Item::Alias(alias) => alias.ty.clone(),
        _ => Type::Named(name.into()),
    };
    let is_type = |item: &Item| !matches!(item, Item::Function(_) | Item::Constant(_));
    let (was, is) = (named(old, one), named(new, two));
    let like = match (one, two) {
        // Who only ever saw the pointer sees no difference.
        (Item::Handle(hidden), Item::Struct(_) | Item::Union(_))
        | (Item::Struct(_) | Item::Union(_), Item::Handle(hidden))
            if !hidden.pointer =>
        {
            Likeness::Respelled
        }
        _ if is_type(one) && is_type(two) => ledger.pair.opened(&was, &is),
        _ => Likeness::Other,
    };
    ledger.item(Kind::KindChanged(like));
}

/// What only one side has.
fn one_sided<'p>(
    pair: &'p Pair<'p>,
    was: &BTreeSet<&str>,
    is: &BTreeSet<&str>,
    found: &mut Vec<Change<'p>>,
) {
    for name in sorted(pair.old.items.keys())
        .into_iter()
        .filter(|name| !was.contains(name))
    {
        let entry = &pair.old.items[name];
        let kind = match &*entry.item {
            Item::Alias(_) if pair.new.items.contains_key(name) => Kind::None(Reason::Alias),
            _ if !pair.new.apis.contains_key(entry.api) => Kind::None(Reason::Follows),
            Item::Function(_) => Kind::FunctionRemoved,
            Item::Constant(one) => constants::one_sided(&pair.new, name, one, Kind::ConstRemoved),
            _ if nameless(name, &pair.old) => Kind::None(Reason::Nameless),
            _ => Kind::TypeRemoved,
        };
        let old = Some(Declared::Item(name, &entry.item));
        found.push(Change {
            api: entry.api,
            item: name.into(),
            kind,
            old,
            new: None,
        });
    }
    for name in sorted(pair.new.items.keys())
        .into_iter()
        .filter(|name| !is.contains(name))
    {
        let entry = &pair.new.items[name];
        let kind = match &*entry.item {
            Item::Alias(_) if pair.old.items.contains_key(name) => Kind::None(Reason::Alias),
            _ if !pair.old.apis.contains_key(entry.api) => Kind::None(Reason::Follows),
            Item::Function(_) => Kind::FunctionAdded,
            Item::Constant(one) => constants::one_sided(&pair.old, name, one, Kind::ConstAdded),
            _ if nameless(name, &pair.new) => Kind::None(Reason::Nameless),
            _ => Kind::TypeAdded,
        };
        let new = Some(Declared::Item(name, &entry.item));
        found.push(Change {
            api: entry.api,
            item: name.into(),
            kind,
            old: None,
            new,
        });
    }
}

/// What C leaves nameless is called after what it stands in.
fn nameless(name: &str, view: &crate::abi::view::View) -> bool {
    let parent = name.rsplit_once("__").map(|(parent, _)| parent);
    parent.is_some_and(|parent| view.item(parent).is_some())
}
