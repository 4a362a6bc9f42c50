//! Structs whose bytes lie otherwise.

use sp_ir::{Field, Presence, Side, StructSize, Type};

use super::{Meeting, plain};
use crate::change::{Both, DataFolders, Relaid};
use crate::finding::{Effect, Outcome};
use crate::likeness::Likeness;
use crate::view::{View, fields};
use crate::words::list;

/// The worst so far, and why; and what the host refuses, which comes before any call.
struct Worst {
    outcome: Outcome,
    guarded: Outcome,
    why: String,
    empty: Vec<String>,
}

impl Worst {
    fn meet(&mut self, outcome: Outcome, guarded: Outcome, why: impl FnOnce() -> String) {
        if outcome > self.outcome {
            (self.outcome, self.why) = (outcome, why());
        }
        self.guarded = self.guarded.max(guarded);
    }

    fn effect(mut self) -> Effect {
        if !self.empty.is_empty() && self.outcome != Outcome::CorruptsMemory {
            self.outcome = Outcome::Refused;
            self.guarded = Outcome::Refused;
            let names: Vec<&str> = self.empty.iter().map(String::as_str).collect();
            self.why = format!(
                "the host demands {}, which the plugin leaves empty",
                list(&names)
            );
        }
        Effect {
            outcome: self.outcome,
            guarded: self.guarded,
            why: self.why,
        }
    }
}

/// A struct whose bytes lie otherwise.
pub fn relaid(meeting: Meeting, told: &Relaid) -> Effect {
    let (plugin_name, host_name) = meeting.sort(told.name);
    let (plugin_size, host_size) = meeting.sort(told.size);
    let (said, announced) = meeting.sort(told.announced);
    let stood = Standing {
        memory: meeting.host.memory.side(host_name),
        slack: plugin_size != host_size && slack(meeting, plugin_name, host_name),
        plugin_size,
        host_size,
        said,
        announced,
        name: host_name,
    };
    let mut worst = Worst {
        outcome: Outcome::WorksWithout,
        guarded: Outcome::WorksWithout,
        why: format!(
            "no member that both know moved in {host_name}; what only one side knows stays unused"
        ),
        empty: Vec::new(),
    };
    for row in told.rows.iter().filter(|row| !row.same) {
        let (plugin, host) = meeting.sort(row.member);
        stood.row(meeting, told, row, plugin, host, &mut worst);
    }
    if let Some(how) = displaced(meeting, plugin_name, host_name, (plugin_size, host_size)) {
        worst.meet(Outcome::ReadsWrongMember, Outcome::ReadsWrongMember, || {
            format!("{host_name} takes {plugin_size} bytes to the plugin and {host_size} to the host, {how}")
        });
    }
    worst.effect()
}

/// Whether a struct of another size moves what stands behind it, and how.
fn displaced(meeting: Meeting, mine: &str, theirs: &str, size: (u64, u64)) -> Option<String> {
    let (plugin, host) = (meeting.plugin.held.get(mine), meeting.host.held.get(theirs));
    if size.0 == size.1 {
        return None;
    }
    if plugin.is_some_and(|held| held.strided) || host.is_some_and(|held| held.strided) {
        return Some("and is passed by value or comes in arrays".into());
    }
    let holder = plugin?.within.iter().find(|holder| {
        let fields =
            |view: &View, name: &str| view.item(name).and_then(fields).map(<[Field]>::to_vec);
        let (Some(one), Some(two)) = (fields(meeting.plugin, holder), fields(meeting.host, holder))
        else {
            return false;
        };
        let moved = |field: &Field| {
            two.iter()
                .any(|it| it.name == field.name && it.offset != field.offset)
        };
        one.iter().any(moved)
    })?;
    Some(format!("and {holder} holds it by value"))
}

/// Whether it only ever stands within what is as large on both sides.
fn slack(meeting: Meeting, mine: &str, theirs: &str) -> bool {
    let Some(held) = meeting.host.held.get(theirs) else {
        return false;
    };
    let size = |view: &View, name: &str| view.size(&Type::Named(name.into()));
    let as_large = |holder: &String| size(meeting.plugin, holder) == size(meeting.host, holder);
    !held.strided
        && !held.within.is_empty()
        && held.within.iter().all(as_large)
        && !meeting.plugin.memory.is_told(mine)
        && !meeting.host.memory.is_told(theirs)
}

struct Standing<'s> {
    memory: Side,
    slack: bool,
    plugin_size: u64,
    host_size: u64,
    /// What the plugin writes into `struct_size`, and what the host does.
    said: Option<u64>,
    announced: Option<u64>,
    name: &'s str,
}

impl Standing<'_> {
    fn row(
        &self,
        meeting: Meeting,
        told: &Relaid,
        row: &DataFolders,
        plugin: Option<&Field>,
        host: Option<&Field>,
        worst: &mut Worst,
    ) {
        match (plugin, host) {
            (Some(mine), Some(theirs)) => self.other(meeting, row.offset, mine, theirs, worst),
            (Some(mine), None) => self.extra(meeting, told, row.offset, mine, worst),
            (None, Some(theirs)) => self.missing(meeting, told, row.offset, theirs, worst),
            (None, None) => {}
        }
    }

    /// A member of the plugin's where the host has none.
    fn extra(&self, meeting: Meeting, told: &Relaid, at: u64, mine: &Field, worst: &mut Worst) {
        if at < self.host_size || self.slack || self.memory == Side::Plugin {
            return;
        }
        let (outcome, verb) = match filler(meeting, told, mine, true) {
            Side::Plugin => (Outcome::CorruptsMemory, "writes"),
            Side::Core if meeting.plugin.signature(&mine.ty).is_some() => {
                (Outcome::WrongFunction, "calls")
            }
            Side::Core => (Outcome::ReadsWrongMember, "reads"),
        };
        let guarded = self.announced.map_or(outcome, |_| Outcome::WorksWithout);
        worst.meet(outcome, guarded, || {
            format!(
                "the plugin {verb} {} at {at}, behind the {} bytes of {} that the host provides",
                mine.name, self.host_size, self.name
            )
        });
    }

    fn other(&self, meeting: Meeting, at: u64, mine: &Field, theirs: &Field, worst: &mut Worst) {
        let slot = meeting.plugin.signature(&mine.ty).is_some()
            && meeting.host.signature(&theirs.ty).is_some();
        let outcome = if slot {
            Outcome::WrongFunction
        } else {
            Outcome::ReadsWrongMember
        };
        let seen = self
            .announced
            .is_none_or(|size| mine.offset + mine.size <= size);
        let guarded = if seen { outcome } else { Outcome::WorksWithout };
        worst.meet(outcome, guarded, || match slot {
            true => format!(
                "the host has {} at {at}, where the plugin has {}",
                theirs.name, mine.name
            ),
            false => format!(
                "at {at} the plugin means {}, the host {}",
                mine.name, theirs.name
            ),
        });
    }

    /// A member of the host's where the plugin has none.
    fn missing(&self, meeting: Meeting, told: &Relaid, at: u64, theirs: &Field, worst: &mut Worst) {
        let filler = filler(meeting, told, theirs, false);
        let required = theirs.presence.as_ref().map(|it| it.value) == Some(Presence::Required);
        if required && filler == Side::Plugin {
            worst.empty.push(theirs.name.clone());
        }
        let beyond = at >= self.plugin_size && !self.slack;
        let told_by_size = self.said.is_some_and(|size| at >= size);
        // Core clears what it provides; what the plugin provides, nobody does.
        if (self.memory == Side::Core && !self.slack) || told_by_size {
            return;
        }
        let outcome = match (beyond, filler) {
            (false, Side::Core) => return,
            (true, Side::Core) => Outcome::CorruptsMemory,
            (true, Side::Plugin) if meeting.host.signature(&theirs.ty).is_some() => {
                Outcome::WrongFunction
            }
            (true, Side::Plugin) => Outcome::ReadsWrongMember,
            (false, Side::Plugin) => Outcome::MisreadsValue,
        };
        worst.meet(outcome, outcome, || match beyond {
            true => format!(
                "the host reaches for {} at {at}, behind the {} bytes that the plugin has",
                theirs.name, self.plugin_size
            ),
            false => format!(
                "the host reads {} from bytes at {at} that the plugin never sets",
                theirs.name
            ),
        });
    }
}

/// Which side fills a member; where nothing says, the plugin, since that harms more.
fn filler(meeting: Meeting, told: &Relaid, field: &Field, plugins: bool) -> Side {
    let (plugin_name, host_name) = meeting.sort(told.name);
    let said = told.structure.and_then(|both| {
        let (plugin, host) = meeting.sort(both);
        if plugins {
            plugin.filler(field)
        } else {
            host.filler(field)
        }
    });
    let (view, name) = if plugins {
        (meeting.plugin, plugin_name)
    } else {
        (meeting.host, host_name)
    };
    said.or_else(|| view.filler(name)).unwrap_or(Side::Plugin)
}

/// A member whose type differs.
pub fn retyped(meeting: Meeting, told: &Relaid, like: Likeness) -> Effect {
    let mut effect = relaid(meeting, told);
    let here = match like {
        like if like.is_binary() => Outcome::Works,
        Likeness::Signature => Outcome::WrongArguments,
        _ if told
            .fields
            .windows(2)
            .all(|pair| pair[0].size == pair[1].size) =>
        {
            Outcome::MisreadsValue
        }
        _ => Outcome::ReadsWrongMember,
    };
    let name = told
        .names()
        .first()
        .copied()
        .unwrap_or_default()
        .to_string();
    if here > effect.outcome {
        effect.why = format!("{name} is read as another type than it was written");
    }
    effect.outcome = effect.outcome.max(here);
    effect.guarded = effect.guarded.max(here);
    effect
}

/// A struct or union whose size moves what lies around it; `how` is what [`displaced`] says.
fn misplaced(name: &str, how: &str) -> Effect {
    plain(
        Outcome::ReadsWrongMember,
        format!("{name} is of another size, {how}"),
    )
}

/// A union's member that one side lacks; `knows` says whether the plugin has it.
pub fn union(meeting: Meeting, told: &Relaid, knows: bool) -> Effect {
    let (mine, theirs) = meeting.sort(told.name);
    let size = meeting.sort(told.size);
    match displaced(meeting, mine, theirs, size) {
        Some(how) => misplaced(mine, &how),
        None if size.0 > size.1 => plain(
            Outcome::CorruptsMemory,
            "the plugin's union is longer than the host's",
        ),
        None if knows => plain(
            Outcome::MisreadsValue,
            "the plugin may store a member that the host does not know",
        ),
        None => plain(
            Outcome::WorksWithout,
            "the plugin neither stores the member nor knows it when it comes",
        ),
    }
}

/// A size that covers more of the same struct on one side; `names` are the members in question.
pub fn sized(meeting: Meeting, said: Both<&StructSize>, names: &[&str]) -> Effect {
    let (mine, theirs) = meeting.sort(said);
    let why = match mine.value.cmp(&theirs.value) {
        std::cmp::Ordering::Equal => return plain(Outcome::Works, "both say the same size"),
        std::cmp::Ordering::Less => "the plugin says a size",
        std::cmp::Ordering::Greater => "the host says a size",
    };
    Effect {
        outcome: Outcome::Works,
        guarded: Outcome::WorksWithout,
        why: format!(
            "{why} that leaves out {}, which are there",
            names.join(", ")
        ),
    }
}

/// A struct that is longer for no member's sake.
pub fn resized(meeting: Meeting, told: &Relaid) -> Effect {
    let (mine, theirs) = meeting.sort(told.name);
    let size = meeting.sort(told.size);
    match displaced(meeting, mine, theirs, size) {
        Some(how) => misplaced(mine, &how),
        None => plain(Outcome::Works, format!("no member of {mine} moved")),
    }
}

/// A struct that is aligned otherwise.
pub fn aligned(meeting: Meeting, align: Both<u64>) -> Effect {
    let (mine, theirs) = meeting.sort(align);
    let why = format!("the plugin aligns it to {mine}, the host to {theirs}");
    plain(Outcome::ReadsWrongMember, why)
}
