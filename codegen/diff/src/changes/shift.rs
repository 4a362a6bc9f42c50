//! Which member moved because of which. Walking along the members that both sides have in the same
//! order, whatever came, went or grew before one that stands elsewhere is the cause; what has no cause
//! is one itself.

use sp_ir::{Field, Presence};

use super::Ledger;
use super::frame::{As, Frame, Match};
use super::parameters::common;
use crate::change::{Both, Declared, Kind, Relaid};

/// Something that may push members.
struct Cause {
    /// It stands before this one of the steady members.
    gap: usize,
    what: What,
    moved: Vec<Both<usize>>,
}

enum What {
    Came(Vec<usize>),
    Went(Vec<usize>),
    Moved(Both<usize>),
    /// A member's size differs; its own change tells.
    Grew(usize),
    Unexplained,
}

/// A match's place on one side.
type Order = fn(&Match) -> usize;

/// The members that come, go and move, as changes. Says whether there are any.
pub fn compare<'p>(
    ledger: &mut Ledger<'_, 'p>,
    frame: &Frame<'p>,
    grouped: &Both<Vec<usize>>,
) -> bool {
    let causes = causes(frame, grouped);
    let mut any = !grouped.new.is_empty();
    for cause in &causes {
        any = true;
        match &cause.what {
            What::Came(fields) => came(ledger, frame, fields, cause),
            What::Went(fields) => went(ledger, frame, fields, &cause.moved),
            What::Moved(at) => moved(ledger, frame, &[*at], &cause.moved),
            What::Grew(_) => {}
            What::Unexplained => moved(ledger, frame, &cause.moved, &cause.moved),
        }
    }
    any || frame.matches.iter().any(|one| one.by == As::Replaced)
}

/// The members that a retyped one moves.
pub fn moved_by(frame: &Frame, one: &Match) -> Vec<Both<usize>> {
    let none = Both {
        old: Vec::new(),
        new: Vec::new(),
    };
    let causes = causes(frame, &none);
    let mine = |cause: &&Cause| matches!(cause.what, What::Grew(at) if at == one.at.new);
    causes
        .iter()
        .find(mine)
        .map_or_else(Vec::new, |cause| cause.moved.clone())
}

fn causes(frame: &Frame, grouped: &Both<Vec<usize>>) -> Vec<Cause> {
    let steady = steady(frame);
    // What is steady is in order on both sides.
    let gap = |at: usize, of: Order| steady.partition_point(|one| of(one) < at);
    let old: Order = |one| one.at.old;
    let new: Order = |one| one.at.new;
    let mut causes = Vec::new();
    let lone = frame.lone();
    let mut run = |fields: Vec<usize>, of: Order, what: fn(Vec<usize>) -> What| {
        for k in 0..=steady.len() {
            let mine: Vec<usize> = fields
                .iter()
                .copied()
                .filter(|at| gap(*at, of) == k)
                .collect();
            if !mine.is_empty() {
                causes.push(Cause {
                    gap: k,
                    what: what(mine),
                    moved: Vec::new(),
                });
            }
        }
    };
    run(without(lone.old, &grouped.old), old, What::Went);
    run(without(lone.new, &grouped.new), new, What::Came);
    for one in &frame.matches {
        if !steady.iter().any(|it| it.at.old == one.at.old) {
            let gap = gap(one.at.old, old).min(gap(one.at.new, new));
            causes.push(Cause {
                gap,
                what: What::Moved(one.at),
                moved: Vec::new(),
            });
        }
    }
    for (k, one) in steady.iter().enumerate() {
        let both = frame.both(one);
        if both.old.size != both.new.size {
            causes.push(Cause {
                gap: k + 1,
                what: What::Grew(one.at.new),
                moved: Vec::new(),
            });
        }
    }
    causes.sort_by_key(|cause| cause.gap);
    blame(frame, &steady, &mut causes);
    causes
}

/// The longest run of matches that stand in one order on both sides.
fn steady<'f>(frame: &'f Frame) -> Vec<&'f Match> {
    let order: Vec<usize> = frame.matches.iter().map(|one| one.at.new).collect();
    if order.is_sorted() {
        return frame.matches.iter().collect();
    }
    let mut sorted = order.clone();
    sorted.sort_unstable();
    let kept = common(&order, &sorted, &|one, two| one == two);
    kept.into_iter().map(|(at, _)| &frame.matches[at]).collect()
}

fn without(all: Vec<usize>, some: &[usize]) -> Vec<usize> {
    all.into_iter().filter(|at| !some.contains(at)).collect()
}

fn blame(frame: &Frame, steady: &[&Match], causes: &mut Vec<Cause>) {
    let (mut current, mut before) = (None, 0);
    for (k, one) in steady.iter().enumerate() {
        let both = frame.both(one);
        let delta = both.new.offset.wrapping_sub(both.old.offset) as i64;
        let here = || {
            causes
                .iter()
                .enumerate()
                .filter(|(_, cause)| cause.gap == k)
        };
        let fits = |cause: &Cause| match cause.what {
            What::Came(_) => delta > before,
            What::Went(_) => delta < before,
            _ => delta != before,
        };
        let best = here().find(|(_, cause)| fits(cause));
        let any = || here().next_back().filter(|_| current.is_none());
        if let Some((found, _)) = best.or_else(any) {
            current = Some(found);
        }
        if delta != 0 {
            let found = current.unwrap_or_else(|| {
                causes.push(Cause {
                    gap: k,
                    what: What::Unexplained,
                    moved: Vec::new(),
                });
                causes.len() - 1
            });
            current = Some(found);
            causes[found].moved.push(one.at);
        }
        before = delta;
    }
}

fn came<'p>(ledger: &mut Ledger<'_, 'p>, frame: &Frame<'p>, fields: &[usize], cause: &Cause) {
    let all = frame.fields.new;
    let last = frame.matches.iter().map(|one| one.at.new).max();
    let is_last = fields.iter().all(|at| last < Some(*at));
    let overlaps = |field: &Field| {
        let end = field.offset + field.size;
        frame
            .fields
            .old
            .iter()
            .any(|one| one.offset < end && field.offset < one.offset + one.size)
    };
    let mut push = |fields: &[usize], kind: fn(Relaid<'p>) -> Kind<'p>| {
        let fields: Vec<&'p Field> = fields.iter().map(|at| &all[*at]).collect();
        let first = fields[0];
        let mut told = frame.relaid(fields, &cause.moved);
        told.unannounced(standing(frame.announced.new, first));
        let kind = kind(told);
        ledger.part(&first.name, kind, None, Some(Declared::Field(first)));
    };
    if !cause.moved.is_empty() || (!is_last && fields.iter().any(|at| overlaps(&all[*at]))) {
        return push(fields, Kind::FieldInserted);
    }
    let size = frame.layout.map(|layout| layout.size);
    match is_last {
        false => push(fields, Kind::PaddingFilled),
        true if frame.announced.new.is_none() && size.old == size.new => {
            push(fields, Kind::PaddingFilled)
        }
        true if frame.announced.new.is_none() => push(fields, Kind::UnsizedGrown),
        true if frame.held && size.old != size.new => push(fields, Kind::HeldGrown),
        true => {
            let announced = frame.announced.new;
            for run in runs(fields, all, announced) {
                push(run, standing(announced, &all[run[0]]).kind());
            }
        }
    }
}

/// How an appended member stands to the size macro and the host's demands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Standing {
    Uncovered,
    Required,
    Plain,
}

impl Standing {
    fn kind<'p>(self) -> fn(Relaid<'p>) -> Kind<'p> {
        match self {
            Self::Uncovered => Kind::SizeOutdated,
            Self::Required => Kind::RequiredAppended,
            Self::Plain => Kind::FieldAppended,
        }
    }
}

/// Those that stand alike, together.
fn runs<'f>(
    at: &'f [usize],
    fields: &'f [Field],
    announced: Option<u64>,
) -> impl Iterator<Item = &'f [usize]> {
    let standing = move |at: usize| standing(announced, &fields[at]);
    at.chunk_by(move |one, two| standing(*one) == standing(*two))
}

fn standing(announced: Option<u64>, field: &Field) -> Standing {
    let covered = announced.is_some_and(|size| field.offset + field.size <= size);
    let required = field.presence.as_ref().map(|it| it.value) == Some(Presence::Required);
    match (covered, required) {
        (false, _) => Standing::Uncovered,
        (true, true) => Standing::Required,
        (true, false) => Standing::Plain,
    }
}

impl Relaid<'_> {
    /// No size guards members that no size covers.
    fn unannounced(&mut self, standing: Standing) {
        if standing == Standing::Uncovered {
            self.announced = Both {
                old: None,
                new: None,
            };
        }
    }
}

fn went<'p>(
    ledger: &mut Ledger<'_, 'p>,
    frame: &Frame<'p>,
    fields: &[usize],
    moved: &[Both<usize>],
) {
    let all = frame.fields.old;
    let last = frame.matches.iter().map(|one| one.at.old).max();
    let mut push = |fields: &[usize]| {
        let fields: Vec<&'p Field> = fields.iter().map(|at| &all[*at]).collect();
        let first = fields[0];
        let mut told = frame.relaid(fields, moved);
        told.unannounced(standing(frame.announced.old, first));
        ledger.part(
            &first.name,
            Kind::FieldRemoved(told),
            Some(Declared::Field(first)),
            None,
        );
    };
    // What went at the end went as it came: by itself where no size covered it.
    match moved.is_empty() && fields.iter().all(|at| last < Some(*at)) {
        true => runs(fields, all, frame.announced.old).for_each(push),
        false => push(fields),
    }
}

fn moved<'p>(
    ledger: &mut Ledger<'_, 'p>,
    frame: &Frame<'p>,
    at: &[Both<usize>],
    moved: &[Both<usize>],
) {
    let both = |at: &Both<usize>| Both {
        old: &frame.fields.old[at.old],
        new: &frame.fields.new[at.new],
    };
    let fields = at
        .iter()
        .map(both)
        .flat_map(|both| [both.old, both.new])
        .collect();
    let first = both(&at[0]);
    let kind = Kind::FieldMoved(frame.relaid(fields, moved));
    ledger.part(
        &first.new.name,
        kind,
        Some(Declared::Field(first.old)),
        Some(Declared::Field(first.new)),
    );
}
