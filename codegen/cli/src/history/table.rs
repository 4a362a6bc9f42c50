//! A table of a struct's epochs: a row per field, a column per epoch. A cell has the field's offset and its changes
//! since the previous epoch.

use serde::Serialize;
use sp_ir::{Epoch, Field, History, Layout, Record};

use sp_ir::c;

/// Change of a field since the previous epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// The field was added after all fields of the previous epoch, which keep their offsets.
    Appended,
    /// The field was added before or over a field of the previous epoch.
    Inserted,
    /// The field has another offset.
    Moved,
    /// The field has another type or signature.
    Retyped,
    /// The field has another name.
    Renamed,
    /// The field was removed.
    Removed,
}

impl Mark {
    /// Returns the name in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Appended => "appended",
            Self::Inserted => "inserted",
            Self::Moved => "moved",
            Self::Retyped => "retyped",
            Self::Renamed => "renamed",
            Self::Removed => "removed",
        }
    }

    /// Returns the sign for narrow columns.
    pub fn sign(self) -> char {
        match self {
            Self::Appended => '+',
            Self::Inserted => '!',
            Self::Moved => '>',
            Self::Retyped => '~',
            Self::Renamed => '=',
            Self::Removed => 'x',
        }
    }

    /// Returns true if a program built with one epoch misreads the other.
    pub fn breaks(self) -> bool {
        !matches!(self, Self::Appended | Self::Renamed)
    }
}

/// An epoch of a struct.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutColumn {
    /// Its releases.
    pub releases: Vec<String>,
    /// `sizeof` and `alignof`.
    pub layout: Layout,
    /// The value of `struct_size`, if the struct has a size constant.
    pub struct_size: Option<u64>,
    /// True if the layout is incompatible with the previous epoch.
    pub breaks: bool,
}

/// A field in an epoch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LayoutCell {
    /// The field, or `None` if the epoch does not have it.
    pub field: Option<Field>,
    /// Its changes since the previous epoch.
    pub marks: Vec<Mark>,
}

/// A field in all epochs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldRow {
    /// Its newest name.
    pub name: String,
    /// Its earlier names, each with the last release that has it.
    pub former: Vec<(String, String)>,
    /// Its newest type, in C.
    pub ty: String,
    /// The first release with the newest name.
    pub since: String,
    /// One cell per column.
    pub cells: Vec<LayoutCell>,
}

impl FieldRow {
    /// Returns the type, or "function" for a function pointer, whose type is too long for a table.
    pub fn kind(&self) -> &str {
        match self.ty.contains("(*)") {
            true => "function",
            false => &self.ty,
        }
    }
}

/// A struct or union in all epochs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutTable {
    /// Its name.
    pub name: String,
    /// True for a union.
    pub is_union: bool,
    /// Its epochs.
    pub columns: Vec<LayoutColumn>,
    /// Its fields, with removed ones at their former positions.
    pub rows: Vec<FieldRow>,
}

impl LayoutTable {
    /// Returns the table of the struct or union `name`, or `None` if there is none.
    pub fn find(history: &History, name: &str) -> Option<Self> {
        let epochs = history.structs.get(name)?;
        let mut rows: Vec<FieldRow> = Vec::new();
        for index in 0..epochs.len() {
            add_epoch(history, name, epochs, index, &mut rows);
        }
        for row in &mut rows {
            finish_row(history, name, epochs, row);
        }
        let columns = epochs.iter().map(new_column);
        Some(Self {
            name: name.into(),
            is_union: epochs.last()?.shape.union,
            columns: columns.collect(),
            rows,
        })
    }

    /// Returns the names of the fields that have `mark` in a column.
    pub fn marked(&self, column: usize, mark: Mark) -> Vec<&str> {
        let rows = self.rows.iter();
        rows.filter(|row| row.cells[column].marks.contains(&mark))
            .map(|row| row.name.as_str())
            .collect()
    }
}

/// Adds the column of the epoch at `index`: a cell to every row, and rows for new fields.
fn add_epoch(
    history: &History,
    name: &str,
    epochs: &[Epoch<Record>],
    index: usize,
    rows: &mut Vec<FieldRow>,
) {
    let epoch = &epochs[index];
    let before = index.checked_sub(1).map(|before| &epochs[before]);
    let mut has_row = vec![false; epoch.shape.fields.len()];
    for row in rows.iter_mut() {
        let found = before.and_then(|before| find_field(row, before, epoch));
        let found = found.filter(|found| !std::mem::replace(&mut has_row[*found], true));
        let field = found.map(|found| &epoch.shape.fields[found]);
        let cell = next_cell(history, name, before, epoch, row, field);
        row.cells.push(cell);
    }
    let mut next_row = 0;
    for (field, has_row) in epoch.shape.fields.iter().zip(has_row) {
        let has_field = |row: &FieldRow| {
            let cell = row.cells.last().and_then(|cell| cell.field.as_ref());
            cell.is_some_and(|cell| cell.name == field.name)
        };
        match has_row {
            true => {
                next_row = rows
                    .iter()
                    .position(has_field)
                    .map_or(next_row, |row| row + 1)
            }
            false => {
                rows.insert(next_row, new_row(field, index, before, &epoch.shape));
                next_row += 1;
            }
        }
    }
}

/// Returns the index of the field in `epoch` that continues the row.
fn find_field(row: &FieldRow, before: &Epoch<Record>, epoch: &Epoch<Record>) -> Option<usize> {
    let fields = &epoch.shape.fields;
    let same = fields.iter().position(|field| field.name == row.name);
    same.or_else(|| {
        let old = before.shape.field(&row.name)?;
        let new = before.shape.renamed_field(old, &epoch.shape)?;
        fields.iter().position(|field| field.name == new.name)
    })
}

fn next_cell(
    history: &History,
    name: &str,
    before: Option<&Epoch<Record>>,
    epoch: &Epoch<Record>,
    row: &mut FieldRow,
    field: Option<&Field>,
) -> LayoutCell {
    let old = row.cells.last().and_then(|cell| cell.field.clone());
    let mut marks = Vec::new();
    match (&old, field) {
        (None, None) => {}
        (Some(_), None) => marks.push(Mark::Removed),
        (None, Some(field)) => marks.push(added_mark(before, &epoch.shape, field)),
        (Some(old), Some(field)) => {
            if old.offset != field.offset {
                marks.push(Mark::Moved);
            }
            if old.name != field.name {
                // A rename within an epoch is not a change at its beginning.
                let since = history.since.get(&format!("{name}.{}", field.name));
                if since.is_some_and(|since| since == epoch.first()) {
                    marks.push(Mark::Renamed);
                }
                row.name = field.name.clone();
            } else if is_retyped(history, name, field, before, epoch) || old.size != field.size {
                marks.push(Mark::Retyped);
            }
        }
    }
    let field = field.cloned();
    LayoutCell { field, marks }
}

fn new_row(field: &Field, index: usize, before: Option<&Epoch<Record>>, now: &Record) -> FieldRow {
    let mut cells = vec![LayoutCell::default(); index];
    cells.push(LayoutCell {
        field: Some(field.clone()),
        marks: before
            .map(|_| added_mark(before, now, field))
            .into_iter()
            .collect(),
    });
    FieldRow {
        name: field.name.clone(),
        former: Vec::new(),
        ty: String::new(),
        since: String::new(),
        cells,
    }
}

/// Returns the mark of a new field: appended or inserted.
fn added_mark(before: Option<&Epoch<Record>>, now: &Record, field: &Field) -> Mark {
    let Some(before) = before.map(|before| &before.shape) else {
        return Mark::Appended;
    };
    let ends = before.fields.iter().map(|field| field.offset + field.size);
    let overlaps = field.offset < ends.max().unwrap_or(0);
    let later = now.fields.iter();
    let mut later = later.filter(|other| other.offset > field.offset);
    let precedes_old_field = later.any(|other| before.field(&other.name).is_some());
    match !before.union && (overlaps || precedes_old_field) {
        true => Mark::Inserted,
        false => Mark::Appended,
    }
}

/// Returns true if the field's type differs from the previous epoch.
fn is_retyped(
    history: &History,
    name: &str,
    field: &Field,
    before: Option<&Epoch<Record>>,
    epoch: &Epoch<Record>,
) -> bool {
    let full = format!("{name}.{}", field.name);
    let epoch_index = |release: &str| {
        let has_release =
            |epoch: &Epoch<Field>| epoch.releases.iter().any(|known| known == release);
        history.fields.get(&full)?.iter().position(has_release)
    };
    before.is_some_and(|before| epoch_index(before.last()) != epoch_index(epoch.first()))
}

/// Sets the newest type, its first release, and the earlier names of a row.
fn finish_row(history: &History, name: &str, epochs: &[Epoch<Record>], row: &mut FieldRow) {
    let newest = row.cells.iter().rev().find_map(|cell| cell.field.as_ref());
    row.ty = newest.map_or(String::new(), |field| c::spell(&field.ty));
    let full = format!("{name}.{}", row.name);
    row.since = history.since.get(&full).cloned().unwrap_or_default();
    let prefix = format!("{name}.");
    let known = history.fields.range(prefix.clone()..);
    let known = known.take_while(|(full, _)| full.starts_with(&prefix));
    for (other, runs) in known.filter(|(other, _)| **other != full) {
        let Some(last) = runs.last() else { continue };
        let index = |release: &str| history.releases.iter().position(|known| known == release);
        let is_earlier = index(last.last()) < index(&row.since);
        let is_same_field = epochs.iter().zip(&row.cells).any(|(epoch, cell)| {
            let now = cell.field.as_ref();
            epoch.releases.iter().any(|release| release == last.last())
                && now.is_some_and(|now| now.offset == last.shape.offset)
                && now.is_some_and(|now| match epoch.shape.field(&last.shape.name) {
                    Some(_) => now.name == last.shape.name,
                    None => is_earlier && now.size == last.shape.size,
                })
        });
        if is_same_field {
            let old = other[prefix.len()..].to_string();
            row.former.push((old, last.last().into()));
        }
    }
}

fn new_column(epoch: &Epoch<Record>) -> LayoutColumn {
    LayoutColumn {
        releases: epoch.releases.clone(),
        layout: epoch.shape.layout,
        struct_size: epoch.shape.struct_size.as_ref().map(|size| size.value),
        breaks: epoch.breaks,
    }
}
