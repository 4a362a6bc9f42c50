//! Rules of naming and order that an API's headers state. `headers/apis/<api>.toml` has them as
//! `[conventions]`, with the exceptions and the reason for each.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use sp_ir::{Api, Enum, Item, Struct};

use super::Lint;
use sp_parse::contract::Notes;
use sp_parse::contract::notes::Conventions;

/// A rule: its id, what it is about, and its finding about an item.
pub struct Rule {
    /// The stable id.
    pub id: &'static str,
    /// The convention, and what follows if an item does not keep it.
    pub about: &'static str,
    against: fn(&Conventions, &str, &Item) -> Option<String>,
}

/// All rules; a new one is one entry.
pub const RULES: [Rule; 3] = [
    Rule {
        id: "ext_not_second",
        about: "A struct begins with `struct_size` and a pointer for extensions: `ext`, or `extension_start` in \
                PJRT. Without it a later release can extend the struct at its end only, and code that handles \
                all structs alike reads another member in its place.",
        against: not_second,
    },
    Rule {
        id: "enum_prefix",
        about: "The names of an API's enumerations and of their values begin with the API's prefix. C has one \
                name space: a name without it may collide with another header's.",
        against: enum_prefix,
    },
    Rule {
        id: "function_prefix",
        about: "The names of an API's functions begin with the API's prefix. C has one name space for the \
                symbols of all libraries in a process: a name without it may collide with another's.",
        against: function_prefix,
    },
];

/// The conventions of each API, as the binary has them. Notes that are malformed stop extraction.
static CONVENTIONS: LazyLock<BTreeMap<String, Conventions>> = LazyLock::new(|| {
    let notes = Notes::all().unwrap_or_default().into_iter();
    let stated = notes.filter_map(|it| Some((it.api, it.conventions?)));
    stated.collect()
});

/// The conventions of the API called `name`, if its notes state any.
pub fn of_api(name: &str) -> Option<&'static Conventions> {
    CONVENTIONS.get(name)
}

/// Returns what the rules find in an API, in the order of its items, without the stated exceptions.
pub fn check(api: &Api, conventions: &Conventions) -> Vec<Lint> {
    let found = broken(api, conventions);
    found
        .filter(|lint| conventions.reason(&lint.item).is_none())
        .collect()
}

/// The stated exceptions among what the rules find in an API: each with its reason.
pub fn excepted(api: &Api, conventions: &Conventions) -> Vec<(Lint, String)> {
    let found = broken(api, conventions);
    found
        .filter_map(|lint| {
            let reason = conventions.reason(&lint.item)?.to_owned();
            Some((lint, reason))
        })
        .collect()
}

/// All that does not keep the conventions.
fn broken<'a>(api: &'a Api, conventions: &'a Conventions) -> impl Iterator<Item = Lint> + 'a {
    let asked = |item| RULES.iter().map(move |rule| (rule, item));
    let found = |(rule, (name, item)): (&'static Rule, (&'a String, &'a Item))| {
        let message = (rule.against)(conventions, name, item)?;
        Some(Lint {
            id: rule.id,
            item: name.clone(),
            message,
            loc: item.loc().clone(),
        })
    };
    api.items.iter().flat_map(asked).filter_map(found)
}

fn not_second(conventions: &Conventions, _: &str, item: &Item) -> Option<String> {
    let Item::Struct(Struct { fields, .. }) = item else {
        return None;
    };
    let is_versioned = fields.first()?.name == "struct_size";
    let names = &conventions.second_field;
    let second = fields.get(1).map(|it| it.name.as_str());
    let is_kept = second.is_some_and(|name| names.iter().any(|it| it == name));
    if !is_versioned || names.is_empty() || is_kept {
        return None;
    }
    let expected = names.join("` or `");
    Some(match second {
        Some(name) => format!("`{name}` follows struct_size, expected `{expected}`"),
        None => format!("nothing follows struct_size, expected `{expected}`"),
    })
}

fn enum_prefix(conventions: &Conventions, name: &str, item: &Item) -> Option<String> {
    let Item::Enum(Enum { variants, .. }) = item else {
        return None;
    };
    let values = variants.iter().map(|it| it.name.as_str());
    let mut names = [name].into_iter().chain(values);
    names.find_map(|name| without_prefix(&conventions.enums, name))
}

fn function_prefix(conventions: &Conventions, name: &str, item: &Item) -> Option<String> {
    matches!(item, Item::Function(_))
        .then(|| without_prefix(&conventions.functions, name))
        .flatten()
}

/// That a name begins with none of the prefixes, if there are any.
fn without_prefix(prefixes: &[String], name: &str) -> Option<String> {
    let is_kept = prefixes.is_empty() || prefixes.iter().any(|it| name.starts_with(it.as_str()));
    (!is_kept).then(|| format!("`{name}` does not begin with {}", prefixes.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_parse::contract::notes::matches;

    const DEMO: &str = r#"
        headers = ["d.h"]
        [conventions]
        evidence = "d.h says so"
        second_field = ["ext"]
        enums = ["SE_"]
        functions = ["SE_"]
        [conventions.except]
        SP_Old = "2.4 had it so"
    "#;

    fn demo() -> Conventions {
        Notes::parse("demo", DEMO).unwrap().conventions.unwrap()
    }

    fn api(items: &str) -> Api {
        let text = format!(r#"{{"schema":2,"name":"demo","release":"2.21","items":{{{items}}}}}"#);
        Api::from_json(&text).unwrap()
    }

    fn structure(name: &str, fields: &[&str]) -> String {
        let fields = fields.iter().enumerate().map(|(at, name)| {
            let offset = 8 * at;
            format!(
                r#"{{"name":"{name}","type":"size_t","offset":{offset},"size":8,"loc":"d.h:3"}}"#
            )
        });
        let fields = fields.collect::<Vec<_>>().join(",");
        format!(
            r#""{name}":{{"kind":"struct","layout":{{"size":16,"align":8}},"loc":"d.h:2","fields":[{fields}]}}"#
        )
    }

    fn enumeration(name: &str, value: &str) -> String {
        format!(
            r#""{name}":{{"kind":"enum","repr":"int32_t","variants":[{{"name":"{value}","value":0}}],"loc":"d.h:4"}}"#
        )
    }

    fn function(name: &str) -> String {
        format!(
            r#""{name}":{{"kind":"function","signature":{{"params":[],"ret":"void"}},"symbol":"{name}","loc":"d.h:5"}}"#
        )
    }

    fn found(item: &str) -> Vec<(&'static str, String)> {
        let found = check(&api(item), &demo());
        found.into_iter().map(|it| (it.id, it.message)).collect()
    }

    #[test]
    fn accepts_what_keeps_the_conventions() {
        let kept = [
            structure("SP_A", &["struct_size", "ext", "a"]),
            structure("SP_Plain", &["a"]),
            enumeration("SE_Kind", "SE_ONE"),
            function("SE_Go"),
        ];
        assert_eq!(found(&kept.join(",")), []);
    }

    #[test]
    fn finds_struct_without_ext_in_second_place() {
        let late = structure("SP_A", &["struct_size", "a", "ext"]);
        let message = "`a` follows struct_size, expected `ext`".to_owned();
        assert_eq!(found(&late), [("ext_not_second", message)]);
        let short = structure("SP_A", &["struct_size"]);
        let message = "nothing follows struct_size, expected `ext`".to_owned();
        assert_eq!(found(&short), [("ext_not_second", message)]);
    }

    #[test]
    fn finds_enumeration_and_value_without_prefix() {
        let message = |name: &str| format!("`{name}` does not begin with SE_");
        let kind = enumeration("Kind", "SE_ONE");
        assert_eq!(found(&kind), [("enum_prefix", message("Kind"))]);
        let value = enumeration("SE_Kind", "ONE");
        assert_eq!(found(&value), [("enum_prefix", message("ONE"))]);
    }

    #[test]
    fn finds_function_without_prefix() {
        let message = "`Go` does not begin with SE_".to_owned();
        assert_eq!(found(&function("Go")), [("function_prefix", message)]);
    }

    #[test]
    fn reports_stated_exception_with_its_reason_only() {
        let old = structure("SP_Old", &["struct_size", "a"]);
        assert_eq!(found(&old), []);
        let excepted = excepted(&api(&old), &demo());
        let told: Vec<_> = excepted
            .iter()
            .map(|(it, why)| (it.id, why.as_str()))
            .collect();
        assert_eq!(told, [("ext_not_second", "2.4 had it so")]);
    }

    /// An exception that no committed release needs would hide a later mistake.
    #[test]
    fn every_stated_exception_is_needed_by_a_committed_snapshot() {
        let snapshots = sp_data::embedded::SNAPSHOTS.iter();
        let apis: Vec<Api> = snapshots
            .map(|(_, text)| Api::from_json(text).unwrap())
            .collect();
        for (name, conventions) in &*CONVENTIONS {
            let of = apis.iter().filter(|api| api.name == *name);
            let needed: Vec<Lint> = of.flat_map(|api| broken(api, conventions)).collect();
            for pattern in conventions.except.keys() {
                let is_needed = needed.iter().any(|it| matches(pattern, &it.item));
                assert!(is_needed, "{name}: nothing needs the exception {pattern}");
            }
        }
    }
}
