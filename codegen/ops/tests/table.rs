//! The committed table: all of it can be read, it is in canonical form, and each op is found.

use sp_ops::{AllowedValues, DataType, OpDef, Registry, Release, ReleaseOps, Table};

const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/ops.txt");

fn committed() -> String {
    std::fs::read_to_string(COMMITTED).unwrap()
}

fn release(text: &str) -> Release {
    text.parse().unwrap()
}

fn definition(op: &str, version: &str) -> OpDef {
    let op = sp_ops::find(op).unwrap();
    op.in_release(release(version)).unwrap()
}

#[test]
fn committed_table_is_embedded_and_in_canonical_form() {
    let text = committed();
    let table = Table::parse(&*text).unwrap();
    assert_eq!(&table, Table::embedded());
    assert!(Registry::from_table(&table).to_text() == text);
}

#[test]
fn committed_table_has_all_supported_releases() {
    let releases: Vec<String> = sp_ops::releases().iter().map(ToString::to_string).collect();
    let wanted: Vec<String> = (5..=22).map(|minor| format!("2.{minor}")).collect();
    assert_eq!(releases, wanted);
    for (release, ops) in Registry::from_table(Table::embedded()).releases() {
        assert!(ops.ops.len() > 1700, "{release}: {}", ops.ops.len());
    }
}

#[test]
fn finds_each_op_and_no_other_name() {
    let all: Vec<_> = Table::embedded().ops().collect();
    assert!(sp_ops::names().eq(all.iter().map(|op| op.name.as_str())));
    for op in &all {
        assert_eq!(sp_ops::find(&op.name).as_ref(), Some(op));
    }
    for name in [
        "",
        "A ",
        "AA",
        "MatMul2",
        "matmul",
        "zzz",
        "op",
        "MatMul @ 2.5..",
        "\n",
    ] {
        assert_eq!(sp_ops::find(name), None, "{name:?}");
    }
}

#[test]
fn committed_definitions_are_valid() {
    for ops in Registry::from_table(Table::embedded()).releases().values() {
        let definitions = ops.ops.values().cloned();
        assert_eq!(ReleaseOps::new(ops.version, definitions).as_ref(), Ok(ops));
    }
}

#[test]
fn attribute_added_in_a_release_is_absent_before_it() {
    for (op, attribute, version) in [
        ("TopKV2", "index_type", 13),
        ("GatherNd", "bad_indices_policy", 17),
        ("MatMul", "grad_a", 16),
    ] {
        let before = definition(op, &format!("2.{}", version - 1));
        assert_eq!(before.attribute(attribute), None, "{op}");
        let after = definition(op, &format!("2.{version}"));
        let default = &after.attribute(attribute).unwrap().default;
        assert!(default.is_some(), "{op}");
    }
    let output = |version| {
        definition("TopKV2", version)
            .output("indices")
            .cloned()
            .unwrap()
    };
    assert_eq!(output("2.12").to_string(), "indices: int32");
    assert_eq!(output("2.13").to_string(), "indices: index_type");
}

#[test]
fn allowed_types_are_the_union_over_releases() {
    let op = sp_ops::find("MatMul").unwrap();
    let types = op.allowed_types("T").unwrap();
    let since = |wanted| {
        let mut types = types.iter();
        types
            .find(|(data_type, _)| *data_type == wanted)
            .map(|(_, it)| it.to_string())
    };
    assert_eq!(since(DataType::FLOAT).as_deref(), Some("2.5.."));
    assert_eq!(since(DataType::UINT8).as_deref(), Some("2.12.."));
    assert_eq!(since(DataType::STRING), None);
    assert_eq!(op.allowed_types("transpose_a"), None);
    assert_eq!(op.allowed_types("nothing"), None);
    let before = definition("MatMul", "2.11");
    let AllowedValues::Types(types) = &before.attribute("T").unwrap().allowed else {
        panic!("{before:?}");
    };
    assert!(!types.contains(&DataType::UINT8) && types.is_sorted());
}

#[test]
fn unknown_release_counts_as_the_newest() {
    let op = sp_ops::find("MatMul").unwrap();
    let newest = op.in_release(release("2.22.0rc0"));
    assert!(newest.is_some());
    assert_eq!(op.in_release(release("2.40.1")), newest);
    assert_eq!(op.in_release(release("2.23.0.dev20261026")), newest);
    assert_eq!(op.in_release(release("2.4")), None);
    let removed = sp_ops::find("CompareAndBitpack").unwrap();
    assert!(removed.in_release(release("2.5.3")).is_some());
    assert_eq!(removed.in_release(release("2.40")), None);
}
