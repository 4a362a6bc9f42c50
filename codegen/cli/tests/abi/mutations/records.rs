//! Edits of structs and unions.

use sp_diff::Surface;
use sp_ir::{Field, Item, Layout, Struct, Type};

use super::scene::{
    Edit, Random, breaking, choose, compatible, elsewhere, field, held, int, loc, pointer, slot,
    stated, structure, undone, union,
};

pub const EDITS: &[Edit] = &[
    breaking("a slot inserted", "field_inserted", |side, random| {
        inserted(side, random, slot(), 8)
    }),
    breaking("a number inserted", "field_inserted", |side, random| {
        inserted(side, random, int(64), 8)
    }),
    breaking("a struct inserted", "field_inserted", |side, random| {
        inserted(side, random, pointer(Type::Void), 24)
    }),
    compatible("a slot appended", "field_appended", |side, random| {
        appended(side, random, slot(), true)
    }),
    compatible("a number appended", "field_appended", |side, random| {
        appended(side, random, int(64), true)
    }),
    breaking(
        "a slot appended outside of the size",
        "struct_size_outdated",
        |side, random| appended(side, random, slot(), false),
    ),
    breaking(
        "a required slot appended",
        "required_field_appended",
        required,
    ),
    breaking("padding filled", "padding_filled", padded),
    breaking(
        "a member in between removed",
        "field_removed",
        |side, random| removed(side, random, false),
    ),
    breaking(
        "the last member removed",
        "field_removed",
        |side, random| removed(side, random, true),
    ),
    breaking("two members swapped", "field_moved", swapped),
    breaking("members moved for no reason", "field_moved", shifted),
    compatible("a member renamed", "field_renamed", |side, random| {
        renamed(side, random, false)
    }),
    breaking("a slot replaced", "field_replaced", |side, random| {
        renamed(side, random, true)
    }),
    breaking(
        "a number made a fraction",
        "field_retyped",
        |side, random| {
            retyped(
                side,
                random,
                |ty| matches!(ty, Type::Int { bits: 64, .. }),
                Type::Float { bits: 64 },
            )
        },
    ),
    breaking(
        "a pointer made a number",
        "field_retyped",
        |side, random| {
            retyped(
                side,
                random,
                |ty| matches!(ty, Type::Pointer { .. }),
                int(64),
            )
        },
    ),
    breaking("a sign changed", "field_retyped", |side, random| {
        let unsigned = Type::Int {
            bits: 64,
            signed: false,
        };
        retyped(side, random, |ty| *ty == int(64), unsigned)
    }),
    compatible("const taken or given", "constness_changed", constness),
    compatible(
        "a free pointer made a name's",
        "type_respelled",
        |side, random| {
            retyped(
                side,
                random,
                |ty| *ty == pointer(Type::Void),
                pointer(Type::Named("TF_Status".into())),
            )
        },
    ),
    compatible("members put into a struct", "fields_grouped", grouped),
    breaking(
        "a struct without a size grown",
        "unsized_struct_grown",
        grown,
    ),
    breaking(
        "a struct in arrays grown",
        "embedded_struct_grown",
        held_grown,
    ),
    breaking(
        "a struct packed otherwise",
        "struct_resized",
        |side, random| {
            laid(side, random, |layout| Layout {
                size: layout.size + 8,
                ..layout
            })
        },
    ),
    breaking(
        "a struct aligned otherwise",
        "struct_realigned",
        |side, random| {
            laid(side, random, |layout| Layout {
                align: layout.align * 2,
                ..layout
            })
        },
    ),
    breaking("a size shrunk", "struct_size_shrunk", shrunk),
    undone(compatible(
        "a size that was short",
        "struct_size_corrected",
        shrunk,
    )),
    compatible("a size renamed", "struct_size_renamed", |side, random| {
        sized(side, random, |item| {
            item.struct_size.as_mut().unwrap().symbol += "_2"
        })
    }),
    compatible("a size dropped", "struct_size_dropped", |side, random| {
        sized(side, random, |item| item.struct_size = None)
    }),
    undone(compatible(
        "no size before",
        "struct_size_added",
        |side, random| sized(side, random, |item| item.struct_size = None),
    )),
    compatible("a union's member added", "union_member_added", member_added),
    undone(breaking(
        "a union's member removed",
        "union_member_removed",
        member_added,
    )),
    elsewhere(breaking(
        "a member moved on 32-bit only",
        "field_moved",
        narrow,
    )),
];

/// A struct that keeps to the protocol, which nobody holds by value.
fn plain(side: &Surface, random: &mut Random) -> Option<(usize, String)> {
    let fits = |name: &str, item: &Item| match item {
        Item::Struct(item) if item.fields.len() > 3 && item.layout.align == 8 => {
            let last = item.fields.last()?;
            let size = item.struct_size.as_ref()?.value;
            (size == last.offset + last.size && size % 8 == 0 && !held(side, name)).then_some(())
        }
        _ => None,
    };
    random
        .pick(choose(side, fits))
        .map(|(at, name, ())| (at, name))
}

fn inserted(side: &mut Surface, random: &mut Random, ty: Type, size: u64) -> Option<String> {
    let (at, name) = plain(side, random)?;
    let item = structure(side, at, &name);
    let slots: Vec<usize> = (1..item.fields.len())
        .filter(|at| item.fields[*at].offset.is_multiple_of(8))
        .collect();
    let place = random.pick(slots)?;
    let offset = item.fields[place].offset;
    push(item, place, size);
    let ty = if size == 8 {
        ty
    } else {
        Type::Array {
            elem: Box::new(ty),
            len: size / 8,
        }
    };
    item.fields.insert(place, field("edited", ty, offset, size));
    Some(format!("{name} at {place}"))
}

/// Moves what stands from `place` on.
fn push(item: &mut Struct, place: usize, by: u64) {
    for field in &mut item.fields[place..] {
        field.offset += by;
    }
    item.layout.size += by;
    if let Some(size) = &mut item.struct_size {
        size.value += by;
    }
}

fn appended(side: &mut Surface, random: &mut Random, ty: Type, covered: bool) -> Option<String> {
    let (at, name) = plain(side, random)?;
    let item = structure(side, at, &name);
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
    let (at, name) = plain(side, random)?;
    let item = structure(side, at, &name);
    append(item, slot(), true);
    item.fields.last_mut()?.presence = stated(sp_ir::Presence::Required);
    Some(name)
}

fn padded(side: &mut Surface, random: &mut Random) -> Option<String> {
    let gap = |fields: &[Field]| {
        let gap = |pair: &[Field]| pair[1].offset - pair[0].offset - pair[0].size;
        fields.windows(2).position(|pair| gap(pair) >= 1)
    };
    let all = choose(side, |_, item| match item {
        Item::Struct(item) => gap(&item.fields),
        _ => None,
    });
    let (at, name, place) = random.pick(all)?;
    let item = structure(side, at, &name);
    let offset = item.fields[place].offset + item.fields[place].size;
    item.fields
        .insert(place + 1, field("edited", Type::Bool, offset, 1));
    Some(name)
}

fn removed(side: &mut Surface, random: &mut Random, last: bool) -> Option<String> {
    let (at, name) = plain(side, random)?;
    let item = structure(side, at, &name);
    let whole = |at: usize| {
        let field = &item.fields[at];
        let next = item
            .fields
            .get(at + 1)
            .map_or(item.layout.size, |next| next.offset);
        next - field.offset == field.size && field.size.is_multiple_of(8)
    };
    let many = item.fields.len();
    let places: Vec<usize> = if last {
        vec![many - 1]
    } else {
        (1..many - 1).collect()
    };
    let place = random.pick(places.into_iter().filter(|at| whole(*at)).collect())?;
    let gone = item.fields.remove(place);
    for field in &mut item.fields[place..] {
        field.offset -= gone.size;
    }
    item.layout.size -= gone.size;
    let last = item.fields.last()?.clone();
    let size = item.struct_size.as_mut()?;
    (size.value, size.last_field) = (last.offset + last.size, last.name);
    Some(format!("{name}.{}", gone.name))
}

fn swapped(side: &mut Surface, random: &mut Random) -> Option<String> {
    let (at, name) = plain(side, random)?;
    let item = structure(side, at, &name);
    let alike = |at: &usize| item.fields[*at].size == item.fields[*at + 1].size;
    let place = random.pick((1..item.fields.len() - 1).filter(alike).collect())?;
    let (one, two) = (item.fields[place].offset, item.fields[place + 1].offset);
    item.fields.swap(place, place + 1);
    (item.fields[place].offset, item.fields[place + 1].offset) = (one, two);
    Some(format!("{name} at {place}"))
}

fn shifted(side: &mut Surface, random: &mut Random) -> Option<String> {
    let (at, name) = plain(side, random)?;
    let item = structure(side, at, &name);
    let place = 1 + random.below(item.fields.len() - 1);
    push(item, place, 8);
    Some(format!("{name} at {place}"))
}

fn renamed(side: &mut Surface, random: &mut Random, slots: bool) -> Option<String> {
    let (at, name) = plain(side, random)?;
    let item = structure(side, at, &name);
    let fits = |field: &Field| match &field.ty {
        Type::Function(_) => slots,
        Type::Int { .. } | Type::Pointer { .. } | Type::Size => !slots,
        _ => false,
    };
    let place = random.pick(
        (1..item.fields.len())
            .filter(|at| fits(&item.fields[*at]))
            .collect(),
    )?;
    item.fields[place].name += "_edited";
    Some(format!("{name} at {place}"))
}

fn retyped(
    side: &mut Surface,
    random: &mut Random,
    from: fn(&Type) -> bool,
    to: Type,
) -> Option<String> {
    let all = choose(side, |_, item| match item {
        Item::Struct(item) => item.fields.iter().position(|it| from(&it.ty)),
        _ => None,
    });
    let (at, name, place) = random.pick(all)?;
    let item = structure(side, at, &name);
    item.fields[place].ty = to;
    Some(format!("{name} at {place}"))
}

fn constness(side: &mut Surface, random: &mut Random) -> Option<String> {
    let all = choose(side, |_, item| match item {
        Item::Struct(item) => item
            .fields
            .iter()
            .position(|it| matches!(it.ty, Type::Pointer { .. })),
        _ => None,
    });
    let (at, name, place) = random.pick(all)?;
    let field = &mut structure(side, at, &name).fields[place];
    if let Type::Pointer { mutable, .. } = &mut field.ty {
        *mutable = !*mutable;
    }
    Some(format!("{name}.{}", field.name))
}

fn grouped(side: &mut Surface, random: &mut Random) -> Option<String> {
    let (at, name) = plain(side, random)?;
    let item = structure(side, at, &name);
    let many = 2 + random.below(item.fields.len() - 2);
    let size = item.fields.get(many)?.offset;
    let inner: Vec<Field> = item.fields.drain(..many).collect();
    item.fields
        .insert(0, field("edited", Type::Named("Edited".into()), 0, size));
    let made = Struct {
        doc: None,
        filled_by: None,
        receiver: None,
        author_trait: None,
        discriminator: None,
        fields: inner,
        layout: Layout { size, align: 8 },
        struct_size: None,
        loc: loc(),
    };
    side.apis[at]
        .items
        .insert("Edited".into(), Item::Struct(made));
    Some(name)
}

fn grown(side: &mut Surface, random: &mut Random) -> Option<String> {
    let constants = choose(side, |name, item| {
        (matches!(item, Item::Constant(_)) && name.ends_with("_SIZE")).then_some(())
    });
    let plain = |name: &str| name.replace('_', "").to_ascii_uppercase();
    let all = choose(side, |name, item| match item {
        Item::Struct(item) if item.struct_size.is_none() && item.layout.align == 8 => {
            let says = |one: &(usize, String, ())| plain(&one.1) == plain(name) + "SIZE";
            (!item.fields.is_empty() && !constants.iter().any(says)).then_some(())
        }
        _ => None,
    });
    let (at, name, ()) = random.pick(all)?;
    append(structure(side, at, &name), slot(), false);
    Some(name)
}

fn held_grown(side: &mut Surface, random: &mut Random) -> Option<String> {
    let all = choose(side, |name, item| match item {
        Item::Struct(item) if item.layout.align == 8 && held(side, name) => item
            .struct_size
            .as_ref()
            .filter(|size| size.value == item.layout.size)
            .map(|_| ()),
        _ => None,
    });
    let (at, name, ()) = random.pick(all)?;
    append(structure(side, at, &name), int(64), true);
    Some(name)
}

fn laid(side: &mut Surface, random: &mut Random, to: fn(Layout) -> Layout) -> Option<String> {
    let (at, name) = plain(side, random)?;
    let item = structure(side, at, &name);
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
    let (at, name) = plain(side, random)?;
    to(structure(side, at, &name));
    Some(name)
}

fn member_added(side: &mut Surface, random: &mut Random) -> Option<String> {
    let all = choose(side, |_, item| {
        matches!(item, Item::Union(item) if item.layout.size >= 8).then_some(())
    });
    let (at, name, ()) = random.pick(all)?;
    union(side, at, &name)
        .fields
        .push(field("edited", Type::Bool, 0, 1));
    Some(name)
}

fn narrow(side: &mut Surface, random: &mut Random) -> Option<String> {
    let target = "i686-unknown-linux-gnu";
    let many = side.apis.len();
    let start = random.below(many);
    for at in (0..many).map(|at| (at + start) % many) {
        let Some(differs) = side.apis[at].targets.get_mut(target) else {
            continue;
        };
        let found = differs.iter_mut().find(|(_, one)| one.offsets.len() > 2);
        if let Some((name, one)) = found {
            *one.offsets.last_mut()? += 4;
            return Some(name.clone());
        }
    }
    None
}
