//! Owned types whose values are pointers to a struct: `x *`, where the header has `typedef struct x x`.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Item, Signature, Type};

use crate::model::{Function, Model};
use crate::status::MAX_NAMES;

/// The structs whose pointers are values of an owned type.
pub struct Pointees<'a> {
    /// The names of structs, and of typedefs of `void`, each with the owned types of its pointers.
    owners: BTreeMap<&'a str, Vec<&'a str>>,
    /// The owned types that have the name of a struct.
    structs: BTreeSet<&'a str>,
}

impl<'a> Pointees<'a> {
    /// Finds the structs of owned types by their names: a struct's name, or a typedef of a pointer to a struct that the
    /// header does not define.
    pub fn new(model: &'a Model, names: impl Iterator<Item = &'a str>) -> Self {
        let mut found = Self {
            owners: BTreeMap::new(),
            structs: BTreeSet::new(),
        };
        for name in names {
            let last = last_name(model, name);
            let is_struct = is_struct(model, last);
            if is_struct {
                found.structs.insert(name);
            }
            let key = is_struct.then_some(last);
            let key = key.or_else(|| undefined_pointee(model, last));
            if let Some(key) = key {
                found.owners.entry(key).or_default().push(name);
            }
        }
        found
    }

    /// Returns the owned types of a pointer's values. None of a type that is no pointer.
    pub fn find(&self, model: &Model, ty: &Type) -> &[&'a str] {
        let found = match model.resolve(ty) {
            Type::Pointer { pointee, .. } => model.names(pointee).last(),
            _ => None,
        };
        let owners = found.and_then(|name| self.owners.get(name));
        owners.map_or(&[], Vec::as_slice)
    }

    /// Returns the owned struct that a value of a type is or points to.
    pub fn find_struct<'t>(&self, model: &'t Model, ty: &'t Type) -> Option<&'t str> {
        let resolved = match model.resolve(ty) {
            Type::Pointer { pointee, .. } => pointee,
            other => other,
        };
        let last = model.names(resolved).last();
        last.filter(|name| self.owners.contains_key(name))
    }

    /// Returns the type of the values of an owned type that has the name of a struct, or `None` for another one.
    pub fn value_type(&self, name: &str) -> Option<Type> {
        let is_struct = self.structs.contains(name);
        is_struct.then(|| Type::pointer(Type::Named(name.to_owned()), true))
    }
}

/// Returns the last name of a chain of typedefs.
fn last_name<'a>(model: &'a Model, name: &'a str) -> &'a str {
    let next = |name: &&'a str| match &model.alias(name)?.ty {
        Type::Named(other) => Some(other.as_str()),
        _ => None,
    };
    let names = std::iter::successors(Some(name), next);
    names.take(MAX_NAMES).last().unwrap_or(name)
}

/// Returns true for the name of a struct, a union or a typedef of `void`.
fn is_struct(model: &Model, name: &str) -> bool {
    match model.item(name) {
        Some(Item::Handle(handle)) => !handle.pointer,
        Some(Item::Struct(_) | Item::Union(_)) => true,
        Some(Item::Alias(alias)) => alias.ty == Type::Void,
        Some(_) => false,
        None => model.opaque_types.contains(name) || model.opaque_values.contains_key(name),
    }
}

/// Returns a function that passes a struct by value, if `name` is that of a struct.
pub fn find_passing<'a>(model: &'a Model, name: &str) -> Option<&'a Function> {
    let last = last_name(model, name);
    let is_passed = |ty: &Type| model.names(ty).last() == Some(last);
    let mut functions = model.functions.iter().filter(|_| is_struct(model, last));
    functions.find(|function| {
        let Signature { params, ret, .. } = &function.signature;
        is_passed(ret) || params.iter().any(|it| is_passed(&it.ty))
    })
}

/// Returns the struct without definition to which the typedef `name` is a pointer. One to a `const` struct is no owner of other
/// pointers.
fn undefined_pointee<'a>(model: &'a Model, name: &str) -> Option<&'a str> {
    let Type::Pointer {
        pointee,
        mutable: true,
    } = &model.alias(name)?.ty
    else {
        return None;
    };
    let last = model.names(pointee).last()?;
    let is_undefined = match model.item(last) {
        Some(Item::Handle(handle)) => !handle.pointer,
        Some(_) => false,
        None => model.opaque_types.contains(last),
    };
    is_undefined.then_some(last)
}
