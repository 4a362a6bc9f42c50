//! What no bytes say: who sets, frees and keeps what.

use sp_ir::{Direction, Presence, Scope, Side, Transfer};

use super::{Meeting, plain};
use crate::change::Both;
use crate::finding::{Effect, Outcome};

/// A side by its name.
pub fn side(side: Side) -> &'static str {
    match side {
        Side::Core => "core",
        Side::Plugin => "the plugin",
    }
}

/// A struct or member that each leaves to the other, or both set.
pub fn filler_changed(meeting: Meeting, by: Both<Side>) -> Effect {
    let (mine, theirs) = meeting.sort(by);
    match (mine, theirs) {
        (Side::Core, Side::Plugin) => plain(
            Outcome::MisreadsValue,
            "the plugin and the host each wait for the other to set it",
        ),
        _ => plain(
            Outcome::MisreadsValue,
            "the plugin and the host both set it",
        ),
    }
}

/// A value that goes one way to the plugin and another to the host.
pub fn direction(meeting: Meeting, way: Both<Direction>) -> Effect {
    let (mine, theirs) = meeting.sort(way);
    match (mine, theirs) {
        (Direction::InOut, _) | (_, Direction::InOut) => plain(
            Outcome::MisreadsValue,
            "one side sets a value that the other does not look for",
        ),
        _ => plain(
            Outcome::MisreadsValue,
            "each side waits for the other to set it",
        ),
    }
}

/// A function that the other side defines.
pub fn exporter(meeting: Meeting, by: Both<Side>, name: &str) -> Effect {
    let (mine, theirs) = meeting.sort(by);
    match (mine, theirs) {
        (Side::Core, Side::Plugin) => Effect {
            outcome: Outcome::FailsToLoad,
            guarded: Outcome::MissesFunction,
            why: format!("the plugin looks for {name} in the host, and the host in the plugin"),
        },
        _ => plain(
            Outcome::WorksWithout,
            format!("the plugin's {name} is not called"),
        ),
    }
}

/// Whether a member must be set.
pub fn presence(meeting: Meeting, said: Both<Presence>, filler: Side) -> Effect {
    let (mine, theirs) = meeting.sort(said);
    let demands = |one| one == Presence::Required;
    match filler {
        Side::Plugin if demands(theirs) && !demands(mine) => plain(
            Outcome::Refused,
            "a plugin that leaves it empty, as it may, is refused",
        ),
        Side::Core if demands(mine) && !demands(theirs) => plain(
            Outcome::MisreadsValue,
            "the plugin counts on what the host may leave empty",
        ),
        _ => plain(Outcome::Works, "what one side sets, the other may have set"),
    }
}

/// Who frees what; `giver` has it before the call.
pub fn transfer(meeting: Meeting, said: Both<Transfer>, giver: Side) -> Effect {
    let (mine, theirs) = meeting.sort(said);
    let (gives, takes) = match giver {
        Side::Plugin => (mine, theirs),
        Side::Core => (theirs, mine),
    };
    match (gives, takes) {
        (Transfer::None, Transfer::Full) => plain(Outcome::CorruptsMemory, "both sides free it"),
        (Transfer::Full, Transfer::None) => {
            plain(Outcome::Works, "neither side frees it: it leaks")
        }
        _ => plain(Outcome::Works, "one side frees it"),
    }
}

/// How long a callee keeps what it is given.
pub fn scope(meeting: Meeting, said: Both<Scope>, giver: Side) -> Effect {
    let (mine, theirs) = meeting.sort(said);
    let (gives, keeps) = match giver {
        Side::Plugin => (mine, theirs),
        Side::Core => (theirs, mine),
    };
    match (gives, keeps) {
        (Scope::Call, Scope::Stored) => plain(
            Outcome::CorruptsMemory,
            "it is used after the giver has ended it",
        ),
        _ => plain(Outcome::Works, "it lives as long as it is used"),
    }
}

/// A value that one side may send and the other does not know, or knows as another.
pub fn value(knows: bool) -> Effect {
    match knows {
        true => plain(
            Outcome::MisreadsValue,
            "the plugin may send a value that the host does not know as that",
        ),
        false => plain(
            Outcome::WorksWithout,
            "the plugin neither sends the value nor knows it when it comes",
        ),
    }
}
