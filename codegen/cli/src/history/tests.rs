//! Known facts of TensorFlow's history, in the committed snapshots.

use std::path::Path;
use std::sync::LazyLock;

use sp_ir::History;

use super::event::events;
use super::*;
use sp_data::snapshots;
use sp_data::symbols::Symbols;

static HISTORY: LazyLock<History> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../generated/ir");
    History::from_apis(&snapshots::read_folder(&folder, None).unwrap())
});

static EXPORTS: LazyLock<FunctionExporters> = LazyLock::new(|| {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../generated/ir");
    let apis = snapshots::read_folder(&folder, None).unwrap();
    FunctionExporters::find(&apis, &Symbols::embedded().unwrap())
});

/// Returns the releases and the `struct_size` of each epoch.
fn sizes(name: &str) -> Vec<(String, u64)> {
    let table = LayoutTable::find(&HISTORY, name).unwrap();
    let columns = table.columns.iter();
    let size = |column: &LayoutColumn| {
        let run = span(&HISTORY, &column.releases);
        (run, column.struct_size.unwrap_or(column.layout.size))
    };
    columns.map(size).collect()
}

/// Returns the marks of a field in a column.
fn marks<'t>(table: &'t LayoutTable, field: &str, column: usize) -> &'t [Mark] {
    let row = table.rows.iter().find(|row| row.name == field).unwrap();
    &row.cells[column].marks
}

fn rules(name: &str) -> Vec<&'static str> {
    layout_lints(&HISTORY, name)
        .iter()
        .map(|lint| lint.rule)
        .collect()
}

#[test]
fn marks_fields_inserted_into_stream_executor() {
    let known = [
        ("2.4–2.6".into(), 264),
        ("2.7–2.21".into(), 288),
        ("2.22*".into(), 296),
    ];
    assert_eq!(sizes("SP_StreamExecutor"), known);
    let table = LayoutTable::find(&HISTORY, "SP_StreamExecutor").unwrap();
    let inserted = table.marked(1, Mark::Inserted);
    assert_eq!(inserted, ["mem_zero", "memset", "memset32"]);
    assert_eq!(table.marked(1, Mark::Moved), ["host_callback"]);
    assert!(table.columns[1].breaks);
    let order: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
    let index = order.iter().position(|name| *name == "mem_zero").unwrap();
    let expected = ["mem_zero", "memset", "memset32", "host_callback"];
    assert_eq!(order[index..index + 4], expected);
    assert_eq!(
        rules("SP_StreamExecutor"),
        ["layout_changed_version_not_bumped"; 2]
    );
}

#[test]
fn appended_field_is_compatible() {
    let platform = sizes("SP_Platform");
    let known = [("2.5–2.8".into(), 34), ("2.9–2.22*".into(), 35)];
    assert_eq!(platform[platform.len() - 2..], known);
    let table = LayoutTable::find(&HISTORY, "SP_Platform").unwrap();
    let last = table.columns.len() - 1;
    assert_eq!(marks(&table, "force_memory_growth", last), [Mark::Appended]);
    assert!(!table.columns[last].breaks);
    let known = [("2.5–2.9".into(), 88), ("2.10–2.22*".into(), 92)];
    assert_eq!(sizes("TP_OptimizerConfigs"), known);
}

#[test]
fn reports_layouts_with_equal_struct_size() {
    let table = LayoutTable::find(&HISTORY, "TP_Optimizer").unwrap();
    assert_eq!(table.columns.len(), 2);
    assert_eq!(marks(&table, "optimize_func", 1), [Mark::Retyped]);
    let slot = &HISTORY.slots["TP_Optimizer.optimize_func"];
    let counts: Vec<_> = slot
        .iter()
        .map(|epoch| (epoch.first(), epoch.shape.params.len()))
        .collect();
    assert_eq!(counts, [("2.5", 4), ("2.6", 5)]);
    assert!(rules("TP_Optimizer").contains(&"epochs_indistinguishable"));
}

#[test]
fn added_parameter_is_a_change() {
    let functions = &HISTORY.functions["TF_AssignVariable"];
    let counts: Vec<_> = functions
        .iter()
        .map(|epoch| (epoch.first(), epoch.shape.params.len()))
        .collect();
    assert_eq!(counts, [("2.6", 5), ("2.10", 6)]);
    let found = events(&HISTORY, "TF_AssignVariable");
    let changed = found.iter().find(|event| event.kind == EventKind::Changed);
    assert_eq!(changed.unwrap().release, "2.10");
}

#[test]
fn alias_is_not_a_change() {
    for name in ["TF_GetCode", "TF_SetStatus", "TF_NewStatus"] {
        assert_eq!(HISTORY.functions[name].len(), 1, "{name}");
    }
    let found = events(&HISTORY, "TF_Status");
    assert!(
        found.iter().all(|event| event.kind == EventKind::Renamed),
        "{found:?}"
    );
}

#[test]
fn follows_renamed_field() {
    assert_eq!(HISTORY.structs["PJRT_Error_Message_Args"].len(), 1);
    let table = LayoutTable::find(&HISTORY, "PJRT_Error_Message_Args").unwrap();
    let row = &table.rows[1];
    assert_eq!(row.name, "extension_start");
    assert_eq!(row.former, [("priv".to_string(), "2.16".to_string())]);
}

#[test]
fn finds_subjects_or_suggests_similar_names() {
    let find = |name| Subject::find(&HISTORY, Some(name));
    assert_eq!(find("kernels").unwrap(), Subject::Api("kernels".into()));
    let found = find("SP_Device.ordinal").unwrap();
    assert_eq!(found, Subject::Struct("SP_Device".into()));
    let error = find("sp_streamexecuter").unwrap_err();
    let help = miette::Diagnostic::help(&error).unwrap().to_string();
    assert!(help.contains("SP_StreamExecutor"), "{help}");
}

#[test]
fn text_has_sizes_and_marks() {
    let subject = Subject::Struct("SP_StreamExecutor".into());
    let printed = text(&HISTORY, &EXPORTS, &subject, Paint::Plain);
    let parts = ["2.4–2.6", "2.7–2.21", "264", "288", "inserted", "moved"];
    let preview = ["2.22*", "296", "* preview: 2.22.0rc0"];
    for part in parts.into_iter().chain(preview) {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    assert!(!printed.contains('\x1b') && printed.ends_with('\n'));
    let all = text(&HISTORY, &EXPORTS, &Subject::All, Paint::Plain);
    assert!(all.contains("stream_executor") && all.contains("pjrt"));
}

#[test]
fn json_has_its_keys() {
    let subject = Subject::Struct("SP_Platform".into());
    let value: serde_json::Value =
        serde_json::from_str(&json(&HISTORY, &EXPORTS, &subject)).unwrap();
    assert_eq!(value["schema"], 2);
    assert_eq!(value["previews"]["2.22"], "2.22.0rc0");
    let epochs = value["items"]["SP_Platform"]["epochs"].as_array().unwrap();
    let last = epochs.last().unwrap();
    let expected = (&35.into(), &40.into());
    assert_eq!((&last["struct_size"], &last["size"]), expected);
    let field = &last["fields"].as_array().unwrap()[6];
    assert_eq!(field["name"], "force_memory_growth");
    assert_eq!(field["marks"][0], "appended");
    assert!(value["apis"]["stream_executor"].is_array());
}

#[test]
fn page_has_no_external_resources() {
    let subject = Subject::Struct("SP_StreamExecutor".into());
    let html = page(&HISTORY, &EXPORTS, &subject).unwrap();
    for external in ["http:", "https:", "src=", "<link", "@import", "url("] {
        assert!(!html.contains(external), "{external}");
    }
    assert!(html.contains("* preview: 2.22.0rc0"));
    assert!(html.contains("inserted edge") && html.contains("moved edge"));
}

/// Returns the column headings of the first table of a page.
fn headings(html: &str) -> Vec<&str> {
    let (_, rest) = html.split_once("<thead>").unwrap();
    let (head, _) = rest.split_once("</thead>").unwrap();
    let cells = head.split("<th>").skip(2);
    cells
        .map(|cell| cell.split("</th>").next().unwrap())
        .collect()
}

#[test]
fn page_has_one_column_for_equal_releases() {
    let subject = Subject::Struct("SP_StreamExecutor".into());
    let html = page(&HISTORY, &EXPORTS, &subject).unwrap();
    let headings = headings(&html);
    assert_eq!(headings[0], "2.4–2.6");
    assert!(headings[1].starts_with("2.7–"), "{headings:?}");
    assert!(headings.last().unwrap().ends_with("2.22*"), "{headings:?}");
    let rows = html
        .split("<tr>")
        .filter(|row| row.contains("<td class=\"name\">"));
    for row in rows {
        let row = row.split("</tr>").next().unwrap();
        assert_eq!(row.matches("<td").count(), headings.len() + 2, "{row}");
    }
}

#[test]
fn wide_table_begins_at_the_newest_release() {
    let html = page(&HISTORY, &EXPORTS, &Subject::All).unwrap();
    assert!(html.contains(".releases { direction: rtl }"));
    let tables = html.matches("<table").count();
    assert_eq!(
        html.matches("<div class=\"scroll releases\"><table")
            .count(),
        tables
    );
}

#[test]
fn every_format_has_exporters_of_function() {
    let subject = Subject::Function("TF_AssignVariable".into());
    let printed = text(&HISTORY, &EXPORTS, &subject, Paint::Plain);
    for part in [
        "tensorflow-cpu on x86_64-unknown-linux-gnu, read in 2.4–2.22*",
        "2.6–2.18, 2.22* libtensorflow_framework.so.2",
        "tensorflow on aarch64-apple-darwin, read in 2.19–2.22*",
    ] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let printed = json(&HISTORY, &EXPORTS, &subject);
    let value: serde_json::Value = serde_json::from_str(&printed).unwrap();
    let cpu = &value["items"]["TF_AssignVariable"]["exported"][0];
    assert_eq!(cpu["package"], "tensorflow-cpu");
    let releases = &cpu["libraries"]["libtensorflow_framework.so.2"];
    assert_eq!(releases.as_array().unwrap().len(), 14);
    let html = page(&HISTORY, &EXPORTS, &subject).unwrap();
    assert!(html.contains("2.19: no library exports it"), "{html}");
    let whole = page(
        &HISTORY,
        &EXPORTS,
        &Subject::Api("kernels_experimental".into()),
    );
    assert!(whole.unwrap().contains("id=\"TF_IsRefInput\""));
}

#[test]
fn function_of_plugin_has_no_exporters() {
    let subject = Subject::Function("SE_InitPlugin".into());
    let printed = text(&HISTORY, &EXPORTS, &subject, Paint::Plain);
    assert!(!printed.contains("exported by"), "{printed}");
}
