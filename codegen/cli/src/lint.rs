//! Lints for headers that contradict their own rules. Rules about one API of one release are here. Rules that compare
//! releases are in [`releases`], rules with parameters from an API's notes in [`conventions`].

pub mod conventions;
mod exports;
pub mod releases;

use crate::rule::rules;
use sp_ir::{Api, History, Item, Loc, Struct, Type};

use sp_data::symbols::Symbols;

/// A finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lint {
    /// The rule's stable id.
    pub id: &'static str,
    /// The item.
    pub item: String,
    /// Description of the contradiction.
    pub message: String,
    /// The location of its declaration.
    pub loc: Loc,
}

rules! {
    /// The rules about structs.
    RULES: fn(&Api, &Struct) -> Option<String>;

    struct_size_not_first: find_size_not_first,
    "A struct with a size constant begins with `struct_size`, so that the other side can \
     read the size first. Layouts of a struct without it cannot be distinguished by size.";

    struct_size_unnamed: find_size_unnamed,
    "A struct that begins with `struct_size` has a constant with its size. Without one, \
     each side computes the size itself, with or without padding.";

    last_field_outdated: find_last_field_outdated,
    "A size constant names the struct's last field. If it names an earlier one, the \
     fields after that are outside of the size that both sides write, and a reader that \
     checks sizes does not read them.";
}

/// Returns the findings of all rules about an API, sorted by item. `history` has the releases up to that of the API.
pub fn find_all(api: &Api, history: &History, symbols: &Symbols) -> Vec<Lint> {
    let mut found = find_in_structs(api);
    found.extend(releases::check(api, history, symbols));
    if let Some(conventions) = conventions::for_api(&api.name) {
        found.extend(conventions::check(api, conventions));
    }
    found.sort_by(|left, right| left.item.cmp(&right.item));
    found
}

/// Returns the findings of the rules about structs, in the order of the API's items.
pub fn find_in_structs(api: &Api) -> Vec<Lint> {
    let mut found = Vec::new();
    for (name, item) in &api.items {
        let Item::Struct(item) = item else { continue };
        for rule in RULES {
            found.extend((rule.find)(api, item).map(|message| Lint {
                id: rule.id,
                item: name.clone(),
                message,
                loc: item.loc.clone(),
            }));
        }
    }
    found
}

fn find_size_not_first(api: &Api, item: &Struct) -> Option<String> {
    let size = item.struct_size.as_ref()?;
    let first = item.fields.first()?;
    let has_size = first.name == "struct_size" || contains_size(api, &first.ty);
    (!has_size).then(|| {
        format!(
            "{} states its size, and its first field is `{}`",
            size.symbol, first.name
        )
    })
}

/// Returns true if `ty` is a struct that begins with `struct_size`, as the base of an extension does.
fn contains_size(api: &Api, ty: &Type) -> bool {
    let Type::Named(name) = ty else { return false };
    let inner = api.structure(name).and_then(|inner| inner.fields.first());
    inner.is_some_and(|first| first.name == "struct_size")
}

fn find_size_unnamed(_: &Api, item: &Struct) -> Option<String> {
    let has_size = item.fields.first();
    let has_size = has_size.is_some_and(|field| field.name == "struct_size");
    (has_size && item.struct_size.is_none()).then(|| "no constant states its size".into())
}

fn find_last_field_outdated(_: &Api, item: &Struct) -> Option<String> {
    let size = item.struct_size.as_ref()?;
    let last = item.fields.last()?;
    (last.name != size.last_field).then(|| {
        let end = last.offset + last.size;
        format!(
            "{} ends with `{}` at {} bytes, and the last field is `{}`, which ends at {end}",
            size.symbol, size.last_field, size.value, last.name
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_data::embedded::{SNAPSHOTS, Snapshot};

    fn api(structure: &str) -> Api {
        let base = r#""Base":{"kind":"struct","layout":{"size":8,"align":8},"loc":"d.h:1","fields":[
            {"name":"struct_size","type":"size_t","offset":0,"size":8,"loc":"d.h:1"}],
            "struct_size":{"symbol":"BASE_SIZE","last_field":"struct_size","value":8}}"#;
        let text = format!(
            r#"{{"schema":2,"name":"demo","release":"2.21","items":{{{base},{structure}}}}}"#
        );
        Api::from_json(&text).unwrap()
    }

    fn structure(fields: &[(&str, &str)], last: Option<&str>) -> String {
        let fields = fields.iter().enumerate().map(|(index, (name, ty))| {
            let offset = 8 * index;
            format!(r#"{{"name":"{name}","type":"{ty}","offset":{offset},"size":8,"loc":"d.h:3"}}"#)
        });
        let size = last.map_or(String::new(), |last| {
            format!(r#","struct_size":{{"symbol":"S_SIZE","last_field":"{last}","value":8}}"#)
        });
        format!(
            r#""S":{{"kind":"struct","layout":{{"size":16,"align":8}},"loc":"d.h:2","fields":[{}]{size}}}"#,
            fields.collect::<Vec<_>>().join(",")
        )
    }

    fn ids(structure: &str) -> Vec<&'static str> {
        find_in_structs(&api(structure))
            .iter()
            .map(|lint| lint.id)
            .collect()
    }

    #[test]
    fn accepts_valid_structs() {
        let valid = structure(&[("struct_size", "size_t"), ("a", "void*")], Some("a"));
        assert_eq!(ids(&valid), [""; 0]);
        let extension = structure(&[("base", "Base"), ("a", "void*")], Some("a"));
        assert_eq!(ids(&extension), [""; 0]);
        assert_eq!(ids(&structure(&[("a", "void*")], None)), [""; 0]);
    }

    /// SP_StreamExecutor got fields inserted in 2.7. No library of 2.20 exports kernels_experimental.
    #[test]
    fn finds_contradictions_between_committed_releases() {
        let symbols = Symbols::embedded().unwrap();
        let apis = |names: [&str; 2]| -> Vec<Api> {
            let is_named = |(file, _): &&(&str, Snapshot)| names.contains(file);
            let texts = SNAPSHOTS.iter().filter(is_named);
            texts
                .map(|(_, snapshot)| Api::from_json(snapshot.text()).unwrap())
                .collect()
        };
        let known = apis(["stream_executor/2.6.json", "stream_executor/2.7.json"]);
        let found = find_all(&known[1], &History::from_apis(&known), &symbols);
        let ids = found.iter().map(|lint| (lint.id, lint.item.as_str()));
        let ids: Vec<(&str, &str)> = ids.collect();
        let expected = [("layout_changed_version_not_bumped", "SP_StreamExecutor")];
        assert_eq!(ids, expected);
        let known = apis(["kernels_experimental/2.20.json", ""]);
        let found = find_all(&known[0], &History::from_apis(&known), &symbols);
        assert_eq!(found.len(), 14);
        assert!(found.iter().all(|lint| lint.id == "function_unexported"));
        assert_eq!(found[0].message, "no library of 2.20 exports it");
    }

    #[test]
    fn each_rule_finds_its_violation() {
        let late = structure(
            &[("a", "void*"), ("struct_size", "size_t")],
            Some("struct_size"),
        );
        assert_eq!(ids(&late), ["struct_size_not_first"]);
        let without_constant = structure(&[("struct_size", "size_t"), ("a", "void*")], None);
        assert_eq!(ids(&without_constant), ["struct_size_unnamed"]);
        let stale = structure(
            &[("struct_size", "size_t"), ("a", "void*")],
            Some("struct_size"),
        );
        let found = find_in_structs(&api(&stale));
        assert_eq!(found[0].id, "last_field_outdated");
        assert_eq!(
            found[0].message,
            "S_SIZE ends with `struct_size` at 8 bytes, and the last field is `a`, which ends at 16"
        );
    }
}
