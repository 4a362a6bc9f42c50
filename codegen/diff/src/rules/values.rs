//! Findings about constants and enumerators.

use sp_ir::{Item, Value, c};

use super::{Rule, catalog};
use crate::change::{Change, Declaration, OldNew, ValueChange};
use crate::effect;
use crate::finding::{Finding, Outcome};
use crate::pair::SurfacePair;
use crate::phrases;

pub fn constant_added(change: &Change) -> Finding {
    let message = format!("{} was added", change.item);
    let why = "the compiler copies the value into the code";
    let remedy = "compile code that uses it with the newer headers";
    catalog::CONST_ADDED.harmless(change, message, why, remedy)
}

pub fn constant_removed(change: &Change) -> Finding {
    let message = format!("{} was removed", change.item);
    let why = "binaries keep the value that they were compiled with";
    let remedy = "declare it in your own code to support older releases";
    catalog::CONST_REMOVED.harmless(change, message, why, remedy)
}

pub fn constant_changed(change: &Change) -> Finding {
    let (old, new) = (constant_value(change.old), constant_value(change.new));
    let message = format!("{} changed from {old} to {new}", change.item);
    let why = "each side keeps the value that it was compiled with";
    catalog::CONST_CHANGED.harmless(
        change,
        message,
        why,
        "recompile code that needs the newer value",
    )
}

/// Returns the value of a constant as C spells it.
fn constant_value(declaration: Option<Declaration>) -> String {
    match declaration {
        Some(Declaration::Item(_, Item::Constant(constant))) => match &constant.value {
            Value::Int(value) => value.to_string(),
            Value::Text(text) => c::string_literal(text),
            Value::Name(name) => name.clone(),
        },
        _ => "another kind of declaration".into(),
    }
}

pub fn enumerator_added(pair: &SurfacePair, change: &Change, value: i64) -> Finding {
    let message = format!(
        "{} = {value} was added",
        phrases::last_component(&change.item)
    );
    let directions =
        effect::in_both_directions(pair, |case| effect::unknown_enumerator(!case.plugin_is_old));
    let remedy = "accept unknown values; send it only to releases that have it";
    catalog::VARIANT_ADDED.finding(change, message, directions, remedy)
}

pub fn enumerator_removed(pair: &SurfacePair, change: &Change, value: i64) -> Finding {
    let message = format!(
        "{} = {value} was removed",
        phrases::last_component(&change.item)
    );
    let directions =
        effect::in_both_directions(pair, |case| effect::unknown_enumerator(case.plugin_is_old));
    let remedy = "send it only to releases that have it";
    catalog::VARIANT_REMOVED.finding(change, message, directions, remedy)
}

pub fn enumerator_renamed(change: &Change, value: i64) -> Finding {
    let (old, new) = (change.old_name(), change.new_name());
    let message = format!("{old} = {value} was renamed to {new}");
    let remedy = "use the name in the headers that you compile with";
    catalog::VARIANT_RENAMED.harmless(change, message, "the number is unchanged", remedy)
}

pub fn enumerators_inserted(pair: &SurfacePair, change: &Change, moved: &[ValueChange]) -> Finding {
    let name = phrases::last_component(&change.item);
    let message = format!("{name} was inserted; {}", phrases::describe_values(moved));
    let remedy = "translate the numbers by the running release";
    catalog::VARIANT_INSERTED.misread(pair, change, message, remedy)
}

pub fn enumerator_revalued(pair: &SurfacePair, change: &Change, values: OldNew<i64>) -> Finding {
    let name = phrases::last_component(&change.item);
    let message = format!("{name} changed from {} to {}", values.old, values.new);
    let remedy = "translate the number by the running release";
    catalog::VARIANT_REVALUED.misread(pair, change, message, remedy)
}

impl Rule {
    fn misread(
        &self,
        pair: &SurfacePair,
        change: &Change,
        message: String,
        remedy: &str,
    ) -> Finding {
        let why = "plugin and host read the same number as different enumerators";
        let directions =
            effect::in_both_directions(pair, |_| effect::uniform(Outcome::MisreadsValue, why));
        self.finding(change, message, directions, remedy)
    }
}
