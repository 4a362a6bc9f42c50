//! The constants: macros, constant variables, and enumerators without a named enumeration.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Item, Items, Loc, Type};
use sp_parse::clang::driver::{DriverConstant, DriverValue};

use super::LeftOut;
use crate::status::MAX_NAMES;

/// A constant that is bound.
#[derive(Debug, Clone)]
pub struct NamedConstant {
    /// Its name.
    pub name: String,
    /// Its name in Rust.
    pub rust_name: String,
    /// Its value.
    pub value: ConstantValue,
    /// The position.
    pub loc: Loc,
}

/// The value of a constant.
#[derive(Debug, Clone)]
pub enum ConstantValue {
    /// An integer, of the smallest type that has the value.
    Int(i128),
    /// An integer that the header casts to a type with a name.
    Typed {
        /// The value.
        value: i128,
        /// The type.
        ty: Type,
    },
    /// A floating-point number.
    Float {
        /// The value.
        value: f64,
        /// The width: 32 or 64.
        bits: u8,
    },
    /// The bytes of a text, without its NUL.
    Text(Vec<u8>),
    /// A pointer to no object.
    Address {
        /// The address.
        value: u64,
        /// The type.
        ty: Type,
    },
    /// A function pointer that is null.
    NoFunction(Type),
    /// The enumerator of an enumeration.
    Enumerator {
        /// The enumeration.
        enumeration: String,
        /// The enumerator.
        name: String,
        /// The value.
        value: i128,
    },
}

/// Returns the types that the constants have, by name.
pub fn used_types(constants: &[DriverConstant]) -> impl Iterator<Item = String> {
    let types = constants.iter().filter_map(|it| match &it.value {
        DriverValue::Int { ty, .. } => ty.as_ref(),
        DriverValue::Address { ty, .. } => Some(ty),
        _ => None,
    });
    types.filter_map(|ty| ty.named().map(str::to_owned))
}

/// Returns the constants in the order of the headers' lines, and adds those that Rust cannot express to `left_out`.
pub fn find(
    constants: Vec<DriverConstant>,
    items: &Items,
    used: &BTreeSet<String>,
    left_out: &mut Vec<LeftOut>,
) -> Vec<NamedConstant> {
    let enumerations = enumerations(items, used);
    let mut found = BTreeMap::new();
    for DriverConstant { name, value, loc } in constants {
        match resolve(value, items, used, &enumerations) {
            Ok(value) => {
                let rust_name = name.clone();
                found.entry(name.clone()).or_insert(NamedConstant {
                    name,
                    rust_name,
                    value,
                    loc,
                });
            }
            Err(reason) => left_out.push(LeftOut::declaration(name, reason, loc)),
        }
    }
    let mut found: Vec<_> = found.into_values().collect();
    found.sort_by(|a, b| (&a.loc, &a.name).cmp(&(&b.loc, &b.name)));
    found
}

/// Returns the enumeration of each enumerator that is bound.
fn enumerations<'a>(items: &'a Items, used: &BTreeSet<String>) -> BTreeMap<&'a str, &'a str> {
    let used = items.iter().filter(|(name, _)| used.contains(*name));
    let enums = used.filter_map(|(name, item)| Some((name, item.as_enum()?)));
    let variants = enums.flat_map(|(name, item)| {
        let variants = item.variants.iter();
        variants.map(move |variant| (variant.name.as_str(), name.as_str()))
    });
    variants.collect()
}

fn resolve(
    value: DriverValue,
    items: &Items,
    used: &BTreeSet<String>,
    enumerations: &BTreeMap<&str, &str>,
) -> Result<ConstantValue, String> {
    Ok(match value {
        DriverValue::Int {
            value,
            ty: Some(ty),
        } if ty.named().is_some_and(|name| used.contains(name)) => {
            ConstantValue::Typed { value, ty }
        }
        DriverValue::Int { value, .. } => ConstantValue::Int(value),
        DriverValue::Float { value, bits } => ConstantValue::Float { value, bits },
        DriverValue::Text(bytes) => ConstantValue::Text(bytes),
        DriverValue::Address { value, ty } => return address(value, ty, items),
        DriverValue::Enumerator { name, value } => match enumerations.get(&*name) {
            Some(enumeration) => ConstantValue::Enumerator {
                enumeration: (*enumeration).to_owned(),
                name,
                value,
            },
            None => ConstantValue::Int(value),
        },
    })
}

fn address(value: u64, ty: Type, items: &Items) -> Result<ConstantValue, String> {
    let is_function = match resolve_alias(items, &ty) {
        Type::Function(_) => true,
        Type::Named(name) => matches!(items.get(name), Some(Item::Callback(_))),
        _ => false,
    };
    match (is_function, value) {
        (false, _) => Ok(ConstantValue::Address { value, ty }),
        (true, 0) => Ok(ConstantValue::NoFunction(ty)),
        (true, _) => Err(format!(
            "is a function pointer with the value {value:#x}, which is no function"
        )),
    }
}

/// Returns the type that a typedef names.
pub fn resolve_alias<'a>(items: &'a Items, mut ty: &'a Type) -> &'a Type {
    for _ in 0..MAX_NAMES {
        match ty.named().filter(|_| matches!(ty, Type::Named(_))) {
            Some(name) => match items.get(name) {
                Some(Item::Alias(alias)) => ty = &alias.ty,
                _ => break,
            },
            None => break,
        }
    }
    ty
}
