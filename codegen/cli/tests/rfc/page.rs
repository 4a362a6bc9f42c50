//! The page: a table for each proposal, with a row for each declaration and each slot of a table.

use std::fs;

use sp_ir::{Field, Item, Type};
use sp_tests::root;

use crate::fate::{self, code};
use crate::proposal::Proposal;

const HEAD: &str = "\
# Proposed and shipped declarations

Which declarations of TensorFlow's RFCs 257, 262 and 389 shipped, in which release, and how do they differ from the
proposal? A test writes this page from the declarations, retyped in `tests/rfc`, and the snapshots in
`generated/ir`. It does not compare names of parameters. `tests/rfc/diffs.txt` has the output of `sp-gen diff`. What the
texts proposed without a declaration is [at the end](#proposals-without-a-declaration), from `tests/rfc/behavior.md`.
";

pub fn draw(all: &[Proposal]) -> String {
    let parts = all.iter().map(part).collect::<String>();
    let releases = &all[0].releases;
    let (first, last) = (&releases[0].0, &releases[releases.len() - 1].0);
    let behavior = fs::read_to_string(root().join("tests/rfc/behavior.md")).unwrap();
    format!("{HEAD}The compared releases are {first} to {last}.\n{parts}\n{behavior}")
}

fn part(proposal: &Proposal) -> String {
    let about = proposal.about;
    let partial = match about.is_partial {
        true => "It has examples only, which contain a part of the declarations.\n\n",
        false => "",
    };
    let mut text = format!(
        "\n## RFC {}: {}\n\n{partial}| declaration | kind | result |\n|---|---|---|\n",
        about.number(),
        about.title,
    );
    let items = &proposal.api().items;
    for (name, item) in items {
        if let Some(kind) = kind(item) {
            let fate = fate::item(proposal, name, item);
            text += &format!("| {} | {kind} | {fate} |\n", proposed(proposal, name));
        }
    }
    let tables = items
        .iter()
        .filter_map(|(name, item)| table(proposal, name, item));
    text + &tables.collect::<String>()
}

/// Returns the proposed name, and the one that shipped if it is another.
fn proposed(proposal: &Proposal, name: &str) -> String {
    match proposal.about.proposed_name(name) {
        same if same == name => code(name),
        old => format!("{}, now {}", code(old), code(name)),
    }
}

/// Returns the kind of an item, or `None` for constants, which repeat the structs.
fn kind(item: &Item) -> Option<&'static str> {
    match item {
        Item::Struct(_) => Some("struct"),
        Item::Union(_) => Some("union"),
        Item::Enum(_) => Some("enumeration"),
        Item::Handle(_) => Some("opaque type"),
        Item::Callback(_) => Some("callback"),
        Item::Function(_) => Some("function"),
        Item::Alias(_) | Item::Constant(_) => None,
    }
}

/// Returns the rows of the slots of a function table.
fn table(proposal: &Proposal, name: &str, item: &Item) -> Option<String> {
    let item = item.as_struct()?;
    let is_slot = |field: &&Field| matches!(field.ty, Type::Function(_));
    let slots: Vec<&Field> = item.fields.iter().filter(is_slot).collect();
    let rows = slots.iter().map(|field| {
        let fate = fate::slot(proposal, name, &field.name, &field.ty);
        format!("| {} | {fate} |\n", proposed(proposal, &field.name))
    });
    let rows: String = rows.collect();
    let name = proposal.about.proposed_name(name);
    let head = format!("\n### Functions of `{name}`\n\n| function | result |\n|---|---|\n");
    (!slots.is_empty()).then(|| head + &rows)
}
