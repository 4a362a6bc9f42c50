//! `sp-gen ir` without a name: lists the APIs of a release.

use serde::Serialize;
use sp_ir::Api;

/// Version of the JSON format. Keys are added; the meaning of a key does not change.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct ApiList<'a> {
    schema: u32,
    release: &'a str,
    apis: Vec<ApiEntry<'a>>,
}

#[derive(Serialize)]
struct ApiEntry<'a> {
    name: &'a str,
    version: Option<&'a str>,
    items: usize,
}

/// Formats the APIs as text, one line per API.
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

/// Formats the APIs as JSON; the schema is `codegen/docs/apis.schema.json`.
pub fn json(apis: &[Api]) -> String {
    let entry = |api| -> ApiEntry<'_> {
        let api: &Api = api;
        ApiEntry {
            name: &api.name,
            version: api.version.as_deref(),
            items: api.items.len(),
        }
    };
    let list = ApiList {
        schema: SCHEMA,
        release: apis.first().map_or("", |api| &api.release),
        apis: apis.iter().map(entry).collect(),
    };
    serde_json::to_string_pretty(&list).expect("text and numbers only") + "\n"
}
