//! The pipeline on two small APIs of our own.

use std::fs;

use miette::Diagnostic;

use super::*;
use crate::clang::{DEFAULT_TARGET, Library};
use crate::embedded::SNAPSHOTS;

const BASE: &str = "#pragma once
extern \"C\" {}
typedef struct B_Thing B_Thing;
#define B_SIZE TF_OFFSET_OF_END(B_Args, last)
typedef struct B_Args { long struct_size; char last; } B_Args;
";

const TOP: &str = "#pragma once
#include <stddef.h>
#define TF_OFFSET_OF_END(T, M) (offsetof(T, M) + sizeof(((T *)0)->M))
#include \"tensorflow/c/base.h\"
#include \"tensorflow/c/aside.h\"
#define T_MAJOR 1
#define T_MINOR 4
extern \"C\" {
typedef struct B_Thing B_Thing;
typedef struct T_Fns { void (*run)(B_Thing* thing, const B_Args* args); Aside* aside; } T_Fns;
void T_Init(T_Fns* fns);
}
";

const ASIDE: &str = "#pragma once
typedef struct Aside Aside; int Unrelated(void);";

const TOP_NOTES: &str = "
headers = [\"tensorflow/c/top.h\", \"once/*/top.h\"]
version = [\"T_MAJOR\", \"T_MINOR\"]
prefixes = { T_ = \"plugin\" }
entry_points = { T_Init = \"seen\" }
";

fn notes(aside: &str) -> Vec<Notes> {
    let all = [
        ("top", TOP_NOTES),
        ("base", "headers = [\"*/base.h\"]"),
        ("gone", "headers = [\"gone.h\"]\ndocs = { G = \"text\" }"),
        ("aside", aside),
    ];
    all.map(|(api, text)| Notes::parse(api, text).unwrap())
        .into()
}

fn run(aside: &str) -> Option<Result<Vec<Api>, ExtractError>> {
    if let Err(missing) = Library::load() {
        eprintln!("skipped: no libclang: {missing}");
        return None;
    }
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("tensorflow/c");
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in [("top.h", TOP), ("base.h", BASE), ("aside.h", ASIDE)] {
        fs::write(folder.join(name), text).unwrap();
    }
    Some(extract_with(
        &notes(aside),
        &LeftOut::default(),
        &Known::default(),
        root.path(),
        "9.9",
        DEFAULT_TARGET,
    ))
}

const ASIDE_NOTES: &str =
    "headers = [\"tensorflow/c/aside.h\"]\nonly = { \"*/aside.h\" = [\"Aside\"] }";

#[test]
fn an_item_belongs_to_the_header_that_declares_it() {
    let Some(apis) = run(ASIDE_NOTES) else { return };
    let apis = apis.unwrap();
    let names: Vec<&str> = apis.iter().map(|api| api.name.as_str()).collect();
    assert_eq!(
        names,
        ["aside", "base", "top"],
        "an API that the release lacks is left out"
    );
    let items = |index: usize| {
        apis[index]
            .items
            .keys()
            .map(String::as_str)
            .collect::<Vec<_>>()
    };
    assert_eq!(items(0), ["Aside"]);
    assert_eq!(items(1), ["B_Args", "B_Thing"]);
    assert_eq!(items(2), ["T_Fns", "T_Init", "T_MAJOR", "T_MINOR"]);
    let imports: Vec<_> = apis[2]
        .imports
        .iter()
        .map(|(name, api)| (name.as_str(), api.as_str()))
        .collect();
    assert_eq!(
        imports,
        [("Aside", "aside"), ("B_Args", "base"), ("B_Thing", "base")]
    );
    assert_eq!(apis[2].version.as_deref(), Some("1.4"));
    assert_eq!(apis[2].release, "9.9");
    let size = apis[1]
        .structure("B_Args")
        .unwrap()
        .struct_size
        .as_ref()
        .unwrap();
    assert_eq!((size.symbol.as_str(), size.value), ("B_SIZE", 9));
}

#[test]
fn equal_headers_give_equal_bytes() {
    let (Some(first), Some(second)) = (run(ASIDE_NOTES), run(ASIDE_NOTES)) else {
        return;
    };
    let text = |apis: Vec<Api>| apis.iter().map(Api::to_json).collect::<String>();
    assert_eq!(text(first.unwrap()), text(second.unwrap()));
}

#[test]
fn a_type_that_no_api_declares_is_named() {
    let Some(apis) = run(
        "headers = [\"tensorflow/c/aside.h\"]\nonly = { \"tensorflow/c/aside.h\" = [\"Unrelated\"] }",
    ) else {
        return;
    };
    let error = apis.unwrap_err();
    assert_eq!(
        error.to_string(),
        "top: `T_Fns` uses `Aside`, which no API declares"
    );
    assert_eq!(
        error.code().unwrap().to_string(),
        "sp_gen::extract::undeclared"
    );
}

#[test]
fn a_header_that_nobody_assigned_is_named() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("tensorflow/c")).unwrap();
    for name in ["top.h", "new.h", "aside.h"] {
        fs::write(
            root.path().join("tensorflow/c").join(name),
            "extern \"C\" {}",
        )
        .unwrap();
    }
    let notes = [Notes::parse("top", "headers = [\"tensorflow/c/top.h\"]").unwrap()];
    let left_out = LeftOut::parse("\"*/aside.h\" = \"a reason\"").unwrap();
    let error = headers::of(&notes, &left_out, root.path()).unwrap_err();
    let ExtractError::Strays { headers } = &error else {
        panic!("{error}")
    };
    assert_eq!(headers, &[Stray("tensorflow/c/new.h".into())]);
    assert_eq!(
        error.code().unwrap().to_string(),
        "sp_gen::extract::header_unassigned"
    );
    let all = LeftOut::parse("\"*.h\" = \"a reason\"").unwrap();
    assert_eq!(
        headers::of(&notes, &all, root.path()).unwrap(),
        ["tensorflow/c/top.h"]
    );
}

#[test]
fn what_one_api_names_of_a_shared_header_another_does_not_take_along() {
    let handle = |name: &str| {
        let text = format!(
            r#"{{"kind":"handle","pointer":false,"loc":"tensorflow/c/x.h:{}"}}"#,
            name.len()
        );
        (name.to_string(), serde_json::from_str(&text).unwrap())
    };
    let function = r#"{"kind":"function","symbol":"F","loc":"tensorflow/c/x.h:9","signature":{"ret":"void","params":[
        {"name":"a","type":"Mine*"},{"name":"b","type":"Theirs*"}]}}"#;
    let mut all = Items::from(["Mine", "Theirs", "Neither"].map(handle));
    all.insert("F".into(), serde_json::from_str(function).unwrap());
    let of = |api: &str, only: &str| {
        let text = format!(
            "headers = [\"tensorflow/c/x.h\"]\nonly = {{ \"tensorflow/c/x.h\" = [\"{only}\"] }}"
        );
        Notes::parse(api, &text).unwrap()
    };
    let notes = [of("first", "F"), of("second", "Theirs")];
    let mut pool = Pool::new(all);
    let mut take = |one: &Notes| pool.take(one, &claimed(&notes, one));
    assert_eq!(take(&notes[0]).keys().collect::<Vec<_>>(), ["F", "Mine"]);
    assert_eq!(take(&notes[1]).keys().collect::<Vec<_>>(), ["Theirs"]);
}

#[test]
fn every_locked_header_is_assigned_and_no_pattern_is_idle() {
    #[derive(serde::Deserialize)]
    struct Sources {
        release: BTreeMap<String, Locked>,
    }
    #[derive(serde::Deserialize)]
    struct Locked {
        headers: BTreeMap<String, String>,
        left_out: BTreeMap<String, String>,
    }
    let lock = concat!(env!("CARGO_MANIFEST_DIR"), "/../../headers/sources.toml");
    let lock: Sources = toml::from_str(&fs::read_to_string(lock).unwrap()).unwrap();
    let locked = lock.release.values().flat_map(|one| one.headers.keys());
    let locked: BTreeSet<&String> = locked.collect();
    let (notes, left_out) = (Notes::all().unwrap(), LeftOut::embedded().unwrap());
    let patterns: Vec<&String> = notes
        .iter()
        .flat_map(|one| one.headers.iter().chain(one.only.keys()))
        .chain(left_out.0.keys())
        .collect();
    let matches = crate::contract::notes::matches;
    for header in &locked {
        let found = patterns.iter().any(|pattern| matches(pattern, header));
        assert!(found, "{header} is neither an API's nor left out");
    }
    let others = lock.release.values().flat_map(|one| one.left_out.keys());
    let seen: BTreeSet<&String> = locked.into_iter().chain(others).collect();
    for pattern in patterns {
        let found = seen.iter().any(|header| matches(pattern, header));
        assert!(found, "no release has a header {pattern}");
    }
}

#[test]
fn a_folder_without_headers_is_refused() {
    let empty = tempfile::tempdir().unwrap();
    let error = extract(empty.path(), "9.9", DEFAULT_TARGET, Vec::new()).unwrap_err();
    assert!(matches!(error, ExtractError::NoHeaders { .. }), "{error}");
}

#[test]
fn the_notes_and_snapshots_in_the_binary_agree() {
    let notes = Notes::all().unwrap();
    for (file, text) in SNAPSHOTS {
        let api = Api::from_json(text).unwrap();
        assert_eq!(*file, format!("{}/{}.json", api.name, api.release));
        assert_eq!(
            api.to_json(),
            *text,
            "{file} is in the form that sp-gen writes"
        );
        let notes = notes.iter().find(|one| one.api == api.name).unwrap();
        for (name, item) in &api.items {
            assert!(notes.has_header(&item.loc().file), "{file}: {name}");
        }
    }
}

#[test]
fn every_slot_of_an_author_trait_says_what_a_panic_becomes() {
    for (file, text) in SNAPSHOTS {
        let api = Api::from_json(text).unwrap();
        let tables = api.items.iter().filter_map(|(name, item)| match item {
            Item::Struct(item) if item.author_trait.is_some() => Some((name, item)),
            _ => None,
        });
        for (name, field) in
            tables.flat_map(|(name, table)| table.fields.iter().map(move |field| (name, field)))
        {
            let Type::Function(signature) = &field.ty else {
                continue;
            };
            let has_status = signature
                .params
                .last()
                .is_some_and(|last| last.ty.points_to("TF_Status"));
            let slot = format!("{file}: {name}.{}", field.name);
            assert_ne!(
                has_status,
                field.neutral.is_some(),
                "{slot}: a status or a neutral value, and one of them"
            );
            assert!(field.presence.is_some(), "{slot}: required or optional");
        }
    }
}
