//! A struct's epochs side by side: one row a field, one column an epoch, and in each cell where the
//! field stands and what became of it since the epoch before.

use serde::Serialize;
use sp_ir::{Epoch, Field, History, Layout, Record};

use sp_ir::c;

/// What became of a field when an epoch began.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// It came, behind all that was there: older programs still find the rest.
    Appended,
    /// It came, where something else stood or in between.
    Inserted,
    /// It stands at another offset.
    Moved,
    /// It has another type, or a function there has another signature.
    Retyped,
    /// It has another name.
    Renamed,
    /// It is there no more.
    Gone,
}

impl Mark {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Appended => "appended",
            Self::Inserted => "inserted",
            Self::Moved => "moved",
            Self::Retyped => "retyped",
            Self::Renamed => "renamed",
            Self::Gone => "gone",
        }
    }

    /// The sign for it, where there is no room for the word.
    pub fn sign(self) -> char {
        match self {
            Self::Appended => '+',
            Self::Inserted => '!',
            Self::Moved => '>',
            Self::Retyped => '~',
            Self::Renamed => '=',
            Self::Gone => 'x',
        }
    }

    /// Whether who was built with the one epoch misreads the other.
    pub fn breaks(self) -> bool {
        !matches!(self, Self::Appended | Self::Renamed)
    }
}

/// An epoch of the struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its releases.
    pub releases: Vec<String>,
    /// `sizeof` and `alignof`.
    pub layout: Layout,
    /// The `struct_size` protocol's size.
    pub struct_size: Option<u64>,
    /// Whether something in it breaks with the epoch before.
    pub breaks: bool,
}

/// A field in an epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The field, where the epoch has it.
    pub field: Option<Field>,
    /// What became of it when the epoch began.
    pub marks: Vec<Mark>,
}

/// A field through all epochs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name, the newest.
    pub name: String,
    /// Earlier names and the last release of each.
    pub former: Vec<(String, String)>,
    /// Its type, the newest, as C writes it.
    pub ty: String,
    /// The first release that has it under the newest name.
    pub since: String,
    /// A cell for each column.
    pub cells: Vec<Cell>,
}

impl Row {
    /// The type as far as a line has room.
    pub fn kind(&self) -> &str {
        match self.ty.contains("(*)") {
            true => "function",
            false => &self.ty,
        }
    }
}

/// A struct or union through the releases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: String,
    /// Whether it is a union.
    pub union: bool,
    /// Its epochs.
    pub columns: Vec<Column>,
    /// Its fields, the gone ones where they stood.
    pub rows: Vec<Row>,
}

impl Table {
    /// The table of the struct or union called `name`.
    pub fn of(history: &History, name: &str) -> Option<Self> {
        let epochs = history.structs.get(name)?;
        let mut rows: Vec<Row> = Vec::new();
        for index in 0..epochs.len() {
            place(history, name, epochs, index, &mut rows);
        }
        for row in &mut rows {
            finish(history, name, epochs, row);
        }
        let columns = epochs.iter().map(column);
        Some(Self {
            name: name.into(),
            union: epochs.last()?.shape.union,
            columns: columns.collect(),
            rows,
        })
    }

    /// The names of the fields that have `mark` in a column.
    pub fn marked(&self, column: usize, mark: Mark) -> Vec<&str> {
        let rows = self.rows.iter();
        rows.filter(|row| row.cells[column].marks.contains(&mark))
            .map(|row| row.name.as_str())
            .collect()
    }
}

/// Gives every row a cell for the epoch at `index`, and its new fields rows.
fn place(
    history: &History,
    name: &str,
    epochs: &[Epoch<Record>],
    index: usize,
    rows: &mut Vec<Row>,
) {
    let epoch = &epochs[index];
    let before = index.checked_sub(1).map(|before| &epochs[before]);
    let mut placed = vec![false; epoch.shape.fields.len()];
    for row in rows.iter_mut() {
        let found = before.and_then(|before| follow(row, before, epoch));
        let found = found.filter(|found| !std::mem::replace(&mut placed[*found], true));
        let field = found.map(|found| &epoch.shape.fields[found]);
        let cell = continued(history, name, before, epoch, row, field);
        row.cells.push(cell);
    }
    let mut after = 0;
    for (field, placed) in epoch.shape.fields.iter().zip(placed) {
        let at = |row: &Row| {
            let cell = row.cells.last().and_then(|cell| cell.field.as_ref());
            cell.is_some_and(|cell| cell.name == field.name)
        };
        match placed {
            true => after = rows.iter().position(at).map_or(after, |row| row + 1),
            false => {
                rows.insert(after, begun(field, index, before, &epoch.shape));
                after += 1;
            }
        }
    }
}

/// Which field of `epoch` the row goes on with.
fn follow(row: &Row, before: &Epoch<Record>, epoch: &Epoch<Record>) -> Option<usize> {
    let fields = &epoch.shape.fields;
    let same = fields.iter().position(|field| field.name == row.name);
    same.or_else(|| {
        let old = before.shape.field(&row.name)?;
        let new = before.shape.renamed_field(old, &epoch.shape)?;
        fields.iter().position(|field| field.name == new.name)
    })
}

fn continued(
    history: &History,
    name: &str,
    before: Option<&Epoch<Record>>,
    epoch: &Epoch<Record>,
    row: &mut Row,
    field: Option<&Field>,
) -> Cell {
    let old = row.cells.last().and_then(|cell| cell.field.clone());
    let mut marks = Vec::new();
    match (&old, field) {
        (None, None) => {}
        (Some(_), None) => marks.push(Mark::Gone),
        (None, Some(field)) => marks.push(arrival(before, &epoch.shape, field)),
        (Some(old), Some(field)) => {
            if old.offset != field.offset {
                marks.push(Mark::Moved);
            }
            if old.name != field.name {
                // Within an epoch it may have come later; then the epoch did not begin with it.
                let since = history.since.get(&format!("{name}.{}", field.name));
                if since.is_some_and(|since| since == epoch.first()) {
                    marks.push(Mark::Renamed);
                }
                row.name = field.name.clone();
            } else if retyped(history, name, field, before, epoch) || old.size != field.size {
                marks.push(Mark::Retyped);
            }
        }
    }
    let field = field.cloned();
    Cell { field, marks }
}

fn begun(field: &Field, index: usize, before: Option<&Epoch<Record>>, now: &Record) -> Row {
    let mut cells = vec![Cell::default(); index];
    cells.push(Cell {
        field: Some(field.clone()),
        marks: before
            .map(|_| arrival(before, now, field))
            .into_iter()
            .collect(),
    });
    Row {
        name: field.name.clone(),
        former: Vec::new(),
        ty: String::new(),
        since: String::new(),
        cells,
    }
}

/// Behind all that the epoch before had, or not.
fn arrival(before: Option<&Epoch<Record>>, now: &Record, field: &Field) -> Mark {
    let Some(before) = before.map(|before| &before.shape) else {
        return Mark::Appended;
    };
    let ends = before.fields.iter().map(|one| one.offset + one.size);
    let overlaps = field.offset < ends.max().unwrap_or(0);
    let mut behind = now.fields.iter().filter(|one| one.offset > field.offset);
    let pushes = behind.any(|one| before.field(&one.name).is_some());
    match !before.union && (overlaps || pushes) {
        true => Mark::Inserted,
        false => Mark::Appended,
    }
}

/// Whether the field's type is of another epoch than before.
fn retyped(
    history: &History,
    name: &str,
    field: &Field,
    before: Option<&Epoch<Record>>,
    epoch: &Epoch<Record>,
) -> bool {
    let full = format!("{name}.{}", field.name);
    let of = |release: &str| {
        let has = |one: &Epoch<Field>| one.releases.iter().any(|one| one == release);
        history.fields.get(&full)?.iter().position(has)
    };
    before.is_some_and(|before| of(before.last()) != of(epoch.first()))
}

/// The newest type, since when, and the names it had within an epoch or before one.
fn finish(history: &History, name: &str, epochs: &[Epoch<Record>], row: &mut Row) {
    let newest = row.cells.iter().rev().find_map(|cell| cell.field.as_ref());
    row.ty = newest.map_or(String::new(), |field| c::spell(&field.ty));
    let full = format!("{name}.{}", row.name);
    row.since = history.since.get(&full).cloned().unwrap_or_default();
    let prefix = format!("{name}.");
    let known = history.fields.range(prefix.clone()..);
    let known = known.take_while(|(full, _)| full.starts_with(&prefix));
    for (other, runs) in known.filter(|(other, _)| **other != full) {
        let Some(last) = runs.last() else { continue };
        let place = |release: &str| history.releases.iter().position(|one| one == release);
        let earlier = place(last.last()) < place(&row.since);
        let within = epochs.iter().zip(&row.cells).any(|(epoch, cell)| {
            let now = cell.field.as_ref();
            epoch.releases.iter().any(|one| one == last.last())
                && now.is_some_and(|now| now.offset == last.shape.offset)
                && now.is_some_and(|now| match epoch.shape.field(&last.shape.name) {
                    Some(_) => now.name == last.shape.name,
                    None => earlier && now.size == last.shape.size,
                })
        });
        if within {
            let old = other[prefix.len()..].to_string();
            row.former.push((old, last.last().into()));
        }
    }
}

fn column(epoch: &Epoch<Record>) -> Column {
    Column {
        releases: epoch.releases.clone(),
        layout: epoch.shape.layout,
        struct_size: epoch.shape.struct_size.as_ref().map(|size| size.value),
        breaks: epoch.breaks,
    }
}
