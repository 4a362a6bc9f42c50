//! Edits of enumerations and constants.

use sp_diff::Surface;
use sp_ir::{Constant, Enum, Item, Type, Value, Variant};

use super::scene::{Edit, Random, api, breaking, choose, compatible, enumeration, loc, undone};

pub const EDITS: &[Edit] = &[
    compatible("a value added", "variant_added", |side, random| {
        changed(side, random, |it| {
            let value = it.variants.iter().map(|one| one.value).max().unwrap() + 1;
            it.variants.push(Variant {
                name: "EDITED".into(),
                value,
            });
        })
    }),
    undone(breaking(
        "a value removed",
        "variant_removed",
        |side, random| {
            changed(side, random, |it| {
                it.variants.push(Variant {
                    name: "EDITED".into(),
                    value: 9_999,
                })
            })
        },
    )),
    compatible("a value renamed", "variant_renamed", |side, random| {
        changed(side, random, |it| it.variants[0].name += "_EDITED")
    }),
    breaking(
        "a value of another number",
        "variant_revalued",
        |side, random| {
            changed(side, random, |it| {
                it.variants.last_mut().unwrap().value += 1_000
            })
        },
    ),
    breaking("a value in between", "variant_inserted", |side, random| {
        changed(side, random, |it| {
            let at = it.variants.len() / 2;
            let value = it.variants[at].value;
            it.variants
                .iter_mut()
                .filter(|one| one.value >= value)
                .for_each(|one| one.value += 1);
            it.variants.insert(
                at,
                Variant {
                    name: "EDITED".into(),
                    value,
                },
            );
        })
    }),
    breaking("carried by more bits", "enum_retyped", |side, random| {
        changed(side, random, |it| {
            it.repr = Type::Int {
                bits: 64,
                signed: true,
            }
        })
    }),
    breaking(
        "carried with another sign",
        "enum_retyped",
        |side, random| {
            changed(side, random, |it| {
                if let Type::Int { signed, .. } = &mut it.repr {
                    *signed = !*signed;
                }
            })
        },
    ),
    compatible("a constant added", "const_added", constant),
    undone(compatible("a constant removed", "const_removed", constant)),
    compatible("a constant of another value", "const_changed", revalued),
];

/// An enumeration of numbers in a row, for which no macro stands in.
fn changed(side: &mut Surface, random: &mut Random, to: fn(&mut Enum)) -> Option<String> {
    let all = choose(side, |_, item| match item {
        Item::Enum(item) => {
            let in_row = item
                .variants
                .windows(2)
                .all(|pair| pair[1].value == pair[0].value + 1);
            (in_row && item.variants.len() > 2).then_some(())
        }
        _ => None,
    });
    let (at, name, ()) = random.pick(all)?;
    to(enumeration(side, at, &name));
    Some(name)
}

fn constant(side: &mut Surface, random: &mut Random) -> Option<String> {
    let value = Value::Int(7);
    let item = Item::Constant(Constant {
        doc: None,
        value,
        loc: loc(),
    });
    let api = api(side, random);
    api.items.insert("EDITED".into(), item);
    Some(api.name.clone())
}

fn revalued(side: &mut Surface, random: &mut Random) -> Option<String> {
    let version = |name: &str| {
        ["_MAJOR", "_MINOR", "_PATCH", "_SIZE"]
            .iter()
            .any(|end| name.ends_with(end))
    };
    let all = choose(side, |name, item| match item {
        Item::Constant(one) if matches!(one.value, Value::Int(_)) && !version(name) => Some(()),
        _ => None,
    });
    let (at, name, ()) = random.pick(all)?;
    if let Some(Item::Constant(one)) = side.apis[at].items.get_mut(&name) {
        one.value = Value::Int(4_711);
    }
    Some(name)
}
