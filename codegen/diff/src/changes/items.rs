//! Which items came, went, or are compared with which.

use std::borrow::Cow;
use std::collections::BTreeSet;

use sp_ir::{Item, Type};

use super::{Ledger, constants, enums, functions, parameters, records};
use crate::change::{Change, Declared, Kind, Reason};
use crate::likeness::Likeness;
use crate::pair::Pair;
use crate::view::View;

/// Compares the items that both sides have.
pub fn compare<'p>(pair: &'p Pair<'p>, found: &mut Vec<Change<'p>>) {
    for name in &pair.old.order {
        let Some((partner, kind)) = partner(pair, name) else {
            continue;
        };
        let (was, is) = (&pair.old.items[name], pair.new.items.get_key_value(partner));
        let Some((new, is)) = is else { continue };
        let mut ledger = Ledger {
            pair,
            api: is.api,
            path: Cow::Borrowed(*new),
            old: Declared::Item(name, &was.item),
            new: Declared::Item(new, &is.item),
            found,
        };
        if let Some(kind) = kind {
            ledger.item(kind);
        }
        if was.api != is.api {
            ledger.none(Reason::Rehomed);
        }
        items(&mut ledger, name, &was.item, new, &is.item);
    }
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

/// What only one side has: APIs and items.
pub fn one_sided<'p>(pair: &'p Pair<'p>, found: &mut Vec<Change<'p>>) {
    let heirs: BTreeSet<&str> = pair
        .renamed
        .values()
        .chain(pair.aliased.values())
        .map(String::as_str)
        .collect();
    let went = |name: &&&str| partner(pair, name).is_none();
    let came = |name: &&&str| {
        let stayed = pair.old.items.contains_key(*name)
            && partner(pair, name).is_some_and(|it| it.0 == **name);
        !stayed && !heirs.contains(*name)
    };
    apis(&pair.new, &pair.old, &Kind::ApiAdded, found);
    apis(&pair.old, &pair.new, &Kind::ApiRemoved, found);
    for name in pair.old.order.iter().filter(went) {
        let [function, constant, ty] =
            [Kind::FunctionRemoved, Kind::ConstRemoved, Kind::TypeRemoved];
        let kind = lone(&pair.old, &pair.new, name, [function, constant, ty]);
        let entry = &pair.old.items[name];
        let old = Some(Declared::Item(name, &entry.item));
        found.push(Change {
            api: entry.api,
            item: (*name).into(),
            kind,
            old,
            new: None,
        });
    }
    for name in pair.new.order.iter().filter(came) {
        let [function, constant, ty] = [Kind::FunctionAdded, Kind::ConstAdded, Kind::TypeAdded];
        let kind = lone(&pair.new, &pair.old, name, [function, constant, ty]);
        let entry = &pair.new.items[name];
        let new = Some(Declared::Item(name, &entry.item));
        found.push(Change {
            api: entry.api,
            item: (*name).into(),
            kind,
            old: None,
            new,
        });
    }
}

/// What is to be said of an item that `other` lacks: of a function, a constant or a type.
fn lone<'p>(view: &View, other: &View, name: &str, kinds: [Kind<'p>; 3]) -> Kind<'p> {
    let [function, constant, ty] = kinds;
    let entry = &view.items[name];
    match &*entry.item {
        Item::Alias(_) if other.items.contains_key(name) => Kind::None(Reason::Alias),
        _ if !other.apis.contains_key(entry.api) => Kind::None(Reason::Follows),
        Item::Function(_) => function,
        Item::Constant(one) => constants::one_sided(other, name, one, constant),
        _ if nameless(name, view) => Kind::None(Reason::Nameless),
        _ => ty,
    }
}

/// The APIs of `view` that `other` lacks.
fn apis<'p>(view: &'p View, other: &View, kind: &Kind<'p>, found: &mut Vec<Change<'p>>) {
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

/// What C leaves nameless is called after what it stands in.
fn nameless(name: &str, view: &View) -> bool {
    let parent = name.rsplit_once("__").map(|(parent, _)| parent);
    parent.is_some_and(|parent| view.item(parent).is_some())
}
