//! A history for a terminal.

mod summary;

use std::fmt::Write;

use sp_ir::{Epoch, History, Signature};

use super::event::{What, events, lifetime};
use super::exports::{Exporter, Exports};
use super::lint::lints;
use super::lookup::Subject;
use super::span;
use super::table::{Cell, Mark, Row, Table};
use sp_ir::c;

/// Wider tables say their marks as signs.
const WIDTH: usize = 110;

/// Whether marks are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// Text alone.
    Plain,
    /// With the codes that a terminal understands.
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
            Mark::Gone => "31",
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

/// The history of `subject`, ending in one newline.
pub fn text(history: &History, exports: &Exports, subject: &Subject, paint: Paint) -> String {
    let body = body(history, exports, subject, paint);
    let previews = history.previews.keys();
    let has_preview = previews
        .map(|release| history.label(release))
        .any(|label| body.contains(&label));
    match history.footnote().filter(|_| has_preview) {
        Some(footnote) => format!("{body}\n{footnote}\n"),
        None => body,
    }
}

fn body(history: &History, exports: &Exports, subject: &Subject, paint: Paint) -> String {
    match subject {
        Subject::All => {
            let apis = history.apis.keys();
            let apis = apis.map(|api| summary::api(history, api, paint));
            apis.collect::<Vec<_>>().join("\n")
        }
        Subject::Api(api) => summary::api(history, api, paint),
        Subject::Struct(name) => structure(history, name, paint),
        Subject::Function(name) => {
            function(history, name, paint) + &exported(history, exports.get(name))
        }
        Subject::Other(name) => other(history, name, paint),
    }
}

/// The first line: what it is, whose, and when there.
fn title(history: &History, name: &str, paint: Paint) -> String {
    let owner = name.split('.').next().unwrap_or(name);
    let origin = history.items.get(owner).and_then(|epochs| epochs.last());
    let (kind, api) = origin.map_or(("", ""), |one| (&one.shape.kind, &one.shape.api));
    let kind = if owner == name { kind } else { "field" };
    let when = match (history.fields.get(name), owner == name) {
        (Some(epochs), false) => {
            let releases: Vec<String> =
                epochs.iter().flat_map(|one| one.releases.clone()).collect();
            span(history, &releases)
        }
        _ => lifetime(history, name),
    };
    format!("{}  {kind} of {api}, {when}\n", paint.strong(name))
}

fn structure(history: &History, name: &str, paint: Paint) -> String {
    let Some(table) = Table::of(history, name) else {
        return String::new();
    };
    let mut out = title(history, name, paint) + "\n";
    out += &grid(history, &table, paint);
    for row in &table.rows {
        out += &retypings(history, name, row);
        for (former, last) in &row.former {
            let _ = writeln!(out, "{} was {former} until {last}", row.name);
        }
    }
    let lints = lints(history, name);
    if !lints.is_empty() {
        out += "\n";
    }
    for lint in lints {
        let _ = writeln!(out, "{}: {}", lint.rule, lint.text);
    }
    out
}

/// The table itself.
fn grid(history: &History, table: &Table, paint: Paint) -> String {
    let lines = Lines::of(history, table, false);
    let lines = match lines.width() > WIDTH {
        true => Lines::of(history, table, true),
        false => lines,
    };
    lines.print(table, paint)
}

/// A table's texts, before they are set in columns.
struct Lines {
    signs: bool,
    heads: Vec<[String; 3]>,
    rows: Vec<Vec<(String, String)>>,
    /// For each column, the width of the numbers and of the marks.
    widths: Vec<(usize, usize)>,
    names: usize,
}

impl Lines {
    fn of(history: &History, table: &Table, signs: bool) -> Self {
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
            .map(|row| row.cells.iter().map(|cell| words(cell, signs)).collect())
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
            signs,
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

    fn print(&self, table: &Table, paint: Paint) -> String {
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
        if self.signs {
            let marks = [
                Mark::Appended,
                Mark::Inserted,
                Mark::Moved,
                Mark::Retyped,
                Mark::Renamed,
                Mark::Gone,
            ];
            let legend = marks.map(|mark| format!("{} {}", mark.sign(), mark.word()));
            let _ = writeln!(out, "\n{}", legend.join("   "));
        }
        out
    }
}

/// The offset, and what became of it.
fn words(cell: &Cell, signs: bool) -> (String, String) {
    let number = cell.field.as_ref().map(|field| field.offset.to_string());
    let marks = cell.marks.iter();
    let marks: Vec<String> = match signs {
        true => marks.map(|mark| mark.sign().to_string()).collect(),
        false => marks.map(|mark| mark.word().to_string()).collect(),
    };
    let between = if signs { "" } else { " " };
    (number.unwrap_or_else(|| "·".into()), marks.join(between))
}

/// The types that a field had, where it had several.
fn retypings(history: &History, name: &str, row: &Row) -> String {
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

fn function(history: &History, name: &str, paint: Paint) -> String {
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
    out + &happened(history, name)
}

/// Who exports it, a line for each library of each package and platform.
fn exported(history: &History, exporters: &[Exporter]) -> String {
    let mut out = String::new();
    for exporter in exporters {
        let Exporter {
            package, platform, ..
        } = exporter;
        let of = span(history, &exporter.read);
        let _ = writeln!(out, "  {package} on {platform}, of {of}");
        for (library, releases) in &exporter.libraries {
            let run = span(history, releases);
            let _ = writeln!(out, "    {run:<10} {library}");
        }
        if exporter.libraries.is_empty() {
            out += "    in none\n";
        }
    }
    match out.is_empty() {
        true => out,
        false => format!("\nexported by\n{out}"),
    }
}

/// One parameter a line where it gets long; what the epoch before had not is marked.
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

fn other(history: &History, name: &str, paint: Paint) -> String {
    let mut out = title(history, name, paint);
    if let Some(epochs) = history.enums.get(name) {
        for epoch in epochs {
            let run = span(history, &epoch.releases);
            let _ = writeln!(out, "\n{run}");
            for one in &epoch.shape {
                let _ = writeln!(out, "{:>12}  {}", one.value, one.name);
            }
        }
    }
    out + &happened(history, name)
}

/// What happened, a line each.
fn happened(history: &History, name: &str) -> String {
    let mut out = String::new();
    for event in events(history, name) {
        if event.what != What::Changed || history.enums.contains_key(name) {
            let _ = writeln!(out, "\n{}: {}", history.label(&event.release), event.text);
        }
    }
    out
}
