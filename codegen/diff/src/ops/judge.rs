//! The finding about each change of an op.

use super::change::{ArgumentKind, OpChange};
use super::{API, catalog};
use crate::change::OldNew;
use crate::effect::{harmless, uniform};
use crate::finding::{Directions, Effect, Finding, Outcome};
use crate::rules::Rule;
use sp_ops::{Argument, ArgumentType, Attribute, ElementType, Value};

/// Returns the finding about a change of the op `name`.
pub(super) fn judge(name: &str, change: &OpChange) -> Finding {
    use OpChange as C;
    let part = |part: &str| format!("{name}.{part}");
    match change {
        C::OpAdded => op_added(name),
        C::OpRemoved => op_removed(name),
        C::ArgumentAdded(kind, it) => argument_added(part(&it.name), *kind, it),
        C::ArgumentRemoved(kind, it) => argument_removed(part(&it.name), *kind, it),
        C::ArgumentRetyped(kind, both) => argument_retyped(part(&both.new.name), *kind, both),
        C::ArgumentsMoved(kind, names) => arguments_moved(name.into(), *kind, names),
        C::AttributeAdded(it) => attribute_added(part(&it.name), it),
        C::AttributeRemoved(it) => attribute_removed(part(&it.name), it),
        C::AttributeRetyped(both) => attribute_retyped(part(&both.new.name), both),
        C::DefaultChanged(attribute, both) => default_changed(part(attribute), attribute, both),
        C::ValuesAdded(attribute, values) => values_added(part(attribute), attribute, values),
        C::ValuesRemoved(attribute, values) => values_removed(part(attribute), attribute, values),
        C::MinimumChanged(attribute, both) => minimum_changed(part(attribute), attribute, *both),
        C::FlagAdded(flag) => flag_changed(name, format!("the op is {flag}")),
        C::FlagRemoved(flag) => flag_changed(name, format!("the op is no longer {flag}")),
    }
}

fn finding(
    rule: &Rule,
    item: String,
    message: String,
    directions: Directions,
    remedy: &str,
) -> Finding {
    Finding {
        rule: rule.id,
        api: API.into(),
        item,
        impact: rule.impact,
        bump: rule.bump,
        message,
        directions,
        bytes: Vec::new(),
        before: None,
        after: None,
        remedy: remedy.into(),
        target: None,
    }
}

fn works(why: &str) -> Effect {
    uniform(Outcome::Works, why)
}

fn effect(outcome: Outcome, guarded: Outcome, why: &str) -> Effect {
    Effect {
        outcome,
        guarded,
        why: why.into(),
    }
}

const NEVER_CALLED: &str = "no graph of the host has the op, so its kernel is never called";
const CHOOSE: &str = "choose the kernel by the running release";
const SET: &str = "set the attribute of each node that a graph optimizer creates";
const BY_RELEASE: &str = "read and restrict the attribute only on the releases that have it";

fn op_added(name: &str) -> Finding {
    let directions = Directions {
        old_on_new: works("the plugin has no kernel for the op"),
        new_on_old: uniform(Outcome::WorksWithout, NEVER_CALLED),
    };
    let message = "the op was added".to_owned();
    finding(
        &catalog::OP_ADDED,
        name.into(),
        message,
        directions,
        "nothing to do",
    )
}

fn op_removed(name: &str) -> Finding {
    let directions = Directions {
        old_on_new: uniform(Outcome::WorksWithout, NEVER_CALLED),
        new_on_old: works("the plugin has no kernel for the op"),
    };
    let message = "the op was removed".to_owned();
    finding(
        &catalog::OP_REMOVED,
        name.into(),
        message,
        directions,
        "nothing to do",
    )
}

fn argument_added(item: String, kind: ArgumentKind, argument: &Argument) -> Finding {
    let message = format!("the {} {argument} was added", kind.name());
    let directions = Directions {
        old_on_new: unknown_argument(kind),
        new_on_old: absent_argument(),
    };
    finding(
        &catalog::OP_ARGUMENT_ADDED,
        item,
        message,
        directions,
        CHOOSE,
    )
}

fn argument_removed(item: String, kind: ArgumentKind, argument: &Argument) -> Finding {
    let message = format!("the {} {argument} was removed", kind.name());
    let directions = Directions {
        old_on_new: absent_argument(),
        new_on_old: unknown_argument(kind),
    };
    finding(
        &catalog::OP_ARGUMENT_REMOVED,
        item,
        message,
        directions,
        CHOOSE,
    )
}

/// Returns the effect of an argument of the host's op that the plugin does not know.
fn unknown_argument(kind: ArgumentKind) -> Effect {
    uniform(
        Outcome::WrongArguments,
        match kind {
            ArgumentKind::Input => "the kernel computes without the input",
            ArgumentKind::Output => "the kernel does not set the output",
        },
    )
}

/// Returns the effect of an argument that the plugin knows and the host's op lacks.
fn absent_argument() -> Effect {
    effect(
        Outcome::WrongArguments,
        Outcome::WorksWithout,
        "the kernel uses an index that the node does not have, or has for another argument",
    )
}

fn argument_retyped(item: String, kind: ArgumentKind, both: &OldNew<Argument>) -> Finding {
    let message = format!(
        "the type of the {} {} changed from {} to {}",
        kind.name(),
        both.new.name,
        type_text(&both.old),
        type_text(&both.new)
    );
    let directions = Directions {
        old_on_new: retyped_effect(&both.old, &both.new),
        new_on_old: retyped_effect(&both.new, &both.old),
    };
    let remedy =
        "restrict the type to those that the kernel knows, on the releases that have the attribute";
    finding(
        &catalog::OP_ARGUMENT_RETYPED,
        item,
        message,
        directions,
        remedy,
    )
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

fn arguments_moved(item: String, kind: ArgumentKind, names: &OldNew<Vec<String>>) -> Finding {
    let message = format!(
        "the order of the {}s changed from {} to {}",
        kind.name(),
        names.old.join(", "),
        names.new.join(", ")
    );
    let why = "the kernel's indices are those of other arguments";
    let directions = Directions {
        old_on_new: uniform(Outcome::WrongArguments, why),
        new_on_old: uniform(Outcome::WrongArguments, why),
    };
    let remedy = "choose the indices by the running release";
    finding(
        &catalog::OP_ARGUMENT_MOVED,
        item,
        message,
        directions,
        remedy,
    )
}

fn attribute_added(item: String, attribute: &Attribute) -> Finding {
    let message = format!("the attribute {attribute} was added");
    let directions = Directions {
        old_on_new: unknown_attribute(attribute),
        new_on_old: absent_attribute(),
    };
    let (rule, remedy) = match attribute.default {
        Some(_) => (&catalog::OP_ATTRIBUTE_ADDED, BY_RELEASE),
        None => (&catalog::OP_ATTRIBUTE_REQUIRED, SET),
    };
    finding(rule, item, message, directions, remedy)
}

fn attribute_removed(item: String, attribute: &Attribute) -> Finding {
    let message = format!("the attribute {attribute} was removed");
    let directions = Directions {
        old_on_new: absent_attribute(),
        new_on_old: unknown_attribute(attribute),
    };
    finding(
        &catalog::OP_ATTRIBUTE_REMOVED,
        item,
        message,
        directions,
        BY_RELEASE,
    )
}

/// Returns the effect of an attribute that the plugin knows and the host's op lacks.
fn absent_attribute() -> Effect {
    effect(
        Outcome::Rejected,
        Outcome::WorksWithout,
        "reading the attribute fails, and a type constraint on it makes each lookup of a kernel of the op fail",
    )
}

/// Returns the effect of an attribute of the host's op that the plugin does not know.
fn unknown_attribute(attribute: &Attribute) -> Effect {
    match attribute.default {
        Some(_) => uniform(
            Outcome::WorksWithout,
            "the kernel computes as with the default, whatever the node has",
        ),
        None => absent_default(),
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

fn attribute_retyped(item: String, both: &OldNew<Attribute>) -> Finding {
    let message = format!(
        "the type of the attribute {} changed from {} to {}",
        both.new.name, both.old.ty, both.new.ty
    );
    let why = "reading the attribute as the type that it has on the other side fails";
    let fails = || effect(Outcome::Rejected, Outcome::WorksWithout, why);
    let directions = Directions {
        old_on_new: fails(),
        new_on_old: fails(),
    };
    let remedy = "read the attribute as the type of the running release";
    finding(
        &catalog::OP_ATTRIBUTE_RETYPED,
        item,
        message,
        directions,
        remedy,
    )
}

fn default_changed(item: String, attribute: &str, both: &OldNew<Option<Value>>) -> Finding {
    let text = |value: &Option<Value>| value.as_ref().map_or("none".into(), ToString::to_string);
    let message = format!(
        "the default of {attribute} changed from {} to {}",
        text(&both.old),
        text(&both.new)
    );
    let directions = Directions {
        old_on_new: default_effect(both.new.is_some()),
        new_on_old: default_effect(both.old.is_some()),
    };
    let (rule, remedy) = match both.new {
        Some(_) => (&catalog::OP_DEFAULT_CHANGED, "nothing to do"),
        None => (&catalog::OP_ATTRIBUTE_REQUIRED, SET),
    };
    finding(rule, item, message, directions, remedy)
}

fn default_effect(host_has_default: bool) -> Effect {
    match host_has_default {
        true => works("a kernel gets the value that the node has"),
        false => absent_default(),
    }
}

fn values_added(item: String, attribute: &str, values: &[String]) -> Finding {
    let message = match values {
        [] => format!("{attribute} allows all values"),
        values => format!("{attribute} also allows {}", values.join(", ")),
    };
    let directions = Directions {
        old_on_new: effect(
            Outcome::MisreadsValue,
            Outcome::WorksWithout,
            "a kernel that does not restrict the attribute gets values that it does not know",
        ),
        new_on_old: uniform(
            Outcome::WorksWithout,
            "kernels for values that the host does not allow are never called",
        ),
    };
    let remedy = "register each kernel for the types that it knows, and reject unknown strings";
    finding(&catalog::OP_VALUES_ADDED, item, message, directions, remedy)
}

fn values_removed(item: String, attribute: &str, values: &[String]) -> Finding {
    let message = match values {
        [] => format!("{attribute} no longer allows all values"),
        values => format!("{attribute} no longer allows {}", values.join(", ")),
    };
    let directions = Directions {
        old_on_new: uniform(
            Outcome::WorksWithout,
            "kernels for values that the host does not allow are never called",
        ),
        new_on_old: effect(
            Outcome::MisreadsValue,
            Outcome::WorksWithout,
            "a kernel that does not restrict the attribute gets values that it does not know",
        ),
    };
    finding(
        &catalog::OP_VALUES_REMOVED,
        item,
        message,
        directions,
        "nothing to do",
    )
}

fn minimum_changed(item: String, attribute: &str, both: OldNew<Option<i64>>) -> Finding {
    let text = |minimum: Option<i64>| minimum.map_or("none".into(), |it| it.to_string());
    let message = format!(
        "the minimum of {attribute} changed from {} to {}",
        text(both.old),
        text(both.new)
    );
    let why = "a kernel gets the value that the node has";
    finding(
        &catalog::OP_MINIMUM_CHANGED,
        item,
        message,
        harmless(why),
        "nothing to do",
    )
}

fn flag_changed(name: &str, message: String) -> Finding {
    let why = "flags do not affect kernels";
    finding(
        &catalog::OP_FLAG_CHANGED,
        name.into(),
        message,
        harmless(why),
        "nothing to do",
    )
}
