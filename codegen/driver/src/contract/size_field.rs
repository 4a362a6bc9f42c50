//! Checks that the `size_field` of a contract is a field of a struct that its functions pass.

use std::collections::BTreeSet;

use sp_ir::{Item, Type};

use super::{Contract, Role, SafeModel, help};
use crate::error::DriverError;
use crate::model::{Model, StatedSizes};

/// The deepest nesting of types that is followed.
const MAX_NESTING: usize = 64;

/// Checks that a struct of the functions' values has the `size_field`.
///
/// # Errors
/// Returns an error if none has it: the methods would set no size.
pub fn check(contract: &Contract, model: &Model, safe: &SafeModel) -> Result<(), DriverError> {
    let Some(field) = safe.size_field else {
        return Ok(());
    };
    let roles = safe.functions.iter().flat_map(|it| &it.roles);
    let types: Vec<&Type> = roles.filter_map(value_type).collect();
    let mut sizes = StatedSizes::new(model, field);
    if types.iter().any(|ty| sizes.find(ty).assignments > 0) {
        return Ok(());
    }
    let what = format!(
        "no struct of the contract's functions has the `size_field` `{field}`, as a number"
    );
    let mut names = BTreeSet::new();
    for ty in types {
        add_numbers(model, ty, &mut names, 0);
    }
    Err(contract.error(what, help::size_field(field, &names)))
}

/// Returns the type of the values that a parameter with this role points to, if it points to values.
fn value_type(role: &Role) -> Option<&Type> {
    match role {
        Role::Out(ty)
        | Role::In(ty)
        | Role::InOut(ty)
        | Role::Optional(ty)
        | Role::Slice(ty, _) => Some(ty),
        _ => None,
    }
}

/// Adds the names of the fields of structs in a type that are numbers.
fn add_numbers<'a>(model: &'a Model, ty: &'a Type, names: &mut BTreeSet<&'a str>, nesting: usize) {
    match model.resolve(ty) {
        _ if nesting > MAX_NESTING => {}
        Type::Array { elem, .. } => add_numbers(model, elem, names, nesting + 1),
        Type::Named(name) => {
            let Some(Item::Struct(item)) = model.item(name) else {
                return;
            };
            for field in &item.fields {
                if matches!(model.resolve(&field.ty), Type::Int { .. } | Type::Size) {
                    names.insert(&field.name);
                } else {
                    add_numbers(model, &field.ty, names, nesting + 1);
                }
            }
        }
        _ => {}
    }
}
