//! A history for programs. Its keys are a contract, `codegen/docs/history.schema.json`:
//!
//! ```json
//! {"schema": 1, "releases": ["2.4", ...], "previews": {RELEASE: VERSION},
//!  "apis": {API: [{"releases", "version"}]},
//!  "items": {NAME: {"kind", "api", "releases", "events": [{"release", "what", "text"}], "epochs": [...]}},
//!  "lints": [{"rule", "item", "text"}]}
//! ```
//!
//! An epoch has `releases`, and of a struct or union `size`, `align`, `struct_size` (or null),
//! `breaks` (with the epoch before), `fields` (`name`, `type`, `offset`, `size`, `marks` of
//! `appended inserted moved retyped renamed`) and `gone`; of a function, callback or function-typed
//! field a `signature` as in a snapshot; of an enumeration `values`. `what` is one of `appeared
//! extended changed renamed went`. Types are written as in a snapshot. A function that core has to
//! export also has `exported`: for each `package` and `platform` the releases that were `read`, and
//! `libraries`, each with the releases in which it exports the function.

use std::collections::BTreeMap;

use serde::Serialize;
use sp_ir::{History, Signature, Type, Variant};

use super::event::{Event, events};
use super::exports::{Exporter, Exports};
use super::lint::{Lint, lints};
use super::lookup::Subject;
use super::table::{Mark, Table};

/// The version of this form.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    releases: &'a [String],
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    previews: &'a BTreeMap<String, String>,
    apis: BTreeMap<&'a str, Vec<Version<'a>>>,
    items: BTreeMap<&'a str, Entry<'a>>,
    lints: Vec<Lint>,
}

#[derive(Serialize)]
struct Version<'a> {
    releases: &'a [String],
    version: Option<&'a str>,
}

#[derive(Serialize)]
struct Entry<'a> {
    kind: &'a str,
    api: &'a str,
    releases: Vec<&'a str>,
    events: Vec<Event>,
    epochs: Vec<Form<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    exported: &'a [Exporter],
}

#[derive(Serialize)]
struct Form<'a> {
    releases: &'a [String],
    #[serde(flatten)]
    shape: Shape<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Shape<'a> {
    Record {
        size: u64,
        align: u64,
        struct_size: Option<u64>,
        breaks: bool,
        fields: Vec<Member<'a>>,
        gone: Vec<&'a str>,
    },
    Function {
        signature: &'a Signature,
    },
    Enum {
        values: &'a [Variant],
    },
}

#[derive(Serialize)]
struct Member<'a> {
    name: &'a str,
    #[serde(rename = "type")]
    ty: &'a Type,
    offset: u64,
    size: u64,
    marks: &'a [Mark],
}

/// The history of `subject`, ending in one newline.
pub fn json(history: &History, exports: &Exports, subject: &Subject) -> String {
    let names = subject.items(history);
    let tables: BTreeMap<&str, Table> = names
        .iter()
        .filter_map(|name| Some((*name, Table::of(history, name)?)))
        .collect();
    let items: BTreeMap<&str, Entry> = names
        .iter()
        .filter_map(|name| {
            let entry = entry(history, name, tables.get(name), exports.get(name))?;
            Some((*name, entry))
        })
        .collect();
    let document = Document {
        schema: SCHEMA,
        releases: &history.releases,
        previews: &history.previews,
        apis: versions(history, &items),
        lints: names.iter().flat_map(|name| lints(history, name)).collect(),
        items,
    };
    serde_json::to_string(&document).expect("plain data always serializes") + "\n"
}

fn versions<'a>(
    history: &'a History,
    items: &BTreeMap<&str, Entry>,
) -> BTreeMap<&'a str, Vec<Version<'a>>> {
    let used = |api: &&String| items.values().any(|entry| entry.api == **api);
    let epochs = |api: &String| -> Vec<Version<'a>> {
        let epochs = history.apis[api].iter();
        let version = epochs.map(|epoch| Version {
            releases: &epoch.releases,
            version: epoch.shape.as_deref(),
        });
        version.collect()
    };
    let apis = history.apis.keys().filter(used);
    apis.map(|api| (api.as_str(), epochs(api))).collect()
}

fn entry<'a>(
    history: &'a History,
    name: &str,
    table: Option<&'a Table>,
    exported: &'a [Exporter],
) -> Option<Entry<'a>> {
    // A field is no item; its struct is.
    let owner = name.split('.').next().unwrap_or(name);
    let origins = history.items.get(owner)?;
    let origin = &origins.last()?.shape;
    let epochs = table.map_or_else(|| forms(history, name), records);
    let is_slot = owner != name;
    let releases: Vec<&str> = match is_slot {
        true => epochs
            .iter()
            .flat_map(|one| one.releases)
            .map(String::as_str)
            .collect(),
        false => origins
            .iter()
            .flat_map(|one| &one.releases)
            .map(String::as_str)
            .collect(),
    };
    Some(Entry {
        kind: if is_slot { "field" } else { &origin.kind },
        api: &origin.api,
        releases,
        events: events(history, name),
        epochs,
        exported,
    })
}

fn forms<'a>(history: &'a History, name: &str) -> Vec<Form<'a>> {
    let all = [&history.functions, &history.callbacks, &history.slots];
    let functions = all
        .into_iter()
        .filter_map(|epochs| epochs.get(name))
        .flatten();
    let functions = functions.map(|epoch| Form {
        releases: &epoch.releases,
        shape: Shape::Function {
            signature: &epoch.shape,
        },
    });
    let enums = history.enums.get(name).into_iter().flatten();
    let enums = enums.map(|epoch| Form {
        releases: &epoch.releases,
        shape: Shape::Enum {
            values: &epoch.shape,
        },
    });
    functions.chain(enums).collect()
}

fn records(table: &Table) -> Vec<Form<'_>> {
    let form = |(index, column): (usize, &'_ super::table::Column)| -> Shape<'_> {
        let members = table.rows.iter().filter_map(|row| {
            let cell = &row.cells[index];
            let field = cell.field.as_ref()?;
            Some(Member {
                name: &field.name,
                ty: &field.ty,
                offset: field.offset,
                size: field.size,
                marks: &cell.marks,
            })
        });
        let mut fields: Vec<Member> = members.collect();
        fields.sort_by_key(|member| member.offset);
        Shape::Record {
            size: column.layout.size,
            align: column.layout.align,
            struct_size: column.struct_size,
            breaks: column.breaks,
            fields,
            gone: table.marked(index, Mark::Gone),
        }
    };
    let mut forms = Vec::new();
    for (index, column) in table.columns.iter().enumerate() {
        forms.push(Form {
            releases: &column.releases,
            shape: form((index, column)),
        });
    }
    forms
}
