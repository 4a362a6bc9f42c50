//! The finding about each change of an op.

use super::{API, ArgumentKind};
use crate::change::OldNew;
use crate::effect::{harmless, same_in_both, uniform};
use crate::finding::{Directions, Effect, Finding, Outcome};
use crate::rules::Rule;
use sp_ops::{Argument, ArgumentType, Attribute, ElementType, Flag, Value};

const CHOOSE: &str = "choose the kernel by the running release";
const SET: &str = "set the attribute of each node that a graph optimizer creates";
const BY_RELEASE: &str = "read and restrict the attribute only on the releases that have it";
const NOTHING: &str = "nothing to do";
const NODE_VALUE: &str = "a kernel gets the value that the node has";

/// A change of an op that a rule judges: the first argument of every handler.
pub struct JudgedOp {
    /// The rule.
    pub rule: &'static Rule,
    /// The op, or its argument or attribute: `TopKV2.k`.
    pub item: String,
}

impl JudgedOp {
    /// Returns the change as one of an argument or attribute.
    fn part(&self, name: &str) -> Self {
        Self {
            rule: self.rule,
            item: format!("{}.{name}", self.item),
        }
    }

    /// Returns the rule's finding with these effects.
    fn finding(&self, message: impl Into<String>, directions: Directions, remedy: &str) -> Finding {
        self.rule
            .finding(API, &self.item, message, directions, remedy)
    }
}

fn effect(outcome: Outcome, guarded: Outcome, why: &str) -> Effect {
    Effect {
        outcome,
        guarded,
        why: why.into(),
    }
}

pub fn op_added(op: &JudgedOp) -> Finding {
    op.finding("the op was added", added_op(), NOTHING)
}

pub fn op_removed(op: &JudgedOp) -> Finding {
    op.finding("the op was removed", added_op().reversed(), NOTHING)
}

fn added_op() -> Directions {
    let never_called = "no graph of the host has the op, so its kernel is never called";
    Directions {
        old_on_new: uniform(Outcome::Works, "the plugin has no kernel for the op"),
        new_on_old: uniform(Outcome::WorksWithout, never_called),
    }
}

pub fn op_argument_added(op: &JudgedOp, kind: &ArgumentKind, argument: &Argument) -> Finding {
    let message = format!("the {} {argument} was added", kind.name());
    let op = op.part(&argument.name);
    op.finding(message, added_argument(*kind), CHOOSE)
}

pub fn op_argument_removed(op: &JudgedOp, kind: &ArgumentKind, argument: &Argument) -> Finding {
    let message = format!("the {} {argument} was removed", kind.name());
    let op = op.part(&argument.name);
    op.finding(message, added_argument(*kind).reversed(), CHOOSE)
}

fn added_argument(kind: ArgumentKind) -> Directions {
    let unknown = match kind {
        ArgumentKind::Input => "the kernel computes without the input",
        ArgumentKind::Output => "the kernel does not set the output",
    };
    Directions {
        old_on_new: uniform(Outcome::WrongArguments, unknown),
        new_on_old: effect(
            Outcome::WrongArguments,
            Outcome::WorksWithout,
            "the kernel uses an index that the node does not have, or has for another argument",
        ),
    }
}

pub fn op_argument_retyped(
    op: &JudgedOp,
    kind: &ArgumentKind,
    OldNew { old, new }: &OldNew<Argument>,
) -> Finding {
    let message = format!(
        "the type of the {} {} changed from {} to {}",
        kind.name(),
        new.name,
        type_text(old),
        type_text(new)
    );
    let directions = Directions {
        old_on_new: retyped_effect(old, new),
        new_on_old: retyped_effect(new, old),
    };
    let remedy =
        "restrict the type to those that the kernel knows, on the releases that have the attribute";
    op.part(&new.name).finding(message, directions, remedy)
}

/// Returns the effect of an argument with another type in the plugin than in the host.
fn retyped_effect(plugin: &Argument, host: &Argument) -> Effect {
    match (is_fixed(plugin), is_fixed(host)) {
        (true, false) => uniform(
            Outcome::MisreadsValue,
            "the kernel is also chosen for nodes with other types than it knows",
        ),
        (false, true) => effect(
            Outcome::Rejected,
            Outcome::WorksWithout,
            "a type constraint on an attribute that the host's op lacks makes each lookup of a kernel of the op fail",
        ),
        _ => uniform(
            Outcome::MisreadsValue,
            "the node has other tensors than the kernel expects",
        ),
    }
}

fn is_fixed(argument: &Argument) -> bool {
    matches!(argument.ty, ArgumentType::Single(ElementType::Fixed(_)))
}

/// Returns the type of an argument without its name.
fn type_text(argument: &Argument) -> String {
    let text = argument.to_string();
    let ty = text.split_once(": ").map(|(_, ty)| ty.to_owned());
    ty.unwrap_or(text)
}

pub fn op_argument_moved(
    op: &JudgedOp,
    kind: &ArgumentKind,
    names: &OldNew<Vec<String>>,
) -> Finding {
    let message = format!(
        "the order of the {}s changed from {} to {}",
        kind.name(),
        names.old.join(", "),
        names.new.join(", ")
    );
    let why = "the kernel's indices are those of other arguments";
    let directions = same_in_both(uniform(Outcome::WrongArguments, why));
    let remedy = "choose the indices by the running release";
    op.finding(message, directions, remedy)
}

pub fn op_attribute_added(op: &JudgedOp, attribute: &Attribute) -> Finding {
    let message = format!("the attribute {attribute} was added");
    let op = op.part(&attribute.name);
    op.finding(message, added_attribute(attribute), BY_RELEASE)
}

pub fn op_attribute_removed(op: &JudgedOp, attribute: &Attribute) -> Finding {
    let message = format!("the attribute {attribute} was removed");
    let op = op.part(&attribute.name);
    op.finding(message, added_attribute(attribute).reversed(), BY_RELEASE)
}

/// Returns the finding about an attribute without a default. `former_default` is `None` if the attribute was added.
pub fn op_attribute_required(
    op: &JudgedOp,
    attribute: &Attribute,
    former_default: &Option<Value>,
) -> Finding {
    let name = &attribute.name;
    let (message, directions) = match former_default {
        Some(default) => (
            format!("the default of {name} changed from {default} to none"),
            added_default().reversed(),
        ),
        None => (
            format!("the attribute {attribute} was added"),
            added_attribute(attribute),
        ),
    };
    op.part(name).finding(message, directions, SET)
}

fn added_attribute(attribute: &Attribute) -> Directions {
    Directions {
        old_on_new: match attribute.default {
            Some(_) => uniform(
                Outcome::WorksWithout,
                "the kernel computes as with the default, whatever the node has",
            ),
            None => absent_default(),
        },
        new_on_old: effect(
            Outcome::Rejected,
            Outcome::WorksWithout,
            "reading the attribute fails, and a type constraint on it makes each lookup of a kernel of the op fail",
        ),
    }
}

/// Returns the effect of an attribute that has a default, or does not exist, in the plugin only.
fn absent_default() -> Effect {
    effect(
        Outcome::Rejected,
        Outcome::Works,
        "a node that the plugin creates without the attribute is invalid; kernels are not affected",
    )
}

pub fn op_attribute_retyped(op: &JudgedOp, OldNew { old, new }: &OldNew<Attribute>) -> Finding {
    let message = format!(
        "the type of the attribute {} changed from {} to {}",
        new.name, old.ty, new.ty
    );
    let why = "reading the attribute as the type that it has on the other side fails";
    let directions = same_in_both(effect(Outcome::Rejected, Outcome::WorksWithout, why));
    let remedy = "read the attribute as the type of the running release";
    op.part(&new.name).finding(message, directions, remedy)
}

pub fn op_default_changed(
    op: &JudgedOp,
    attribute: &str,
    old: &Option<Value>,
    new: &Value,
) -> Finding {
    let (old, directions) = match old {
        Some(old) => (old.to_string(), harmless(NODE_VALUE)),
        None => ("none".into(), added_default()),
    };
    let message = format!("the default of {attribute} changed from {old} to {new}");
    op.part(attribute).finding(message, directions, NOTHING)
}

fn added_default() -> Directions {
    Directions {
        old_on_new: uniform(Outcome::Works, NODE_VALUE),
        new_on_old: absent_default(),
    }
}

pub fn op_values_added(op: &JudgedOp, attribute: &str, values: &[String]) -> Finding {
    let message = match values {
        [] => format!("{attribute} allows all values"),
        values => format!("{attribute} also allows {}", values.join(", ")),
    };
    let remedy = "register each kernel for the types that it knows, and reject unknown strings";
    op.part(attribute).finding(message, added_values(), remedy)
}

pub fn op_values_removed(op: &JudgedOp, attribute: &str, values: &[String]) -> Finding {
    let message = match values {
        [] => format!("{attribute} no longer allows all values"),
        values => format!("{attribute} no longer allows {}", values.join(", ")),
    };
    let op = op.part(attribute);
    op.finding(message, added_values().reversed(), NOTHING)
}

fn added_values() -> Directions {
    Directions {
        old_on_new: effect(
            Outcome::MisreadsValue,
            Outcome::WorksWithout,
            "a kernel that does not restrict the attribute gets values that it does not know",
        ),
        new_on_old: uniform(
            Outcome::WorksWithout,
            "kernels for values that the host does not allow are never called",
        ),
    }
}

pub fn op_minimum_changed(
    op: &JudgedOp,
    attribute: &str,
    minimums: &OldNew<Option<i64>>,
) -> Finding {
    let text = |minimum: Option<i64>| minimum.map_or("none".into(), |it| it.to_string());
    let OldNew { old, new } = minimums.map(text);
    let message = format!("the minimum of {attribute} changed from {old} to {new}");
    let op = op.part(attribute);
    op.finding(message, harmless(NODE_VALUE), NOTHING)
}

pub fn op_flag_changed(op: &JudgedOp, flag: &Flag, is_added: &bool) -> Finding {
    let message = match is_added {
        true => format!("the op is {flag}"),
        false => format!("the op is no longer {flag}"),
    };
    op.finding(message, harmless("flags do not affect kernels"), NOTHING)
}
