//! Attaches comments to declarations by their positions.
//!
//! Clang's own attachment loses the trailing comment of a member that spans lines, and the leading one of a member that
//! has both. Here a declaration has two comments. The leading one is the block of whole-line comments that ends on the
//! line above it. The trailing one follows it on its last line, and may continue on the next lines in the same column.

use std::collections::{BTreeMap, HashMap};

use clang_sys::{CXCursor_EnumConstantDecl, CXCursor_FieldDecl};
use sp_ir::{Item, Loc};

use super::comment_lexer::{self, SourceComment};
use super::cursor::Cursor;
use super::node::{self, Node, Selection};
use super::unit::Unit;

/// A comment, without its slashes and stars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The text. Lines are joined by `\n`.
    pub text: String,
    /// Location of its first line.
    pub loc: Loc,
}

/// The comments of items, by member, and those at the head of headers.
#[derive(Debug, Default)]
pub struct Comments {
    items: BTreeMap<String, BTreeMap<String, Vec<Comment>>>,
    heads: BTreeMap<String, Vec<Comment>>,
}

impl Comments {
    /// Returns the comments of an item, or of its member if `member` is not empty: the leading one, then the trailing
    /// one.
    pub fn get(&self, item: &str, member: &str) -> &[Comment] {
        let members = self.items.get(item);
        let comments = members.and_then(|members| members.get(member));
        comments.map_or(&[], Vec::as_slice)
    }

    /// Moves the comments of an item and of its members from `other` to `self`.
    pub fn take_item(&mut self, item: &str, other: &mut Self) {
        self.items.remove(item);
        self.items.extend(other.items.remove_entry(item));
    }

    /// Moves the comments at the head of headers from `other` to `self`.
    pub(super) fn take_heads(&mut self, other: &mut Self) {
        self.heads.append(&mut other.heads);
    }

    /// Returns the comments before the first declaration of a header.
    pub fn head(&self, header: &str) -> &[Comment] {
        self.heads.get(header).map_or(&[], Vec::as_slice)
    }

    /// Adds a comment to an item or member.
    pub fn add(&mut self, item: &str, member: &str, comment: Comment) {
        let members = self.items.entry(item.into()).or_default();
        members.entry(member.into()).or_default().push(comment);
    }
}

/// Collects the comments of the items at `locs`. If two items are declared on one line, the last one gets the comments.
pub fn collect<'p>(
    files: &mut CommentedFiles,
    nodes: &[Node],
    locs: impl Iterator<Item = (&'p String, &'p Loc)>,
) -> Comments {
    let mut comments = Comments {
        heads: heads(files, nodes),
        ..Comments::default()
    };
    let by_line: HashMap<(&str, u32), &String> = locs
        .map(|(name, loc)| ((loc.file.as_str(), loc.line), name))
        .collect();
    for node in nodes {
        let Some(name) = by_line.get(&(&*node.header, node.line)) else {
            continue;
        };
        files.attach(node.cursor, name, "", &mut comments);
        let is_member = |child: &&Cursor| {
            matches!(child.kind(), CXCursor_FieldDecl | CXCursor_EnumConstantDecl)
        };
        for member in node.children.iter().filter(is_member) {
            files.attach(*member, name, &member.name(), &mut comments);
        }
    }
    comments
}

/// Returns the comments before the first declaration of each header whose items are selected.
fn heads(files: &mut CommentedFiles, nodes: &[Node]) -> BTreeMap<String, Vec<Comment>> {
    let mut first: BTreeMap<&str, u32> = BTreeMap::new();
    let selected = nodes.iter().filter(|node| node.selection == Selection::All);
    for node in selected.filter(|node| node::is_declaration(node.cursor)) {
        let line = first.entry(&node.header).or_insert(node.line);
        *line = node.line.min(*line);
    }
    let head = |(header, line): (&str, u32)| (header.into(), files.open(header).head(line));
    first.into_iter().map(head).collect()
}

/// Sets the section of each field after a banner (`/*** STREAM CALLBACKS ***/`).
pub fn attach_sections(files: &mut CommentedFiles, items: &mut BTreeMap<String, Item>) {
    for item in items.values_mut() {
        let Item::Struct(item) = item else { continue };
        let file = files.open(&item.loc.file);
        for field in &mut item.fields {
            field.section = file.section(item.loc.line, field.loc.line);
        }
    }
}

/// The headers of a unit with their comments, read when they are first needed.
pub struct CommentedFiles<'u> {
    unit: &'u Unit,
    files: HashMap<String, CommentedFile>,
}

impl<'u> CommentedFiles<'u> {
    /// Returns the headers of a unit; none is read yet.
    pub fn new(unit: &'u Unit) -> Self {
        Self {
            unit,
            files: HashMap::new(),
        }
    }

    fn open(&mut self, header: &str) -> &CommentedFile {
        if !self.files.contains_key(header) {
            let file = CommentedFile::new(header, &self.unit.text(header));
            self.files.insert(header.into(), file);
        }
        &self.files[header]
    }

    fn attach(&mut self, cursor: Cursor, item: &str, member: &str, comments: &mut Comments) {
        let Some(extent) = cursor.extent() else {
            return;
        };
        let Some(header) = self.unit.header(extent.start.file) else {
            return;
        };
        let file = self.open(&header);
        let attached = file
            .leading(extent.start.line)
            .into_iter()
            .chain(file.trailing(extent.end.line, extent.end.column));
        for comment in attached {
            if !comments.get(item, member).contains(&comment) {
                comments.add(item, member, comment);
            }
        }
    }
}

/// The comments of one header, in order.
struct CommentedFile {
    header: String,
    comments: Vec<PlacedComment>,
}

struct PlacedComment {
    text: String,
    first: u32,
    last: u32,
    column: u32,
    placement: Placement,
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Placement {
    /// Alone on its lines.
    WholeLine,
    /// After code on its first line.
    Trailing,
    /// Alone on its line, in the column of the trailing comment above it.
    Continuation,
    /// `/*** TITLE ***/`
    Banner,
}

impl CommentedFile {
    fn new(header: &str, text: &str) -> Self {
        let mut comments: Vec<PlacedComment> = Vec::new();
        for comment in comment_lexer::find_comments(text) {
            let placement = placement(&comment, comments.last());
            comments.push(PlacedComment {
                text: comment.text.into(),
                first: comment.first,
                last: comment.last,
                column: comment.column,
                placement,
            });
        }
        Self {
            header: header.into(),
            comments,
        }
    }

    /// Returns the index of the first comment at or after `line`.
    fn index_at(&self, line: u32) -> usize {
        self.comments
            .partition_point(|comment| comment.first < line)
    }

    /// Returns the block of comments that ends on the line above `line`.
    fn leading(&self, line: u32) -> Option<Comment> {
        let end = self.index_at(line);
        let mut start = end;
        let mut next_line = line;
        while start > 0 {
            let comment = &self.comments[start - 1];
            let is_adjacent = comment.last + 1 == next_line;
            if comment.placement != Placement::WholeLine || !is_adjacent {
                break;
            }
            next_line = comment.first;
            start -= 1;
        }
        self.join(&self.comments[start..end])
    }

    /// Returns the whole-line comments above `line`.
    fn head(&self, line: u32) -> Vec<Comment> {
        let comments = self.comments[..self.index_at(line)].iter();
        comments
            .filter(|comment| comment.placement == Placement::WholeLine)
            .filter_map(|comment| self.join(std::slice::from_ref(comment)))
            .collect()
    }

    /// Returns the comment after the code that ends at `line`, `column`.
    fn trailing(&self, line: u32, column: u32) -> Option<Comment> {
        let first = self.index_at(line);
        let mut on_line = self.comments[first..]
            .iter()
            .take_while(|comment| comment.first == line);
        let is_after = |comment: &PlacedComment| {
            comment.placement == Placement::Trailing && comment.column >= column
        };
        let start = first + on_line.position(is_after)?;
        let following = self.comments[start + 1..].iter();
        let count = following
            .take_while(|comment| comment.placement == Placement::Continuation)
            .count();
        self.join(&self.comments[start..=start + count])
    }

    /// Returns the title of the last banner between two lines.
    fn section(&self, after: u32, before: u32) -> Option<String> {
        let range = self.index_at(after + 1)..self.index_at(before);
        let mut comments = self.comments.get(range)?.iter();
        let banner = comments.rfind(|comment| comment.placement == Placement::Banner)?;
        title(&banner.text).map(String::from)
    }

    /// Joins adjacent comments to one.
    fn join(&self, comments: &[PlacedComment]) -> Option<Comment> {
        let first = comments.first()?;
        let lines = comments
            .iter()
            .flat_map(|comment| strip_marks(&comment.text));
        let lines: Vec<String> = lines.collect();
        Some(Comment {
            text: lines.join("\n").trim().to_string(),
            loc: Loc::new(&self.header, first.first),
        })
    }
}

fn placement(comment: &SourceComment, previous: Option<&PlacedComment>) -> Placement {
    if comment.follows_code {
        return Placement::Trailing;
    }
    let is_continuation = previous.is_some_and(|previous| {
        matches!(
            previous.placement,
            Placement::Trailing | Placement::Continuation
        ) && previous.column == comment.column
            && previous.last + 1 == comment.first
    });
    match title(comment.text) {
        _ if is_continuation => Placement::Continuation,
        Some(_) => Placement::Banner,
        None => Placement::WholeLine,
    }
}

/// Returns the title in a banner, or `None` for any other comment.
fn title(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("/***")?.strip_suffix("***/")?;
    let inner = inner.trim_matches('*').trim();
    (!inner.is_empty() && !inner.contains('\n')).then_some(inner)
}

/// Returns the lines of a comment without slashes, stars and indentation.
fn strip_marks(text: &str) -> Vec<String> {
    let body = match text.strip_prefix("/*") {
        Some(block) => block.trim_end_matches("*/").trim_start_matches('*'),
        None => text.trim_start_matches('/'),
    };
    body.lines()
        .map(|line| line.trim().trim_start_matches("* ").trim().to_string())
        .collect()
}
