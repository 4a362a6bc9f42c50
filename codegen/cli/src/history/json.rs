//! A history as JSON. The schema is `codegen/docs/history.schema.json`:
//!
//! ```json
//! {"schema": 2, "releases": ["2.4", ...], "previews": {RELEASE: VERSION},
//!  "apis": {API: [{"releases", "version"}]},
//!  "items": {NAME: {"kind", "api", "releases", "events": [{"release", "kind", "text"}], "epochs": [...]}},
//!  "lints": [{"rule", "item", "text"}]}
//! ```
//!
//! An epoch has `releases`. For a struct or union it has `size`, `align`, `struct_size` (or null), `breaks` (true if
//! the layout is incompatible with the previous epoch), `fields` (`name`, `type`, `offset`, `size`, `marks` of
//! `appended inserted moved retyped renamed`) and `removed`. For a function, callback or function-typed field it has
//! a `signature` as in a snapshot, for an enumeration `values`. The `kind` of an event is one of `appeared extended
//! changed renamed removed`. Types are as in a snapshot. A function that core exports also has `exported`: for each
//! `package` and `platform` the `releases` whose wheel was read, and `libraries`, each with the releases in which it
//! exports the function.

use std::collections::BTreeMap;

use serde::Serialize;
use sp_ir::{History, Signature, Type, Variant};

use super::event::{HistoryEvent, events};
use super::exports::{Exporter, FunctionExporters};
use super::lint::{LayoutLint, layout_lints};
use super::lookup::Subject;
use super::table::{LayoutTable, Mark};

/// Version of the format.
const SCHEMA: u32 = 2;

#[derive(Serialize)]
struct HistoryDocument<'a> {
    schema: u32,
    releases: &'a [String],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    previews: &'a BTreeMap<String, String>,
    apis: BTreeMap<&'a str, Vec<ApiVersion<'a>>>,
    items: BTreeMap<&'a str, ItemEntry<'a>>,
    lints: Vec<LayoutLint>,
}

#[derive(Serialize)]
struct ApiVersion<'a> {
    releases: &'a [String],
    version: Option<&'a str>,
}

#[derive(Serialize)]
struct ItemEntry<'a> {
    kind: &'a str,
    api: &'a str,
    releases: Vec<&'a str>,
    events: Vec<HistoryEvent>,
    epochs: Vec<EpochEntry<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    exported: &'a [Exporter],
}

#[derive(Serialize)]
struct EpochEntry<'a> {
    releases: &'a [String],
    #[serde(flatten)]
    shape: EpochShape<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum EpochShape<'a> {
    Record {
        size: u64,
        align: u64,
        struct_size: Option<u64>,
        breaks: bool,
        fields: Vec<FieldEntry<'a>>,
        removed: Vec<&'a str>,
    },
    Function {
        signature: &'a Signature,
    },
    Enum {
        values: &'a [Variant],
    },
}

#[derive(Serialize)]
struct FieldEntry<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    ty: &'a Type,
    offset: u64,
    size: u64,
    marks: &'a [Mark],
}

/// Formats the history of `subject` as JSON, ending in one newline.
pub fn json(history: &History, exports: &FunctionExporters, subject: &Subject) -> String {
    let names = subject.items(history);
    let tables: BTreeMap<&str, LayoutTable> = names
        .iter()
        .filter_map(|name| Some((*name, LayoutTable::find(history, name)?)))
        .collect();
    let items: BTreeMap<&str, ItemEntry> = names
        .iter()
        .filter_map(|name| {
            let entry = new_entry(history, name, tables.get(name), exports.get(name))?;
            Some((*name, entry))
        })
        .collect();
    let document = HistoryDocument {
        schema: SCHEMA,
        releases: &history.releases,
        previews: &history.previews,
        apis: api_versions(history, &items),
        lints: names
            .iter()
            .flat_map(|name| layout_lints(history, name))
            .collect(),
        items,
    };
    serde_json::to_string(&document).expect("plain data always serializes") + "\n"
}

fn api_versions<'a>(
    history: &'a History,
    items: &BTreeMap<&str, ItemEntry>,
) -> BTreeMap<&'a str, Vec<ApiVersion<'a>>> {
    let is_used = |api: &&String| items.values().any(|entry| entry.api == **api);
    let epochs = |api: &String| -> Vec<ApiVersion<'a>> {
        let epochs = history.apis[api].iter();
        let version = epochs.map(|epoch| ApiVersion {
            releases: &epoch.releases,
            version: epoch.shape.as_deref(),
        });
        version.collect()
    };
    let apis = history.apis.keys().filter(is_used);
    apis.map(|api| (api.as_str(), epochs(api))).collect()
}

fn new_entry<'a>(
    history: &'a History,
    name: &str,
    table: Option<&'a LayoutTable>,
    exported: &'a [Exporter],
) -> Option<ItemEntry<'a>> {
    // The item of a field is its struct.
    let owner = name.split('.').next().unwrap_or(name);
    let origins = history.items.get(owner)?;
    let origin = &origins.last()?.shape;
    let epochs = table.map_or_else(|| declaration_epochs(history, name), struct_epochs);
    let is_slot = owner != name;
    let releases: Vec<&str> = match is_slot {
        true => epochs
            .iter()
            .flat_map(|epoch| epoch.releases)
            .map(String::as_str)
            .collect(),
        false => origins
            .iter()
            .flat_map(|epoch| &epoch.releases)
            .map(String::as_str)
            .collect(),
    };
    Some(ItemEntry {
        kind: if is_slot { "field" } else { &origin.kind },
        api: &origin.api,
        releases,
        events: events(history, name),
        epochs,
        exported,
    })
}

fn declaration_epochs<'a>(history: &'a History, name: &str) -> Vec<EpochEntry<'a>> {
    let all = [&history.functions, &history.callbacks, &history.slots];
    let functions = all.into_iter().filter_map(|epochs| epochs.get(name));
    let functions = functions.flatten();
    let functions = functions.map(|epoch| EpochEntry {
        releases: &epoch.releases,
        shape: EpochShape::Function {
            signature: &epoch.shape,
        },
    });
    let enums = history.enums.get(name).into_iter().flatten();
    let enums = enums.map(|epoch| EpochEntry {
        releases: &epoch.releases,
        shape: EpochShape::Enum {
            values: &epoch.shape,
        },
    });
    functions.chain(enums).collect()
}

fn struct_epochs(table: &LayoutTable) -> Vec<EpochEntry<'_>> {
    let shape = |(index, column): (usize, &'_ super::table::LayoutColumn)| -> EpochShape<'_> {
        let members = table.rows.iter().filter_map(|row| {
            let cell = &row.cells[index];
            let field = cell.field.as_ref()?;
            Some(FieldEntry {
                name: &field.name,
                ty: &field.ty,
                offset: field.offset,
                size: field.size,
                marks: &cell.marks,
            })
        });
        let mut fields: Vec<FieldEntry> = members.collect();
        fields.sort_by_key(|member| member.offset);
        EpochShape::Record {
            size: column.layout.size,
            align: column.layout.align,
            struct_size: column.struct_size,
            breaks: column.breaks,
            fields,
            removed: table.marked(index, Mark::Removed),
        }
    };
    let mut epochs = Vec::new();
    for (index, column) in table.columns.iter().enumerate() {
        epochs.push(EpochEntry {
            releases: &column.releases,
            shape: shape((index, column)),
        });
    }
    epochs
}
