//! Ops as text for a terminal.

use super::format_releases;
use sp_data::release::Release;
use sp_ops::{AllowedValues, Attribute, DataType, Declared, Op, ReleaseSet, Table};
use std::fmt::Display;

/// The column in which the releases of an item begin, if the item is shorter.
const RELEASES: usize = 44;

/// Formats one op. `release` is the release that it is restricted to.
pub fn format_op(op: &Op, release: Option<Release>, width: usize) -> String {
    let releases = match release {
        Some(release) => format!("TensorFlow {release}"),
        None => format!(
            "TensorFlow {}",
            format_releases(&op.releases, &ReleaseSet::default())
        ),
    };
    let mut text = format!("{}, {releases}\n", op.name);
    let formatter = OpFormatter {
        op: &op.releases,
        has_releases: release.is_none(),
        width,
    };
    text += &formatter.section("inputs", &op.inputs);
    text += &formatter.section("outputs", &op.outputs);
    text += &formatter.attributes(&op.attributes);
    text += &formatter.section("flags", &op.flags);
    text
}

/// Formats a list of names. A name that not all releases have is followed by those that have it.
pub fn format_names(ops: &[Op], table: &Table<'_>) -> String {
    let all = table.releases().next().map(ReleaseSet::since);
    let all = all.unwrap_or_default();
    let line = |op: &Op| match op.releases == all {
        true => format!("{}\n", op.name),
        false => {
            let releases = format_releases(&op.releases, &all);
            format!("{:<RELEASES$}  {releases}\n", op.name)
        }
    };
    ops.iter().map(line).collect()
}

struct OpFormatter<'a> {
    op: &'a ReleaseSet,
    has_releases: bool,
    width: usize,
}

impl OpFormatter<'_> {
    fn section<T: Display>(&self, title: &str, items: &[Declared<T>]) -> String {
        if items.is_empty() {
            return String::new();
        }
        let lines = items
            .iter()
            .map(|it| self.line(&it.item.to_string(), &it.releases));
        format!("{title}\n{}", lines.collect::<String>())
    }

    /// Returns the line of an item, with its releases if they are not those of the op.
    fn line(&self, item: &str, releases: &ReleaseSet) -> String {
        match !self.has_releases || releases == self.op {
            true => format!("  {item}\n"),
            false => {
                let releases = format_releases(releases, self.op);
                format!("  {:<indent$}  {releases}\n", item, indent = RELEASES - 2)
            }
        }
    }

    fn attributes(&self, attributes: &[Declared<Attribute>]) -> String {
        if attributes.is_empty() {
            return String::new();
        }
        let mut text = "attributes\n".to_owned();
        let groups = attributes.chunk_by(|one, other| differ_in_types_only(&one.item, &other.item));
        for group in groups {
            text += &self.attribute(group);
        }
        text
    }

    /// Formats the declarations of an attribute that differ at most in their allowed types.
    fn attribute(&self, declarations: &[Declared<Attribute>]) -> String {
        let Some(first) = declarations.first() else {
            return String::new();
        };
        let releases = declarations
            .iter()
            .fold(ReleaseSet::default(), |all, it| all.union(&it.releases));
        if let AllowedValues::Types(_) = first.item.allowed {
            let head = Attribute {
                allowed: AllowedValues::Any,
                ..first.item.clone()
            };
            let types = self.types(declarations, &releases);
            return format!("{}{types}", self.line(&head.to_string(), &releases));
        }
        self.line(&first.item.to_string(), &releases)
    }

    /// Formats the allowed types, grouped by the releases that allow them.
    fn types(&self, declarations: &[Declared<Attribute>], all: &ReleaseSet) -> String {
        let mut groups: Vec<(ReleaseSet, Vec<DataType>)> = Vec::new();
        for (data_type, releases) in allowed_types(declarations) {
            match groups.iter_mut().find(|(known, _)| *known == releases) {
                Some((_, types)) => types.push(data_type),
                None => groups.push((releases, vec![data_type])),
            }
        }
        groups.sort_by_key(|(releases, _)| (releases != all, releases.first()));
        let lines = groups.iter().map(|(releases, types)| {
            let names: Vec<String> = types.iter().map(ToString::to_string).collect();
            let label = match self.has_releases && releases != all {
                true => format!("{}: ", format_releases(releases, all)),
                false => String::new(),
            };
            self.wrap(&format!("{label}{}", names.join(", ")))
        });
        lines.collect()
    }

    fn wrap(&self, text: &str) -> String {
        let options = textwrap::Options::new(self.width)
            .initial_indent("    ")
            .subsequent_indent("      ");
        textwrap::fill(text, options) + "\n"
    }
}

/// Returns true if two declarations are of one attribute, and differ only in allowed types.
fn differ_in_types_only(one: &Attribute, other: &Attribute) -> bool {
    let head = |attribute: &Attribute| {
        let allowed = match attribute.allowed {
            AllowedValues::Types(_) => AllowedValues::Types(Vec::new()),
            ref allowed => allowed.clone(),
        };
        Attribute {
            allowed,
            ..attribute.clone()
        }
        .to_string()
    };
    head(one) == head(other)
}

/// Returns the types that some declaration allows, each with the releases that allow it.
fn allowed_types(declarations: &[Declared<Attribute>]) -> Vec<(DataType, ReleaseSet)> {
    let mut types: Vec<(DataType, ReleaseSet)> = Vec::new();
    for declared in declarations {
        let AllowedValues::Types(allowed) = &declared.item.allowed else {
            continue;
        };
        for data_type in allowed {
            match types.iter_mut().find(|(known, _)| known == data_type) {
                Some((_, releases)) => *releases = releases.union(&declared.releases),
                None => types.push((*data_type, declared.releases.clone())),
            }
        }
    }
    types.sort_by_key(|(data_type, _)| *data_type);
    types
}
