//! `sp-gen ir` without a name: the APIs of a release.

use serde::Serialize;
use sp_ir::Api;

/// The version of the JSON form; keys are added, never given another meaning.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct List<'a> {
    schema: u32,
    release: &'a str,
    apis: Vec<Entry<'a>>,
}

#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    version: Option<&'a str>,
    items: usize,
}

/// Returns the APIs as a table, a line each.
pub fn text(apis: &[Api]) -> String {
    let widest = apis.iter().map(|api| api.name.len()).max().unwrap_or(0);
    let release = apis.first().map(Api::release_name).unwrap_or_default();
    let line = |api: &Api| {
        let version = api.version.as_ref();
        let version = version.map_or_else(String::new, |version| format!(", version {version}"));
        format!(
            "  {:<widest$}  {} items{version}\n",
            api.name,
            api.items.len()
        )
    };
    let lines: String = apis.iter().map(line).collect();
    format!("TensorFlow {release}\n{lines}")
}

/// Returns the APIs for programs; `codegen/docs/apis.schema.json` describes the form.
pub fn json(apis: &[Api]) -> String {
    let entry = |api| -> Entry<'_> {
        let api: &Api = api;
        Entry {
            name: &api.name,
            version: api.version.as_deref(),
            items: api.items.len(),
        }
    };
    let list = List {
        schema: SCHEMA,
        release: apis.first().map_or("", |api| &api.release),
        apis: apis.iter().map(entry).collect(),
    };
    serde_json::to_string_pretty(&list).expect("text and numbers only") + "\n"
}
