//! A struct or union of both sides: which members correspond, and which member each side has at which offset.

use sp_ir::{Field, Layout, Struct};

use crate::change::{LayoutChange, LayoutRow, OldNew};
use crate::name_map::NameMap;

/// The reason why a member of OLD corresponds to one of NEW.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchKind {
    /// The names are the same.
    SameName,
    /// The member has another name.
    Renamed,
    /// Another member is at the same offset.
    Replaced,
}

/// A member of OLD and the corresponding member of NEW.
#[derive(Clone, Copy, Debug)]
pub struct FieldMatch {
    /// The indexes of the members.
    pub index: OldNew<usize>,
    /// The reason why they correspond.
    pub kind: MatchKind,
}

/// A struct or union of both sides.
pub struct RecordPair<'p> {
    /// The names.
    pub name: OldNew<&'p str>,
    /// The struct, or `None` for a union.
    pub structure: Option<OldNew<&'p Struct>>,
    /// The members.
    pub fields: OldNew<&'p [Field]>,
    /// Size and alignment.
    pub layout: OldNew<Layout>,
    /// The size that each side writes into `struct_size`.
    pub written_size: OldNew<Option<u64>>,
    /// True if the type is used by value.
    pub is_used_by_value: bool,
    /// The members that both sides have, in OLD's order.
    pub matches: Vec<FieldMatch>,
}

impl<'p> RecordPair<'p> {
    /// Returns the two members of a match.
    pub fn fields_of(&self, field_match: &FieldMatch) -> OldNew<&'p Field> {
        self.fields_at(field_match.index)
    }

    /// Returns OLD's member and NEW's member with these indexes.
    pub fn fields_at(&self, index: OldNew<usize>) -> OldNew<&'p Field> {
        OldNew::new(&self.fields.old[index.old], &self.fields.new[index.new])
    }

    /// Returns the indexes of the members that the other side does not have.
    pub fn unmatched(&self) -> OldNew<Vec<usize>> {
        let mut matched = self.fields.map(|fields| vec![false; fields.len()]);
        for FieldMatch { index, .. } in &self.matches {
            (matched.old[index.old], matched.new[index.new]) = (true, true);
        }
        matched.map(|matched| {
            (0..matched.len())
                .filter(|index| !matched[*index])
                .collect()
        })
    }

    /// Returns the change of the layout by `fields` and the members that they `moved`.
    pub fn layout_change(
        &self,
        fields: Vec<&'p Field>,
        moved: &[OldNew<usize>],
    ) -> LayoutChange<'p> {
        let moved_fields = moved.iter().map(|index| self.fields_at(*index));
        let moved_fields = moved_fields.flat_map(|fields| [fields.old, fields.new]);
        let affected: Vec<&Field> = fields.iter().copied().chain(moved_fields).collect();
        let start = affected.iter().map(|field| field.offset).min();
        let end = affected.iter().map(|field| field.offset + field.size).max();
        let moved_names = moved.iter().map(|index| self.fields_at(*index).new);
        LayoutChange {
            name: self.name,
            structure: self.structure,
            written_size: self.written_size,
            size: self.layout.map(|layout| layout.size),
            moved: moved_names.map(|field| field.name.as_str()).collect(),
            rows: self.rows(start.unwrap_or(0), end.unwrap_or(0)),
            fields,
        }
    }

    /// Returns the rows between two offsets, divided where a member of either side starts or ends.
    fn rows(&self, start: u64, end: u64) -> Vec<LayoutRow<'p>> {
        let fields = self.fields.old.iter().chain(self.fields.new);
        let bounds = fields.flat_map(|field| [field.offset, field.offset + field.size]);
        let mut bounds: Vec<u64> = bounds
            .filter(|offset| (start..=end).contains(offset))
            .collect();
        bounds.sort_unstable();
        bounds.dedup();
        let rows = bounds
            .windows(2)
            .filter_map(|bounds| self.row(bounds[0], bounds[1]));
        rows.collect()
    }

    fn row(&self, start: u64, end: u64) -> Option<LayoutRow<'p>> {
        let old = field_at_offset(self.fields.old, start);
        let new = field_at_offset(self.fields.new, start);
        let same = match (old, new) {
            (Some(old), Some(new)) => self.is_unmoved(old, new),
            _ => false,
        };
        let member = OldNew { old, new }.map(|found| found.map(|(_, field)| field));
        let row = LayoutRow {
            offset: start,
            size: end - start,
            member,
            same,
        };
        (old.is_some() || new.is_some()).then_some(row)
    }

    /// Returns true if the two are the same member at the same offset.
    fn is_unmoved(&self, old: (usize, &Field), new: (usize, &Field)) -> bool {
        old.1.offset == new.1.offset
            && self.matches.iter().any(|field_match| {
                let index = field_match.index;
                (index.old, index.new) == (old.0, new.0) && field_match.kind != MatchKind::Replaced
            })
    }
}

fn field_at_offset(fields: &[Field], offset: u64) -> Option<(usize, &Field)> {
    let mut fields = fields.iter().enumerate();
    fields.find(|(_, field)| (field.offset..field.offset + field.size).contains(&offset))
}

/// Returns the members that have the same name on both sides.
pub fn match_by_name(old: &[Field], new: &[Field]) -> Vec<FieldMatch> {
    let by_name = new.iter().enumerate();
    let by_name: NameMap<&str, usize> = by_name
        .map(|(index, field)| (field.name.as_str(), index))
        .collect();
    let matches = old.iter().enumerate().filter_map(|(old, field)| {
        let new = *by_name.get(field.name.as_str())?;
        Some(FieldMatch {
            index: OldNew { old, new },
            kind: MatchKind::SameName,
        })
    });
    matches.collect()
}
