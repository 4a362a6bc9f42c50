//! `generated/docs/ops.md`: the changes of ops that matter to kernels, from the committed table.

use sp_data::release::Release;
use sp_diff::ops::{ArgumentKind, OpChange, compare};
use sp_ops::{ReleaseOps, Table};
use std::collections::{BTreeMap, BTreeSet};

const HEADING: &str = "\
# Which ops changed between TensorFlow's releases?

Written from `generated/ops/ops.txt` by `SP_BLESS=1 cargo test -p sp-gen --test ops`. It has what matters to a plugin that
registers kernels. `sp-gen ops NAME` prints an op, `sp-gen diff 2.12 2.13 --ops` the effect of each change.

A type constraint on an attribute that the running release lacks makes each lookup of a kernel of that op fail. So constraints,
and attributes that a kernel reads, are chosen by release. A kernel for a type that a release does not allow is never called.

Ops that begin with `_` are counted and not listed: TensorFlow creates them itself.
";

/// A release, the one before it, and the changes of each op.
struct Step {
    release: Release,
    ops: usize,
    changes: BTreeMap<String, Vec<OpChange>>,
}

/// Returns the page.
pub fn page(table: &Table<'_>) -> String {
    let steps = steps(table);
    [
        HEADING,
        &counts(&steps),
        &signatures(&steps),
        &removed(&steps),
        &allowed_values(&steps),
    ]
    .join("\n")
}

fn steps(table: &Table<'_>) -> Vec<Step> {
    let releases: Vec<(Release, ReleaseOps)> = table
        .releases()
        .map(|release| (release, table.in_release(release).unwrap()))
        .collect();
    let step = |pair: &[(Release, ReleaseOps)]| {
        let [(_, old), (release, new)] = pair else {
            unreachable!("windows of two");
        };
        let names: BTreeSet<&String> = old.ops.keys().chain(new.ops.keys()).collect();
        let changes = names.into_iter().map(|name| {
            let changes = compare(old.ops.get(name), new.ops.get(name));
            (name.clone(), changes)
        });
        Step {
            release: *release,
            ops: new.ops.len(),
            changes: changes.filter(|(_, changes)| !changes.is_empty()).collect(),
        }
    };
    releases.windows(2).map(step).collect()
}

fn is_listed(name: &str) -> bool {
    !name.starts_with('_')
}

/// Returns the number of changes of each release.
fn counts(steps: &[Step]) -> String {
    let mut text = "## Changes by release\n\n\
        | release | ops | added | removed | arguments or attributes changed | only allowed values changed |\n\
        |---|---|---|---|---|---|\n"
        .to_owned();
    for step in steps {
        let count = |keep: &dyn Fn(&[OpChange]) -> bool| {
            step.changes
                .values()
                .filter(|changes| keep(changes))
                .count()
        };
        let has_signature = |changes: &[OpChange]| changes.iter().any(|it| signature(it).is_some());
        let has_values = |changes: &[OpChange]| changes.iter().any(|it| values(it).is_some());
        text += &format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            step.release,
            step.ops,
            count(&|changes| changes == [OpChange::OpAdded]),
            count(&|changes| changes == [OpChange::OpRemoved]),
            count(&has_signature),
            count(&|changes| has_values(changes) && !has_signature(changes)),
        );
    }
    text
}

/// Returns the changes of arguments and attributes by op.
fn signatures(steps: &[Step]) -> String {
    let mut rows: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for step in steps {
        for (name, changes) in step.changes.iter().filter(|(name, _)| is_listed(name)) {
            let changes: Vec<String> = changes.iter().filter_map(signature).collect();
            if !changes.is_empty() {
                let text = format!("{}: {}", step.release, changes.join("; "));
                rows.entry(name).or_default().push(text);
            }
        }
    }
    let rows = rows
        .iter()
        .map(|(name, changes)| format!("| `{name}` | {} |\n", changes.join("<br>")));
    let heading = "## Arguments and attributes\n\n| op | changes |\n|---|---|\n";
    format!("{heading}{}", rows.collect::<String>())
}

/// Returns the text of a change of an argument or attribute.
fn signature(change: &OpChange) -> Option<String> {
    let kind = |kind: &ArgumentKind| kind.name();
    Some(match change {
        OpChange::ArgumentAdded(it, argument) => format!("+ {} `{argument}`", kind(it)),
        OpChange::ArgumentRemoved(it, argument) => format!("- {} `{argument}`", kind(it)),
        OpChange::ArgumentRetyped(it, both) => {
            format!("{} `{}` was `{}`", kind(it), both.new, both.old)
        }
        OpChange::ArgumentMoved(it, _) => format!("the order of the {}s", kind(it)),
        OpChange::AttributeAdded(attribute) => {
            let default = attribute.default.as_ref().unwrap();
            format!("+ `{}: {} = {default}`", attribute.name, attribute.ty)
        }
        OpChange::AttributeRequired(attribute, None) => {
            format!("+ `{}: {}`, required", attribute.name, attribute.ty)
        }
        OpChange::AttributeRequired(attribute, Some(default)) => {
            format!("default of `{}`: none was `{default}`", attribute.name)
        }
        OpChange::AttributeRemoved(attribute) => format!("- `{}`", attribute.name),
        OpChange::AttributeRetyped(both) => {
            format!("`{}: {}` was `{}`", both.new.name, both.new.ty, both.old.ty)
        }
        OpChange::DefaultChanged(name, old, new) => {
            let old = old
                .as_ref()
                .map_or("none".into(), |value| format!("`{value}`"));
            format!("default of `{name}`: `{new}` was {old}")
        }
        _ => return None,
    })
}

fn removed(steps: &[Step]) -> String {
    let rows = steps.iter().filter_map(|step| {
        let removed = step.changes.iter();
        let removed = removed.filter(|(_, it)| **it == [OpChange::OpRemoved]);
        let names: Vec<&str> = removed.map(|(name, _)| name.as_str()).collect();
        let names: Vec<&str> = names.into_iter().filter(|name| is_listed(name)).collect();
        (!names.is_empty()).then(|| format!("| {} | {} |\n", step.release, names.join(", ")))
    });
    let heading = "## Removed ops\n\n| release | ops |\n|---|---|\n";
    format!("{heading}{}", rows.collect::<String>())
}

/// Returns the changes of allowed types and strings, with the ops that have the same change in one row.
fn allowed_values(steps: &[Step]) -> String {
    let mut rows = String::new();
    for step in steps {
        let mut groups: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (name, changes) in step.changes.iter().filter(|(name, _)| is_listed(name)) {
            for (attribute, change) in changes.iter().filter_map(values) {
                let item = format!("{name}.{attribute}");
                groups.entry(change).or_default().insert(item);
            }
        }
        for (change, items) in groups {
            let items: Vec<String> = items.into_iter().collect();
            rows += &format!("| {} | {change} | {} |\n", step.release, items.join(", "));
        }
    }
    format!(
        "## Allowed types and strings\n\n| release | change | attributes |\n|---|---|---|\n{rows}"
    )
}

/// Returns the attribute and the text of a change of allowed values.
fn values(change: &OpChange) -> Option<(&str, String)> {
    let list = |sign: &str, values: &[String]| match values {
        [] => format!("{sign} all others"),
        values => format!("{sign} {}", values.join(", ")),
    };
    match change {
        OpChange::ValuesAdded(attribute, values) => Some((attribute, list("+", values))),
        OpChange::ValuesRemoved(attribute, values) => Some((attribute, list("-", values))),
        _ => None,
    }
}
