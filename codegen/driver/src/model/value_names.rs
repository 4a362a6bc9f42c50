//! The Rust names of constants and parameters, which depend on those of types.

use std::collections::BTreeSet;

use sp_expand::ident;
use sp_ir::{Handle, Item, Param};

use super::Model;
use crate::names::{is_value, item};

/// Sets the names.
pub fn name_values(model: &mut Model) {
    let types = value_types(model);
    for constant in &mut model.constants {
        constant.rust_name = item(&constant.name).to_string();
        if types.contains(&constant.rust_name) {
            constant.rust_name.push('_');
        }
    }
    let mut values = types;
    values.extend(model.constants.iter().map(|it| it.rust_name.clone()));
    for function in &mut model.functions {
        function.parameters = parameters(&function.signature.params, &values);
    }
}

/// Returns the Rust names of types that are values too: structs with one unnamed field.
fn value_types(model: &Model) -> BTreeSet<String> {
    let types = model.types.iter().filter(|(_, item)| {
        matches!(
            item,
            Item::Enum(_) | Item::Handle(Handle { pointer: true, .. })
        )
    });
    types.map(|(name, _)| item(name).to_string()).collect()
}

/// Returns the Rust names of parameters, which may have none in C. A pattern with the name of a value is none of a variable.
fn parameters(params: &[Param], values: &BTreeSet<String>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (index, param) in params.iter().enumerate() {
        let mut name = match param.name.as_str() {
            "" => format!("argument_{index}"),
            name => ident(name).to_string(),
        };
        let is_taken = |name: &str| values.contains(name) || is_value(name);
        while is_taken(&name) || names.contains(&name) {
            name.push('_');
        }
        names.push(name);
    }
    names
}
