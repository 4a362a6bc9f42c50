//! The constants: macros and enumerators without a named enumeration.

use std::collections::BTreeSet;

use sp_ir::{Constant, Enum, Item, Items, Loc, Value};

use super::LeftOut;

/// A constant that is bound.
#[derive(Debug, Clone)]
pub struct NamedConstant {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: ConstantValue,
    /// The position.
    pub loc: Loc,
}

/// The value of a constant.
#[derive(Debug, Clone)]
pub enum ConstantValue {
    /// A number.
    Int(i64),
    /// An unsigned number above the range of `i64`.
    Large(u64),
    /// A text.
    Text(String),
    /// The enumerator of an enumeration.
    Enumerator {
        /// The enumeration.
        enumeration: String,
        /// The enumerator.
        name: String,
    },
}

/// Returns the constants of the own headers, and adds macros that rename a function to `left_out`.
pub fn find(
    items: &Items,
    unsigned: &BTreeSet<String>,
    used: &BTreeSet<String>,
    is_own: &dyn Fn(&Loc) -> bool,
    left_out: &mut Vec<LeftOut>,
) -> Vec<NamedConstant> {
    let mut found = Vec::new();
    for (name, item) in items {
        let Item::Constant(constant) = item else {
            continue;
        };
        if !is_own(&constant.loc) {
            continue;
        }
        let loc = constant.loc.clone();
        let name = name.clone();
        let value = resolve(constant, items, used, 0);
        let is_large = unsigned.contains(name_of_number(&name, items));
        let value = value.map(|value| match value {
            ConstantValue::Int(value) if is_large => ConstantValue::Large(value as u64),
            value => value,
        });
        match value {
            Some(value) => found.push(NamedConstant { name, value, loc }),
            None => left_out.push(LeftOut {
                name,
                reason: "is a macro for a function or another name".to_owned(),
                loc,
                is_function: false,
            }),
        }
    }
    found.sort_by(|a, b| (&a.loc, &a.name).cmp(&(&b.loc, &b.name)));
    found
}

/// Returns the name of the constant whose number `name` stands for.
fn name_of_number<'a>(name: &'a str, items: &'a Items) -> &'a str {
    let mut name = name;
    for _ in 0..MAX_NAMES {
        match items.get(name) {
            Some(Item::Constant(Constant {
                value: Value::Name(other),
                ..
            })) => name = other,
            _ => break,
        }
    }
    name
}

/// Most names that are followed to a value. Macros that stand for each other have none.
pub const MAX_NAMES: usize = 32;

fn resolve(
    constant: &Constant,
    items: &Items,
    used: &BTreeSet<String>,
    depth: usize,
) -> Option<ConstantValue> {
    let other = match &constant.value {
        Value::Int(value) => return Some(ConstantValue::Int(*value)),
        Value::Text(text) => return Some(ConstantValue::Text(text.clone())),
        Value::Name(other) => other,
    };
    match items.get(other) {
        Some(Item::Constant(next)) if depth < MAX_NAMES => resolve(next, items, used, depth + 1),
        Some(_) => None,
        None => enumerator(other, items, used),
    }
}

fn enumerator(name: &str, items: &Items, used: &BTreeSet<String>) -> Option<ConstantValue> {
    let has_variant = |item: &Enum| item.variants.iter().any(|it| it.name == name);
    let found = items.iter().find_map(|(enumeration, item)| match item {
        Item::Enum(item) if used.contains(enumeration) && has_variant(item) => Some(enumeration),
        _ => None,
    });
    found.map(|enumeration| ConstantValue::Enumerator {
        enumeration: enumeration.clone(),
        name: name.to_owned(),
    })
}
