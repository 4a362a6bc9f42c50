//! Structs and unions: which members correspond, and the change of each member by itself. [`field_moves`] finds which
//! members move others.

use sp_ir::{Field, Side, Stated, Struct, Type, Union};

use super::record_pair::{FieldMatch, MatchKind, RecordPair, match_by_name};
use super::{Changes, facts, field_moves, parameters, sizes};
use crate::change::{Declaration, OldNew, UnreportedReason};
use crate::pair::SurfacePair;
use crate::rules::ChangeKind;
use crate::similarity::Similarity;
use crate::view::SurfaceView;

/// Compares a struct of both sides.
pub fn compare_structs<'p>(
    changes: &mut Changes<'_, 'p>,
    (old_name, old): (&'p str, &'p Struct),
    (new_name, new): (&'p str, &'p Struct),
) {
    if is_unchanged(old, new) {
        return;
    }
    let structs = OldNew { old, new };
    let (old_view, new_view) = (&changes.pair.old, &changes.pair.new);
    let mut record = RecordPair {
        name: OldNew::new(old_name, new_name),
        structure: Some(structs),
        fields: structs.map(|item| item.fields.as_slice()),
        layout: structs.map(|item| item.layout),
        written_size: OldNew::new(
            old_view.written_size(old_name, old),
            new_view.written_size(new_name, new),
        ),
        is_used_by_value: old_view.by_value_uses.contains_key(old_name)
            || new_view.by_value_uses.contains_key(new_name),
        matches: match_by_name(&old.fields, &new.fields),
    };
    let grouped = find_groups(changes, &mut record);
    match_by_offset(changes, &mut record);
    facts::compare_struct(changes, structs);
    let embedded_grew = compare_fields(changes, &record);
    let layout_changed = field_moves::compare(changes, &record, &grouped);
    let is_explained = layout_changed || embedded_grew;
    sizes::compare(changes, &record, structs, is_explained);
    compare_layout(changes, &record, is_explained);
}

/// Returns true if no compared fact differs, which is the case for most structs.
fn is_unchanged(old: &Struct, new: &Struct) -> bool {
    let is_same_field = |(old, new): (&Field, &Field)| {
        old.name == new.name
            && (old.offset, old.size) == (new.offset, new.size)
            && old.ty == new.ty
            && values(&old.filled_by) == values(&new.filled_by)
            && values(&old.direction) == values(&new.direction)
            && values(&old.presence) == values(&new.presence)
            && values(&old.default_return) == values(&new.default_return)
    };
    old.fields.len() == new.fields.len()
        && (old.layout, &old.struct_size) == (new.layout, &new.struct_size)
        && values(&old.filled_by) == values(&new.filled_by)
        && values(&old.receiver) == values(&new.receiver)
        && old.fields.iter().zip(&new.fields).all(is_same_field)
}

/// Returns the value of a fact, and the value that a comment states.
fn values<T>(fact: &Option<Stated<T>>) -> Option<(&T, Option<&T>)> {
    let fact = fact.as_ref()?;
    Some((&fact.value, fact.comment_value()))
}

/// Compares a union of both sides.
pub fn compare_unions<'p>(
    changes: &mut Changes<'_, 'p>,
    (old_name, old): (&'p str, &'p Union),
    (new_name, new): (&'p str, &'p Union),
) {
    let unions = OldNew { old, new };
    let mut record = RecordPair {
        name: OldNew::new(old_name, new_name),
        structure: None,
        fields: unions.map(|item| item.fields.as_slice()),
        layout: unions.map(|item| item.layout),
        written_size: OldNew::new(None, None),
        is_used_by_value: true,
        matches: match_by_name(&old.fields, &new.fields),
    };
    match_by_offset(changes, &mut record);
    let embedded_grew = compare_fields(changes, &record);
    let unmatched = record.unmatched();
    for index in &unmatched.new {
        let field = &new.fields[*index];
        let kind = ChangeKind::UnionMemberAdded(record.layout_change(vec![field], &[]));
        changes.push_part(&field.name, kind, None, Some(Declaration::Field(field)));
    }
    for index in &unmatched.old {
        let field = &old.fields[*index];
        let kind = ChangeKind::UnionMemberRemoved(record.layout_change(vec![field], &[]));
        changes.push_part(&field.name, kind, Some(Declaration::Field(field)), None);
    }
    let is_resized = record.matches.iter().any(|field_match| {
        let fields = record.fields_of(field_match);
        fields.old.size != fields.new.size
    });
    let is_explained =
        !unmatched.new.is_empty() || !unmatched.old.is_empty() || is_resized || embedded_grew;
    compare_layout(changes, &record, is_explained);
    if is_reordered(&old.fields, &new.fields) {
        changes.push_unreported(UnreportedReason::Order);
    }
}

/// Returns true if both sides have the same names in another order.
fn is_reordered(old: &[Field], new: &[Field]) -> bool {
    let names = |fields: &[Field]| -> Vec<String> {
        fields.iter().map(|field| field.name.clone()).collect()
    };
    let (mut old, mut new) = (names(old), names(new));
    if old == new {
        return false;
    }
    old.sort();
    new.sort();
    old == new
}

/// Finds members that moved into or out of an embedded struct and kept their offsets. Returns their indexes.
fn find_groups<'p>(
    changes: &mut Changes<'_, 'p>,
    record: &mut RecordPair<'p>,
) -> OldNew<Vec<usize>> {
    let unmatched = record.unmatched();
    let mut grouped = OldNew::new(Vec::new(), Vec::new());
    let pair = changes.pair;
    for &index in &unmatched.new {
        let group = &record.fields.new[index];
        let compare = |field: &Field, part: &Field| pair.compare_types(&field.ty, &part.ty);
        let candidates = (record.fields.old, unmatched.old.as_slice());
        if let Some(parts) = group_parts(&pair.new, group, candidates, compare) {
            let kind = ChangeKind::FieldsGrouped(names(record.fields.old, &parts));
            changes.push_part(&group.name, kind, None, Some(Declaration::Field(group)));
            grouped.old.extend(parts);
            grouped.new.push(index);
        }
    }
    for &index in &unmatched.old {
        let group = &record.fields.old[index];
        let compare = |field: &Field, part: &Field| pair.compare_types(&part.ty, &field.ty);
        let candidates = (record.fields.new, unmatched.new.as_slice());
        if let Some(parts) = group_parts(&pair.old, group, candidates, compare) {
            let kind = ChangeKind::FieldsGrouped(names(record.fields.new, &parts));
            changes.push_part(&group.name, kind, Some(Declaration::Field(group)), None);
            grouped.new.extend(parts);
            grouped.old.push(index);
        }
    }
    grouped
}

fn names(fields: &[Field], indexes: &[usize]) -> Vec<String> {
    let fields = indexes.iter().map(|index| &fields[*index]);
    fields.map(|field| field.name.clone()).collect()
}

/// Returns the indexes of the other side's members that correspond to the members of the embedded struct `group`, or
/// `None` if some do not. `candidates` are the other side's fields and the indexes of the unmatched ones.
fn group_parts(
    view: &SurfaceView,
    group: &Field,
    (fields, unmatched): (&[Field], &[usize]),
    compare: impl Fn(&Field, &Field) -> Similarity,
) -> Option<Vec<usize>> {
    let embedded = struct_fields(view, group)?;
    let range = group.offset..group.offset + group.size;
    let parts = unmatched.iter().copied();
    let parts: Vec<usize> = parts
        .filter(|index| range.contains(&fields[*index].offset))
        .collect();
    let fits = |(index, part): (&usize, &Field)| {
        let field = &fields[*index];
        (field.offset, field.size) == (group.offset + part.offset, part.size)
            && compare(field, part).is_binary_compatible()
    };
    (!parts.is_empty() && parts.len() == embedded.len() && parts.iter().zip(embedded).all(fits))
        .then_some(parts)
}

fn struct_fields<'v>(view: &'v SurfaceView, field: &Field) -> Option<&'v [Field]> {
    let item = view.structure(view.resolve(&field.ty).named()?)?;
    Some(&item.fields)
}

/// Matches the remaining members that have the same offset: as the same member renamed, or as another one.
fn match_by_offset(changes: &mut Changes, record: &mut RecordPair) {
    let unmatched = record.unmatched();
    let mut free = unmatched.new;
    let count_before = |index: usize, side: fn(&FieldMatch) -> usize| {
        let matches = record.matches.iter();
        matches.filter(|other| side(other) < index).count()
    };
    let new_positions: Vec<(usize, usize)> = free
        .iter()
        .map(|index| (*index, count_before(*index, |other| other.index.new)))
        .collect();
    let old_positions: Vec<usize> = unmatched
        .old
        .iter()
        .map(|index| count_before(*index, |other| other.index.old))
        .collect();
    let is_union = record.structure.is_none();
    for (old_index, position) in unmatched.old.into_iter().zip(old_positions) {
        let old = &record.fields.old[old_index];
        let found = free.iter().position(|new_index| {
            let new = &record.fields.new[*new_index];
            (is_union || new_positions.contains(&(*new_index, position)))
                && (old.offset, old.size) == (new.offset, new.size)
                && (!is_union || is_same_type(changes.pair, old, new))
        });
        let Some(found) = found else { continue };
        let index = OldNew::new(old_index, free.remove(found));
        let kind = match_kind(changes.pair, record.fields_at(index));
        record.matches.push(FieldMatch { index, kind });
    }
    record
        .matches
        .sort_by_key(|field_match| field_match.index.old);
}

fn is_same_type(pair: &SurfacePair, old: &Field, new: &Field) -> bool {
    pair.compare_types(&old.ty, &new.ty) == Similarity::Same
}

/// Returns how two members at the same offset correspond. A function pointer of another name is another function.
fn match_kind(pair: &SurfacePair, fields: OldNew<&Field>) -> MatchKind {
    let OldNew { old, new } = fields.map(|field| &field.ty);
    let is_function = pair.old.signature(old).is_some() || pair.new.signature(new).is_some();
    match !is_function && pair.compare_types(old, new).is_binary_compatible() {
        true => MatchKind::Renamed,
        false => MatchKind::Replaced,
    }
}

/// Compares each member by itself. Returns true if a member has another size because of the struct that it embeds.
fn compare_fields<'p>(changes: &mut Changes<'_, 'p>, record: &RecordPair<'p>) -> bool {
    let mut embedded_grew = false;
    for field_match in &record.matches {
        let fields = record.fields_of(field_match);
        let declarations = fields.map(Declaration::Field);
        let (old, new) = (Some(declarations.old), Some(declarations.new));
        let name = &fields.old.name;
        match field_match.kind {
            MatchKind::Replaced => {
                let layout = record.layout_change(vec![fields.old, fields.new], &[]);
                changes.push_part(name, ChangeKind::FieldReplaced(layout), old, new);
                continue;
            }
            MatchKind::Renamed => changes.push_part(name, ChangeKind::FieldRenamed, old, new),
            MatchKind::SameName => {}
        }
        facts::compare_field(changes, record.structure, fields);
        embedded_grew |= compare_type(changes, record, field_match, fields);
    }
    embedded_grew
}

/// Compares the types of a member. Returns true if only the size of the embedded struct differs.
fn compare_type<'p>(
    changes: &mut Changes<'_, 'p>,
    record: &RecordPair<'p>,
    field_match: &FieldMatch,
    fields: OldNew<&'p Field>,
) -> bool {
    let pair = changes.pair;
    let signatures = (
        pair.old.signature(&fields.old.ty),
        pair.new.signature(&fields.new.ty),
    );
    let is_same_callback = matches!((&fields.old.ty, &fields.new.ty),
        (Type::Named(old), Type::Named(new)) if pair.is_partner(old, new));
    match signatures {
        (Some(_), Some(_)) if is_same_callback => false,
        (Some(old), Some(new)) => {
            let structs = record.structure;
            let filler = structs.and_then(|structs| structs.new.filler(fields.new));
            let caller = filler.map_or(Side::Core, Side::other);
            let path = format!("{}.{}", changes.path, fields.new.name);
            let mut changes = changes.for_part(path, fields.map(Declaration::Field));
            parameters::compare_callback(&mut changes, old, new, caller);
            false
        }
        _ if field_match.kind == MatchKind::Renamed => false,
        _ => {
            !push_retyped(changes, record, field_match, fields)
                && fields.old.size != fields.new.size
        }
    }
}

/// Adds the change of a member's own type. Returns false if there is none.
fn push_retyped<'p>(
    changes: &mut Changes<'_, 'p>,
    record: &RecordPair<'p>,
    field_match: &FieldMatch,
    fields: OldNew<&'p Field>,
) -> bool {
    let similarity = changes.pair.compare_types(&fields.old.ty, &fields.new.ty);
    let declarations = fields.map(Declaration::Field);
    let (old, new) = (Some(declarations.old), Some(declarations.new));
    if fields.old.size != fields.new.size && similarity == Similarity::Same {
        let kind = ChangeKind::Unreported(UnreportedReason::Consequence);
        changes.push_part(&fields.new.name, kind, old, new);
        return false;
    }
    let retyped = || {
        let moved = field_moves::moved_by(record, field_match);
        let layout = record.layout_change(vec![fields.old, fields.new], &moved);
        ChangeKind::FieldRetyped(layout, similarity)
    };
    let types = fields.map(|field| &field.ty);
    match parameters::type_change(changes.pair, types, retyped) {
        Some(kind) => changes.push_part(&fields.new.name, kind, old, new),
        None => return false,
    }
    true
}

/// Adds the change of `sizeof` and `alignof` if no other change explains it.
fn compare_layout<'p>(changes: &mut Changes<'_, 'p>, record: &RecordPair<'p>, is_explained: bool) {
    let size = record.layout.map(|layout| layout.size);
    let alignment = record.layout.map(|layout| layout.align);
    if is_explained {
        return;
    }
    if size.old != size.new {
        let layout = record.layout_change(Vec::new(), &[]);
        changes.push_item(ChangeKind::StructResized(layout));
    } else if alignment.old != alignment.new {
        changes.push_item(ChangeKind::StructRealigned(alignment));
    }
}
