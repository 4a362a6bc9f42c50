//! Findings about constants and enumerators.

use sp_ir::{Item, Value, c};

use super::JudgedChange;
use crate::change::{Declaration, OldNew, ValueChange};
use crate::effect;
use crate::finding::{Finding, Outcome};
use crate::phrases;

pub fn const_added(change: &JudgedChange) -> Finding {
    let message = format!("{} was added", change.item);
    let why = "the compiler copies the value into the code";
    let remedy = "compile code that uses it with the newer headers";
    change.harmless(message, why, remedy)
}

pub fn const_removed(change: &JudgedChange) -> Finding {
    let message = format!("{} was removed", change.item);
    let why = "binaries keep the value that they were compiled with";
    let remedy = "declare it in your own code to support older releases";
    change.harmless(message, why, remedy)
}

pub fn const_changed(change: &JudgedChange) -> Finding {
    let (old, new) = (constant_value(change.old), constant_value(change.new));
    let message = format!("{} changed from {old} to {new}", change.item);
    let why = "each side keeps the value that it was compiled with";
    let remedy = "recompile code that needs the newer value";
    change.harmless(message, why, remedy)
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

pub fn variant_added(change: &JudgedChange, value: &i64) -> Finding {
    let message = format!("{} = {value} was added", change.name());
    let remedy = "accept unknown values; send it only to releases that have it";
    change.evaluate(message, remedy, |case| {
        effect::unknown_enumerator(!case.plugin_is_old)
    })
}

pub fn variant_removed(change: &JudgedChange, value: &i64) -> Finding {
    let message = format!("{} = {value} was removed", change.name());
    let remedy = "send it only to releases that have it";
    change.evaluate(message, remedy, |case| {
        effect::unknown_enumerator(case.plugin_is_old)
    })
}

pub fn variant_renamed(change: &JudgedChange, value: &i64) -> Finding {
    let (old, new) = (change.old_name(), change.new_name());
    let message = format!("{old} = {value} was renamed to {new}");
    let remedy = "use the name in the headers that you compile with";
    change.harmless(message, "the number is unchanged", remedy)
}

pub fn variant_inserted(change: &JudgedChange, moved: &[ValueChange]) -> Finding {
    let values = phrases::describe_values(moved);
    let message = format!("{} was inserted; {values}", change.name());
    let remedy = "translate the numbers by the running release";
    misread(change, message, remedy)
}

pub fn variant_revalued(change: &JudgedChange, values: &OldNew<i64>) -> Finding {
    let OldNew { old, new } = values;
    let message = format!("{} changed from {old} to {new}", change.name());
    let remedy = "translate the number by the running release";
    misread(change, message, remedy)
}

fn misread(change: &JudgedChange, message: String, remedy: &str) -> Finding {
    let why = "plugin and host read the same number as different enumerators";
    let directions = effect::same_in_both(effect::uniform(Outcome::MisreadsValue, why));
    change.finding(message, directions, remedy)
}
