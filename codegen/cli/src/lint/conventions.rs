//! Lints for conventions of naming and order. `headers/apis/<api>.toml` states the conventions of an API in
//! `[conventions]`, with exceptions and the reason for each.

use crate::rule::{Rule, rules};
use std::collections::BTreeMap;
use std::sync::LazyLock;

use sp_ir::{Api, Enum, Item, Struct};

use super::Lint;
use sp_parse::contract::Notes;
use sp_parse::contract::notes::Conventions;

/// Describes the violation of a convention by an item, or returns `None`.
type ConventionCheck = fn(&Conventions, &str, &Item) -> Option<String>;

rules! {
    /// The rules about the items of an API with conventions.
    RULES: ConventionCheck;

    ext_not_second: find_ext_not_second,
    "A struct begins with `struct_size` and a pointer for extensions: `ext`, or `extension_start` in \
     PJRT. Without it a later release can extend the struct only at its end, and code that handles \
     all structs alike reads another member as the pointer.";

    enum_prefix: find_enum_without_prefix,
    "The names of an API's enumerations and of their values begin with the API's prefix. C has one \
     name space: a name without it may collide with another header's.";

    function_prefix: find_function_without_prefix,
    "The names of an API's functions begin with the API's prefix. C has one name space for the \
     symbols of all libraries in a process: a name without it may collide with another's.";
}

/// The conventions of each API in the embedded notes. Malformed notes are ignored here: extraction reports them.
static CONVENTIONS: LazyLock<BTreeMap<String, Conventions>> = LazyLock::new(|| {
    let notes = Notes::all().unwrap_or_default().into_iter();
    let conventions = notes.filter_map(|notes| Some((notes.api, notes.conventions?)));
    conventions.collect()
});

/// Returns the conventions of the API `name`, or `None` if its notes state none.
pub fn for_api(name: &str) -> Option<&'static Conventions> {
    CONVENTIONS.get(name)
}

/// Returns the violations in an API without the stated exceptions, in the order of its items.
pub fn check(api: &Api, conventions: &Conventions) -> Vec<Lint> {
    let found = violations(api, conventions);
    found
        .filter(|lint| conventions.reason(&lint.item).is_none())
        .collect()
}

/// Returns the violations in an API that are stated exceptions, each with its reason.
pub fn find_exceptions(api: &Api, conventions: &Conventions) -> Vec<(Lint, String)> {
    let found = violations(api, conventions);
    found
        .filter_map(|lint| {
            let reason = conventions.reason(&lint.item)?.to_owned();
            Some((lint, reason))
        })
        .collect()
}

/// Returns all violations of the conventions.
fn violations<'a>(api: &'a Api, conventions: &'a Conventions) -> impl Iterator<Item = Lint> + 'a {
    let pairs = |item| RULES.iter().map(move |rule| (rule, item));
    let found = |(rule, (name, item)): (&'static Rule<ConventionCheck>, (&'a String, &'a Item))| {
        let message = (rule.find)(conventions, name, item)?;
        Some(Lint {
            id: rule.id,
            item: name.clone(),
            message,
            loc: item.loc().clone(),
        })
    };
    api.items.iter().flat_map(pairs).filter_map(found)
}

fn find_ext_not_second(conventions: &Conventions, _: &str, item: &Item) -> Option<String> {
    let Struct { fields, .. } = item.as_struct()?;
    let is_versioned = fields.first()?.name == "struct_size";
    let names = &conventions.second_field;
    let second = fields.get(1).map(|field| field.name.as_str());
    let is_valid = second.is_some_and(|name| names.iter().any(|allowed| allowed == name));
    if !is_versioned || names.is_empty() || is_valid {
        return None;
    }
    let expected = names.join("` or `");
    Some(match second {
        Some(name) => format!("`{name}` follows struct_size, expected `{expected}`"),
        None => format!("nothing follows struct_size, expected `{expected}`"),
    })
}

fn find_enum_without_prefix(conventions: &Conventions, name: &str, item: &Item) -> Option<String> {
    let Enum { variants, .. } = item.as_enum()?;
    let values = variants.iter().map(|variant| variant.name.as_str());
    let mut names = [name].into_iter().chain(values);
    names.find_map(|name| missing_prefix(&conventions.enums, name))
}

fn find_function_without_prefix(
    conventions: &Conventions,
    name: &str,
    item: &Item,
) -> Option<String> {
    matches!(item, Item::Function(_))
        .then(|| missing_prefix(&conventions.functions, name))
        .flatten()
}

/// Returns a message if `name` has none of the prefixes.
fn missing_prefix(prefixes: &[String], name: &str) -> Option<String> {
    let is_valid = prefixes.is_empty()
        || prefixes
            .iter()
            .any(|prefix| name.starts_with(prefix.as_str()));
    (!is_valid).then(|| format!("`{name}` does not begin with {}", prefixes.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sp_parse::contract::notes::matches;

    const DEMO: &str = r#"
        headers = ["d.h"]
        [conventions]
        evidence = "d.h states it"
        second_field = ["ext"]
        enums = ["SE_"]
        functions = ["SE_"]
        [conventions.except]
        SP_Old = "2.4 has no ext"
    "#;

    fn demo() -> Conventions {
        Notes::parse("demo", DEMO).unwrap().conventions.unwrap()
    }

    fn api(items: &str) -> Api {
        let text = format!(r#"{{"schema":2,"name":"demo","release":"2.21","items":{{{items}}}}}"#);
        Api::from_json(&text).unwrap()
    }

    fn structure(name: &str, fields: &[&str]) -> String {
        let fields = fields.iter().enumerate().map(|(index, name)| {
            let offset = 8 * index;
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
        let found = found.into_iter().map(|lint| (lint.id, lint.message));
        found.collect()
    }

    #[test]
    fn accepts_valid_items() {
        let valid = [
            structure("SP_A", &["struct_size", "ext", "a"]),
            structure("SP_Plain", &["a"]),
            enumeration("SE_Kind", "SE_ONE"),
            function("SE_Go"),
        ];
        assert_eq!(found(&valid.join(",")), []);
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
        let exceptions = find_exceptions(&api(&old), &demo());
        let found: Vec<_> = exceptions
            .iter()
            .map(|(lint, reason)| (lint.id, reason.as_str()))
            .collect();
        assert_eq!(found, [("ext_not_second", "2.4 has no ext")]);
    }

    /// An unused exception could hide a later mistake.
    #[test]
    fn convention_exceptions_occur_in_snapshots() {
        let snapshots = sp_data::embedded::SNAPSHOTS.iter();
        let apis: Vec<Api> = snapshots
            .map(|(_, snapshot)| Api::from_json(snapshot.text()).unwrap())
            .collect();
        for (name, conventions) in &*CONVENTIONS {
            let matching = apis.iter().filter(|api| api.name == *name);
            let needed: Vec<Lint> = matching
                .flat_map(|api| violations(api, conventions))
                .collect();
            for pattern in conventions.except.keys() {
                let is_needed = needed.iter().any(|lint| matches(pattern, &lint.item));
                assert!(is_needed, "{name}: the exception {pattern} is unused");
            }
        }
    }
}
