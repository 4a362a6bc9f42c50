//! A history as one page that needs nothing else: one row a field, one column a release.

mod runs;
mod squares;

use askama::Template;
use sp_ir::{Epoch, History, Signature};

use super::event::{What, events, lifetime};
use super::exports::Exports;
use super::lint::lints;
use super::lookup::Subject;
use super::span;
use super::table::{Row, Table};
use sp_ir::c;
use squares::Square;

#[derive(Template)]
#[template(path = "report/history.html.jinja")]
struct Page {
    title: String,
    releases: Vec<String>,
    footnote: Option<String>,
    chapters: Vec<Chapter>,
}

/// An API, or the one item that was asked for.
struct Chapter {
    name: String,
    about: String,
    /// Items by what happened in each run of releases.
    overview: Vec<Line>,
    /// The heads of the overview's columns.
    runs: Vec<String>,
    blocks: Vec<Block>,
    quiet: Vec<String>,
    lints: Vec<(String, String)>,
}

/// A row of squares, one for each run of releases in which nothing in the table changed.
struct Line {
    name: String,
    about: String,
    /// What `about` has no room for.
    hint: String,
    former: String,
    /// Set where a section of the struct begins.
    section: Option<String>,
    /// Where on the page there is more about it.
    link: bool,
    squares: Vec<Square>,
}

/// An item in detail.
struct Block {
    name: String,
    about: String,
    /// Whether it is the one that was asked for.
    open: bool,
    sizes: Vec<Line>,
    fields: Vec<Line>,
    /// The heads of the columns of sizes and fields.
    runs: Vec<String>,
    declarations: Vec<Declarations>,
    /// Who exports it, a line for each package and platform.
    exports: Vec<Line>,
    /// The heads of their columns.
    export_runs: Vec<String>,
    events: Vec<(String, String)>,
}

/// What something was declared as, by releases.
struct Declarations {
    name: String,
    runs: Vec<(String, String)>,
}

/// The page about `subject`.
///
/// # Errors
/// Where the template fails.
pub fn page(history: &History, exports: &Exports, subject: &Subject) -> askama::Result<String> {
    let (title, chapters) = match subject {
        Subject::All => {
            let apis = history
                .apis
                .keys()
                .map(|api| chapter(history, exports, api));
            ("TensorFlow's C plugin APIs".into(), apis.collect())
        }
        Subject::Api(api) => (api.clone(), vec![chapter(history, exports, api)]),
        Subject::Struct(name) | Subject::Function(name) | Subject::Other(name) => {
            (name.clone(), vec![single(history, exports, name)])
        }
    };
    Page {
        title,
        releases: history
            .releases
            .iter()
            .map(|it| history.label(it))
            .collect(),
        footnote: history.footnote(),
        chapters,
    }
    .render()
    .map(|text| text + "\n")
}

fn chapter(history: &History, exports: &Exports, api: &str) -> Chapter {
    let subject = Subject::Api(api.into());
    let mut names = subject.items(history);
    names.sort_by_key(|name| kind(history, name));
    let (eventful, quiet): (Vec<&str>, Vec<&str>) = names
        .iter()
        .partition(|name| !events(history, name).is_empty() || exports.lacks(history, name));
    let changed = |name: &&&str| {
        let events = events(history, name);
        let counts = |what| matches!(what, What::Changed | What::Extended);
        events.iter().any(|event| counts(event.what)) || exports.lacks(history, name)
    };
    let detailed: Vec<&str> = eventful.iter().filter(changed).copied().collect();
    // What changed says more than what came or went.
    let mut eventful = eventful;
    eventful.sort_by_key(|name| !detailed.contains(name));
    let overview = eventful.iter().map(|name| Line {
        link: detailed.contains(name),
        ..Line::of(name, kind(history, name), squares::item(history, name))
    });
    let mut overview: Vec<Line> = overview.collect();
    Chapter {
        name: api.into(),
        about: about_api(history, api),
        runs: runs::merge(history, &mut [&mut overview]),
        overview,
        blocks: detailed
            .iter()
            .map(|name| block(history, exports, name))
            .collect(),
        quiet: quiet.iter().map(|name| name.to_string()).collect(),
        lints: findings(history, &names),
    }
}

fn single(history: &History, exports: &Exports, name: &str) -> Chapter {
    let mut block = block(history, exports, name);
    block.open = true;
    Chapter {
        name: String::new(),
        about: String::new(),
        overview: Vec::new(),
        runs: Vec::new(),
        blocks: vec![block],
        quiet: Vec::new(),
        lints: findings(history, &[name]),
    }
}

impl Line {
    fn of(name: &str, about: &str, squares: Vec<Square>) -> Self {
        Self {
            name: name.into(),
            about: about.into(),
            hint: String::new(),
            former: String::new(),
            section: None,
            link: false,
            squares,
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
    let epochs = history.apis.get(api).map_or(&[][..], Vec::as_slice);
    let releases: Vec<String> = epochs.iter().flat_map(|one| one.releases.clone()).collect();
    let versions: Vec<&str> = epochs
        .iter()
        .filter_map(|one| one.shape.as_deref())
        .collect();
    let version = match versions.as_slice() {
        [] => "no version of its own".into(),
        [one] => format!("its own version reads {one} in all of them"),
        [first, .., last] => format!("its own version {first} to {last}"),
    };
    format!("TensorFlow {}; {version}", span(history, &releases))
}

fn findings(history: &History, names: &[&str]) -> Vec<(String, String)> {
    let found = names.iter().flat_map(|name| lints(history, name));
    found
        .map(|lint| (lint.rule.into(), format!("{}, {}", lint.item, lint.text)))
        .collect()
}

fn block(history: &History, exports: &Exports, name: &str) -> Block {
    let table = Table::of(history, name);
    let when = match lifetime(history, name) {
        when if when.is_empty() => String::new(),
        when => format!(", {when}"),
    };
    let rows = table.iter().flat_map(|table| &table.rows);
    let retyped = rows.filter_map(|row| types(history, name, row));
    let lines = |of: fn(&History, &Table) -> Vec<Line>| {
        let lines = table.as_ref().map(|table| of(history, table));
        lines.unwrap_or_default()
    };
    let (mut sizes, mut fields) = (lines(sizes), lines(fields));
    let mut exports = exporters(history, exports, name);
    let happened = events(history, name).into_iter();
    Block {
        name: name.into(),
        about: format!("{}{when}", kind(history, name)),
        open: false,
        runs: runs::merge(history, &mut [&mut sizes, &mut fields]),
        sizes,
        fields,
        declarations: signatures(history, name)
            .into_iter()
            .chain(retyped)
            .collect(),
        export_runs: runs::merge(history, &mut [&mut exports]),
        exports,
        events: happened
            .map(|event| (history.label(&event.release), event.text))
            .collect(),
    }
}

fn exporters(history: &History, exports: &Exports, name: &str) -> Vec<Line> {
    let lines = exports.get(name).iter().map(|exporter| {
        let squares = squares::exporter(history, exporter);
        Line::of(&exporter.package, exporter.platform, squares)
    });
    lines.collect()
}

fn sizes(history: &History, table: &Table) -> Vec<Line> {
    let layout = squares::size(history, table, |column| Some(column.layout.size));
    let said = squares::size(history, table, |column| column.struct_size);
    vec![
        Line::of("sizeof", "bytes", layout),
        Line::of("struct_size", "bytes, unpadded", said),
    ]
}

fn fields(history: &History, table: &Table) -> Vec<Line> {
    let mut section = None;
    let mut lines = Vec::new();
    for row in &table.rows {
        let newest = row.cells.iter().rev().find_map(|cell| cell.field.as_ref());
        let now = newest.and_then(|field| field.section.clone());
        let begins = now.is_some() && now != section;
        section = now.or(section);
        let former = row
            .former
            .iter()
            .map(|(name, last)| format!("{name} to {last}"));
        lines.push(Line {
            former: former.collect::<Vec<_>>().join(", "),
            section: section.clone().filter(|_| begins),
            hint: row.ty.clone(),
            ..Line::of(&row.name, row.kind(), squares::field(history, table, row))
        });
    }
    lines
}

/// The types of a field that had several.
fn types(history: &History, name: &str, row: &Row) -> Option<Declarations> {
    let epochs = history.fields.get(&format!("{name}.{}", row.name))?;
    let run = |epoch: &Epoch<sp_ir::Field>| {
        let run = span(history, &epoch.releases);
        (run, c::spell(&epoch.shape.ty))
    };
    (epochs.len() > 1).then(|| Declarations {
        name: row.name.clone(),
        runs: epochs.iter().map(run).collect(),
    })
}

fn signatures(history: &History, name: &str) -> Option<Declarations> {
    let all = [&history.functions, &history.callbacks, &history.slots];
    let epochs = all.into_iter().find_map(|epochs| epochs.get(name))?;
    let short = name.rsplit('.').next().unwrap_or(name);
    let run = |epoch: &Epoch<Signature>| {
        let run = span(history, &epoch.releases);
        (run, c::broken(short, &epoch.shape))
    };
    Some(Declarations {
        name: String::new(),
        runs: epochs.iter().map(run).collect(),
    })
}
