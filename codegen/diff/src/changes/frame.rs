//! A struct or union as both sides have it: which member is which, and what stands at which byte.

use sp_ir::{Field, Layout, Struct};

use crate::change::{Both, DataFolders, Relaid};
use crate::names::Names;

/// How a member of OLD is one of NEW.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum As {
    /// By its name.
    Itself,
    /// Under another name.
    Renamed,
    /// Not at all: another stands where it stood.
    Replaced,
}

/// A member on both sides.
#[derive(Clone, Copy, Debug)]
pub struct Match {
    /// Its places among the members.
    pub at: Both<usize>,
    /// In what way.
    pub by: As,
}

/// A struct or union on both sides.
pub struct Frame<'p> {
    /// Its names.
    pub name: Both<&'p str>,
    /// The struct, where it is no union.
    pub structure: Option<Both<&'p Struct>>,
    /// Its members.
    pub fields: Both<&'p [Field]>,
    /// Size and alignment.
    pub layout: Both<Layout>,
    /// The size that it announces.
    pub announced: Both<Option<u64>>,
    /// Whether others hold it by value.
    pub held: bool,
    /// Members that are on both sides, in OLD's order.
    pub matches: Vec<Match>,
}

impl<'p> Frame<'p> {
    /// OLD's and NEW's member of a match.
    pub fn both(&self, one: &Match) -> Both<&'p Field> {
        Both {
            old: &self.fields.old[one.at.old],
            new: &self.fields.new[one.at.new],
        }
    }

    /// The members of one side that the other lacks.
    pub fn lone(&self) -> Both<Vec<usize>> {
        let mut matched = self.fields.map(|all| vec![false; all.len()]);
        for one in &self.matches {
            (matched.old[one.at.old], matched.new[one.at.new]) = (true, true);
        }
        let lone = |matched: Vec<bool>| (0..matched.len()).filter(|at| !matched[*at]).collect();
        matched.map(lone)
    }

    /// What `fields` and those that they `moved` do to the bytes.
    pub fn relaid(&self, fields: Vec<&'p Field>, moved: &[Both<usize>]) -> Relaid<'p> {
        let own = fields.iter().map(|one| (one.offset, one.offset + one.size));
        let pushed = moved.iter().flat_map(|at| {
            let (old, new) = (&self.fields.old[at.old], &self.fields.new[at.new]);
            [
                (old.offset, old.offset + old.size),
                (new.offset, new.offset + new.size),
            ]
        });
        let spans: Vec<(u64, u64)> = own.chain(pushed).collect();
        let start = spans.iter().map(|span| span.0).min().unwrap_or(0);
        let end = spans.iter().map(|span| span.1).max().unwrap_or(0);
        Relaid {
            name: self.name,
            structure: self.structure,
            announced: self.announced,
            size: self.layout.map(|layout| layout.size),
            moved: moved
                .iter()
                .map(|at| self.fields.new[at.new].name.as_str())
                .collect(),
            rows: self.rows(start, end),
            fields,
        }
    }

    fn rows(&self, start: u64, end: u64) -> Vec<DataFolders<'p>> {
        let edges = |field: &'p Field| [field.offset, field.offset + field.size];
        let all = self
            .fields
            .old
            .iter()
            .chain(self.fields.new)
            .flat_map(edges);
        let mut edges: Vec<u64> = all.filter(|at| (start..=end).contains(at)).collect();
        edges.sort_unstable();
        edges.dedup();
        let row = |pair: &[u64]| {
            let old = covering(self.fields.old, pair[0]);
            let new = covering(self.fields.new, pair[0]);
            let same = match (old, new) {
                (Some(old), Some(new)) => self.is_same(old, new),
                _ => false,
            };
            let member = Both { old, new }.map(|one| one.map(|(_, field)| field));
            let place = DataFolders {
                offset: pair[0],
                size: pair[1] - pair[0],
                member,
                same,
            };
            (old.is_some() || new.is_some()).then_some(place)
        };
        edges.windows(2).filter_map(row).collect()
    }

    fn is_same(&self, old: (usize, &Field), new: (usize, &Field)) -> bool {
        old.1.offset == new.1.offset
            && self
                .matches
                .iter()
                .any(|one| (one.at.old, one.at.new) == (old.0, new.0) && one.by != As::Replaced)
    }
}

fn covering(fields: &[Field], at: u64) -> Option<(usize, &Field)> {
    let mut fields = fields.iter().enumerate();
    fields.find(|(_, one)| (one.offset..one.offset + one.size).contains(&at))
}

/// Members by their names.
pub fn named(old: &[Field], new: &[Field]) -> Vec<Match> {
    let by_name: Names<&str, usize> = new
        .iter()
        .enumerate()
        .map(|(at, one)| (one.name.as_str(), at))
        .collect();
    let found = old.iter().enumerate().filter_map(|(at, one)| {
        let new = *by_name.get(one.name.as_str())?;
        Some(Match {
            at: Both { old: at, new },
            by: As::Itself,
        })
    });
    found.collect()
}
