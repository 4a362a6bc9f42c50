//! Attaches comments to declarations by where they stand.
//!
//! Clang's own attachment loses the trailing comment of a member that spans lines, and the leading
//! one where a member has both. Here a declaration has the block of whole-line comments that ends
//! on the line above it, and the comment behind it with the lines that go on in its column.

use std::collections::{BTreeMap, HashMap};

use clang_sys::{CXCursor_EnumConstantDecl, CXCursor_FieldDecl};
use sp_ir::{Item, Loc};

use super::cursor::Cursor;
use super::decl::{self, Node, Wanted};
use super::lexis::{self, Remark};
use super::unit::Unit;

/// One comment, without its slashes and stars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The text; lines are joined by `\n`.
    pub text: String,
    /// Its first line.
    pub loc: Loc,
}

/// The comments of every item, by member, and those at the head of every header.
#[derive(Debug, Default)]
pub struct Comments {
    items: BTreeMap<String, BTreeMap<String, Vec<Comment>>>,
    heads: BTreeMap<String, Vec<Comment>>,
}

impl Comments {
    /// Those of an item, or of its member where `member` is not empty: the leading, then the
    /// trailing one.
    pub fn of(&self, item: &str, member: &str) -> &[Comment] {
        let members = self.items.get(item);
        let comments = members.and_then(|members| members.get(member));
        comments.map_or(&[], Vec::as_slice)
    }

    /// Takes over an item's comments and its members' from `other`.
    pub fn take(&mut self, item: &str, other: &mut Self) {
        self.items.remove(item);
        self.items.extend(other.items.remove_entry(item));
    }

    /// Takes over the heads of `other`'s headers.
    pub(super) fn take_heads(&mut self, other: &mut Self) {
        self.heads.append(&mut other.heads);
    }

    /// Returns the comments that stand before the first declaration of a header.
    pub fn head(&self, header: &str) -> &[Comment] {
        self.heads.get(header).map_or(&[], Vec::as_slice)
    }

    /// Adds a comment to the head of a header.
    pub fn add_head(&mut self, header: &str, comment: Comment) {
        self.heads.entry(header.into()).or_default().push(comment);
    }

    /// Adds a comment to an item or member.
    pub fn add(&mut self, item: &str, member: &str, comment: Comment) {
        let members = self.items.entry(item.into()).or_default();
        members.entry(member.into()).or_default().push(comment);
    }
}

/// Finds the comments of what is declared at `places`; where it is two things, of the last.
pub fn collect<'p>(
    pages: &mut Pages,
    nodes: &[Node],
    places: impl Iterator<Item = (&'p String, &'p Loc)>,
) -> Comments {
    let mut found = Comments {
        heads: heads(pages, nodes),
        ..Comments::default()
    };
    let by_place: HashMap<(&str, u32), &String> = places
        .map(|(name, loc)| ((loc.file.as_str(), loc.line), name))
        .collect();
    for node in nodes {
        let Some(name) = by_place.get(&(&*node.header, node.line)) else {
            continue;
        };
        pages.attach(node.cursor, name, "", &mut found);
        let is_member =
            |one: &&Cursor| matches!(one.kind(), CXCursor_FieldDecl | CXCursor_EnumConstantDecl);
        for member in node.inside.iter().filter(is_member) {
            pages.attach(*member, name, &member.name(), &mut found);
        }
    }
    found
}

/// Returns the comments before the first declaration of each header whose items are wanted.
fn heads(pages: &mut Pages, nodes: &[Node]) -> BTreeMap<String, Vec<Comment>> {
    let mut first: BTreeMap<&str, u32> = BTreeMap::new();
    let wanted = nodes.iter().filter(|node| node.wanted == Wanted::Items);
    for node in wanted.filter(|node| decl::is_declaration(node.cursor)) {
        let line = first.entry(&node.header).or_insert(node.line);
        *line = node.line.min(*line);
    }
    let head = |(header, line): (&str, u32)| (header.into(), pages.open(header).head(line));
    first.into_iter().map(head).collect()
}

/// Sets the section of every field that stands under a banner (`/*** STREAM CALLBACKS ***/`).
pub fn attach_sections(pages: &mut Pages, items: &mut BTreeMap<String, Item>) {
    for item in items.values_mut() {
        let Item::Struct(item) = item else { continue };
        let page = pages.open(&item.loc.file);
        for field in &mut item.fields {
            field.section = page.section(item.loc.line, field.loc.line);
        }
    }
}

/// The pages read so far, by header.
pub struct Pages<'u> {
    unit: &'u Unit,
    read: HashMap<String, Page>,
}

impl<'u> Pages<'u> {
    /// None yet.
    pub fn new(unit: &'u Unit) -> Self {
        Self {
            unit,
            read: HashMap::new(),
        }
    }

    fn open(&mut self, header: &str) -> &Page {
        if !self.read.contains_key(header) {
            let page = Page::new(header, &self.unit.text(header));
            self.read.insert(header.into(), page);
        }
        &self.read[header]
    }

    fn attach(&mut self, cursor: Cursor, item: &str, member: &str, to: &mut Comments) {
        let Some(extent) = cursor.extent() else {
            return;
        };
        let Some(header) = self.unit.header(extent.start.file) else {
            return;
        };
        let page = self.open(&header);
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
    fn new(header: &str, text: &str) -> Self {
        let mut notes: Vec<Note> = Vec::new();
        for remark in lexis::remarks(text) {
            let place = standing(&remark, notes.last());
            notes.push(Note {
                text: remark.text.into(),
                first: remark.first,
                last: remark.last,
                column: remark.column,
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

    /// The comments that stand alone on their lines above `line`.
    fn head(&self, line: u32) -> Vec<Comment> {
        let end = self.notes.partition_point(|note| note.first < line);
        let whole = |note: &&Note| note.place == Standing::Whole;
        let notes = self.notes[..end].iter().filter(whole);
        notes
            .filter_map(|note| self.comment(std::slice::from_ref(note)))
            .collect()
    }

    /// The comment behind the code that ends at `line`, `column`.
    fn trailing(&self, line: u32, column: u32) -> Option<Comment> {
        let from = self.notes.partition_point(|note| note.first < line);
        let on_line = self.notes[from..]
            .iter()
            .take_while(|note| note.first == line);
        let behind = |note: &Note| note.place == Standing::Behind && note.column >= column;
        let start = from + on_line.into_iter().position(behind)?;
        let more = self.notes[start + 1..].iter();
        let count = more
            .take_while(|note| note.place == Standing::Continued)
            .count();
        self.comment(&self.notes[start..=start + count])
    }

    fn section(&self, after: u32, before: u32) -> Option<String> {
        let from = self.notes.partition_point(|note| note.first <= after);
        let to = self.notes.partition_point(|note| note.first < before);
        let mut notes = self.notes.get(from..to)?.iter();
        let last = notes.rfind(|note| note.place == Standing::Banner)?;
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

fn standing(remark: &Remark, before: Option<&Note>) -> Standing {
    if remark.behind {
        return Standing::Behind;
    }
    let goes_on = before.is_some_and(|note| {
        matches!(note.place, Standing::Behind | Standing::Continued)
            && note.column == remark.column
            && note.last + 1 == remark.first
    });
    match title(remark.text) {
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
