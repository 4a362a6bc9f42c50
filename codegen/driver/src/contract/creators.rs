//! The functions that create owned values, and the handles that they take.

use super::{Contract, Destroy, Role, SafeFunction, SafeModel, help};
use crate::error::DriverError;

/// Checks that each function that creates an owned value has the handles that destroy it.
///
/// # Errors
/// Returns an error if a function that creates a value has none of a handle, or several.
pub fn check(contract: &Contract, safe: &SafeModel) -> Result<(), DriverError> {
    for it in &safe.owned {
        let Some(destroy) = &it.destroy else { continue };
        let is_missing = |parent: &&&str| !it.parents.iter().any(|known| known == **parent);
        if let Some(parent) = destroy.others.iter().find(is_missing) {
            let (name, function) = (it.name, destroy.function);
            let what = format!(
                "not each function that creates `{name}` has a `{parent}`, which `{}` needs",
                function.name
            );
            return Err(contract.error(what, help::creators(function)));
        }
        has_one_of_each(contract, it.name, destroy, &safe.functions)?;
    }
    Ok(())
}

/// Checks that no function creates the owned type with two handles of a type of which `destroy` needs one.
fn has_one_of_each(
    contract: &Contract,
    name: &str,
    destroy: &Destroy,
    functions: &[SafeFunction],
) -> Result<(), DriverError> {
    for creator in functions.iter().filter(|it| it.creates(name)) {
        let count = |parent: &&str| {
            let is_parent = |it: &&Role| matches!(it, Role::Handle(name) if name == parent);
            creator.roles.iter().filter(is_parent).count()
        };
        let mut needed = destroy.others.iter().copied();
        if let Some(parent) = needed.find(|parent| count(parent) > 1) {
            let (creator, needs) = (&creator.function.name, &destroy.function.name);
            let what = format!(
                "`{creator}` creates `{name}` with several `{parent}`, and `{needs}` needs one of them"
            );
            return Err(contract.error(what, help::creators(destroy.function)));
        }
    }
    Ok(())
}

/// Returns the owned types of the handles that each function takes that creates the owned type `name`.
pub fn parents(name: &str, functions: &[SafeFunction]) -> Vec<String> {
    let mut creators = functions.iter().filter(|it| it.creates(name));
    let Some(first) = creators.next() else {
        return Vec::new();
    };
    let mut found: Vec<String> = Vec::new();
    for role in &first.roles {
        let Role::Handle(parent) = role else { continue };
        let is_common = creators.clone().all(|it| it.roles.contains(role));
        if is_common && !found.contains(parent) {
            found.push(parent.clone());
        }
    }
    found
}
