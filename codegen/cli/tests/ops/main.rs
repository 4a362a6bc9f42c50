//! `sp-gen ops` and `sp-gen diff --ops`, and the committed page about the changes of ops. `SP_BLESS=1` writes the golden
//! files.

#[path = "../temporary_folder/mod.rs"]
#[allow(dead_code, reason = "other tests write files in the folder")]
mod temporary_folder;

mod diff;
mod page;

use sp_tests::{assert_contains, assert_golden, root};
use std::fs;
use temporary_folder::{Run, TemporaryFolder};

fn ops(arguments: &[&str]) -> Run {
    TemporaryFolder::new().run("", &[&["ops"], arguments].concat())
}

/// Returns what the command prints.
#[track_caller]
fn stdout(arguments: &[&str]) -> String {
    let run = ops(arguments);
    assert_eq!((run.status, &*run.stderr), (0, ""), "{arguments:?}");
    run.stdout
}

#[test]
fn prints_an_op_and_its_changes() {
    for name in [
        "MatMul",
        "TopKV2",
        "CustomAggregator",
        "DefaultAttrs",
        "RefMerge",
        "_FusedConv2D",
    ] {
        let path = format!("codegen/cli/tests/ops/golden/{name}.txt");
        assert_golden(&path, &stdout(&[name]));
    }
}

#[test]
fn prints_an_op_of_one_release() {
    let text = stdout(&["TopKV2", "--release", "2.12.1"]);
    assert_golden("codegen/cli/tests/ops/golden/TopKV2-2.12.txt", &text);
    assert!(
        !text.contains("index_type") && !text.contains("since"),
        "{text}"
    );
    assert_eq!(stdout(&["TopKV2", "--release", "2.12"]), text);
}

#[test]
fn lists_names_that_contain_a_text() {
    assert_golden(
        "codegen/cli/tests/ops/golden/topk.txt",
        &stdout(&["--search", "TOPK"]),
    );
    let all = stdout(&[]);
    assert!(all.lines().count() > 1900, "{}", all.lines().count());
    let older = stdout(&["--search", "topk", "--release", "2.9"]);
    assert!(
        !older.contains("ApproxTopK") && older.contains("TopKV2\n"),
        "{older}"
    );
    let absent = ops(&["--search", "nothing has this name"]);
    let note = "no op's name contains `nothing has this name`\n";
    let expected = (0, "", note);
    assert_eq!((absent.status, &*absent.stdout, &*absent.stderr), expected);
}

#[test]
fn json_states_values_and_releases() {
    let json = |arguments: &[&str]| -> serde_json::Value {
        let text = stdout(&[arguments, &["--format", "json"]].concat());
        serde_json::from_str(&text).unwrap()
    };
    assert_golden(
        "codegen/cli/tests/ops/golden/DefaultAttrs.json",
        &format!("{:#}\n", json(&["DefaultAttrs"])),
    );
    let document = json(&["TopKV2"]);
    let op = &document["ops"][0];
    assert_eq!(op["outputs"][2]["type_attribute"], "index_type");
    assert_eq!(op["outputs"][2]["releases"][0]["first"], "2.13");
    assert_eq!(op["attributes"][3]["allowed"][0], "int32");
    assert!(document["release"].is_null());
    let older = json(&["TopKV2", "--release", "2.12"]);
    assert_eq!(older["release"], "2.12");
    assert_eq!(older["ops"][0]["attributes"].as_array().unwrap().len(), 2);
    let names = json(&["--search", "TopKV2"]);
    assert_eq!(names["ops"].as_array().unwrap().len(), 2, "{names}");
}

#[test]
fn rejects_unknown_ops_and_releases() {
    for (arguments, code, help) in [
        (&["MatMull"][..], "unknown_op", "did you mean `MatMul`"),
        (&["\u{1b}[2J"], "unknown_op", "--search"),
        (
            &["MatMul", "--release", "2.99"],
            "unknown_release",
            "2.22.0rc0",
        ),
        (&["--release", "2.12.0"], "unknown_release", "2.12.1"),
        (&["--release", "nightly"], "unknown_release", "--ops"),
        (
            &["CompareAndBitpack", "--release", "2.6"],
            "not_in_release",
            "releases with the op: 2.5",
        ),
    ] {
        let run = ops(arguments);
        assert_eq!((run.status, &*run.stdout), (2, ""), "{arguments:?}");
        let stderr = run.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_contains(&stderr, &format!("[sp_gen::ops::{code}]"));
        assert!(stderr.contains(help), "{help}: {stderr}");
        assert!(!stderr.contains('\u{1b}'), "{stderr}");
    }
}

#[test]
fn page_states_the_changes_of_the_committed_table() {
    assert_golden(
        "generated/docs/ops.md",
        &page::page(sp_ops::Table::embedded()),
    );
}

#[test]
fn element_types_are_those_of_tf_datatype() {
    for entry in fs::read_dir(root().join("generated/ir/tf_datatype")).unwrap() {
        let path = entry.unwrap().path();
        let api = sp_ir::Api::from_json(&fs::read_to_string(&path).unwrap()).unwrap();
        let sp_ir::Item::Enum(item) = &api.items["TF_DataType"] else {
            panic!("TF_DataType is an enumeration");
        };
        assert!(item.variants.len() > 20);
        // TF_COMPLEX is another name of TF_COMPLEX64.
        for variant in item.variants.iter().filter(|it| it.name != "TF_COMPLEX") {
            let number = u32::try_from(variant.value).unwrap();
            let name = sp_ops::DataType::from_number(number).and_then(|it| it.name());
            let expected = variant.name.trim_start_matches("TF_").to_lowercase();
            assert_eq!(
                name,
                Some(&*expected),
                "codegen/ops/src/data_type.rs has no such row: {number} in {}",
                path.display()
            );
        }
    }
}
