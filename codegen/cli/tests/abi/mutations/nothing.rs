//! Edits that neither a binary nor a compiler sees.

use sp_diff::{Surface, Verdict};
use sp_ir::{Alias, Api, Evidence, Item, Type, Visited};

use super::names::replace;
use super::scene::{Edit, Make, Random, choose, enumeration, loc};

pub const EDITS: &[Edit] = &[
    nothing("docs said otherwise", docs),
    nothing("another line of another header", |side, _| {
        marks(side, |mark| {
            if let Visited::Loc(loc) = mark {
                loc.line += 100;
            }
        })
    }),
    nothing("other evidence", |side, _| {
        marks(side, |mark| {
            if let Visited::Evidence(evidence @ (Evidence::Notes(_) | Evidence::Prefix)) = mark {
                *evidence = Evidence::Notes("looked at again".into());
            }
        })
    }),
    nothing(
        "an opaque type under another name, the old one kept",
        opaque,
    ),
    nothing(
        "an enumeration under another name, the old one kept",
        enumerated,
    ),
    nothing("values in another order", |side, random| {
        let all = choose(side, |_, item| {
            matches!(item, Item::Enum(one) if one.variants.len() > 2).then_some(())
        });
        let (at, name, ()) = random.pick(all)?;
        enumeration(side, at, &name).variants.reverse();
        Some(name)
    }),
    nothing("an item in another API's header", rehomed),
    nothing("another section", |side, _| {
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

const fn nothing(name: &'static str, make: Make) -> Edit {
    Edit {
        name,
        rule: "",
        verdict: Verdict::Identical,
        backwards: false,
        elsewhere: false,
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

fn marks(side: &mut Surface, to: fn(Visited)) -> Option<String> {
    each(side, |item| item.visit_mut(&mut |mark| to(mark)))
}

fn docs(side: &mut Surface, _: &mut Random) -> Option<String> {
    each(side, |item| {
        let doc = Some("said otherwise".to_string());
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

/// As TF_Status became another name for TSL_Status.
fn opaque(side: &mut Surface, random: &mut Random) -> Option<String> {
    kept(side, random, |item| matches!(item, Item::Handle(_)))
}

/// As TF_Code became another name for TSL_Code.
fn enumerated(side: &mut Surface, random: &mut Random) -> Option<String> {
    kept(side, random, |item| matches!(item, Item::Enum(_)))
}

fn kept(side: &mut Surface, random: &mut Random, fits: fn(&Item) -> bool) -> Option<String> {
    let texts: Vec<String> = side.apis.iter().map(Api::to_json).collect();
    let all = choose(side, |name, item| {
        let fresh = !texts
            .iter()
            .any(|text| text.contains(&format!("\"name\":\"{name}\"")));
        let spoken = texts.iter().any(|text| text.contains(&format!("{name}::")));
        (fits(item) && fresh && !spoken).then_some(())
    });
    let (at, name, ()) = random.pick(all)?;
    side.apis = texts
        .iter()
        .map(|text| Api::from_json(&replace(text, &name)).unwrap())
        .collect();
    let ty = Type::Named(format!("{name}_Edited"));
    let alias = Item::Alias(Alias {
        doc: None,
        ty,
        loc: loc(),
    });
    side.apis[at].items.insert(name.clone(), alias);
    Some(name)
}

fn rehomed(side: &mut Surface, random: &mut Random) -> Option<String> {
    let all = choose(side, |_, item| {
        matches!(item, Item::Function(_) | Item::Struct(_)).then_some(())
    });
    let (at, name, ()) = random.pick(all)?;
    let item = side.apis[at].items.remove(&name)?;
    // What other targets have of it goes along.
    let targets: Vec<_> = side.apis[at]
        .targets
        .iter_mut()
        .filter_map(|(target, differs)| Some((target.clone(), differs.remove(&name)?)))
        .collect();
    let to = (at + 1) % side.apis.len();
    side.apis[to].items.insert(name.clone(), item);
    for (target, differs) in targets {
        side.apis[to]
            .targets
            .entry(target)
            .or_default()
            .insert(name.clone(), differs);
    }
    Some(name)
}
