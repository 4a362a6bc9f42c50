//! Edits of structs and unions.

use sp_diff::Surface;
use sp_ir::{Field, Item, Layout, Struct, Type};

use super::scene::{
    Edit, Random, field, function_pointer, int, is_used_by_value, loc, pick_field, pick_struct,
    pointer, select_items, stated, structure, union,
};

edits! {
    breaking "a slot inserted", field_inserted: inserted(function_pointer(), 8);
    breaking "a number inserted", field_inserted: inserted(int(64), 8);
    breaking "a struct inserted", field_inserted: inserted(pointer(Type::Void), 24);
    compatible "a slot appended", field_appended: appended(function_pointer(), true);
    compatible "a number appended", field_appended: appended(int(64), true);
    breaking "a slot appended outside of the size", struct_size_outdated:
        appended(function_pointer(), false);
    breaking "a required slot appended", required_field_appended: required;
    breaking "padding filled", padding_filled: padded;
    breaking "a member in between removed", field_removed: removed(false);
    breaking "the last member removed", field_removed: removed(true);
    breaking "two members swapped", field_moved: swapped;
    breaking "members moved for no reason", field_moved: shifted;
    compatible "a member renamed", field_renamed: renamed(false);
    breaking "a slot replaced", field_replaced: renamed(true);
    breaking "a number made a fraction", field_retyped:
        retyped(|ty| matches!(ty, Type::Int { bits: 64,.. }), Type::Float { bits: 64 });
    breaking "a pointer made a number", field_retyped:
        retyped(|ty| matches!(ty, Type::Pointer {.. }), int(64));
    breaking "a sign changed", field_retyped: retyped(|ty| *ty == int(64), Type::int(64, false));
    compatible "const taken or given", constness_changed: constness;
    compatible "a free pointer made a name's", type_respelled:
        retyped(|ty| *ty == pointer(Type::Void), pointer(Type::Named("TF_Status".into())));
    compatible "members put into a struct", fields_grouped: grouped;
    breaking "a struct without a size grown", unsized_struct_grown: grown;
    breaking "a struct in arrays grown", embedded_struct_grown: held_grown;
    breaking "a struct packed otherwise", struct_resized:
        laid(|layout| Layout { size: layout.size + 8,..layout });
    breaking "a struct aligned otherwise", struct_realigned:
        laid(|layout| Layout { align: layout.align * 2,..layout });
    breaking "a size shrunk", struct_size_shrunk: shrunk;
    reversed of compatible "a size that was short", struct_size_corrected: shrunk;
    compatible "a size renamed", struct_size_renamed:
        sized(|item| item.struct_size.as_mut().unwrap().symbol += "_2");
    compatible "a size dropped", struct_size_dropped: sized(|item| item.struct_size = None);
    reversed of compatible "no size before", struct_size_added:
        sized(|item| item.struct_size = None);
    compatible "a union's member added", union_member_added: member_added;
    reversed of breaking "a union's member removed", union_member_removed: member_added;
    on_other_target of breaking "a member moved on 32-bit only", field_moved: narrow;
}

/// Picks a struct that follows the `struct_size` protocol and is not used by value.
fn protocol_struct(side: &Surface, random: &mut Random) -> Option<(usize, String)> {
    let fits = |name: &str, item: &Struct| {
        let last = item.fields.last()?;
        let size = item.struct_size.as_ref()?.value;
        let is_whole = size == last.offset + last.size && size % 8 == 0 && item.layout.align == 8;
        (item.fields.len() > 3 && is_whole && !is_used_by_value(side, name)).then_some(())
    };
    pick_struct(side, random, fits).map(|(api, name, ())| (api, name))
}

fn inserted(side: &mut Surface, random: &mut Random, ty: Type, size: u64) -> Option<String> {
    let (api, name) = protocol_struct(side, random)?;
    let item = structure(side, api, &name);
    let candidates: Vec<usize> = (1..item.fields.len())
        .filter(|index| item.fields[*index].offset.is_multiple_of(8))
        .collect();
    let index = random.pick(candidates)?;
    let offset = item.fields[index].offset;
    move_fields(item, index, size);
    let ty = if size == 8 {
        ty
    } else {
        Type::array(ty, size / 8)
    };
    item.fields.insert(index, field("edited", ty, offset, size));
    Some(format!("{name} at {index}"))
}

/// Moves the members from `index` on.
fn move_fields(item: &mut Struct, index: usize, by: u64) {
    for field in &mut item.fields[index..] {
        field.offset += by;
    }
    item.layout.size += by;
    if let Some(size) = &mut item.struct_size {
        size.value += by;
    }
}

fn appended(side: &mut Surface, random: &mut Random, ty: Type, covered: bool) -> Option<String> {
    let (api, name) = protocol_struct(side, random)?;
    let item = structure(side, api, &name);
    append(item, ty, covered);
    Some(name)
}

fn append(item: &mut Struct, ty: Type, covered: bool) {
    let offset = item.layout.size;
    item.fields.push(field("edited", ty, offset, 8));
    item.layout.size += 8;
    if let (Some(size), true) = (&mut item.struct_size, covered) {
        (size.value, size.last_field) = (offset + 8, "edited".into());
    }
}

fn required(side: &mut Surface, random: &mut Random) -> Option<String> {
    let (api, name) = protocol_struct(side, random)?;
    let item = structure(side, api, &name);
    append(item, function_pointer(), true);
    item.fields.last_mut()?.presence = stated(sp_ir::Presence::Required);
    Some(name)
}

fn padded(side: &mut Surface, random: &mut Random) -> Option<String> {
    let gap = |fields: &[Field]| {
        let gap = |pair: &[Field]| pair[1].offset - pair[0].offset - pair[0].size;
        fields.windows(2).position(|pair| gap(pair) >= 1)
    };
    let (api, name, index) = pick_struct(side, random, |_, item| gap(&item.fields))?;
    let item = structure(side, api, &name);
    let offset = item.fields[index].offset + item.fields[index].size;
    item.fields
        .insert(index + 1, field("edited", Type::Bool, offset, 1));
    Some(name)
}

fn removed(side: &mut Surface, random: &mut Random, last: bool) -> Option<String> {
    let (api, name) = protocol_struct(side, random)?;
    let item = structure(side, api, &name);
    let is_without_padding = |index: usize| {
        let field = &item.fields[index];
        let next = item
            .fields
            .get(index + 1)
            .map_or(item.layout.size, |next| next.offset);
        next - field.offset == field.size && field.size.is_multiple_of(8)
    };
    let count = item.fields.len();
    let candidates: Vec<usize> = if last {
        vec![count - 1]
    } else {
        (1..count - 1).collect()
    };
    let index = random.pick(
        candidates
            .into_iter()
            .filter(|index| is_without_padding(*index))
            .collect(),
    )?;
    let removed = item.fields.remove(index);
    for field in &mut item.fields[index..] {
        field.offset -= removed.size;
    }
    item.layout.size -= removed.size;
    let last = item.fields.last()?.clone();
    let size = item.struct_size.as_mut()?;
    (size.value, size.last_field) = (last.offset + last.size, last.name);
    Some(format!("{name}.{}", removed.name))
}

fn swapped(side: &mut Surface, random: &mut Random) -> Option<String> {
    let (api, name) = protocol_struct(side, random)?;
    let item = structure(side, api, &name);
    let is_same_size = |index: &usize| item.fields[*index].size == item.fields[*index + 1].size;
    let index = random.pick((1..item.fields.len() - 1).filter(is_same_size).collect())?;
    let offsets = (item.fields[index].offset, item.fields[index + 1].offset);
    item.fields.swap(index, index + 1);
    (item.fields[index].offset, item.fields[index + 1].offset) = offsets;
    Some(format!("{name} at {index}"))
}

fn shifted(side: &mut Surface, random: &mut Random) -> Option<String> {
    let (api, name) = protocol_struct(side, random)?;
    let item = structure(side, api, &name);
    let index = 1 + random.below(item.fields.len() - 1);
    move_fields(item, index, 8);
    Some(format!("{name} at {index}"))
}

fn renamed(side: &mut Surface, random: &mut Random, slots: bool) -> Option<String> {
    let (api, name) = protocol_struct(side, random)?;
    let item = structure(side, api, &name);
    let fits = |field: &Field| match &field.ty {
        Type::Function(_) => slots,
        Type::Int { .. } | Type::Pointer { .. } | Type::Size => !slots,
        _ => false,
    };
    let index = random.pick(
        (1..item.fields.len())
            .filter(|index| fits(&item.fields[*index]))
            .collect(),
    )?;
    item.fields[index].name += "_edited";
    Some(format!("{name} at {index}"))
}

fn retyped(
    side: &mut Surface,
    random: &mut Random,
    from: fn(&Type) -> bool,
    to: Type,
) -> Option<String> {
    let (api, name, index) = pick_field(side, random, |it| from(&it.ty))?;
    let item = structure(side, api, &name);
    item.fields[index].ty = to;
    Some(format!("{name} at {index}"))
}

fn constness(side: &mut Surface, random: &mut Random) -> Option<String> {
    let is_pointer = |it: &Field| matches!(it.ty, Type::Pointer { .. });
    let (api, name, index) = pick_field(side, random, is_pointer)?;
    let field = &mut structure(side, api, &name).fields[index];
    if let Type::Pointer { mutable, .. } = &mut field.ty {
        *mutable = !*mutable;
    }
    Some(format!("{name}.{}", field.name))
}

fn grouped(side: &mut Surface, random: &mut Random) -> Option<String> {
    let (api, name) = protocol_struct(side, random)?;
    let item = structure(side, api, &name);
    let count = 2 + random.below(item.fields.len() - 2);
    let size = item.fields.get(count)?.offset;
    let fields: Vec<Field> = item.fields.drain(..count).collect();
    item.fields
        .insert(0, field("edited", Type::Named("Edited".into()), 0, size));
    let embedded = Struct::new(fields, Layout { size, align: 8 }, loc());
    side.apis[api]
        .items
        .insert("Edited".into(), Item::Struct(embedded));
    Some(name)
}

fn grown(side: &mut Surface, random: &mut Random) -> Option<String> {
    let constants = select_items(side, |name, item| {
        (matches!(item, Item::Constant(_)) && name.ends_with("_SIZE")).then_some(())
    });
    let normalize = |name: &str| name.replace('_', "").to_ascii_uppercase();
    let fits = |name: &str, item: &Struct| {
        let size = normalize(name) + "SIZE";
        let has_size = constants.iter().any(|(_, it, ())| normalize(it) == size);
        let is_open = item.struct_size.is_none() && item.layout.align == 8;
        (is_open && !item.fields.is_empty() && !has_size).then_some(())
    };
    let (api, name, ()) = pick_struct(side, random, fits)?;
    append(structure(side, api, &name), function_pointer(), false);
    Some(name)
}

fn held_grown(side: &mut Surface, random: &mut Random) -> Option<String> {
    let fits = |name: &str, item: &Struct| {
        let size = item.struct_size.as_ref()?.value;
        let is_whole = item.layout.align == 8 && size == item.layout.size;
        (is_whole && is_used_by_value(side, name)).then_some(())
    };
    let (api, name, ()) = pick_struct(side, random, fits)?;
    append(structure(side, api, &name), int(64), true);
    Some(name)
}

fn laid(side: &mut Surface, random: &mut Random, to: fn(Layout) -> Layout) -> Option<String> {
    let (api, name) = protocol_struct(side, random)?;
    let item = structure(side, api, &name);
    item.layout = to(item.layout);
    Some(name)
}

fn shrunk(side: &mut Surface, random: &mut Random) -> Option<String> {
    sized(side, random, |item| {
        let before = item.fields[item.fields.len() - 2].clone();
        let size = item.struct_size.as_mut().unwrap();
        (size.value, size.last_field) = (before.offset + before.size, before.name);
    })
}

fn sized(side: &mut Surface, random: &mut Random, to: fn(&mut Struct)) -> Option<String> {
    let (api, name) = protocol_struct(side, random)?;
    to(structure(side, api, &name));
    Some(name)
}

fn member_added(side: &mut Surface, random: &mut Random) -> Option<String> {
    let all = select_items(side, |_, item| {
        matches!(item, Item::Union(item) if item.layout.size >= 8).then_some(())
    });
    let (api, name, ()) = random.pick(all)?;
    union(side, api, &name)
        .fields
        .push(field("edited", Type::Bool, 0, 1));
    Some(name)
}

fn narrow(side: &mut Surface, random: &mut Random) -> Option<String> {
    let target = "i686-unknown-linux-gnu";
    let count = side.apis.len();
    let start = random.below(count);
    for api in (0..count).map(|api| (api + start) % count) {
        let Some(differences) = side.apis[api].targets.get_mut(target) else {
            continue;
        };
        let found = differences
            .iter_mut()
            .find(|(_, difference)| difference.offsets.len() > 2);
        if let Some((name, difference)) = found {
            *difference.offsets.last_mut()? += 4;
            return Some(name.clone());
        }
    }
    None
}
