//! Edits of types, APIs and versions.

use sp_diff::Surface;
use sp_ir::{Alias, Api, Handle, Item, Type};

use super::scene::{Edit, Random, breaking, compatible, int, loc, reversed, select_items};

pub const EDITS: &[Edit] = &[
    compatible("a type added", "type_added", typed),
    reversed(compatible("a type removed", "type_removed", typed)),
    compatible("a type renamed everywhere", "type_renamed", renamed),
    breaking("a handle made a number", "kind_changed", |side, random| {
        handle(side, random, |_| Item::Alias(Alias::new(int(32), loc())))
    }),
    breaking(
        "a handle made a pointer, or none",
        "handle_retyped",
        |side, random| {
            handle(side, random, |one| {
                Item::Handle(Handle {
                    pointer: !one.pointer,
                    ..one
                })
            })
        },
    ),
    breaking("a typedef of another type", "alias_retyped", aliased),
    reversed(compatible("an API added", "api_added", withdrawn)),
    breaking("an API removed", "api_removed", withdrawn),
    compatible("a version moved", "version_changed", |side, random| {
        let api = versioned(side, random)?;
        api.version = Some("99.0.0".into());
        Some(api.name.clone())
    }),
    compatible(
        "a version left behind",
        "version_unbumped",
        |side, random| {
            let api = versioned(side, random)?;
            api.items.insert("Edited".into(), opaque());
            Some(api.name.clone())
        },
    ),
];

fn opaque() -> Item {
    Item::Handle(Handle::new(false, loc()))
}

fn typed(side: &mut Surface, random: &mut Random) -> Option<String> {
    let api = random.below(side.apis.len());
    side.apis[api].items.insert("Edited".into(), opaque());
    Some(side.apis[api].name.clone())
}

fn handles(side: &Surface) -> Vec<(usize, String, Handle)> {
    select_items(side, |_, item| item.as_handle().cloned())
}

fn handle(side: &mut Surface, random: &mut Random, to: fn(Handle) -> Item) -> Option<String> {
    let (api, name, one) = random.pick(handles(side))?;
    side.apis[api].items.insert(name.clone(), to(one));
    Some(name)
}

/// Renames a handle in the JSON of all APIs, where types are spelled in C.
fn renamed(side: &mut Surface, random: &mut Random) -> Option<String> {
    let texts: Vec<String> = side.apis.iter().map(Api::to_json).collect();
    let used = |name: &str| {
        texts
            .iter()
            .any(|text| text.contains(&format!("\"{name}*")))
    };
    let handles = handles(side)
        .into_iter()
        .filter(|(_, name, one)| used(name) && !one.pointer);
    let (_, name, _) = random.pick(handles.collect())?;
    side.apis = texts
        .iter()
        .map(|text| Api::from_json(&replace(text, &name)).unwrap())
        .collect();
    Some(name)
}

pub fn replace(text: &str, name: &str) -> String {
    let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let mut parts = text.split(name).peekable();
    let mut out = String::new();
    while let Some(part) = parts.next() {
        out += part;
        if let Some(next) = parts.peek() {
            let within = is_word(part.chars().last()) || is_word(next.chars().next());
            out += name;
            out += if within { "" } else { "_Edited" };
        }
    }
    out
}

fn aliased(side: &mut Surface, random: &mut Random) -> Option<String> {
    let all = select_items(side, |_, item| matches!(item, Item::Alias(_)).then_some(()));
    let (api, name, ()) = random.pick(all)?;
    let ty = Type::array(int(64), 7);
    side.apis[api]
        .items
        .insert(name.clone(), Item::Alias(Alias::new(ty, loc())));
    Some(name)
}

fn withdrawn(side: &mut Surface, random: &mut Random) -> Option<String> {
    let api = random.below(side.apis.len());
    Some(side.apis.remove(api).name)
}

fn versioned<'s>(side: &'s mut Surface, random: &mut Random) -> Option<&'s mut Api> {
    let all: Vec<usize> = (0..side.apis.len())
        .filter(|api| side.apis[*api].version.is_some())
        .collect();
    random.pick(all).map(|api| &mut side.apis[api])
}
