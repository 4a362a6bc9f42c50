//! Edits of types, APIs and versions.

use sp_diff::Surface;
use sp_ir::{Alias, Api, Handle, Item, Type};

use super::scene::{Edit, Random, int, loc, select_items};

edits! {
    compatible "a type added", type_added: typed;
    reversed of compatible "a type removed", type_removed: typed;
    compatible "a type renamed everywhere", type_renamed: renamed;
    breaking "a handle made a number", kind_changed:
        handle(|_| Item::Alias(Alias::new(int(32), loc())));
    breaking "a handle made a pointer, or none", handle_retyped:
        handle(|one| Item::Handle(Handle { pointer: !one.pointer, ..one }));
    breaking "a typedef of another type", alias_retyped: aliased;
    reversed of compatible "an API added", api_added: withdrawn;
    breaking "an API removed", api_removed: withdrawn;
    compatible "a version moved", version_changed:
        versioned(|api| api.version = Some("99.0.0".into()));
    compatible "a version left behind", version_unbumped:
        versioned(|api| drop(api.items.insert("Edited".into(), opaque())));
}

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

fn versioned(side: &mut Surface, random: &mut Random, to: fn(&mut Api)) -> Option<String> {
    let all: Vec<usize> = (0..side.apis.len())
        .filter(|api| side.apis[*api].version.is_some())
        .collect();
    let api = &mut side.apis[random.pick(all)?];
    to(api);
    Some(api.name.clone())
}
