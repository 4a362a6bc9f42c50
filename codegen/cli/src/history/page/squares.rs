//! One square for each release: what it says, and by its class which colour it has.

use sp_ir::History;

use super::super::event::{What, events};
use super::super::exports::Exporter;
use super::super::table::{Column, Mark, Row, Table};

/// A cell of the page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Square {
    /// What it says.
    pub text: String,
    /// The sign of what happened.
    pub sign: String,
    /// The class of its colour, and `edge` where an epoch begins.
    pub class: String,
    /// What it says when pointed at.
    pub hint: String,
    /// Other differences from the release before, which are not shown.
    pub state: String,
}

/// The epoch that has the release, and whether it begins there.
fn epoch(table: &Table, release: &str) -> Option<(usize, bool)> {
    let has = |column: &Column| column.releases.iter().any(|one| one == release);
    let index = table.columns.iter().position(has)?;
    let begins = table.columns[index].releases.first().map(String::as_str) == Some(release);
    Some((index, begins && index > 0))
}

fn absent() -> Square {
    Square {
        class: "absent".into(),
        ..Square::default()
    }
}

/// A size through the releases.
pub fn size(history: &History, table: &Table, of: impl Fn(&Column) -> Option<u64>) -> Vec<Square> {
    let square = |release: &String| {
        let Some((index, begins)) = epoch(table, release) else {
            return absent();
        };
        let now = of(&table.columns[index]);
        let changed = begins && now != of(&table.columns[index - 1]);
        let class = match (changed, table.columns[index].breaks) {
            (true, true) => "resized edge",
            (true, false) => "appended edge",
            _ if begins => "edge",
            _ => "",
        };
        Square {
            text: now.map_or("–".into(), |now| now.to_string()),
            class: class.into(),
            ..Square::default()
        }
    };
    history.releases.iter().map(square).collect()
}

/// A field through the releases.
pub fn field(history: &History, table: &Table, row: &Row) -> Vec<Square> {
    let square = |release: &String| {
        let Some((index, begins)) = epoch(table, release) else {
            return absent();
        };
        let cell = &row.cells[index];
        let mut marks: Vec<Mark> = match begins {
            true => cell.marks.clone(),
            false => Vec::new(),
        };
        let renamed_here = *release == row.since && !row.former.is_empty();
        if renamed_here && !marks.contains(&Mark::Renamed) {
            marks.push(Mark::Renamed);
        }
        let class = match (worst(&marks), &cell.field) {
            (Some(mark), _) => mark.word(),
            (None, None) => "none",
            (None, Some(_)) => "",
        };
        let words: Vec<&str> = marks.iter().map(|mark| mark.word()).collect();
        let offset = cell.field.as_ref().map(|field| field.offset.to_string());
        let place = offset.as_ref().map(|offset| format!(" at {offset}"));
        Square {
            text: offset.unwrap_or_default(),
            sign: marks.iter().map(|mark| mark.sign()).collect(),
            class: format!("{class}{}", if begins { " edge" } else { "" }),
            hint: match words.is_empty() {
                true => String::new(),
                false => format!(
                    "{release}: {}{}",
                    words.join(", "),
                    place.unwrap_or_default()
                ),
            },
            ..Square::default()
        }
    };
    history.releases.iter().map(square).collect()
}

/// Which libraries of a wheel have a function, through the releases.
pub fn exporter(history: &History, exporter: &Exporter) -> Vec<Square> {
    let square = |release: &String| match exporter.libraries(release) {
        None => Square {
            hint: format!("{release}: not read"),
            state: "not read".into(),
            ..absent()
        },
        Some(libraries) if libraries.is_empty() => Square {
            sign: "x".into(),
            class: "gone".into(),
            hint: format!("{release}: no library exports it"),
            state: "no library".into(),
            ..Square::default()
        },
        Some(libraries) => Square {
            class: "here".into(),
            hint: format!("{release}: {}", libraries.join(", ")),
            state: libraries.join(", "),
            ..Square::default()
        },
    };
    history.releases.iter().map(square).collect()
}

/// The mark that gives the colour.
fn worst(marks: &[Mark]) -> Option<Mark> {
    let order = [
        Mark::Gone,
        Mark::Retyped,
        Mark::Inserted,
        Mark::Moved,
        Mark::Renamed,
        Mark::Appended,
    ];
    order.into_iter().find(|mark| marks.contains(mark))
}

/// An item through the releases: where it is, and what happened.
pub fn item(history: &History, name: &str) -> Vec<Square> {
    let events = events(history, name);
    let origins = history.items.get(name).map_or(&[][..], Vec::as_slice);
    let square = |release: &String| {
        let here = origins.iter().any(|epoch| epoch.releases.contains(release));
        let of_release = || events.iter().filter(|event| event.release == *release);
        let what = of_release().map(|event| event.what);
        // Appearing says more than where from; changing says more than another name.
        let rank = |what: &What| match what {
            What::Changed => 4,
            What::Extended => 3,
            What::Appeared => 2,
            What::Renamed => 1,
            What::Went => 0,
        };
        let (class, sign) = match what.max_by_key(rank) {
            Some(What::Changed) => ("changed", "!"),
            Some(What::Extended) => ("appended", "+"),
            Some(What::Appeared) => ("appeared", "●"),
            Some(What::Renamed) => ("renamed", "="),
            Some(What::Went) => ("gone", "x"),
            None if here => ("here", ""),
            None => ("absent", ""),
        };
        let hints: Vec<String> = of_release()
            .map(|event| format!("{release}: {}", event.text))
            .collect();
        Square {
            sign: sign.into(),
            class: class.into(),
            hint: hints.join("; "),
            ..Square::default()
        }
    };
    history.releases.iter().map(square).collect()
}
