//! Attaches comments to declarations by where the tokens stand.
//!
//! Clang's own attachment loses the trailing comment of a member that spans lines, and the leading
//! one where a member has both. Here a declaration has the block of whole-line comments that ends
//! on the line above it, and the comment behind it with the lines that go on in its column.

use std::collections::{BTreeMap, BTreeSet};

use clang_sys::{CXCursor_EnumConstantDecl, CXCursor_FieldDecl, CXToken_Comment};
use sp_ir::{Item, Loc};

use super::cursor::{Cursor, Token};
use super::decl::{flatten, loc};
use super::unit::Unit;

/// One comment, without its slashes and stars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The text; lines are joined by `\n`.
    pub text: String,
    /// Its first line.
    pub loc: Loc,
}

/// The comments of every item and member.
#[derive(Debug, Default)]
pub struct Comments(BTreeMap<(String, String), Vec<Comment>>);

impl Comments {
    /// Those of an item, or of its member where `member` is not empty: the leading, then the
    /// trailing one.
    pub fn of(&self, item: &str, member: &str) -> &[Comment] {
        self.0
            .get(&(item.into(), member.into()))
            .map_or(&[], Vec::as_slice)
    }

    /// Adds a comment to an item or member.
    pub fn add(&mut self, item: &str, member: &str, comment: Comment) {
        self.0
            .entry((item.into(), member.into()))
            .or_default()
            .push(comment);
    }
}

/// Finds the comments of `items`.
pub fn collect(unit: &Unit, items: &BTreeMap<String, Item>) -> Comments {
    let mut pages = Pages::default();
    let mut found = Comments::default();
    let by_place: BTreeMap<&Loc, &String> = items
        .iter()
        .map(|(name, item)| (item.loc(), name))
        .collect();
    for cursor in flatten(unit.cursor()) {
        let Some(name) = loc(unit, cursor).and_then(|loc| by_place.get(&loc).copied()) else {
            continue;
        };
        pages.attach(unit, cursor, name, "", &mut found);
        let members = cursor.children().into_iter();
        for member in members
            .filter(|one| matches!(one.kind(), CXCursor_FieldDecl | CXCursor_EnumConstantDecl))
        {
            pages.attach(unit, member, name, &member.name(), &mut found);
        }
    }
    found
}

/// Sets the section of every field that stands under a banner (`/*** STREAM CALLBACKS ***/`).
pub fn attach_sections(unit: &Unit, items: &mut BTreeMap<String, Item>) {
    let mut pages = Pages::default();
    for item in items.values_mut() {
        let Item::Struct(item) = item else { continue };
        let page = pages.open(unit, &item.loc.file);
        for field in &mut item.fields {
            field.section = page.section(item.loc.line, field.loc.line);
        }
    }
}

/// The pages read so far, by header.
#[derive(Default)]
struct Pages(BTreeMap<String, Page>);

impl Pages {
    fn open(&mut self, unit: &Unit, header: &str) -> &Page {
        self.0
            .entry(header.into())
            .or_insert_with(|| Page::new(header, &unit.tokens(header)))
    }

    fn attach(&mut self, unit: &Unit, cursor: Cursor, item: &str, member: &str, to: &mut Comments) {
        let (Some(extent), Some(loc)) = (cursor.extent(), loc(unit, cursor)) else {
            return;
        };
        let page = self.open(unit, &loc.file);
        let comments = page
            .leading(extent.start.line)
            .into_iter()
            .chain(page.trailing(extent.end.line, extent.end.column));
        for comment in comments {
            if !to.of(item, member).contains(&comment) {
                to.add(item, member, comment);
            }
        }
    }
}

/// The comments of one header.
struct Page {
    header: String,
    notes: Vec<Note>,
}

struct Note {
    text: String,
    first: u32,
    last: u32,
    column: u32,
    place: Standing,
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Standing {
    /// Alone on its lines.
    Whole,
    /// Behind code.
    Behind,
    /// Alone on its line, going on with one behind code.
    Continued,
    /// `/*** TITLE ***/`
    Banner,
}

impl Page {
    fn new(header: &str, tokens: &[Token]) -> Self {
        let mut code = BTreeSet::new();
        let mut notes: Vec<Note> = Vec::new();
        for token in tokens {
            if token.kind != CXToken_Comment {
                code.extend(token.start.line..=token.end.line);
                continue;
            }
            let place = standing(token, code.contains(&token.start.line), notes.last());
            notes.push(Note {
                text: token.text.clone(),
                first: token.start.line,
                last: token.end.line,
                column: token.start.column,
                place,
            });
        }
        Self {
            header: header.into(),
            notes,
        }
    }

    /// The block that ends on the line above `line`.
    fn leading(&self, line: u32) -> Option<Comment> {
        let end = self.notes.partition_point(|note| note.first < line);
        let mut start = end;
        let mut expected = line;
        while start > 0 {
            let note = &self.notes[start - 1];
            if note.place != Standing::Whole || note.last + 1 != expected {
                break;
            }
            expected = note.first;
            start -= 1;
        }
        self.comment(&self.notes[start..end])
    }

    /// The comment behind the code that ends at `line`, `column`.
    fn trailing(&self, line: u32, column: u32) -> Option<Comment> {
        let start = self.notes.iter().position(|note| {
            note.place == Standing::Behind && note.first == line && note.column >= column
        })?;
        let more = self.notes[start + 1..].iter();
        let count = more
            .take_while(|note| note.place == Standing::Continued)
            .count();
        self.comment(&self.notes[start..=start + count])
    }

    fn section(&self, after: u32, before: u32) -> Option<String> {
        let is_between = |note: &&Note| note.first > after && note.first < before;
        let mut notes = self.notes.iter();
        let last = notes.rfind(|note| note.place == Standing::Banner && is_between(note))?;
        title(&last.text).map(String::from)
    }

    fn comment(&self, notes: &[Note]) -> Option<Comment> {
        let first = notes.first()?;
        let lines: Vec<String> = notes.iter().flat_map(|note| clean(&note.text)).collect();
        Some(Comment {
            text: lines.join("\n").trim().to_string(),
            loc: Loc {
                file: self.header.clone(),
                line: first.first,
            },
        })
    }
}

fn standing(token: &Token, behind: bool, before: Option<&Note>) -> Standing {
    if behind {
        return Standing::Behind;
    }
    let goes_on = before.is_some_and(|note| {
        matches!(note.place, Standing::Behind | Standing::Continued)
            && note.column == token.start.column
            && note.last + 1 == token.start.line
    });
    match title(&token.text) {
        _ if goes_on => Standing::Continued,
        Some(_) => Standing::Banner,
        None => Standing::Whole,
    }
}

/// The title in a banner.
fn title(text: &str) -> Option<&str> {
    let inner = text
        .strip_prefix("/***")?
        .strip_suffix("***/")?
        .trim_matches('*')
        .trim();
    (!inner.is_empty() && !inner.contains('\n')).then_some(inner)
}

fn clean(text: &str) -> Vec<String> {
    let body = match text.strip_prefix("/*") {
        Some(block) => block.trim_end_matches("*/").trim_start_matches('*'),
        None => text.trim_start_matches('/'),
    };
    body.lines()
        .map(|line| line.trim().trim_start_matches("* ").trim().to_string())
        .collect()
}
