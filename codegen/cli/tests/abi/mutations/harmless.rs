//! Edits that affect neither binaries nor compilation.

use sp_diff::{Surface, Verdict};
use sp_ir::{Alias, Api, Evidence, Item, Type, Visited};

use super::names::replace;
use super::scene::{Edit, Make, Random, enumeration, loc, select_items};

pub const EDITS: &[Edit] = &[
    harmless("other docs", docs),
    harmless("another line of another header", |side, _| {
        edit_visited(side, |visited| {
            if let Visited::Loc(loc) = visited {
                loc.line += 100;
            }
        })
    }),
    harmless("other evidence", |side, _| {
        edit_visited(side, |visited| {
            if let Visited::Evidence(evidence @ (Evidence::Notes(_) | Evidence::Prefix)) = visited {
                *evidence = Evidence::Notes("another note".into());
            }
        })
    }),
    harmless(
        "an opaque type renamed, with an alias for the old name",
        |side, random| rename_with_alias(side, random, |item| matches!(item, Item::Handle(_))),
    ),
    harmless(
        "an enumeration renamed, with an alias for the old name",
        |side, random| rename_with_alias(side, random, |item| matches!(item, Item::Enum(_))),
    ),
    harmless("enumerators in another order", |side, random| {
        let all = select_items(side, |_, item| {
            matches!(item, Item::Enum(one) if one.variants.len() > 2).then_some(())
        });
        let (api, name, ()) = random.pick(all)?;
        enumeration(side, api, &name).variants.reverse();
        Some(name)
    }),
    harmless("an item in another API's header", moved_to_other_api),
    harmless("another section", |side, _| {
        each(side, |item| {
            if let Item::Struct(item) = item {
                item.author_trait = None;
                item.fields
                    .iter_mut()
                    .for_each(|field| field.section = Some("EDITED".into()));
            }
        })
    }),
];

const fn harmless(name: &'static str, make: Make) -> Edit {
    Edit {
        name,
        rule: "",
        verdict: Verdict::Identical,
        is_reversed: false,
        edits_other_target: false,
        make,
    }
}

fn each(side: &mut Surface, to: impl Fn(&mut Item)) -> Option<String> {
    side.apis
        .iter_mut()
        .flat_map(|api| api.items.values_mut())
        .for_each(to);
    Some("all items".into())
}

fn edit_visited(side: &mut Surface, edit: fn(Visited)) -> Option<String> {
    each(side, |item| item.visit_mut(&mut |visited| edit(visited)))
}

fn docs(side: &mut Surface, _: &mut Random) -> Option<String> {
    each(side, |item| {
        let doc = Some("other docs".to_string());
        match item {
            Item::Struct(item) => {
                item.doc = doc.clone();
                item.fields
                    .iter_mut()
                    .for_each(|field| field.doc = doc.clone());
            }
            Item::Union(item) => item.doc = doc,
            Item::Enum(item) => item.doc = doc,
            Item::Handle(item) => item.doc = doc,
            Item::Alias(item) => item.doc = doc,
            Item::Callback(item) => item.doc = doc,
            Item::Function(item) => item.doc = doc,
            Item::Constant(item) => item.doc = doc,
        }
    })
}

fn rename_with_alias(
    side: &mut Surface,
    random: &mut Random,
    fits: fn(&Item) -> bool,
) -> Option<String> {
    let texts: Vec<String> = side.apis.iter().map(Api::to_json).collect();
    let all = select_items(side, |name, item| {
        let is_unused = !texts
            .iter()
            .any(|text| text.contains(&format!("\"name\":\"{name}\"")));
        let is_path = texts.iter().any(|text| text.contains(&format!("{name}::")));
        (fits(item) && is_unused && !is_path).then_some(())
    });
    let (api, name, ()) = random.pick(all)?;
    side.apis = texts
        .iter()
        .map(|text| Api::from_json(&replace(text, &name)).unwrap())
        .collect();
    let ty = Type::Named(format!("{name}_Edited"));
    let alias = Item::Alias(Alias::new(ty, loc()));
    side.apis[api].items.insert(name.clone(), alias);
    Some(name)
}

fn moved_to_other_api(side: &mut Surface, random: &mut Random) -> Option<String> {
    let all = select_items(side, |_, item| {
        matches!(item, Item::Function(_) | Item::Struct(_)).then_some(())
    });
    let (api, name, ()) = random.pick(all)?;
    let item = side.apis[api].items.remove(&name)?;
    // The layouts of other targets move too.
    let targets: Vec<_> = side.apis[api]
        .targets
        .iter_mut()
        .filter_map(|(target, differs)| Some((target.clone(), differs.remove(&name)?)))
        .collect();
    let target_api = (api + 1) % side.apis.len();
    side.apis[target_api].items.insert(name.clone(), item);
    for (target, differs) in targets {
        side.apis[target_api]
            .targets
            .entry(target)
            .or_default()
            .insert(name.clone(), differs);
    }
    Some(name)
}
