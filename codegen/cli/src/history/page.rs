//! A history as an HTML page without external resources: a row per field, a column per run of releases.

mod cells;
mod runs;

use askama::Template;
use sp_ir::{Epoch, History, Signature};

use super::event::{EventKind, events, lifetime};
use super::exports::FunctionExporters;
use super::lint::layout_lints;
use super::lookup::Subject;
use super::table::{FieldRow, LayoutTable};
use super::{releases_and_versions, span};
use cells::GridCell;
use sp_ir::c;

#[derive(Template)]
#[template(path = "report/history.html.jinja")]
struct HistoryPage {
    title: String,
    releases: Vec<String>,
    footnote: Option<String>,
    sections: Vec<PageSection>,
}

/// A section of the page: an API, or the requested item.
struct PageSection {
    name: String,
    about: String,
    /// One row per item with events.
    overview: Vec<GridRow>,
    /// The headings of the overview's columns.
    runs: Vec<String>,
    blocks: Vec<ItemDetails>,
    unchanged: Vec<String>,
    lints: Vec<(String, String)>,
}

/// A row of a table, with one cell for each run of releases in which nothing in the table changed.
struct GridRow {
    name: String,
    about: String,
    /// The whole text if `about` is shortened.
    hint: String,
    former: String,
    /// The heading of the struct's section that begins at this row.
    section: Option<String>,
    /// True if the page has details about the item.
    link: bool,
    cells: Vec<GridCell>,
}

/// An item in detail.
struct ItemDetails {
    name: String,
    about: String,
    /// True if the details are expanded.
    open: bool,
    sizes: Vec<GridRow>,
    fields: Vec<GridRow>,
    /// The headings of the columns of sizes and fields.
    runs: Vec<String>,
    declarations: Vec<DeclarationRuns>,
    /// The libraries that export it, one row for each package and platform.
    exports: Vec<GridRow>,
    /// The headings of the columns of `exports`.
    export_runs: Vec<String>,
    events: Vec<(String, String)>,
}

/// The declarations of an item or field, by runs of releases.
struct DeclarationRuns {
    name: String,
    runs: Vec<(String, String)>,
}

/// Formats the history of `subject` as an HTML page.
///
/// # Errors
/// Returns an error if the template fails.
pub fn page(
    history: &History,
    exports: &FunctionExporters,
    subject: &Subject,
) -> askama::Result<String> {
    let (title, sections) = match subject {
        Subject::All => {
            let apis = history.apis.keys();
            let apis = apis.map(|api| api_section(history, exports, api));
            ("TensorFlow's C plugin APIs".into(), apis.collect())
        }
        Subject::Api(api) => (api.clone(), vec![api_section(history, exports, api)]),
        Subject::Struct(name) | Subject::Function(name) | Subject::Other(name) => {
            (name.clone(), vec![item_section(history, exports, name)])
        }
    };
    HistoryPage {
        title,
        releases: history
            .releases
            .iter()
            .map(|release| history.label(release))
            .collect(),
        footnote: history.footnote(),
        sections,
    }
    .render()
    .map(|text| text + "\n")
}

fn api_section(history: &History, exports: &FunctionExporters, api: &str) -> PageSection {
    let subject = Subject::Api(api.into());
    let mut names = subject.items(history);
    names.sort_by_key(|name| kind(history, name));
    let (eventful, unchanged): (Vec<&str>, Vec<&str>) = names.iter().partition(|name| {
        !events(history, name).is_empty() || exports.is_unexported(history, name)
    });
    let changed = |name: &&&str| {
        let events = events(history, name);
        let counts = |kind| matches!(kind, EventKind::Changed | EventKind::Extended);
        events.iter().any(|event| counts(event.kind)) || exports.is_unexported(history, name)
    };
    let detailed: Vec<&str> = eventful.iter().filter(changed).copied().collect();
    // Changed items precede items that only appeared or were removed.
    let mut eventful = eventful;
    eventful.sort_by_key(|name| !detailed.contains(name));
    let overview = eventful.iter().map(|name| GridRow {
        link: detailed.contains(name),
        ..GridRow::new(name, kind(history, name), cells::item(history, name))
    });
    let mut overview: Vec<GridRow> = overview.collect();
    PageSection {
        name: api.into(),
        about: about_api(history, api),
        runs: runs::merge(history, &mut [&mut overview]),
        overview,
        blocks: detailed
            .iter()
            .map(|name| item_details(history, exports, name))
            .collect(),
        unchanged: unchanged.iter().map(|name| name.to_string()).collect(),
        lints: findings(history, &names),
    }
}

fn item_section(history: &History, exports: &FunctionExporters, name: &str) -> PageSection {
    let mut details = item_details(history, exports, name);
    details.open = true;
    PageSection {
        name: String::new(),
        about: String::new(),
        overview: Vec::new(),
        runs: Vec::new(),
        blocks: vec![details],
        unchanged: Vec::new(),
        lints: findings(history, &[name]),
    }
}

impl GridRow {
    fn new(name: &str, about: &str, cells: Vec<GridCell>) -> Self {
        Self {
            name: name.into(),
            about: about.into(),
            hint: String::new(),
            former: String::new(),
            section: None,
            link: false,
            cells,
        }
    }
}

fn kind<'h>(history: &'h History, name: &str) -> &'h str {
    let owner = name.split('.').next().unwrap_or(name);
    let origins = history.items.get(owner).and_then(|epochs| epochs.last());
    match origins {
        Some(origin) if owner == name => &origin.shape.kind,
        Some(_) => "field",
        None => "",
    }
}

fn about_api(history: &History, api: &str) -> String {
    let (releases, versions) = releases_and_versions(history, api);
    let versions = versions.unwrap_or_else(|| "the API has no version".into());
    format!("TensorFlow {releases}; {versions}")
}

fn findings(history: &History, names: &[&str]) -> Vec<(String, String)> {
    let found = names.iter().flat_map(|name| layout_lints(history, name));
    found
        .map(|lint| (lint.rule.into(), format!("{}, {}", lint.item, lint.text)))
        .collect()
}

fn item_details(history: &History, exports: &FunctionExporters, name: &str) -> ItemDetails {
    let table = LayoutTable::find(history, name);
    let when = match lifetime(history, name) {
        when if when.is_empty() => String::new(),
        when => format!(", {when}"),
    };
    let field_rows = table.iter().flat_map(|table| &table.rows);
    let retyped = field_rows.filter_map(|row| type_declarations(history, name, row));
    let rows = |build: fn(&History, &LayoutTable) -> Vec<GridRow>| {
        let lines = table.as_ref().map(|table| build(history, table));
        lines.unwrap_or_default()
    };
    let (mut sizes, mut fields) = (rows(sizes), rows(fields));
    let mut exports = exporters(history, exports, name);
    let events = events(history, name).into_iter();
    ItemDetails {
        name: name.into(),
        about: format!("{}{when}", kind(history, name)),
        open: false,
        runs: runs::merge(history, &mut [&mut sizes, &mut fields]),
        sizes,
        fields,
        declarations: signature_declarations(history, name)
            .into_iter()
            .chain(retyped)
            .collect(),
        export_runs: runs::merge(history, &mut [&mut exports]),
        exports,
        events: events
            .map(|event| (history.label(&event.release), event.text))
            .collect(),
    }
}

fn exporters(history: &History, exports: &FunctionExporters, name: &str) -> Vec<GridRow> {
    let lines = exports.get(name).iter().map(|exporter| {
        let cells = cells::exporter(history, exporter);
        GridRow::new(&exporter.package, exporter.platform, cells)
    });
    lines.collect()
}

fn sizes(history: &History, table: &LayoutTable) -> Vec<GridRow> {
    let layout = cells::size(history, table, |column| Some(column.layout.size));
    let struct_size = cells::size(history, table, |column| column.struct_size);
    vec![
        GridRow::new("sizeof", "bytes", layout),
        GridRow::new("struct_size", "bytes, unpadded", struct_size),
    ]
}

fn fields(history: &History, table: &LayoutTable) -> Vec<GridRow> {
    let mut section = None;
    let mut lines = Vec::new();
    for row in &table.rows {
        let newest = row.cells.iter().rev().find_map(|cell| cell.field.as_ref());
        let now = newest.and_then(|field| field.section.clone());
        let begins = now.is_some() && now != section;
        section = now.or(section);
        let former = row.former.iter();
        let former = former.map(|(name, last)| format!("{name} to {last}"));
        lines.push(GridRow {
            former: former.collect::<Vec<_>>().join(", "),
            section: section.clone().filter(|_| begins),
            hint: row.ty.clone(),
            ..GridRow::new(&row.name, row.kind(), cells::field(history, table, row))
        });
    }
    lines
}

/// Returns the types of a field that had several.
fn type_declarations(history: &History, name: &str, row: &FieldRow) -> Option<DeclarationRuns> {
    let epochs = history.fields.get(&format!("{name}.{}", row.name))?;
    let run = |epoch: &Epoch<sp_ir::Field>| {
        let run = span(history, &epoch.releases);
        (run, c::spell(&epoch.shape.ty))
    };
    (epochs.len() > 1).then(|| DeclarationRuns {
        name: row.name.clone(),
        runs: epochs.iter().map(run).collect(),
    })
}

fn signature_declarations(history: &History, name: &str) -> Option<DeclarationRuns> {
    let all = [&history.functions, &history.callbacks, &history.slots];
    let epochs = all.into_iter().find_map(|epochs| epochs.get(name))?;
    let short = name.rsplit('.').next().unwrap_or(name);
    let run = |epoch: &Epoch<Signature>| {
        let run = span(history, &epoch.releases);
        (run, c::broken(short, &epoch.shape))
    };
    Some(DeclarationRuns {
        name: String::new(),
        runs: epochs.iter().map(run).collect(),
    })
}
