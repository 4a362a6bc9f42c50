//! Facts of the contract: who sets, owns and stores a value.
//!
//! A fact that only one side states is not a change, since it may have held before. `presence` is an exception, because
//! the required fields are known for each release. A changed or removed comment is always reported.

use sp_ir::{Direction, Field, Param, Presence, Side, Stated, Struct, Transfer};

use super::Changes;
use crate::change::{Declaration, OldNew, UnreportedReason};
use crate::rules::ChangeKind;

type Fact<T> = Option<Stated<T>>;

/// The result of comparing one fact.
enum FactChange<T> {
    Same,
    /// Only one side states the fact.
    StatedOnOneSide,
    /// A comment states another value, or none, and the facts do not contradict each other.
    Comment,
    Value(OldNew<T>),
}

fn compare<T: Clone + PartialEq>(old: &Fact<T>, new: &Fact<T>) -> FactChange<T> {
    match (old, new) {
        (Some(old), Some(new)) if old.value != new.value => {
            FactChange::Value(OldNew::new(old.value.clone(), new.value.clone()))
        }
        _ if comment(old) != comment(new) => FactChange::Comment,
        _ if old.is_some() == new.is_some() => FactChange::Same,
        _ => FactChange::StatedOnOneSide,
    }
}

fn comment<T>(fact: &Fact<T>) -> Option<&T> {
    fact.as_ref()?.comment_value()
}

/// Returns the kind of a difference that does not change the contract.
fn unchanged_value<'p>(comment_changed: bool) -> ChangeKind<'p> {
    match comment_changed {
        true => ChangeKind::CommentChanged,
        false => ChangeKind::Unreported(UnreportedReason::StatedOnOneSide),
    }
}

fn push_fact<'p, T: Clone + PartialEq>(
    changes: &mut Changes<'_, 'p>,
    path: &str,
    facts: OldNew<&'p Fact<T>>,
    kind: impl FnOnce(OldNew<T>) -> ChangeKind<'p>,
) {
    let kind = match compare(facts.old, facts.new) {
        FactChange::Same => return,
        FactChange::StatedOnOneSide => unchanged_value(false),
        FactChange::Comment => unchanged_value(true),
        FactChange::Value(values) => kind(values),
    };
    let declarations = changes.declarations();
    let (old, new) = (Some(declarations.old), Some(declarations.new));
    changes.push(path.into(), kind, old, new);
}

/// Compares the facts of a struct itself.
pub fn compare_struct<'p>(changes: &mut Changes<'_, 'p>, structs: OldNew<&'p Struct>) {
    let path = changes.path.to_string();
    let fillers = structs.map(|item| &item.filled_by);
    push_fact(changes, &path, fillers, ChangeKind::FillerChanged);
    let receivers = structs.map(|item| item.receiver.as_ref().map(|stated| &stated.value));
    if receivers.old != receivers.new {
        changes.push_item(ChangeKind::ReceiverChanged);
    }
}

/// Compares the facts of a member. `structs` is `None` for a union.
pub fn compare_field<'p>(
    changes: &mut Changes<'_, 'p>,
    structs: Option<OldNew<&'p Struct>>,
    fields: OldNew<&'p Field>,
) {
    let path = format!("{}.{}", changes.path, fields.new.name);
    let declarations = fields.map(Declaration::Field);
    let mut push = |kind| {
        let (old, new) = (Some(declarations.old), Some(declarations.new));
        changes.push(path.clone(), kind, old, new)
    };
    let filler = structs
        .and_then(|structs| structs.new.filler(fields.new))
        .unwrap_or(Side::Plugin);
    let kinds = (
        filler_change(structs, fields),
        presence_change(fields, filler),
    );
    // One comment may state both facts.
    let is_reported = matches!(
        kinds,
        (
            Some(ChangeKind::CommentChanged),
            Some(ChangeKind::CommentChanged)
        )
    );
    let presence = kinds.1.filter(|_| !is_reported);
    kinds.0.into_iter().chain(presence).for_each(&mut push);
    let defaults = fields.map(|field| {
        let field = field.default_return.as_ref();
        field.map(|stated| stated.value.as_str())
    });
    if defaults.old != defaults.new {
        push(ChangeKind::DefaultReturnChanged);
    }
}

/// Returns the change of the side that sets a member, which the direction states too.
fn filler_change<'p>(
    structs: Option<OldNew<&'p Struct>>,
    fields: OldNew<&'p Field>,
) -> Option<ChangeKind<'p>> {
    let filler = compare(&fields.old.filled_by, &fields.new.filled_by);
    let direction = compare(&fields.old.direction, &fields.new.direction);
    if let FactChange::Value(sides) = filler {
        return Some(ChangeKind::FillerChanged(sides));
    }
    let comment_changed = comment(&fields.old.filled_by) != comment(&fields.new.filled_by)
        || comment(&fields.old.direction) != comment(&fields.new.direction);
    let derived = structs
        .filter(|_| comment_changed)
        .and_then(|structs| derived_filler_change(structs, fields));
    match (direction, derived, filler) {
        (FactChange::Value(directions), ..) => Some(ChangeKind::DirectionChanged(directions)),
        (_, Some(sides), _) => Some(ChangeKind::FillerChanged(sides)),
        (FactChange::Same, None, FactChange::Same) => None,
        _ => Some(unchanged_value(comment_changed)),
    }
}

/// Returns the sides that set a member if they differ although the side that sets the struct is the same.
fn derived_filler_change(structs: OldNew<&Struct>, fields: OldNew<&Field>) -> Option<OldNew<Side>> {
    let side = |item: &Struct| item.filled_by.as_ref().map(|stated| stated.value);
    let sides = OldNew::new(
        structs.old.filler(fields.old)?,
        structs.new.filler(fields.new)?,
    );
    (side(structs.old) == side(structs.new) && sides.old != sides.new).then_some(sides)
}

fn presence_change<'p>(fields: OldNew<&'p Field>, filler: Side) -> Option<ChangeKind<'p>> {
    let presence = fields.map(|field| {
        let presence = field.presence.as_ref();
        presence.map_or(Presence::Unstated, |stated| stated.value)
    });
    let comment_changed = comment(&fields.old.presence) != comment(&fields.new.presence);
    match (presence.old, presence.new) {
        (old, new) if old == new => comment_changed.then_some(ChangeKind::CommentChanged),
        (_, Presence::Required) => Some(ChangeKind::PresenceTightened(presence, filler)),
        (Presence::Required, _) => Some(ChangeKind::PresenceRelaxed(presence, filler)),
        _ => Some(unchanged_value(comment_changed)),
    }
}

/// Compares the facts of a parameter. `caller` passes it.
pub fn compare_parameter<'p>(
    changes: &mut Changes<'_, 'p>,
    path: &str,
    params: OldNew<&'p Param>,
    caller: Side,
) {
    let directions: OldNew<&'p Fact<Direction>> = params.map(|param| &param.direction);
    push_fact(changes, path, directions, ChangeKind::DirectionChanged);
    compare_transfer(changes, path, params.map(|param| &param.transfer), caller);
    let scopes = params.map(|param| &param.scope);
    push_fact(changes, path, scopes, |scopes| {
        ChangeKind::ScopeChanged(scopes, caller)
    });
}

/// Compares ownership transfers. `giver` owns the value before the call.
pub fn compare_transfer<'p>(
    changes: &mut Changes<'_, 'p>,
    path: &str,
    transfers: OldNew<&'p Fact<Transfer>>,
    giver: Side,
) {
    push_fact(changes, path, transfers, |transfers| {
        ChangeKind::TransferChanged(transfers, giver)
    });
}
