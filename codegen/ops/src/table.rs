//! The table of all ops as text. A header has the releases, a block of lines each op, sorted by name.

use crate::line::{OP, parse_op};
use crate::op::Op;
use crate::release_ops::ReleaseOps;
use sp_ir::{Release, ReleaseSet};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::OnceLock;

/// The committed table, a link to `generated/ops/ops.txt`.
const EMBEDDED: &str = include_str!("ops.txt");

/// Begins the line of a release: `release 2.21 2.21.0`.
pub(crate) const RELEASE: &str = "release ";

/// A table of ops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table<'a> {
    text: Cow<'a, str>,
    /// The length of the header.
    start: usize,
    all: ReleaseSet,
}

/// The text is not a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableError {
    /// The line, counted from 1.
    pub line: usize,
    /// The reason.
    pub message: String,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for TableError {}

impl Table<'static> {
    /// Returns the table in the binary. A test reads all of it.
    pub fn embedded() -> &'static Self {
        static TABLE: OnceLock<Table<'static>> = OnceLock::new();
        TABLE.get_or_init(|| Self::new(EMBEDDED.into()))
    }
}

impl<'a> Table<'a> {
    /// Parses a table and checks every line.
    ///
    /// # Errors
    /// Returns an error for a malformed line, and for releases or ops that are not sorted.
    pub fn parse(text: impl Into<Cow<'a, str>>) -> Result<Self, TableError> {
        let table = Self::new(text.into());
        table.check_ascii()?;
        table.check_header()?;
        let mut line = table.header().lines().count();
        let mut last = "";
        for (name, block) in table.blocks() {
            let error = |(index, message)| TableError {
                line: line + index + 1,
                message,
            };
            if name <= last {
                return Err(error((0, format!("`{name}` is not after `{last}`"))));
            }
            parse_op(block, &table.all).map_err(error)?;
            line += block.lines().count();
            last = name;
        }
        Ok(table)
    }

    /// Splits a text into header and ops.
    fn new(text: Cow<'a, str>) -> Self {
        let start = match text.starts_with(OP) {
            true => 0,
            false => text.find("\nop ").map_or(text.len(), |at| at + 1),
        };
        let first =
            versions(text.get(..start).unwrap_or_default()).find_map(|(_, version)| version);
        let all = first.map(|first| ReleaseSet::since(first.key()));
        Self {
            start,
            all: all.unwrap_or_default(),
            text,
        }
    }

    fn header(&self) -> &str {
        self.text.get(..self.start).unwrap_or_default()
    }

    fn body(&self) -> &str {
        self.text.get(self.start..).unwrap_or_default()
    }

    /// Returns an error for the first line with other characters. A search may then begin at any byte.
    fn check_ascii(&self) -> Result<(), TableError> {
        let line = self.text.lines().position(|line| !line.is_ascii());
        line.map_or(Ok(()), |index| {
            Err(TableError {
                line: index + 1,
                message: "a character is not ASCII".to_owned(),
            })
        })
    }

    fn check_header(&self) -> Result<(), TableError> {
        let mut last: Option<Release> = None;
        for (index, version) in versions(self.header()) {
            let is_next = |it: &Release| last.is_none_or(|last| last < it.key());
            let Some(version) = version.filter(is_next) else {
                let message = "expected a line such as `release 2.21 2.21.0`, in order".to_owned();
                return Err(TableError {
                    line: index + 1,
                    message,
                });
            };
            last = Some(version.key());
        }
        Ok(())
    }

    /// Returns the exact versions whose ops the table has, oldest first.
    pub fn versions(&self) -> impl Iterator<Item = Release> {
        versions(self.header()).filter_map(|(_, version)| version)
    }

    /// Returns the releases, oldest first: a minor release, or the version of a nightly build.
    pub fn releases(&self) -> impl Iterator<Item = Release> {
        self.versions().map(Release::key)
    }

    /// Returns the names of the ops, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let lines = self.body().lines();
        lines
            .filter_map(|line| line.strip_prefix(OP))
            .map(first_word)
    }

    /// Returns the op `name`, or `None` if no release has it. Only the lines of this op are parsed.
    pub fn find(&self, name: &str) -> Option<Op> {
        let (mut low, mut high) = (0, self.body().len());
        while low < high {
            let (start, end) = self.block_around(low, low + (high - low) / 2);
            let block = self.body().get(start..end)?;
            match name_of(block).cmp(name) {
                Ordering::Less => low = end,
                Ordering::Greater => high = start,
                // `parse` has checked the lines.
                Ordering::Equal => return parse_op(block, &self.all).ok(),
            }
        }
        None
    }

    /// Returns all ops, sorted by name.
    pub fn ops(&self) -> impl Iterator<Item = Op> {
        self.blocks()
            .filter_map(|(_, block)| parse_op(block, &self.all).ok())
    }

    /// Returns the ops of one of the table's releases, or `None` if the table does not have the release.
    pub fn in_release(&self, release: Release) -> Option<ReleaseOps> {
        let version = self.versions().find(|it| it.key() == release.key())?;
        let definitions = self.ops().filter_map(|op| op.in_release(release));
        let ops = definitions.map(|op| (op.name.clone(), op)).collect();
        Some(ReleaseOps { version, ops })
    }

    /// Returns the range of the block that contains the byte `middle`; blocks before `low` are not searched.
    fn block_around(&self, low: usize, middle: usize) -> (usize, usize) {
        let body = self.body();
        let is_op = |at: usize| body.get(at..).is_some_and(|rest| rest.starts_with(OP));
        let mut start = line_start(body, middle);
        while start > low && !is_op(start) {
            start = line_start(body, start - 1);
        }
        let mut end = next_line(body, middle);
        while end < body.len() && !is_op(end) {
            end = next_line(body, end);
        }
        (start, end)
    }

    /// Returns the name and the lines of each op.
    fn blocks(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut rest = self.body();
        std::iter::from_fn(move || {
            let end = rest.find("\nop ").map_or(rest.len(), |at| at + 1);
            let (block, after) = rest.split_at(end);
            rest = after;
            (!block.is_empty()).then(|| (name_of(block), block))
        })
    }
}

/// Returns the offset of the line with the byte `at`.
fn line_start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rfind('\n').map_or(0, |newline| newline + 1)
}

/// Returns the offset of the line after the one with the byte `at`, or the length of the text.
fn next_line(text: &str, at: usize) -> usize {
    let after = text.get(at..).unwrap_or_default();
    after
        .find('\n')
        .map_or(text.len(), |newline| at + newline + 1)
}

/// Returns the versions in a header, each with the index of its line; `None` for a malformed line.
fn versions(header: &str) -> impl Iterator<Item = (usize, Option<Release>)> + use<'_> {
    let lines = header.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(index, line)| (index, parse_version(line)))
}

fn parse_version(line: &str) -> Option<Release> {
    let (key, version) = line.strip_prefix(RELEASE)?.split_once(' ')?;
    let version: Release = version.parse().ok()?;
    (version.key().to_string() == key).then_some(version)
}

/// Returns the name in the first line of a block.
fn name_of(block: &str) -> &str {
    first_word(block.strip_prefix(OP).unwrap_or_default())
}

fn first_word(text: &str) -> &str {
    text.split([' ', '\n']).next().unwrap_or_default()
}
