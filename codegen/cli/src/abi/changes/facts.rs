//! Facts of the contract. One that only one side states is no change: nothing says that it did not
//! hold before. Whether a member must be set is one, since what TensorFlow demands is known by release.

use sp_ir::{Direction, Field, Param, Presence, Side, Stated, Struct, Transfer};

use super::Ledger;
use crate::abi::change::{Both, Declared, Kind, Reason};

type Fact<T> = Option<Stated<T>>;

/// What the two sides state of one fact.
enum Says<T> {
    Same,
    Stated,
    Changed(Both<T>),
}

fn says<T: Clone + PartialEq>(old: &Fact<T>, new: &Fact<T>) -> Says<T> {
    match (old, new) {
        (Some(old), Some(new)) if old.value == new.value => Says::Same,
        (None, None) => Says::Same,
        (Some(old), Some(new)) => Says::Changed(Both {
            old: old.value.clone(),
            new: new.value.clone(),
        }),
        _ => Says::Stated,
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
        Says::Stated => Kind::None(Reason::Stated),
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
    let direction = both.map(|one| &one.direction);
    let filled = both.map(|one| &one.filled_by);
    if let Says::Changed(sides) = says(filled.old, filled.new) {
        ledger.push(
            path.clone(),
            Kind::FillerChanged(sides),
            Some(declared.old),
            Some(declared.new),
        );
    } else if let Says::Changed(ways) = says(direction.old, direction.new) {
        ledger.push(
            path.clone(),
            Kind::DirectionChanged(ways),
            Some(declared.old),
            Some(declared.new),
        );
    } else if filled.map(Option::is_some).differs() || direction.map(Option::is_some).differs() {
        ledger.push(
            path.clone(),
            Kind::None(Reason::Stated),
            Some(declared.old),
            Some(declared.new),
        );
    }
    let filler = of
        .and_then(|of| of.new.filler(both.new))
        .unwrap_or(Side::Plugin);
    presence(ledger, &path, both, filler);
    let neutral = both.map(|one| one.neutral.as_ref().map(|it| it.value.as_str()));
    if neutral.old != neutral.new {
        ledger.push(
            path,
            Kind::NeutralChanged(neutral),
            Some(declared.old),
            Some(declared.new),
        );
    }
}

impl Both<bool> {
    fn differs(self) -> bool {
        self.old != self.new
    }
}

fn presence<'p>(ledger: &mut Ledger<'_, 'p>, path: &str, both: Both<&'p Field>, filler: Side) {
    let said = both.map(|one| {
        one.presence
            .as_ref()
            .map_or(Presence::Unstated, |it| it.value)
    });
    let kind = match (said.old, said.new) {
        (old, new) if old == new => return,
        (_, Presence::Required) => Kind::PresenceTightened(said, filler),
        (Presence::Required, _) => Kind::PresenceRelaxed(said, filler),
        _ => Kind::None(Reason::Stated),
    };
    let declared = both.map(Declared::Field);
    ledger.push(path.into(), kind, Some(declared.old), Some(declared.new));
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
