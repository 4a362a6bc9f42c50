//! Finds public items that an update removes, from the sources of crates.

use std::collections::{BTreeMap, BTreeSet};
use syn::{Item, Visibility};

/// Returns the crate of each public item that `before` has and `after` does not have, by item. Both are the sources
/// that an update changes, by path `vendor/CRATE/src/...`.
pub fn removed(
    before: &BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let present: BTreeSet<String> = public_items(after).into_keys().collect();
    let mut removed = public_items(before);
    removed.retain(|name, _| !present.contains(name));
    removed
}

fn public_items(files: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for (path, text) in files {
        let mut parts = path.split('/').skip(1);
        let (name, folder) = (parts.next(), parts.next());
        if let (Some(name), Some("src"), Ok(file)) = (name, folder, syn::parse_file(text)) {
            collect(name, &file.items, &mut names);
        }
    }
    names
}

fn collect(of_crate: &str, items: &[Item], names: &mut BTreeMap<String, String>) {
    for item in items {
        if let Some(name) = public_name(item) {
            names.insert(name, of_crate.to_owned());
        }
        if let Item::Mod(module) = item {
            let inside = module.content.as_ref().map_or(&[][..], |(_, items)| items);
            collect(of_crate, inside, names);
        }
    }
}

/// Returns the name of a public item, or `None` if the item is private or unnamed.
fn public_name(item: &Item) -> Option<String> {
    let (visibility, name) = match item {
        Item::Const(item) => (&item.vis, &item.ident),
        Item::Enum(item) => (&item.vis, &item.ident),
        Item::Fn(item) => (&item.vis, &item.sig.ident),
        Item::Mod(item) => (&item.vis, &item.ident),
        Item::Static(item) => (&item.vis, &item.ident),
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Trait(item) => (&item.vis, &item.ident),
        Item::Type(item) => (&item.vis, &item.ident),
        Item::Union(item) => (&item.vis, &item.ident),
        Item::Macro(item) => {
            let is_exported = item
                .attrs
                .iter()
                .any(|attribute| attribute.path().is_ident("macro_export"));
            let name = item.ident.as_ref().filter(|_| is_exported);
            return name.map(ToString::to_string);
        }
        _ => return None,
    };
    matches!(visibility, Visibility::Public(_)).then(|| name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_items_that_no_changed_file_has() {
        let files = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            let pairs = pairs.iter();
            pairs
                .map(|(path, text)| ((*path).to_owned(), (*text).to_owned()))
                .collect()
        };
        let before = files(&[
            (
                "vendor/sp-cpu/src/a.rs",
                "pub struct Gone; pub fn moved() {} struct Own; pub mod m { pub type In = u8; }",
            ),
            (
                "vendor/sp-cpu/src/m.rs",
                "#[macro_export] macro_rules! exported { () => {} } macro_rules! own { () => {} }",
            ),
            ("vendor/sp-cpu/tests/t.rs", "pub struct OfTest;"),
            ("vendor/sp-cpu/src/broken.rs", "pub struct"),
        ]);
        let after = files(&[("vendor/sp-cpu/src/b.rs", "pub fn moved() {}")]);
        let removed = removed(&before, &after);
        let names: Vec<&String> = removed.keys().collect();
        assert_eq!(names, ["Gone", "In", "exported", "m"]);
        assert_eq!(removed["Gone"], "sp-cpu");
    }
}
