//! Slots whose signature a later release changed without a change of the struct's size, so that the struct
//! does not show which signature the host calls. The newest signature must only add pointers: functions with the
//! older signature pass null for them.

use sp_ir::{Field, Item, Param, Signature, Struct, Type};

use super::context::Context;
use super::releases::Span;

/// A slot with two signatures.
pub struct RetypedSlot<'a> {
    /// The struct.
    pub table: &'a str,
    /// Its field.
    pub slot: &'a str,
    /// The signature in the newest release.
    pub newest: &'a Signature,
    /// The signature in older releases.
    pub older: &'a Signature,
    /// The first and the last of these releases.
    pub releases: Span,
    /// For each parameter of the newest signature, its index in the older one; `None` if that lacks it.
    pub older_indexes: Vec<Option<usize>>,
}

/// Returns the retyped slots of a struct.
pub fn retyped_slots<'a>(
    table: &'a str,
    item: &'a Struct,
    context: &Context<'a>,
) -> Vec<RetypedSlot<'a>> {
    let older = context.older_declarations().filter(|it| it.name == table);
    let slots = older.flat_map(|declaration| {
        let Item::Struct(older_item) = declaration.item else {
            return Vec::new();
        };
        let pairs = item
            .fields
            .iter()
            .filter_map(|field| Some((field, signatures(field, older_item)?)));
        let slots = pairs.filter_map(|(field, (newest, older))| {
            Some(RetypedSlot {
                table,
                slot: &field.name,
                newest,
                older,
                releases: declaration.span,
                older_indexes: older_indexes(older, newest)?,
            })
        });
        slots.collect()
    });
    slots.collect()
}

/// Returns the newest and the older signature of a slot, if both have the same offset and another number of parameters.
fn signatures<'a>(
    field: &'a Field,
    older_item: &'a Struct,
) -> Option<(&'a Signature, &'a Signature)> {
    let older_field = older_item.fields.iter().find(|it| it.name == field.name)?;
    match (&field.ty, &older_field.ty) {
        (Type::Function(newest), Type::Function(older))
            if older_field.offset == field.offset && newest.params.len() != older.params.len() =>
        {
            Some((newest, older))
        }
        _ => None,
    }
}

/// Returns the index in `older` of each parameter of `newest`. `None` if the match is ambiguous, or if a
/// parameter that `older` lacks is not a pointer.
fn older_indexes(older: &Signature, newest: &Signature) -> Option<Vec<Option<usize>>> {
    let forward = match_params(
        older.params.iter(),
        newest.params.iter().enumerate().collect(),
    )?;
    let mut backward = match_params(
        older.params.iter().rev(),
        newest.params.iter().enumerate().rev().collect(),
    )?;
    backward.reverse();
    let older_index = |index: usize| forward.iter().position(|it| *it == index);
    let indexes: Vec<_> = (0..newest.params.len()).map(older_index).collect();
    let added = indexes.iter().zip(&newest.params);
    let mut added = added.filter(|(index, _)| index.is_none());
    let are_pointers = added.all(|(_, param)| matches!(param.ty, Type::Pointer { .. }));
    (forward == backward && are_pointers && older.ret == newest.ret).then_some(indexes)
}

/// Returns, for each of `older`, the index of the first of `newest` with its type, in order.
fn match_params<'a>(
    older: impl Iterator<Item = &'a Param>,
    newest: Vec<(usize, &'a Param)>,
) -> Option<Vec<usize>> {
    let mut rest = newest.into_iter();
    older
        .map(|param| {
            rest.find(|(_, it)| is_same_but_const(&it.ty, &param.ty))
                .map(|found| found.0)
        })
        .collect()
}

/// Returns true if the types are equal except for constness, which has no effect in an ABI.
fn is_same_but_const(left: &Type, right: &Type) -> bool {
    match (left, right) {
        (Type::Pointer { pointee: left, .. }, Type::Pointer { pointee: right, .. }) => {
            is_same_but_const(left, right)
        }
        _ => left == right,
    }
}
