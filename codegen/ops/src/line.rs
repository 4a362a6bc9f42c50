//! The lines of an op in the table: `op NAME`, then an indented line for each declaration. A line ends with the releases
//! that it is for, ` @ 2.13..`, unless these are all releases of the table (line `op`) or of the op (other lines).

use crate::attribute::Attribute;
use crate::cursor::{LineCursor, ParseResult};
use crate::definition::{Argument, Flag};
use crate::op::{Declared, Op};
use sp_ir::ReleaseSet;
use std::fmt::Display;

/// Begins the line with the name of an op.
pub(crate) const OP: &str = "op ";

/// Separates a declaration from its releases.
const AT: &str = " @ ";

/// Returns the lines of an op; `all` are the releases of the table.
pub(crate) fn format_op(op: &Op, all: &ReleaseSet) -> String {
    let mut text = format!("{OP}{}{}\n", op.name, format_releases(&op.releases, all));
    let mut add = |word: &str, item: &dyn Display, releases: &ReleaseSet| {
        let releases = format_releases(releases, &op.releases);
        text += &format!("  {word}{item}{releases}\n");
    };
    op.inputs
        .iter()
        .for_each(|it| add("input ", &it.item, &it.releases));
    op.outputs
        .iter()
        .for_each(|it| add("output ", &it.item, &it.releases));
    op.attributes
        .iter()
        .for_each(|it| add("attr ", &it.item, &it.releases));
    op.flags
        .iter()
        .for_each(|it| add("", &it.item, &it.releases));
    text
}

fn format_releases(releases: &ReleaseSet, usual: &ReleaseSet) -> String {
    match releases == usual {
        true => String::new(),
        false => format!("{AT}{releases}"),
    }
}

/// Parses the lines of an op. An error has the number of the line, counted from 0.
pub(crate) fn parse_op(text: &str, all: &ReleaseSet) -> Result<Op, (usize, String)> {
    let mut lines = text.lines().enumerate();
    let (_, first) = lines.next().unwrap_or((0, ""));
    let mut op = parse_name(first, all).map_err(|message| (0, message))?;
    for (index, line) in lines {
        parse_member(line, &mut op).map_err(|message| (index, message))?;
    }
    Ok(op)
}

fn parse_name(line: &str, all: &ReleaseSet) -> ParseResult<Op> {
    let mut cursor = LineCursor::new(line);
    cursor.expect(OP)?;
    let name = cursor.word("the name of an op")?.to_owned();
    Ok(Op {
        name,
        releases: parse_releases(&mut cursor, all)?,
        inputs: Vec::new(),
        outputs: Vec::new(),
        attributes: Vec::new(),
        flags: Vec::new(),
    })
}

fn parse_member(line: &str, op: &mut Op) -> ParseResult<()> {
    let mut cursor = LineCursor::new(line);
    cursor.expect("  ")?;
    if cursor.take("input ") {
        op.inputs
            .push(declared(&mut cursor, Argument::parse, &op.releases)?);
    } else if cursor.take("output ") {
        op.outputs
            .push(declared(&mut cursor, Argument::parse, &op.releases)?);
    } else if cursor.take("attr ") {
        op.attributes
            .push(declared(&mut cursor, Attribute::parse, &op.releases)?);
    } else {
        op.flags
            .push(declared(&mut cursor, Flag::parse, &op.releases)?);
    }
    Ok(())
}

fn declared<'a, T>(
    cursor: &mut LineCursor<'a>,
    parse: impl FnOnce(&mut LineCursor<'a>) -> ParseResult<T>,
    usual: &ReleaseSet,
) -> ParseResult<Declared<T>> {
    Ok(Declared {
        item: parse(cursor)?,
        releases: parse_releases(cursor, usual)?,
    })
}

/// Reads the releases at the end of a line.
fn parse_releases(cursor: &mut LineCursor<'_>, usual: &ReleaseSet) -> ParseResult<ReleaseSet> {
    if cursor.is_at_end() {
        return Ok(usual.clone());
    }
    cursor.expect(AT)?;
    cursor.rest().parse()
}
