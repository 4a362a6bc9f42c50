//! A macro or constant has another value.

use sp_ir::{Item, Value};

use super::{Rule, Said};
use crate::change::{Change, Declared, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use sp_ir::c;

/// The rule.
pub const RULE: Rule = Rule {
    id: "const_changed",
    impact: Impact::SourceOnly,
    bump: Bump::Patch,
    summary: "A macro or constant has another value.",
    explanation: "Each side goes on with the value that it was compiled with. Where both compare \
                  such values, as the numbers of a file system's ABI, they may disagree: read \
                  what the constant is for.",
    reference: "C11 6.10.3: macros are replaced when code is compiled",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::ConstChanged = change.kind else {
        return None;
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!(
                "{} was {}, is {}",
                change.item,
                said(change.old),
                said(change.new)
            ),
            directions: effect::works("each side has the value that it was compiled with"),
            bytes: Vec::new(),
            remedy: "compile again where the newer value matters".into(),
        },
    ))
}

/// A constant's value as a header would spell it.
fn said(side: Option<Declared>) -> String {
    match side {
        Some(Declared::Item(_, Item::Constant(constant))) => match &constant.value {
            Value::Int(value) => value.to_string(),
            Value::Text(text) => c::string_literal(text),
            Value::Name(name) => name.clone(),
        },
        _ => "something else".into(),
    }
}
