//! Structs and unions: which member is which, and what became of each by itself. What one member does
//! to others is found in `shift`.

use sp_ir::{Field, Item, Stated, Struct, Type, Union};

use super::frame::{As, Frame, Match, named};
use super::{Ledger, facts, parameters, shift, sizes};
use crate::change::{Both, Declared, Kind, Reason};
use crate::likeness::Likeness;

/// A struct that both sides have.
pub fn structs<'p>(
    ledger: &mut Ledger<'_, 'p>,
    old: &'p str,
    one: &'p Struct,
    new: &'p str,
    two: &'p Struct,
) {
    if unchanged(one, two) {
        return;
    }
    let both = Both { old: one, new: two };
    let (was, is) = (&ledger.pair.old, &ledger.pair.new);
    let mut frame = Frame {
        name: Both { old, new },
        structure: Some(both),
        fields: Both {
            old: &one.fields,
            new: &two.fields,
        },
        layout: both.map(|it| it.layout),
        announced: Both {
            old: was.announced(old, one),
            new: is.announced(new, two),
        },
        held: was.held.contains_key(old) || is.held.contains_key(new),
        matches: named(&one.fields, &two.fields),
    };
    let grouped = group(ledger, &mut frame);
    rename(ledger, &mut frame);
    facts::structure(ledger, both);
    let follows = members(ledger, &frame);
    let relaid = shift::compare(ledger, &frame, &grouped);
    sizes::compare(ledger, &frame, both, relaid || follows);
    layout(ledger, &frame, relaid || follows);
}

/// Whether the two say the same word for word, as most do: then there is nothing to look into.
fn unchanged(old: &Struct, new: &Struct) -> bool {
    let field = |(one, two): (&Field, &Field)| {
        one.name == two.name
            && (one.offset, one.size) == (two.offset, two.size)
            && one.ty == two.ty
            && value(&one.filled_by) == value(&two.filled_by)
            && value(&one.direction) == value(&two.direction)
            && value(&one.presence) == value(&two.presence)
            && value(&one.neutral) == value(&two.neutral)
    };
    old.fields.len() == new.fields.len()
        && (old.layout, &old.struct_size) == (new.layout, &new.struct_size)
        && value(&old.filled_by) == value(&new.filled_by)
        && value(&old.receiver) == value(&new.receiver)
        && old.fields.iter().zip(&new.fields).all(field)
}

/// The value of a fact, and the value that a comment states.
fn value<T>(fact: &Option<Stated<T>>) -> Option<(&T, Option<&T>)> {
    let fact = fact.as_ref()?;
    Some((&fact.value, fact.comment_value()))
}

/// A union that both sides have.
pub fn unions<'p>(
    ledger: &mut Ledger<'_, 'p>,
    old: &'p str,
    one: &'p Union,
    new: &'p str,
    two: &'p Union,
) {
    let mut frame = Frame {
        name: Both { old, new },
        structure: None,
        fields: Both {
            old: &one.fields,
            new: &two.fields,
        },
        layout: Both {
            old: one.layout,
            new: two.layout,
        },
        announced: Both {
            old: None,
            new: None,
        },
        held: true,
        matches: named(&one.fields, &two.fields),
    };
    rename(ledger, &mut frame);
    let follows = members(ledger, &frame);
    let lone = frame.lone();
    for at in &lone.new {
        let field = &two.fields[*at];
        let kind = Kind::UnionMemberAdded(frame.relaid(vec![field], &[]));
        ledger.part(&field.name, kind, None, Some(Declared::Field(field)));
    }
    for at in &lone.old {
        let field = &one.fields[*at];
        let kind = Kind::UnionMemberRemoved(frame.relaid(vec![field], &[]));
        ledger.part(&field.name, kind, Some(Declared::Field(field)), None);
    }
    let retyped = frame.matches.iter().any(|it| {
        let both = frame.both(it);
        both.old.size != both.new.size
    });
    let told = !lone.new.is_empty() || !lone.old.is_empty() || retyped || follows;
    layout(ledger, &frame, told);
    let order = |it: &[Field]| it.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
    let mut orders = (order(&one.fields), order(&two.fields));
    if orders.0 != orders.1 {
        orders.0.sort();
        orders.1.sort();
        if orders.0 == orders.1 {
            ledger.none(Reason::Order);
        }
    }
}

/// Members that stand in a struct of their own now, or did, without having moved.
fn group<'p>(ledger: &mut Ledger<'_, 'p>, frame: &mut Frame<'p>) -> Both<Vec<usize>> {
    let lone = frame.lone();
    let mut grouped = Both {
        old: Vec::new(),
        new: Vec::new(),
    };
    let pair = ledger.pair;
    for &at in &lone.new {
        let field = &frame.fields.new[at];
        if let Some(inner) = opened(&pair.new, field) {
            let parts = stands(pair, frame.fields.old, &lone.old, field, inner, false);
            if let Some(parts) = parts {
                let names = parts.iter().map(|it| frame.fields.old[*it].name.clone());
                let kind = Kind::FieldsGrouped(names.collect());
                ledger.part(&field.name, kind, None, Some(Declared::Field(field)));
                grouped.old.extend(parts);
                grouped.new.push(at);
            }
        }
    }
    for &at in &lone.old {
        let field = &frame.fields.old[at];
        if let Some(inner) = opened(&pair.old, field) {
            let parts = stands(pair, frame.fields.new, &lone.new, field, inner, true);
            if let Some(parts) = parts {
                let names = parts.iter().map(|it| frame.fields.new[*it].name.clone());
                let kind = Kind::FieldsGrouped(names.collect());
                ledger.part(&field.name, kind, Some(Declared::Field(field)), None);
                grouped.new.extend(parts);
                grouped.old.push(at);
            }
        }
    }
    grouped
}

fn opened<'v>(view: &'v crate::view::View, field: &Field) -> Option<&'v [Field]> {
    match view.resolve(&field.ty) {
        Type::Named(name) => match view.item(name) {
            Some(Item::Struct(item)) => Some(&item.fields),
            _ => None,
        },
        _ => None,
    }
}

/// The members that stand where `inner`'s do within `field`, if all do.
fn stands(
    pair: &crate::pair::Pair,
    fields: &[Field],
    lone: &[usize],
    field: &Field,
    inner: &[Field],
    old: bool,
) -> Option<Vec<usize>> {
    let span = field.offset..field.offset + field.size;
    let within = lone
        .iter()
        .copied()
        .filter(|at| span.contains(&fields[*at].offset));
    let parts: Vec<usize> = within.collect();
    let like = |one: &Field, two: &Field| match old {
        true => pair.like(&two.ty, &one.ty),
        false => pair.like(&one.ty, &two.ty),
    };
    let fits = |(at, leaf): (&usize, &Field)| {
        let one = &fields[*at];
        (one.offset, one.size) == (field.offset + leaf.offset, leaf.size)
            && like(one, leaf).is_binary()
    };
    (!parts.is_empty() && parts.len() == inner.len() && parts.iter().zip(inner).all(fits))
        .then_some(parts)
}

/// Who stands where another stood: the same under another name, or another.
fn rename(ledger: &mut Ledger, frame: &mut Frame) {
    let lone = frame.lone();
    let mut free = lone.new;
    let before = |at: usize, of: fn(&Match) -> usize| {
        frame.matches.iter().filter(|one| of(one) < at).count()
    };
    let known: Vec<(usize, usize)> = free
        .iter()
        .map(|at| (*at, before(*at, |one| one.at.new)))
        .collect();
    let places: Vec<usize> = lone
        .old
        .iter()
        .map(|at| before(*at, |one| one.at.old))
        .collect();
    let is_union = frame.structure.is_none();
    for (at, place) in lone.old.into_iter().zip(places) {
        let old = &frame.fields.old[at];
        let heir = free.iter().position(|it| {
            let new = &frame.fields.new[*it];
            (is_union || known.contains(&(*it, place)))
                && (old.offset, old.size) == (new.offset, new.size)
                && (!is_union || ledger.pair.like(&old.ty, &new.ty) == Likeness::Same)
        });
        let Some(heir) = heir else { continue };
        let new = &frame.fields.new[free[heir]];
        let pair = ledger.pair;
        let is_slot =
            pair.old.signature(&old.ty).is_some() || pair.new.signature(&new.ty).is_some();
        let alike = !is_slot && pair.like(&old.ty, &new.ty).is_binary();
        let by = if alike { As::Renamed } else { As::Replaced };
        let at = Both {
            old: at,
            new: free.remove(heir),
        };
        frame.matches.push(Match { at, by });
    }
    frame.matches.sort_by_key(|one| one.at.old);
}

/// What became of each member by itself. Says whether one follows from what it holds by value.
fn members<'p>(ledger: &mut Ledger<'_, 'p>, frame: &Frame<'p>) -> bool {
    let mut follows = false;
    for one in &frame.matches {
        let both = frame.both(one);
        let declared = both.map(Declared::Field);
        let (old, new) = (Some(declared.old), Some(declared.new));
        match one.by {
            As::Replaced => {
                let fields = vec![both.old, both.new];
                let kind = Kind::FieldReplaced(frame.relaid(fields, &[]));
                ledger.part(&both.old.name, kind, old, new);
                continue;
            }
            As::Renamed => ledger.part(&both.old.name, Kind::FieldRenamed, old, new),
            As::Itself => {}
        }
        facts::field(ledger, frame.structure, both);
        let pair = ledger.pair;
        let slot = (
            pair.old.signature(&both.old.ty),
            pair.new.signature(&both.new.ty),
        );
        let is_one = matches!((&both.old.ty, &both.new.ty),
            (Type::Named(old), Type::Named(new)) if pair.is_partner(old, new));
        match slot {
            (Some(_), Some(_)) if is_one => {}
            (Some(was), Some(is)) => {
                let filler = frame.structure.and_then(|of| of.new.filler(both.new));
                let caller = filler.map_or(sp_ir::Side::Core, sp_ir::Side::other);
                let path = format!("{}.{}", ledger.path, both.new.name);
                parameters::callback(&mut ledger.at(path, declared), was, is, caller);
            }
            _ if one.by == As::Renamed => {}
            _ => follows |= !retyped(ledger, frame, one, both) && both.old.size != both.new.size,
        }
    }
    follows
}

/// Whether the member's own type differs; then what it moves is its doing, and told with it.
fn retyped<'p>(
    ledger: &mut Ledger<'_, 'p>,
    frame: &Frame<'p>,
    one: &Match,
    both: Both<&'p Field>,
) -> bool {
    let like = ledger.pair.like(&both.old.ty, &both.new.ty);
    let (old, new) = (
        Some(Declared::Field(both.old)),
        Some(Declared::Field(both.new)),
    );
    if both.old.size != both.new.size && like == Likeness::Same {
        ledger.part(&both.new.name, Kind::None(Reason::Follows), old, new);
        return false;
    }
    let worst = || {
        let moved = shift::moved_by(frame, one);
        Kind::FieldRetyped(frame.relaid(vec![both.old, both.new], &moved), like)
    };
    match parameters::retyped(ledger.pair, &both.old.ty, &both.new.ty, worst) {
        Some(kind) => ledger.part(&both.new.name, kind, old, new),
        None => return false,
    }
    true
}

/// `sizeof` and `alignof`, where nothing else explains them.
fn layout<'p>(ledger: &mut Ledger<'_, 'p>, frame: &Frame<'p>, told: bool) {
    let (size, align) = (
        frame.layout.map(|it| it.size),
        frame.layout.map(|it| it.align),
    );
    if told || (size.old == size.new && align.old == align.new) {
        return;
    }
    match size.old != size.new {
        true => ledger.item(Kind::Resized(frame.relaid(Vec::new(), &[]))),
        false => ledger.item(Kind::Realigned(align)),
    }
}
