//! A history as text for a terminal.

mod summary;

use std::fmt::Write;

use sp_ir::{Epoch, History, Signature};

use super::event::{EventKind, events, lifetime};
use super::exports::{Exporter, FunctionExporters};
use super::lint::layout_lints;
use super::lookup::Subject;
use super::span;
use super::table::{FieldRow, LayoutCell, LayoutTable, Mark};
use sp_ir::c;

/// Maximum width of a table with words; a wider table has signs.
const MAX_WIDTH: usize = 110;

/// Color mode of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// No color codes.
    Plain,
    /// ANSI color codes.
    Ansi,
}

impl Paint {
    fn mark(self, marks: &[Mark], text: &str) -> String {
        let code = marks.last().map(|mark| match mark {
            Mark::Appended => "32",
            Mark::Inserted => "1;33",
            Mark::Moved => "33",
            Mark::Retyped => "35",
            Mark::Renamed => "36",
            Mark::Removed => "31",
        });
        match (self, code) {
            (Self::Ansi, Some(code)) => format!("\x1b[{code}m{text}\x1b[0m"),
            _ => text.into(),
        }
    }

    fn strong(self, text: &str) -> String {
        match self {
            Self::Ansi => format!("\x1b[1m{text}\x1b[0m"),
            Self::Plain => text.into(),
        }
    }
}

/// Formats the history of `subject` as text, ending in one newline.
pub fn text(
    history: &History,
    exports: &FunctionExporters,
    subject: &Subject,
    paint: Paint,
) -> String {
    let body = format_subject(history, exports, subject, paint);
    let previews = history.previews.keys();
    let has_preview = previews
        .map(|release| history.label(release))
        .any(|label| body.contains(&label));
    match history.footnote().filter(|_| has_preview) {
        Some(footnote) => format!("{body}\n{footnote}\n"),
        None => body,
    }
}

fn format_subject(
    history: &History,
    exports: &FunctionExporters,
    subject: &Subject,
    paint: Paint,
) -> String {
    match subject {
        Subject::All => {
            let apis = history.apis.keys();
            let apis = apis.map(|api| summary::api(history, api, paint));
            apis.collect::<Vec<_>>().join("\n")
        }
        Subject::Api(api) => summary::api(history, api, paint),
        Subject::Struct(name) => format_struct(history, name, paint),
        Subject::Function(name) => {
            format_function(history, name, paint) + &format_exporters(history, exports.get(name))
        }
        Subject::Other(name) => format_other(history, name, paint),
    }
}

/// Formats the first line: name, kind, API and releases.
fn title(history: &History, name: &str, paint: Paint) -> String {
    let owner = name.split('.').next().unwrap_or(name);
    let origin = history.items.get(owner).and_then(|epochs| epochs.last());
    let (kind, api) = origin.map_or(("", ""), |origin| (&origin.shape.kind, &origin.shape.api));
    let kind = if owner == name { kind } else { "field" };
    let releases = match (history.fields.get(name), owner == name) {
        (Some(epochs), false) => {
            let releases = epochs.iter().flat_map(|epoch| epoch.releases.clone());
            let releases: Vec<String> = releases.collect();
            span(history, &releases)
        }
        _ => lifetime(history, name),
    };
    format!("{}  {kind} of {api}, {releases}\n", paint.strong(name))
}

fn format_struct(history: &History, name: &str, paint: Paint) -> String {
    let Some(table) = LayoutTable::find(history, name) else {
        return String::new();
    };
    let mut out = title(history, name, paint) + "\n";
    out += &format_table(history, &table, paint);
    for row in &table.rows {
        out += &format_types(history, name, row);
        for (former, last) in &row.former {
            let _ = writeln!(out, "{}: named {former} until {last}", row.name);
        }
    }
    let lints = layout_lints(history, name);
    if !lints.is_empty() {
        out += "\n";
    }
    for lint in lints {
        let _ = writeln!(out, "{}: {}", lint.rule, lint.text);
    }
    out
}

/// Formats the table of a struct.
fn format_table(history: &History, table: &LayoutTable, paint: Paint) -> String {
    let text_table = TextTable::new(history, table, false);
    let text_table = match text_table.width() > MAX_WIDTH {
        true => TextTable::new(history, table, true),
        false => text_table,
    };
    text_table.print(table, paint)
}

/// The texts of a table and the widths of its columns.
struct TextTable {
    has_signs: bool,
    heads: Vec<[String; 3]>,
    rows: Vec<Vec<(String, String)>>,
    /// The widths of numbers and marks in each column.
    widths: Vec<(usize, usize)>,
    names: usize,
}

impl TextTable {
    fn new(history: &History, table: &LayoutTable, has_signs: bool) -> Self {
        let heads: Vec<[String; 3]> = table
            .columns
            .iter()
            .map(|column| {
                let size = column
                    .struct_size
                    .map_or("–".into(), |size| size.to_string());
                let releases = span(history, &column.releases);
                [releases, column.layout.size.to_string(), size]
            })
            .collect();
        let rows = table.rows.iter();
        let rows: Vec<Vec<_>> = rows
            .map(|row| {
                let cells = row.cells.iter().map(|cell| format_cell(cell, has_signs));
                cells.collect()
            })
            .collect();
        let width = |text: &String| text.chars().count();
        let widths = heads.iter().enumerate().map(|(index, head)| {
            let cells = || rows.iter().map(|row: &Vec<(String, String)>| &row[index]);
            let marks = cells().map(|(_, mark)| width(mark)).max().unwrap_or(0);
            let numbers = cells().map(|(number, _)| width(number)).max().unwrap_or(0);
            let heads = head.iter().map(width).max().unwrap_or(0);
            (numbers.max(heads), marks)
        });
        let names = table.rows.iter().map(|row| width(&row.name)).max();
        Self {
            has_signs,
            widths: widths.collect(),
            names: names.unwrap_or(0).max("struct_size".len()),
            heads,
            rows,
        }
    }

    fn width(&self) -> usize {
        let columns = self.widths.iter().map(|(number, mark)| number + mark + 3);
        self.names + columns.sum::<usize>()
    }

    fn print(&self, table: &LayoutTable, paint: Paint) -> String {
        let mut out = String::new();
        for (line, label) in ["", "sizeof", "struct_size"].into_iter().enumerate() {
            let mut text = format!("{:<1$}", label, self.names);
            for (head, (number, mark)) in self.heads.iter().zip(&self.widths) {
                let _ = write!(text, "  {:>number$} {:mark$}", head[line], "");
            }
            let _ = writeln!(out, "{}", text.trim_end());
        }
        let _ = writeln!(out, "{}", "─".repeat(self.width()));
        for (row, cells) in table.rows.iter().zip(&self.rows) {
            let mut text = format!("{:<1$}", row.name, self.names);
            for (index, (number, word)) in cells.iter().enumerate() {
                let (wide, marked) = self.widths[index];
                let padded = format!("{word:<marked$}");
                let padded = paint.mark(&row.cells[index].marks, &padded);
                let _ = write!(text, "  {number:>wide$} {padded}");
            }
            let _ = writeln!(out, "{}  {}", text, row.kind());
        }
        if self.has_signs {
            let marks = [
                Mark::Appended,
                Mark::Inserted,
                Mark::Moved,
                Mark::Retyped,
                Mark::Renamed,
                Mark::Removed,
            ];
            let legend = marks.map(|mark| format!("{} {}", mark.sign(), mark.word()));
            let _ = writeln!(out, "\n{}", legend.join("   "));
        }
        out
    }
}

/// Formats a cell: the offset and the marks.
fn format_cell(cell: &LayoutCell, has_signs: bool) -> (String, String) {
    let number = cell.field.as_ref().map(|field| field.offset.to_string());
    let marks = cell.marks.iter();
    let marks: Vec<String> = match has_signs {
        true => marks.map(|mark| mark.sign().to_string()).collect(),
        false => marks.map(|mark| mark.word().to_string()).collect(),
    };
    let separator = if has_signs { "" } else { " " };
    (number.unwrap_or_else(|| "·".into()), marks.join(separator))
}

/// Formats the types of a field that had several.
fn format_types(history: &History, name: &str, row: &FieldRow) -> String {
    let epochs = history.fields.get(&format!("{name}.{}", row.name));
    let epochs = epochs.map_or(&[][..], Vec::as_slice);
    if epochs.len() < 2 {
        return String::new();
    }
    let mut out = format!("\n{}\n", row.name);
    for epoch in epochs {
        let run = span(history, &epoch.releases);
        let _ = writeln!(out, "  {run:<10} {}", c::spell(&epoch.shape.ty));
    }
    out
}

fn format_function(history: &History, name: &str, paint: Paint) -> String {
    let mut out = title(history, name, paint) + "\n";
    let all = [&history.functions, &history.callbacks, &history.slots];
    let epochs = all.into_iter().find_map(|epochs| epochs.get(name));
    let short = name.rsplit('.').next().unwrap_or(name);
    let mut before: Option<&Epoch<Signature>> = None;
    for epoch in epochs.into_iter().flatten() {
        let run = span(history, &epoch.releases);
        let old = before.map(|before| &before.shape);
        let lines = declaration(short, &epoch.shape, old, paint);
        for (index, line) in lines.iter().enumerate() {
            let run = if index == 0 { &run } else { "" };
            let _ = writeln!(out, "{}", format!("{run:<12}{line}").trim_end());
        }
        before = Some(epoch);
    }
    out + &format_events(history, name)
}

/// Formats the libraries that export a function, by package and platform.
fn format_exporters(history: &History, exporters: &[Exporter]) -> String {
    let mut out = String::new();
    for exporter in exporters {
        let (package, platform) = (&exporter.package, &exporter.platform);
        let releases = span(history, &exporter.releases);
        let _ = writeln!(out, "  {package} on {platform}, read in {releases}");
        for (library, releases) in &exporter.libraries {
            let run = span(history, releases);
            let _ = writeln!(out, "    {run:<10} {library}");
        }
        if exporter.libraries.is_empty() {
            out += "    no library\n";
        }
    }
    match out.is_empty() {
        true => out,
        false => format!("\nexported by\n{out}"),
    }
}

/// Formats a declaration, with one parameter per line if it is long or changed. Marks new parameters.
fn declaration(
    name: &str,
    now: &Signature,
    before: Option<&Signature>,
    paint: Paint,
) -> Vec<String> {
    let whole = c::declare(name, now);
    if whole.chars().count() <= 80 && before.is_none() {
        return vec![whole];
    }
    let mut known: Vec<_> = before.into_iter().flat_map(|old| &old.params).collect();
    let mut lines = vec![format!("{} {name}(", c::spell(&now.ret))];
    let count = now.params.len();
    for (index, param) in now.params.iter().enumerate() {
        let comma = if index + 1 < count { "," } else { ")" };
        let line = format!("    {}{comma}", c::parameter(param));
        let old = known
            .iter()
            .position(|old| old.name == param.name && old.ty == param.ty);
        lines.push(match (old, before) {
            (Some(old), _) => {
                known.remove(old);
                line
            }
            (None, None) => line,
            (None, Some(_)) => paint.mark(&[Mark::Inserted], &format!("{line}   ← new")),
        });
    }
    if count == 0 {
        lines[0] += "void)";
    }
    lines
}

fn format_other(history: &History, name: &str, paint: Paint) -> String {
    let mut out = title(history, name, paint);
    if let Some(epochs) = history.enums.get(name) {
        for epoch in epochs {
            let run = span(history, &epoch.releases);
            let _ = writeln!(out, "\n{run}");
            for variant in &epoch.shape {
                let _ = writeln!(out, "{:>12}  {}", variant.value, variant.name);
            }
        }
    }
    out + &format_events(history, name)
}

/// Formats the events of an item, one line per event.
fn format_events(history: &History, name: &str) -> String {
    let mut out = String::new();
    for event in events(history, name) {
        if event.kind != EventKind::Changed || history.enums.contains_key(name) {
            let _ = writeln!(out, "\n{}: {}", history.label(&event.release), event.text);
        }
    }
    out
}
