//! Tests of the pipeline with small APIs of our own.

use std::collections::BTreeMap;
use std::fs;

use miette::Diagnostic;

use super::*;
use crate::clang::{DEFAULT_TARGET, Library};
use sp_data::embedded::SNAPSHOTS;
use sp_ir::Type;

const BASE: &str = "#pragma once
extern \"C\" {}
typedef struct B_Thing B_Thing;
#define B_SIZE TF_OFFSET_OF_END(B_Args, last)
typedef struct B_Args { long struct_size; char last; } B_Args;
";

/// As [`BASE`], for a parse without [`TOP`], which defines the macro.
const BASE_ALONE: &str = "#pragma once
extern \"C\" {}
typedef struct B_Thing B_Thing;
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

fn run(aside: &str) -> Option<Vec<Api>> {
    let headers = [("top.h", TOP), ("base.h", BASE), ("aside.h", ASIDE)];
    let extracted = extract_texts(aside, &headers, &[])?;
    Some(extracted.into_apis().unwrap())
}

/// Reads headers of `tensorflow/c`.
fn extract_texts(aside: &str, headers: &[(&str, &str)], only: &[String]) -> Option<Extracted> {
    if let Err(missing) = Library::load() {
        eprintln!("skipped: no libclang: {missing}");
        return None;
    }
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("tensorflow/c");
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in headers {
        fs::write(folder.join(name), text).unwrap();
    }
    let job = Job {
        notes: &notes(aside),
        excluded: &ExcludedHeaders::default(),
        known: &KnownNames::default(),
        include_root: root.path(),
        release: "9.9",
        only,
    };
    Some(extract_with(&job, DEFAULT_TARGET).unwrap())
}

const ASIDE_NOTES: &str =
    "headers = [\"tensorflow/c/aside.h\"]\nonly = { \"*/aside.h\" = [\"Aside\"] }";

#[test]
fn assigns_item_to_the_api_of_its_header() {
    let Some(apis) = run(ASIDE_NOTES) else { return };
    let names: Vec<&str> = apis.iter().map(|api| api.name.as_str()).collect();
    assert_eq!(
        names,
        ["aside", "base", "top"],
        "an API without headers in the release is omitted"
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
    let expected = [("Aside", "aside"), ("B_Args", "base"), ("B_Thing", "base")];
    assert_eq!(imports, expected);
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
fn equal_headers_have_equal_snapshots() {
    let (Some(first), Some(second)) = (run(ASIDE_NOTES), run(ASIDE_NOTES)) else {
        return;
    };
    let text = |apis: Vec<Api>| apis.iter().map(Api::to_json).collect::<String>();
    assert_eq!(text(first), text(second));
}

fn item_of<'a>(apis: &'a [Api], api: &str, item: &str) -> &'a Item {
    let api = apis.iter().find(|known| known.name == api).unwrap();
    &api.items[item]
}

const UNRELATED_NOTES: &str =
    "headers = [\"tensorflow/c/aside.h\"]\nonly = { \"tensorflow/c/aside.h\" = [\"Unrelated\"] }";

#[test]
fn finds_undeclared_type_in_include_root() {
    let fields = "#pragma once\ntypedef struct Aside { int x; } Aside; int Unrelated(void);";
    let headers = [("top.h", TOP), ("base.h", BASE), ("aside.h", fields)];
    let Some(extracted) = extract_texts(UNRELATED_NOTES, &headers, &[]) else {
        return;
    };
    let apis = extracted.into_apis().unwrap();
    let Item::Struct(aside) = item_of(&apis, "top", "Aside") else {
        panic!("{apis:?}")
    };
    let expected = (4, "tensorflow/c/aside.h");
    assert_eq!((aside.layout.size, aside.loc.file.as_str()), expected);
}

#[test]
fn indescribable_type_behind_pointer_is_opaque() {
    let bits = "#pragma once\ntypedef struct Aside { int x : 3; } Aside; int Unrelated(void);";
    let notes = "headers = [\"gone_too.h\"]";
    let headers = [("top.h", TOP), ("base.h", BASE), ("aside.h", bits)];
    let Some(extracted) = extract_texts(notes, &headers, &[]) else {
        return;
    };
    assert!(matches!(
        item_of(&extracted.apis, "top", "Aside"),
        Item::Handle(_)
    ));
    let line = "headers that match no API are not read (1): tensorflow/c/aside.h";
    assert_eq!(extracted.format_unassigned().as_deref(), Some(line));
}

#[test]
fn indescribable_type_by_value_fails_one_api() {
    let bits = "#pragma once\ntypedef struct Aside { int x : 3; } Aside;";
    let top = TOP.replace("Aside* aside;", "Aside aside;");
    let headers = [("top.h", top.as_str()), ("base.h", BASE), ("aside.h", bits)];
    let notes = "headers = [\"gone_too.h\"]";
    let Some(extracted) = extract_texts(notes, &headers, &[]) else {
        return;
    };
    let names: Vec<&str> = extracted.apis.iter().map(|api| api.name.as_str()).collect();
    assert_eq!(names, ["base"]);
    let unreadable = &extracted.unreadable[0];
    assert_eq!(unreadable.to_string(), "API `top` cannot be read");
    let reason = "`T_Fns` uses `Aside`, which no header declares";
    assert_eq!(unreadable.reason.to_string(), reason);
    let code = unreadable.reason.code().unwrap().to_string();
    assert_eq!(code, "sp_gen::extract::undeclared");
}

#[test]
fn header_with_error_fails_its_api_only() {
    let broken = format!("{TOP}\nint broken(Nothing x);");
    let headers = [
        ("top.h", broken.as_str()),
        ("base.h", BASE_ALONE),
        ("aside.h", ASIDE),
    ];
    let Some(extracted) = extract_texts(ASIDE_NOTES, &headers, &[]) else {
        return;
    };
    let names: Vec<&str> = extracted.apis.iter().map(|api| api.name.as_str()).collect();
    assert_eq!(names, ["aside", "base"]);
    assert_eq!(extracted.unreadable[0].api, "top");
}

#[test]
fn reads_only_requested_apis_and_their_includes() {
    let broken = format!("{TOP}\nint broken(Nothing x);");
    let only = ["base".to_owned()];
    let headers = [("top.h", broken.as_str()), ("base.h", BASE_ALONE)];
    let Some(extracted) = extract_texts(ASIDE_NOTES, &headers, &only) else {
        return;
    };
    assert_eq!(extracted.apis.len(), 1);
    assert_eq!(extracted.apis[0].name, "base");
    assert!(extracted.unreadable.is_empty() && extracted.unassigned.is_empty());
}

#[test]
fn reports_unassigned_header() {
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
    let select = |excluded: &str| {
        let selected = headers::select(&Job {
            notes: &notes,
            excluded: &ExcludedHeaders::parse(excluded).unwrap(),
            known: &KnownNames::default(),
            include_root: root.path(),
            release: "9.9",
            only: &[],
        });
        selected.unwrap()
    };
    let with_reason = select("\"*/aside.h\" = \"a reason\"");
    assert_eq!(with_reason.unassigned, ["tensorflow/c/new.h"]);
    let all_excluded = select("\"*.h\" = \"a reason\"");
    assert_eq!(all_excluded.headers, ["tensorflow/c/top.h"]);
    assert!(all_excluded.unassigned.is_empty());
}

#[test]
fn skips_shared_header_items_of_other_api() {
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
    let notes_with = |api: &str, only: &str| {
        let text = format!(
            "headers = [\"tensorflow/c/x.h\"]\nonly = {{ \"tensorflow/c/x.h\" = [\"{only}\"] }}"
        );
        Notes::parse(api, &text).unwrap()
    };
    let notes = [notes_with("first", "F"), notes_with("second", "Theirs")];
    let mut unclaimed = UnclaimedItems::new(all);
    let mut take = |own: &Notes| unclaimed.take(own, &claimed_by_others(&notes, own));
    assert_eq!(take(&notes[0]).keys().collect::<Vec<_>>(), ["F", "Mine"]);
    assert_eq!(take(&notes[1]).keys().collect::<Vec<_>>(), ["Theirs"]);
}

#[test]
fn locked_headers_are_assigned_and_patterns_match() {
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
    let locked = lock.release.values();
    let locked = locked.flat_map(|release| release.headers.keys());
    let locked: BTreeSet<&String> = locked.collect();
    let (notes, excluded) = (Notes::all().unwrap(), ExcludedHeaders::embedded().unwrap());
    let patterns: Vec<&String> = notes
        .iter()
        .flat_map(|notes| notes.headers.iter().chain(notes.only.keys()))
        .chain(excluded.0.keys())
        .collect();
    let matches = crate::contract::notes::matches;
    for header in &locked {
        let found = patterns.iter().any(|pattern| matches(pattern, header));
        assert!(found, "{header} belongs to no API and is not excluded");
    }
    let others = lock.release.values();
    let others = others.flat_map(|release| release.left_out.keys());
    let seen: BTreeSet<&String> = locked.into_iter().chain(others).collect();
    for pattern in patterns {
        let found = seen.iter().any(|header| matches(pattern, header));
        assert!(found, "no release has a header {pattern}");
    }
}

#[test]
fn rejects_folder_without_headers() {
    let empty = tempfile::tempdir().unwrap();
    let error = extract(empty.path(), "9.9", DEFAULT_TARGET, Vec::new()).unwrap_err();
    assert!(matches!(error, ExtractError::NoHeaders { .. }), "{error}");
}

#[test]
fn embedded_snapshots_agree_with_embedded_notes() {
    let notes = Notes::all().unwrap();
    for (file, snapshot) in &SNAPSHOTS {
        let api = Api::from_json(snapshot.text()).unwrap();
        assert_eq!(*file, format!("{}/{}.json", api.name, api.release));
        assert_eq!(
            api.to_json(),
            snapshot.text(),
            "{file} is not in the form that sp-gen writes"
        );
        let notes = notes.iter().find(|notes| notes.api == api.name).unwrap();
        for (name, item) in &api.items {
            assert!(notes.has_header(&item.loc().file), "{file}: {name}");
        }
    }
}

#[test]
fn author_trait_slots_have_status_or_default_return() {
    for (file, snapshot) in &SNAPSHOTS {
        let api = Api::from_json(snapshot.text()).unwrap();
        let structs = api.items.iter();
        let structs = structs.filter_map(|(name, item)| Some((name, item.as_struct()?)));
        let tables = structs.filter(|(_, item)| item.author_trait.is_some());
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
                field.default_return.is_some(),
                "{slot}: expected either a status or a default return value"
            );
            assert!(field.presence.is_some(), "{slot}: expected a presence");
        }
    }
}
