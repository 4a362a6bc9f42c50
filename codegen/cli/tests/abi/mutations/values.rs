//! Edits of enumerations and constants.

use sp_diff::Surface;
use sp_ir::{Constant, Enum, Item, Type, Value, Variant};

use super::scene::{Edit, Random, any_api, enumeration, loc, select_items};

edits! {
    compatible "an enumerator added", variant_added: edit_enum(|item| {
        let value = item
            .variants
            .iter()
            .map(|variant| variant.value)
            .max()
            .unwrap()
            + 1;
        item.variants.push(Variant {
            name: "EDITED".into(),
            value,
        });
    });
    reversed of breaking "an enumerator removed", variant_removed:
        edit_enum(|item| item.variants.push(Variant { name: "EDITED".into(), value: 9_999 }));
    compatible "an enumerator renamed", variant_renamed:
        edit_enum(|item| item.variants[0].name += "_EDITED");
    breaking "an enumerator with another number", variant_revalued:
        edit_enum(|item| item.variants.last_mut().unwrap().value += 1_000);
    breaking "an enumerator inserted", variant_inserted: edit_enum(|item| {
        let index = item.variants.len() / 2;
        let value = item.variants[index].value;
        item.variants
            .iter_mut()
            .filter(|variant| variant.value >= value)
            .for_each(|variant| variant.value += 1);
        item.variants.insert(
            index,
            Variant {
                name: "EDITED".into(),
                value,
            },
        );
    });
    breaking "an enumeration with a wider integer type", enum_retyped:
        edit_enum(|item| item.repr = Type::int(64, true));
    breaking "an enumeration with another signedness", enum_retyped: edit_enum(|item| {
        if let Type::Int { signed, .. } = &mut item.repr {
            *signed = !*signed;
        }
    });
    compatible "a constant added", const_added: add_constant;
    reversed of compatible "a constant removed", const_removed: add_constant;
    compatible "a constant with another value", const_changed: edit_constant;
}

/// Edits an enumeration with consecutive numbers, without macros of the same names.
fn edit_enum(side: &mut Surface, random: &mut Random, edit: fn(&mut Enum)) -> Option<String> {
    let all = select_items(side, |_, item| match item {
        Item::Enum(item) => {
            let is_consecutive = item
                .variants
                .windows(2)
                .all(|pair| pair[1].value == pair[0].value + 1);
            (is_consecutive && item.variants.len() > 2).then_some(())
        }
        _ => None,
    });
    let (api, name, ()) = random.pick(all)?;
    edit(enumeration(side, api, &name));
    Some(name)
}

fn add_constant(side: &mut Surface, random: &mut Random) -> Option<String> {
    let value = Value::Int(7);
    let item = Item::Constant(Constant::new(value, loc()));
    let api = any_api(side, random);
    api.items.insert("EDITED".into(), item);
    Some(api.name.clone())
}

fn edit_constant(side: &mut Surface, random: &mut Random) -> Option<String> {
    let is_version_or_size = |name: &str| {
        ["_MAJOR", "_MINOR", "_PATCH", "_SIZE"]
            .iter()
            .any(|suffix| name.ends_with(suffix))
    };
    let all = select_items(side, |name, item| match item {
        Item::Constant(constant)
            if matches!(constant.value, Value::Int(_)) && !is_version_or_size(name) =>
        {
            Some(())
        }
        _ => None,
    });
    let (api, name, ()) = random.pick(all)?;
    if let Some(Item::Constant(constant)) = side.apis[api].items.get_mut(&name) {
        constant.value = Value::Int(4_711);
    }
    Some(name)
}
