//! Cells of the page's tables: text, sign and CSS class for each release.

use sp_ir::History;

use super::super::event::{EventKind, events};
use super::super::exports::Exporter;
use super::super::table::{FieldRow, LayoutColumn, LayoutTable, Mark};

/// A cell of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GridCell {
    /// The text.
    pub text: String,
    /// The sign of the event.
    pub sign: String,
    /// The CSS class: the color, and `edge` if an epoch begins.
    pub class: String,
    /// The tooltip.
    pub hint: String,
    /// Text that is compared with the previous release and not displayed.
    pub state: String,
}

/// Returns the index of the epoch that has the release, and true if it begins there.
fn find_epoch(table: &LayoutTable, release: &str) -> Option<(usize, bool)> {
    let has_release = |column: &LayoutColumn| column.releases.iter().any(|known| known == release);
    let index = table.columns.iter().position(has_release)?;
    let begins = table.columns[index].releases.first().map(String::as_str) == Some(release);
    Some((index, begins && index > 0))
}

fn absent() -> GridCell {
    GridCell {
        class: "absent".into(),
        ..GridCell::default()
    }
}

/// Returns the cells of a size.
pub fn size(
    history: &History,
    table: &LayoutTable,
    size_of: impl Fn(&LayoutColumn) -> Option<u64>,
) -> Vec<GridCell> {
    let cell = |release: &String| {
        let Some((index, begins)) = find_epoch(table, release) else {
            return absent();
        };
        let size = size_of(&table.columns[index]);
        let changed = begins && size != size_of(&table.columns[index - 1]);
        let class = match (changed, table.columns[index].breaks) {
            (true, true) => "resized edge",
            (true, false) => "appended edge",
            _ if begins => "edge",
            _ => "",
        };
        GridCell {
            text: size.map_or("–".into(), |size| size.to_string()),
            class: class.into(),
            ..GridCell::default()
        }
    };
    history.releases.iter().map(cell).collect()
}

/// Returns the cells of a field.
pub fn field(history: &History, table: &LayoutTable, row: &FieldRow) -> Vec<GridCell> {
    let cell = |release: &String| {
        let Some((index, begins)) = find_epoch(table, release) else {
            return absent();
        };
        let field_cell = &row.cells[index];
        let mut marks: Vec<Mark> = match begins {
            true => field_cell.marks.clone(),
            false => Vec::new(),
        };
        let is_renamed_here = *release == row.since && !row.former.is_empty();
        if is_renamed_here && !marks.contains(&Mark::Renamed) {
            marks.push(Mark::Renamed);
        }
        let class = match (dominant_mark(&marks), &field_cell.field) {
            (Some(mark), _) => mark.word(),
            (None, None) => "none",
            (None, Some(_)) => "",
        };
        let words: Vec<&str> = marks.iter().map(|mark| mark.word()).collect();
        let offset = field_cell.field.as_ref();
        let offset = offset.map(|field| field.offset.to_string());
        let position = offset.as_ref().map(|offset| format!(" at {offset}"));
        GridCell {
            text: offset.unwrap_or_default(),
            sign: marks.iter().map(|mark| mark.sign()).collect(),
            class: format!("{class}{}", if begins { " edge" } else { "" }),
            hint: match words.is_empty() {
                true => String::new(),
                false => format!(
                    "{release}: {}{}",
                    words.join(", "),
                    position.unwrap_or_default()
                ),
            },
            ..GridCell::default()
        }
    };
    history.releases.iter().map(cell).collect()
}

/// Returns the cells of the libraries that export a function.
pub fn exporter(history: &History, exporter: &Exporter) -> Vec<GridCell> {
    let cell = |release: &String| match exporter.libraries(release) {
        None => GridCell {
            hint: format!("{release}: not read"),
            state: "not read".into(),
            ..absent()
        },
        Some(libraries) if libraries.is_empty() => GridCell {
            sign: "x".into(),
            class: "removed".into(),
            hint: format!("{release}: no library exports it"),
            state: "no library".into(),
            ..GridCell::default()
        },
        Some(libraries) => GridCell {
            class: "present".into(),
            hint: format!("{release}: {}", libraries.join(", ")),
            state: libraries.join(", "),
            ..GridCell::default()
        },
    };
    history.releases.iter().map(cell).collect()
}

/// Returns the mark whose color the cell has.
fn dominant_mark(marks: &[Mark]) -> Option<Mark> {
    let order = [
        Mark::Removed,
        Mark::Retyped,
        Mark::Inserted,
        Mark::Moved,
        Mark::Renamed,
        Mark::Appended,
    ];
    order.into_iter().find(|mark| marks.contains(mark))
}

/// Returns the cells of an item: its presence and its events.
pub fn item(history: &History, name: &str) -> Vec<GridCell> {
    let events = events(history, name);
    let origins = history.items.get(name).map_or(&[][..], Vec::as_slice);
    let cell = |release: &String| {
        let is_present = origins.iter().any(|epoch| epoch.releases.contains(release));
        let release_events = || events.iter().filter(|event| event.release == *release);
        let kinds = release_events().map(|event| event.kind);
        // Of several events in a release, the one with the highest rank is displayed.
        let rank = |kind: &EventKind| match kind {
            EventKind::Changed => 4,
            EventKind::Extended => 3,
            EventKind::Appeared => 2,
            EventKind::Renamed => 1,
            EventKind::Removed => 0,
        };
        let (class, sign) = match kinds.max_by_key(rank) {
            Some(EventKind::Changed) => ("changed", "!"),
            Some(EventKind::Extended) => ("appended", "+"),
            Some(EventKind::Appeared) => ("appeared", "●"),
            Some(EventKind::Renamed) => ("renamed", "="),
            Some(EventKind::Removed) => ("removed", "x"),
            None if is_present => ("present", ""),
            None => ("absent", ""),
        };
        let hints: Vec<String> = release_events()
            .map(|event| format!("{release}: {}", event.text))
            .collect();
        GridCell {
            sign: sign.into(),
            class: class.into(),
            hint: hints.join("; "),
            ..GridCell::default()
        }
    };
    history.releases.iter().map(cell).collect()
}
