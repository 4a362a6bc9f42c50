//! Where headers contradict their own rules. A rule that needs one API of one release stands here,
//! those that need more in [`releases`], those that an API's notes parametrise in [`conventions`].

pub mod conventions;
mod exports;
pub mod releases;

use sp_ir::{Api, History, Item, Loc, Struct, Type};

use sp_data::symbols::Symbols;

/// A contradiction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lint {
    /// The rule's stable id.
    pub id: &'static str,
    /// The item.
    pub item: String,
    /// What is wrong with it.
    pub message: String,
    /// Where it is declared.
    pub loc: Loc,
}

/// A rule: its id, what it is about, and what it has against a struct.
pub struct Rule {
    /// The stable id.
    pub id: &'static str,
    /// What the header promises, and what follows where it does not keep it.
    pub about: &'static str,
    against: fn(&Api, &Struct) -> Option<String>,
}

/// All rules; a new one is one entry.
pub const RULES: [Rule; 3] = [
    Rule {
        id: "struct_size_not_first",
        about: "A struct with a size constant begins with `struct_size`, so that the other side can \
                read it whatever follows. One that does not cannot be told apart by size.",
        against: not_first,
    },
    Rule {
        id: "struct_size_unnamed",
        about: "A struct that begins with `struct_size` has a constant with its size. Without one, \
                each side computes its own, padding or not.",
        against: unnamed,
    },
    Rule {
        id: "last_field_outdated",
        about: "A size constant names the struct's last field. Where it names an earlier one, a \
                field that was added behind it lies outside of the size that both sides write, and a \
                reader that checks sizes never sees it.",
        against: outdated,
    },
];

/// What all rules have against an API, in the order of its items; `history` is that of the releases up
/// to its own.
pub fn all(api: &Api, history: &History, symbols: &Symbols) -> Vec<Lint> {
    let mut found = check(api);
    found.extend(releases::check(api, history, symbols));
    if let Some(stated) = conventions::of_api(&api.name) {
        found.extend(conventions::check(api, stated));
    }
    found.sort_by(|left, right| left.item.cmp(&right.item));
    found
}

/// What the rules about one API of one release have against it, in the order of its items.
pub fn check(api: &Api) -> Vec<Lint> {
    let mut found = Vec::new();
    for (name, item) in &api.items {
        let Item::Struct(item) = item else { continue };
        for rule in &RULES {
            found.extend((rule.against)(api, item).map(|message| Lint {
                id: rule.id,
                item: name.clone(),
                message,
                loc: item.loc.clone(),
            }));
        }
    }
    found
}

fn not_first(api: &Api, item: &Struct) -> Option<String> {
    let size = item.struct_size.as_ref()?;
    let first = item.fields.first()?;
    let begins = first.name == "struct_size" || contains_size(api, &first.ty);
    (!begins).then(|| {
        format!(
            "{} sizes it, and it begins with `{}`",
            size.symbol, first.name
        )
    })
}

/// Whether a first field brings `struct_size` along, as an extension's base does.
fn contains_size(api: &Api, ty: &Type) -> bool {
    let Type::Named(name) = ty else { return false };
    let inner = api.structure(name).and_then(|inner| inner.fields.first());
    inner.is_some_and(|first| first.name == "struct_size")
}

fn unnamed(_: &Api, item: &Struct) -> Option<String> {
    let begins = item
        .fields
        .first()
        .is_some_and(|one| one.name == "struct_size");
    (begins && item.struct_size.is_none()).then(|| "no constant names its size".into())
}

fn outdated(_: &Api, item: &Struct) -> Option<String> {
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
        check(&api(structure)).iter().map(|one| one.id).collect()
    }

    #[test]
    fn what_keeps_the_rules_is_left_alone() {
        let kept = structure(&[("struct_size", "size_t"), ("a", "void*")], Some("a"));
        assert_eq!(ids(&kept), [""; 0]);
        let extension = structure(&[("base", "Base"), ("a", "void*")], Some("a"));
        assert_eq!(ids(&extension), [""; 0]);
        assert_eq!(ids(&structure(&[("a", "void*")], None)), [""; 0]);
    }

    /// SP_StreamExecutor was inserted into at 2.7, and all of kernels_experimental is nowhere in 2.20.
    #[test]
    fn what_takes_several_releases_is_found_in_what_is_committed() {
        let symbols = Symbols::embedded().unwrap();
        let apis = |names: [&str; 2]| -> Vec<Api> {
            let of = |(file, _): &&(&str, &str)| names.contains(file);
            let texts = sp_data::embedded::SNAPSHOTS.iter().filter(of);
            texts
                .map(|(_, text)| Api::from_json(text).unwrap())
                .collect()
        };
        let known = apis(["stream_executor/2.6.json", "stream_executor/2.7.json"]);
        let found = all(&known[1], &History::from_apis(&known), &symbols);
        let told: Vec<(&str, &str)> = found.iter().map(|it| (it.id, it.item.as_str())).collect();
        assert_eq!(
            told,
            [("layout_changed_version_not_bumped", "SP_StreamExecutor")]
        );
        let known = apis(["kernels_experimental/2.20.json", ""]);
        let found = all(&known[0], &History::from_apis(&known), &symbols);
        assert_eq!(found.len(), 14);
        assert!(found.iter().all(|it| it.id == "function_unexported"));
        assert_eq!(found[0].message, "no library of 2.20 exports it");
    }

    #[test]
    fn each_rule_finds_its_contradiction() {
        let late = structure(
            &[("a", "void*"), ("struct_size", "size_t")],
            Some("struct_size"),
        );
        assert_eq!(ids(&late), ["struct_size_not_first"]);
        let unnamed = structure(&[("struct_size", "size_t"), ("a", "void*")], None);
        assert_eq!(ids(&unnamed), ["struct_size_unnamed"]);
        let stale = structure(
            &[("struct_size", "size_t"), ("a", "void*")],
            Some("struct_size"),
        );
        let found = check(&api(&stale));
        assert_eq!(found[0].id, "last_field_outdated");
        assert_eq!(
            found[0].message,
            "S_SIZE ends with `struct_size` at 8 bytes, and the last field is `a`, which ends at 16"
        );
    }
}
