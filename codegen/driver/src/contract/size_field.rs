//! Checks that the `size_field` of a contract is a field of a struct that its functions pass.

use std::collections::BTreeSet;

use sp_ir::Type;

use super::{Contract, Role, SafeModel, help};
use crate::error::DriverError;
use crate::model::{Model, StatedSizes};

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
    let names = numbers(model, types);
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

/// Returns the names of the fields that are numbers, of the structs in these types. Each struct is read once: nested ones can
/// contain each other exponentially often.
fn numbers<'a>(model: &'a Model, mut pending: Vec<&'a Type>) -> BTreeSet<&'a str> {
    let (mut names, mut seen) = (BTreeSet::new(), BTreeSet::new());
    while let Some(ty) = pending.pop() {
        match model.resolve(ty) {
            Type::Array { elem, .. } => pending.push(elem),
            Type::Named(name) if seen.insert(name) => {
                let item = model.item(name).and_then(|item| item.as_struct());
                let fields = item.map_or(&[][..], |item| &item.fields);
                let is_number = |ty: &Type| matches!(ty, Type::Int { .. } | Type::Size);
                for field in fields {
                    match is_number(model.resolve(&field.ty)) {
                        true => drop(names.insert(field.name.as_str())),
                        false => pending.push(&field.ty),
                    }
                }
            }
            _ => {}
        }
    }
    names
}
