//! Effects of structs and unions whose layouts differ.

use sp_ir::{Field, Item, Presence, Side, StructSize, Type};

use super::{PluginOnHost, uniform};
use crate::change::{LayoutChange, LayoutRow, OldNew};
use crate::finding::{Effect, Outcome};
use crate::phrases::join_names;
use crate::similarity::Similarity;
use crate::view::SurfaceView;

/// The worst effect of the rows so far, and the members that the host requires and the plugin does not set.
///
/// The host rejects the plugin before it calls it, so those members decide unless memory is corrupted earlier.
struct WorstEffect {
    effect: Effect,
    missing: Vec<String>,
}

impl WorstEffect {
    fn add(&mut self, outcome: Outcome, guarded: Outcome, why: impl FnOnce() -> String) {
        if outcome > self.effect.outcome {
            (self.effect.outcome, self.effect.why) = (outcome, why());
        }
        self.effect.guarded = self.effect.guarded.max(guarded);
    }

    fn finish(self) -> Effect {
        if self.missing.is_empty() || self.effect.outcome == Outcome::CorruptsMemory {
            return self.effect;
        }
        let names: Vec<&str> = self.missing.iter().map(String::as_str).collect();
        let names = join_names(&names);
        let why = format!("the host requires {names}, which the plugin does not set");
        uniform(Outcome::Rejected, why)
    }
}

/// Returns the effect of a struct whose layout changed.
pub fn changed_layout(case: PluginOnHost, layout: &LayoutChange) -> Effect {
    let (plugin_name, host_name) = case.plugin_and_host(layout.name);
    let (plugin_size, host_size) = case.plugin_and_host(layout.size);
    let (plugin_written_size, host_written_size) = case.plugin_and_host(layout.written_size);
    let comparison = StructComparison {
        case,
        layout,
        allocator: case.host.memory.side(host_name),
        is_in_equal_structs: plugin_size != host_size
            && is_in_equal_structs(case, plugin_name, host_name),
        plugin_size,
        host_size,
        plugin_written_size,
        host_written_size,
        name: host_name,
    };
    let why = format!(
        "all members of {host_name} that both sides have kept their offsets; the others are not used"
    );
    let mut worst = WorstEffect {
        effect: uniform(Outcome::WorksWithout, why),
        missing: Vec::new(),
    };
    for row in layout.rows.iter().filter(|row| !row.same) {
        comparison.add_row(row, &mut worst);
    }
    if let Some(use_text) = by_value_use(case, layout) {
        worst.add(Outcome::ReadsWrongMember, Outcome::ReadsWrongMember, || {
            format!(
                "{host_name} has {plugin_size} bytes in the plugin and {host_size} in the host, and {use_text}"
            )
        });
    }
    worst.finish()
}

/// Returns the by-value use through which a struct of another size moves what follows it, or `None`.
fn by_value_use(case: PluginOnHost, layout: &LayoutChange) -> Option<String> {
    if layout.size.old == layout.size.new {
        return None;
    }
    let (plugin_name, host_name) = case.plugin_and_host(layout.name);
    let plugin_uses = case.plugin.by_value_uses.get(plugin_name);
    let host_uses = case.host.by_value_uses.get(host_name);
    let mut uses = plugin_uses.into_iter().chain(host_uses);
    if uses.any(|uses| uses.needs_fixed_size) {
        return Some("is passed by value or is an array element".into());
    }
    let enclosing = plugin_uses?.embedded_in.iter();
    let mut moved = enclosing.filter(|name| has_moved_field(case, name));
    moved.next().map(|name| format!("{name} embeds it"))
}

/// Returns true if a member of the struct has different offsets on the two sides.
fn has_moved_field(case: PluginOnHost, name: &str) -> bool {
    let plugin = case.plugin.item(name).and_then(Item::fields);
    let host = case.host.item(name).and_then(Item::fields);
    let (Some(plugin), Some(host)) = (plugin, host) else {
        return false;
    };
    let mut offsets = plugin.iter().map(|field| (&field.name, field.offset));
    offsets.any(|(name, offset)| {
        let mut host = host.iter();
        host.any(|field| field.name == *name && field.offset != offset)
    })
}

/// Returns true if the struct is only ever embedded in structs that have the same size on both sides.
fn is_in_equal_structs(case: PluginOnHost, plugin_name: &str, host_name: &str) -> bool {
    let Some(uses) = case.host.by_value_uses.get(host_name) else {
        return false;
    };
    let size = |view: &SurfaceView, name: &str| view.size(&Type::Named(name.into()));
    let has_same_size = |name: &String| size(case.plugin, name) == size(case.host, name);
    !uses.needs_fixed_size
        && !uses.embedded_in.is_empty()
        && uses.embedded_in.iter().all(has_same_size)
        && !case.plugin.memory.is_allocated_alone(plugin_name)
        && !case.host.memory.is_allocated_alone(host_name)
}

/// The two layouts of one struct, for the comparison of their rows.
struct StructComparison<'s> {
    case: PluginOnHost<'s>,
    layout: &'s LayoutChange<'s>,
    allocator: Side,
    is_in_equal_structs: bool,
    plugin_size: u64,
    host_size: u64,
    /// The `struct_size` that the plugin writes.
    plugin_written_size: Option<u64>,
    /// The `struct_size` that the host writes.
    host_written_size: Option<u64>,
    name: &'s str,
}

impl StructComparison<'_> {
    fn add_row(&self, row: &LayoutRow, worst: &mut WorstEffect) {
        match self.case.plugin_and_host(row.member) {
            (Some(plugin), Some(host)) => self.add_conflict(row.offset, plugin, host, worst),
            (Some(plugin), None) => self.add_plugin_only(row.offset, plugin, worst),
            (None, Some(host)) => self.add_host_only(row.offset, host, worst),
            (None, None) => {}
        }
    }

    /// Adds the effect of a member that only the plugin has at this offset.
    fn add_plugin_only(&self, offset: u64, field: &Field, worst: &mut WorstEffect) {
        if offset < self.host_size || self.is_in_equal_structs || self.allocator == Side::Plugin {
            return;
        }
        let (outcome, verb) = match self.filler(field, true) {
            Side::Plugin => (Outcome::CorruptsMemory, "writes"),
            Side::Core if self.case.plugin.signature(&field.ty).is_some() => {
                (Outcome::WrongFunction, "calls")
            }
            Side::Core => (Outcome::ReadsWrongMember, "reads"),
        };
        let guarded = match self.host_written_size {
            Some(_) => Outcome::WorksWithout,
            None => outcome,
        };
        worst.add(outcome, guarded, || {
            format!(
                "the plugin {verb} {} at offset {offset}, past the end of the host's {} ({} bytes)",
                field.name, self.name, self.host_size
            )
        });
    }

    /// Adds the effect of different members at the same offset.
    fn add_conflict(&self, offset: u64, plugin: &Field, host: &Field, worst: &mut WorstEffect) {
        let are_functions = self.case.plugin.signature(&plugin.ty).is_some()
            && self.case.host.signature(&host.ty).is_some();
        let outcome = match are_functions {
            true => Outcome::WrongFunction,
            false => Outcome::ReadsWrongMember,
        };
        let is_covered = self
            .host_written_size
            .is_none_or(|size| plugin.offset + plugin.size <= size);
        let guarded = match is_covered {
            true => outcome,
            false => Outcome::WorksWithout,
        };
        worst.add(outcome, guarded, || {
            format!(
                "the host has {} at offset {offset}, where the plugin has {}",
                host.name, plugin.name
            )
        });
    }

    /// Adds the effect of a member that only the host has at this offset.
    fn add_host_only(&self, offset: u64, field: &Field, worst: &mut WorstEffect) {
        let filler = self.filler(field, false);
        let presence = field.presence.as_ref().map(|stated| stated.value);
        if presence == Some(Presence::Required) && filler == Side::Plugin {
            worst.missing.push(field.name.clone());
        }
        let is_past_end = offset >= self.plugin_size && !self.is_in_equal_structs;
        let is_covered = self.plugin_written_size.is_none_or(|size| offset < size);
        // Core sets the memory that it allocates to zero. No side does so for the plugin's memory.
        if (self.allocator == Side::Core && !self.is_in_equal_structs) || !is_covered {
            return;
        }
        let outcome = match (is_past_end, filler) {
            (false, Side::Core) => return,
            (true, Side::Core) => Outcome::CorruptsMemory,
            (true, Side::Plugin) if self.case.host.signature(&field.ty).is_some() => {
                Outcome::WrongFunction
            }
            (true, Side::Plugin) => Outcome::ReadsWrongMember,
            (false, Side::Plugin) => Outcome::MisreadsValue,
        };
        worst.add(outcome, outcome, || match is_past_end {
            true => format!(
                "the host accesses {} at offset {offset}, past the end of the plugin's struct ({} bytes)",
                field.name, self.plugin_size
            ),
            false => format!(
                "the host reads {} at offset {offset}, which the plugin does not set",
                field.name
            ),
        });
    }

    /// Returns the side that sets a member. If no fact states it, the plugin, because that has the worse effect.
    fn filler(&self, field: &Field, is_plugins_field: bool) -> Side {
        let (plugin_name, host_name) = self.case.plugin_and_host(self.layout.name);
        let structs = self
            .layout
            .structure
            .map(|structs| self.case.plugin_and_host(structs));
        let (view, name, item) = match is_plugins_field {
            true => (
                self.case.plugin,
                plugin_name,
                structs.map(|(plugin, _)| plugin),
            ),
            false => (self.case.host, host_name, structs.map(|(_, host)| host)),
        };
        let stated = item.and_then(|item| item.filler(field));
        stated.or_else(|| view.filler(name)).unwrap_or(Side::Plugin)
    }
}

/// Returns the effect of a member whose type changed.
pub fn retyped_field(case: PluginOnHost, layout: &LayoutChange, similarity: Similarity) -> Effect {
    let mut effect = changed_layout(case, layout);
    let sizes_are_equal = || {
        layout
            .fields
            .windows(2)
            .all(|pair| pair[0].size == pair[1].size)
    };
    let outcome = match similarity {
        similarity if similarity.is_binary_compatible() => Outcome::Works,
        Similarity::Signature => Outcome::WrongArguments,
        _ if sizes_are_equal() => Outcome::MisreadsValue,
        _ => Outcome::ReadsWrongMember,
    };
    let name = layout.field_names().first().copied().unwrap_or_default();
    if outcome > effect.outcome {
        effect.why = format!("{name} is read as another type than it was written");
    }
    effect.outcome = effect.outcome.max(outcome);
    effect.guarded = effect.guarded.max(outcome);
    effect
}

/// Returns the effect of a struct or union whose by-value use makes its size matter, or `None`.
fn wrong_size(case: PluginOnHost, layout: &LayoutChange) -> Option<Effect> {
    let use_text = by_value_use(case, layout)?;
    let (name, _) = case.plugin_and_host(layout.name);
    let why = format!("{name} has different sizes in plugin and host, and {use_text}");
    Some(uniform(Outcome::ReadsWrongMember, why))
}

/// Returns the effect of a union member that only one side has.
pub fn changed_union(case: PluginOnHost, layout: &LayoutChange, plugin_has_it: bool) -> Effect {
    let (plugin_size, host_size) = case.plugin_and_host(layout.size);
    match wrong_size(case, layout) {
        Some(effect) => effect,
        None if plugin_size > host_size => uniform(
            Outcome::CorruptsMemory,
            "the plugin's union is larger than the host's",
        ),
        None if plugin_has_it => uniform(
            Outcome::MisreadsValue,
            "the plugin may store a member that the host does not have",
        ),
        None => uniform(
            Outcome::WorksWithout,
            "the plugin does not store the member, and does not know it if the host stores it",
        ),
    }
}

/// Returns the effect of a size macro that covers more members on one side. `names` are these members.
pub fn changed_struct_size(
    case: PluginOnHost,
    sizes: OldNew<&StructSize>,
    names: &[&str],
) -> Effect {
    let (plugin, host) = case.plugin_and_host(sizes);
    let side = match plugin.value.cmp(&host.value) {
        std::cmp::Ordering::Equal => {
            return uniform(Outcome::Works, "both sides write the same size");
        }
        std::cmp::Ordering::Less => "the plugin",
        std::cmp::Ordering::Greater => "the host",
    };
    Effect {
        outcome: Outcome::Works,
        guarded: Outcome::WorksWithout,
        why: format!(
            "{side} writes a struct_size that does not cover {}, although the members exist",
            names.join(", ")
        ),
    }
}

/// Returns the effect of a struct whose size changed although no member explains it.
pub fn changed_sizeof(case: PluginOnHost, layout: &LayoutChange) -> Effect {
    wrong_size(case, layout).unwrap_or_else(|| {
        let (name, _) = case.plugin_and_host(layout.name);
        uniform(Outcome::Works, format!("no member of {name} moved"))
    })
}

/// Returns the effect of a type with different alignments.
pub fn changed_alignment(case: PluginOnHost, alignments: OldNew<u64>) -> Effect {
    let (plugin, host) = case.plugin_and_host(alignments);
    let why = format!("the plugin aligns it to {plugin} bytes, the host to {host}");
    uniform(Outcome::ReadsWrongMember, why)
}
