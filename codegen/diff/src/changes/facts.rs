//! Facts of the contract. One that only one side states is no change of the contract: nothing says that
//! it did not hold before. Whether a member must be set is one, since what TensorFlow demands is known by
//! release. A comment that states something else, or nothing any more, is always reported.

use sp_ir::{Direction, Field, Param, Presence, Side, Stated, Struct, Transfer};

use super::Ledger;
use crate::change::{Both, Declared, Kind, Reason};

type Fact<T> = Option<Stated<T>>;

/// What the two sides state of one fact.
enum Says<T> {
    Same,
    Stated,
    /// A comment states something else, or nothing, and the facts do not contradict each other.
    Commented,
    Changed(Both<T>),
}

fn says<T: Clone + PartialEq>(old: &Fact<T>, new: &Fact<T>) -> Says<T> {
    match (old, new) {
        (Some(old), Some(new)) if old.value != new.value => Says::Changed(Both {
            old: old.value.clone(),
            new: new.value.clone(),
        }),
        _ if comment(old) != comment(new) => Says::Commented,
        _ if old.is_some() == new.is_some() => Says::Same,
        _ => Says::Stated,
    }
}

fn comment<T>(fact: &Fact<T>) -> Option<&T> {
    fact.as_ref()?.comment_value()
}

/// The kind of a difference that is not a change of the contract.
fn uncontradicted<'p>(is_commented: bool) -> Kind<'p> {
    match is_commented {
        true => Kind::CommentChanged,
        false => Kind::None(Reason::Stated),
    }
}

fn fact<'p, T: Clone + PartialEq>(
    ledger: &mut Ledger<'_, 'p>,
    path: &str,
    both: Both<&'p Fact<T>>,
    kind: impl FnOnce(Both<T>) -> Kind<'p>,
    declared: Both<Declared<'p>>,
) {
    let kind = match says(both.old, both.new) {
        Says::Same => return,
        Says::Stated => uncontradicted(false),
        Says::Commented => uncontradicted(true),
        Says::Changed(both) => kind(both),
    };
    ledger.push(path.into(), kind, Some(declared.old), Some(declared.new));
}

/// A struct's own facts.
pub fn structure<'p>(ledger: &mut Ledger<'_, 'p>, both: Both<&'p Struct>) {
    let declared = Both {
        old: ledger.old,
        new: ledger.new,
    };
    let path = ledger.path.to_string();
    let filled = both.map(|one| &one.filled_by);
    fact(ledger, &path, filled, Kind::FillerChanged, declared);
    let receiver = both.map(|one| one.receiver.as_ref().map(|it| &it.value));
    if receiver.old != receiver.new {
        ledger.item(Kind::ReceiverChanged(receiver));
    }
}

/// A member's.
pub fn field<'p>(ledger: &mut Ledger<'_, 'p>, of: Option<Both<&'p Struct>>, both: Both<&'p Field>) {
    let path = format!("{}.{}", ledger.path, both.new.name);
    let declared = both.map(Declared::Field);
    let mut push = |kind| ledger.push(path.clone(), kind, Some(declared.old), Some(declared.new));
    let filler = of
        .and_then(|of| of.new.filler(both.new))
        .unwrap_or(Side::Plugin);
    let kinds = (filled(of, both), presence(both, filler));
    // Both facts may be of the same comment.
    let is_reported = matches!(
        kinds,
        (Some(Kind::CommentChanged), Some(Kind::CommentChanged))
    );
    let presence = kinds.1.filter(|_| !is_reported);
    kinds.0.into_iter().chain(presence).for_each(&mut push);
    let neutral = both.map(|one| one.neutral.as_ref().map(|it| it.value.as_str()));
    if neutral.old != neutral.new {
        push(Kind::NeutralChanged(neutral));
    }
}

/// The change of the side that fills a member, which its direction states too.
fn filled<'p>(of: Option<Both<&'p Struct>>, both: Both<&'p Field>) -> Option<Kind<'p>> {
    let by = says(&both.old.filled_by, &both.new.filled_by);
    let way = says(&both.old.direction, &both.new.direction);
    if let Says::Changed(sides) = by {
        return Some(Kind::FillerChanged(sides));
    }
    let is_commented = comment(&both.old.filled_by) != comment(&both.new.filled_by)
        || comment(&both.old.direction) != comment(&both.new.direction);
    let turned = of.filter(|_| is_commented).and_then(|of| turned(of, both));
    match (way, turned, by) {
        (Says::Changed(ways), ..) => Some(Kind::DirectionChanged(ways)),
        (_, Some(sides), _) => Some(Kind::FillerChanged(sides)),
        (Says::Same, None, Says::Same) => None,
        _ => Some(uncontradicted(is_commented)),
    }
}

/// The sides that fill a member of a struct that the same side fills, if they differ.
fn turned(of: Both<&Struct>, both: Both<&Field>) -> Option<Both<Side>> {
    let side = |item: &Struct| item.filled_by.as_ref().map(|it| it.value);
    let sides = Both {
        old: of.old.filler(both.old)?,
        new: of.new.filler(both.new)?,
    };
    (side(of.old) == side(of.new) && sides.old != sides.new).then_some(sides)
}

fn presence<'p>(both: Both<&'p Field>, filler: Side) -> Option<Kind<'p>> {
    let said = both.map(|one| {
        one.presence
            .as_ref()
            .map_or(Presence::Unstated, |it| it.value)
    });
    let is_commented = comment(&both.old.presence) != comment(&both.new.presence);
    match (said.old, said.new) {
        (old, new) if old == new => is_commented.then_some(Kind::CommentChanged),
        (_, Presence::Required) => Some(Kind::PresenceTightened(said, filler)),
        (Presence::Required, _) => Some(Kind::PresenceRelaxed(said, filler)),
        _ => Some(uncontradicted(is_commented)),
    }
}

/// A parameter's; `caller` gives what goes in.
pub fn parameter<'p>(ledger: &mut Ledger<'_, 'p>, path: &str, both: Both<&'p Param>, caller: Side) {
    let declared = Both {
        old: ledger.old,
        new: ledger.new,
    };
    let ways: Both<&'p Fact<Direction>> = both.map(|one| &one.direction);
    fact(ledger, path, ways, Kind::DirectionChanged, declared);
    transfer(ledger, path.into(), both.map(|one| &one.transfer), caller);
    let scope = both.map(|one| &one.scope);
    fact(
        ledger,
        path,
        scope,
        |both| Kind::ScopeChanged(both, caller),
        declared,
    );
}

/// Whether ownership moves; `giver` has it before the call.
pub fn transfer<'p>(
    ledger: &mut Ledger<'_, 'p>,
    path: String,
    both: Both<&'p Fact<Transfer>>,
    giver: Side,
) {
    let declared = Both {
        old: ledger.old,
        new: ledger.new,
    };
    fact(
        ledger,
        &path,
        both,
        |both| Kind::TransferChanged(both, giver),
        declared,
    );
}
