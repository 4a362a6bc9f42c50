//! Finds the cause of each move of a member.
//!
//! The members that both sides have in the same order are the anchors. An added, removed, moved or resized member before
//! an anchor with another offset is the cause of its move. A move without a cause is a change of its own.

use sp_ir::{Field, Presence};

use super::Changes;
use super::parameters::longest_common_subsequence;
use super::record_pair::{FieldMatch, MatchKind, RecordPair};
use crate::change::{Declaration, LayoutChange, OldNew};
use crate::rules::ChangeKind;

/// A change that may move members.
struct Cause {
    /// The index of the first anchor after the change.
    next_anchor: usize,
    kind: CauseKind,
    moved: Vec<OldNew<usize>>,
}

impl Cause {
    fn new(next_anchor: usize, kind: CauseKind) -> Self {
        Self {
            next_anchor,
            kind,
            moved: Vec::new(),
        }
    }
}

enum CauseKind {
    Added(Vec<usize>),
    Removed(Vec<usize>),
    Moved(OldNew<usize>),
    /// The size of a member changed. The change of its type is reported elsewhere.
    Resized(usize),
    Unexplained,
}

/// Adds the changes of added, removed and moved members. Returns true if the layout changed.
pub fn compare<'p>(
    changes: &mut Changes<'_, 'p>,
    record: &RecordPair<'p>,
    grouped: &OldNew<Vec<usize>>,
) -> bool {
    let causes = find_causes(record, grouped);
    for cause in &causes {
        match &cause.kind {
            CauseKind::Added(fields) => push_added(changes, record, fields, &cause.moved),
            CauseKind::Removed(fields) => push_removed(changes, record, fields, &cause.moved),
            CauseKind::Moved(index) => push_moved(changes, record, &[*index], &cause.moved),
            CauseKind::Resized(_) => {}
            CauseKind::Unexplained => push_moved(changes, record, &cause.moved, &cause.moved),
        }
    }
    let mut matches = record.matches.iter();
    !causes.is_empty()
        || !grouped.new.is_empty()
        || matches.any(|field_match| field_match.kind == MatchKind::Replaced)
}

/// Returns the members that a member with another type moved.
pub fn moved_by(record: &RecordPair, field_match: &FieldMatch) -> Vec<OldNew<usize>> {
    let no_groups = OldNew::new(Vec::new(), Vec::new());
    let causes = find_causes(record, &no_groups);
    let mut causes = causes.into_iter();
    let cause = causes.find(
        |cause| matches!(cause.kind, CauseKind::Resized(index) if index == field_match.index.new),
    );
    cause.map_or_else(Vec::new, |cause| cause.moved)
}

fn find_causes(record: &RecordPair, grouped: &OldNew<Vec<usize>>) -> Vec<Cause> {
    let anchors = find_anchors(record);
    let unmatched = record.unmatched();
    let removed = without(unmatched.old, &grouped.old);
    let added = without(unmatched.new, &grouped.new);
    let mut causes = Vec::new();
    causes.extend(
        group_by_anchor(removed, anchors.len(), |index| next_old(&anchors, index))
            .map(|(next_anchor, fields)| Cause::new(next_anchor, CauseKind::Removed(fields))),
    );
    causes.extend(
        group_by_anchor(added, anchors.len(), |index| next_new(&anchors, index))
            .map(|(next_anchor, fields)| Cause::new(next_anchor, CauseKind::Added(fields))),
    );
    for field_match in &record.matches {
        let index = field_match.index;
        if !anchors.iter().any(|anchor| anchor.index.old == index.old) {
            let next_anchor = next_old(&anchors, index.old).min(next_new(&anchors, index.new));
            causes.push(Cause::new(next_anchor, CauseKind::Moved(index)));
        }
    }
    for (position, anchor) in anchors.iter().enumerate() {
        let fields = record.fields_of(anchor);
        if fields.old.size != fields.new.size {
            let kind = CauseKind::Resized(anchor.index.new);
            causes.push(Cause::new(position + 1, kind));
        }
    }
    causes.sort_by_key(|cause| cause.next_anchor);
    assign_moves(record, &anchors, &mut causes);
    causes
}

/// Returns the position of the first anchor that is not before OLD's member `index`.
fn next_old(anchors: &[&FieldMatch], index: usize) -> usize {
    anchors.partition_point(|anchor| anchor.index.old < index)
}

/// Returns the position of the first anchor that is not before NEW's member `index`.
fn next_new(anchors: &[&FieldMatch], index: usize) -> usize {
    anchors.partition_point(|anchor| anchor.index.new < index)
}

/// Returns the fields before each anchor and after the last one, without empty groups.
fn group_by_anchor(
    fields: Vec<usize>,
    anchor_count: usize,
    next_anchor: impl Fn(usize) -> usize,
) -> impl Iterator<Item = (usize, Vec<usize>)> {
    (0..=anchor_count).filter_map(move |anchor| {
        let group = fields.iter().copied();
        let group: Vec<usize> = group
            .filter(|index| next_anchor(*index) == anchor)
            .collect();
        (!group.is_empty()).then_some((anchor, group))
    })
}

/// Returns the longest sequence of matches that have the same order on both sides.
fn find_anchors<'r>(record: &'r RecordPair) -> Vec<&'r FieldMatch> {
    let order = record.matches.iter();
    let order: Vec<usize> = order.map(|field_match| field_match.index.new).collect();
    if order.is_sorted() {
        return record.matches.iter().collect();
    }
    let mut sorted = order.clone();
    sorted.sort_unstable();
    let common = longest_common_subsequence(&order, &sorted, &|left, right| left == right);
    let common = common.into_iter();
    common.map(|(index, _)| &record.matches[index]).collect()
}

fn without(indexes: Vec<usize>, excluded: &[usize]) -> Vec<usize> {
    let indexes = indexes.into_iter();
    indexes.filter(|index| !excluded.contains(index)).collect()
}

/// Assigns each anchor with another offset to the cause that fits: before it, and in the direction of the move.
fn assign_moves(record: &RecordPair, anchors: &[&FieldMatch], causes: &mut Vec<Cause>) {
    let (mut current, mut previous_delta) = (None, 0);
    for (position, anchor) in anchors.iter().enumerate() {
        let fields = record.fields_of(anchor);
        let delta = fields.new.offset.wrapping_sub(fields.old.offset) as i64;
        let candidates = || {
            let causes = causes.iter().enumerate();
            causes.filter(|(_, cause)| cause.next_anchor == position)
        };
        let fits = |cause: &Cause| match cause.kind {
            CauseKind::Added(_) => delta > previous_delta,
            CauseKind::Removed(_) => delta < previous_delta,
            _ => delta != previous_delta,
        };
        let fitting = candidates().find(|(_, cause)| fits(cause));
        let last = || candidates().next_back().filter(|_| current.is_none());
        if let Some((index, _)) = fitting.or_else(last) {
            current = Some(index);
        }
        if delta != 0 {
            let index = current.unwrap_or_else(|| {
                causes.push(Cause::new(position, CauseKind::Unexplained));
                causes.len() - 1
            });
            current = Some(index);
            causes[index].moved.push(anchor.index);
        }
        previous_delta = delta;
    }
}

fn push_added<'p>(
    changes: &mut Changes<'_, 'p>,
    record: &RecordPair<'p>,
    indexes: &[usize],
    moved: &[OldNew<usize>],
) {
    let fields = record.fields.new;
    let last_match = record.matches.iter();
    let last_match = last_match.map(|field_match| field_match.index.new).max();
    let is_last = indexes.iter().all(|index| last_match < Some(*index));
    let overlaps_old = || {
        let mut added = indexes.iter().map(|index| &fields[*index]);
        added.any(|field| overlaps(field, record.fields.old))
    };
    let mut push = |indexes: &[usize], kind: fn(LayoutChange<'p>) -> ChangeKind<'p>| {
        let added: Vec<&'p Field> = indexes.iter().map(|index| &fields[*index]).collect();
        let first = added[0];
        let mut layout = record.layout_change(added, moved);
        layout.clear_written_size_if_uncovered(Coverage::new(record.written_size.new, first));
        let declaration = Some(Declaration::Field(first));
        changes.push_part(&first.name, kind(layout), None, declaration);
    };
    if !moved.is_empty() || (!is_last && overlaps_old()) {
        return push(indexes, ChangeKind::FieldInserted);
    }
    let size = record.layout.map(|layout| layout.size);
    let has_size_field = record.written_size.new.is_some();
    let is_resized = size.old != size.new;
    match (is_last, has_size_field, is_resized) {
        (false, ..) | (true, false, false) => push(indexes, ChangeKind::PaddingFilled),
        (true, false, true) => push(indexes, ChangeKind::UnsizedStructGrown),
        (true, true, true) if record.is_used_by_value => {
            push(indexes, ChangeKind::EmbeddedStructGrown)
        }
        (true, true, _) => {
            let written_size = record.written_size.new;
            for run in runs_by_coverage(indexes, fields, written_size) {
                let coverage = Coverage::new(written_size, &fields[run[0]]);
                push(run, coverage.appended_kind());
            }
        }
    }
}

/// Returns true if one of `others` has bytes of `field`.
fn overlaps(field: &Field, others: &[Field]) -> bool {
    let end = field.offset + field.size;
    others
        .iter()
        .any(|other| other.offset < end && field.offset < other.offset + other.size)
}

/// The properties of an appended member that decide its rule: the size macro covers it, the host requires it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Coverage {
    Uncovered,
    Required,
    Optional,
}

impl Coverage {
    fn new(written_size: Option<u64>, field: &Field) -> Self {
        let is_covered = written_size.is_some_and(|size| field.offset + field.size <= size);
        let presence = field.presence.as_ref().map(|stated| stated.value);
        match (is_covered, presence == Some(Presence::Required)) {
            (false, _) => Self::Uncovered,
            (true, true) => Self::Required,
            (true, false) => Self::Optional,
        }
    }

    fn appended_kind<'p>(self) -> fn(LayoutChange<'p>) -> ChangeKind<'p> {
        match self {
            Self::Uncovered => ChangeKind::StructSizeOutdated,
            Self::Required => ChangeKind::RequiredFieldAppended,
            Self::Optional => ChangeKind::FieldAppended,
        }
    }
}

/// Returns the runs of members with the same coverage.
fn runs_by_coverage<'f>(
    indexes: &'f [usize],
    fields: &'f [Field],
    written_size: Option<u64>,
) -> impl Iterator<Item = &'f [usize]> {
    let coverage = move |index: usize| Coverage::new(written_size, &fields[index]);
    indexes.chunk_by(move |left, right| coverage(*left) == coverage(*right))
}

impl LayoutChange<'_> {
    /// Removes the written sizes if they do not cover the members, since a check of them does not protect.
    fn clear_written_size_if_uncovered(&mut self, coverage: Coverage) {
        if coverage == Coverage::Uncovered {
            self.written_size = OldNew::new(None, None);
        }
    }
}

fn push_removed<'p>(
    changes: &mut Changes<'_, 'p>,
    record: &RecordPair<'p>,
    indexes: &[usize],
    moved: &[OldNew<usize>],
) {
    let fields = record.fields.old;
    let last_match = record.matches.iter();
    let last_match = last_match.map(|field_match| field_match.index.old).max();
    let mut push = |indexes: &[usize]| {
        let removed: Vec<&'p Field> = indexes.iter().map(|index| &fields[*index]).collect();
        let first = removed[0];
        let mut layout = record.layout_change(removed, moved);
        layout.clear_written_size_if_uncovered(Coverage::new(record.written_size.old, first));
        let kind = ChangeKind::FieldRemoved(layout);
        changes.push_part(&first.name, kind, Some(Declaration::Field(first)), None);
    };
    // Members at the end are divided as in `push_added`, so that the reverse diff has the same findings.
    match moved.is_empty() && indexes.iter().all(|index| last_match < Some(*index)) {
        true => runs_by_coverage(indexes, fields, record.written_size.old).for_each(push),
        false => push(indexes),
    }
}

fn push_moved<'p>(
    changes: &mut Changes<'_, 'p>,
    record: &RecordPair<'p>,
    indexes: &[OldNew<usize>],
    moved: &[OldNew<usize>],
) {
    let pairs = indexes.iter().map(|index| record.fields_at(*index));
    let fields = pairs.flat_map(|fields| [fields.old, fields.new]).collect();
    let first = record.fields_at(indexes[0]);
    let kind = ChangeKind::FieldMoved(record.layout_change(fields, moved));
    let declarations = first.map(Declaration::Field);
    changes.push_part(
        &first.new.name,
        kind,
        Some(declarations.old),
        Some(declarations.new),
    );
}
