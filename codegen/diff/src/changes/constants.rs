//! Macros and constants. What is another spelling of something else is no change of its own.

use sp_ir::{Constant, Item, Value};

use super::Ledger;
use crate::change::{Kind, Reason};
use crate::view::View;

/// A constant that both sides have.
pub fn compare(ledger: &mut Ledger, old: &Constant, new: &Constant) {
    if old.value == new.value {
        return;
    }
    let pair = ledger.pair;
    let kind = match (&old.value, &new.value) {
        _ if is_version(&ledger.path) => Kind::None(Reason::VersionMacro),
        (Value::Int(_), Value::Int(_))
            if sizes(&pair.old, &ledger.path) && sizes(&pair.new, &ledger.path) =>
        {
            Kind::None(Reason::Follows)
        }
        _ if meaning(&pair.old, &old.value) == meaning(&pair.new, &new.value) => {
            Kind::None(Reason::Alias)
        }
        _ => Kind::ConstChanged,
    };
    ledger.item(kind);
}

/// A constant that one side has, where `other` may say the same in another way.
pub fn one_sided<'p>(other: &View, name: &str, constant: &Constant, kind: Kind<'p>) -> Kind<'p> {
    let there = variants(other).find(|(variant, _)| *variant == name);
    match (there, &constant.value) {
        (Some((_, value)), Value::Int(mine)) if *mine == value => {
            Kind::None(Reason::MacroForVariant)
        }
        (Some(_), Value::Name(_)) => Kind::None(Reason::MacroForVariant),
        _ => kind,
    }
}

/// The name of a version macro, whose change the API's version tells.
fn is_version(name: &str) -> bool {
    ["_MAJOR", "_MINOR", "_PATCH"]
        .iter()
        .any(|part| name.ends_with(part))
}

/// Whether the constant is the size of a struct that says so in no other way.
fn sizes(view: &View, name: &str) -> bool {
    name.ends_with("_SIZE")
        && view.items.iter().any(|(item, entry)| match &*entry.item {
            Item::Struct(one) => view.size_constant(item, one.layout) == Some(name),
            _ => false,
        })
}

/// All values of enumerations with their names.
pub fn variants<'v>(view: &'v View) -> impl Iterator<Item = (&'v str, i64)> {
    let enums = view.items.values().filter_map(|entry| match &*entry.item {
        Item::Enum(item) => Some(&item.variants),
        _ => None,
    });
    enums.flatten().map(|one| (one.name.as_str(), one.value))
}

/// The number that a value comes to, or what it says.
fn meaning(view: &View, value: &Value) -> Value {
    let mut value = value.clone();
    for _ in 0..8 {
        let Value::Name(name) = &value else { break };
        let number = variants(view)
            .find(|(variant, _)| variant == name)
            .map(|(_, value)| value);
        value = match (number, view.item(name)) {
            (Some(number), _) => Value::Int(number),
            (None, Some(Item::Constant(other))) => other.value.clone(),
            _ => break,
        };
    }
    value
}

/// The number that a constant called `name` comes to.
pub fn number(view: &View, name: &str) -> Option<i64> {
    let Item::Constant(constant) = view.item(name)? else {
        return None;
    };
    match meaning(view, &constant.value) {
        Value::Int(value) => Some(value),
        _ => None,
    }
}
