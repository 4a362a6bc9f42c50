//! Names of anonymous types and members.

use std::collections::{HashMap, HashSet};

use clang_sys::*;

use super::cursor::{Cursor, DeclarationId, Token, Ty};
use super::node::{Node, is_record};
use super::unit::Unit;
use crate::identifier::{is_identifier_char, split_identifier};

/// The names of anonymous types, from the typedef or the field that declares them.
#[derive(Default)]
pub struct Names {
    assigned: HashMap<DeclarationId, String>,
    /// The names of typedefs that a tag may have too, for another type.
    typedefs: HashSet<String>,
}

impl Names {
    /// Returns the name of a struct, union or enumeration: the assigned one, else its own.
    pub fn get(&self, declaration: Cursor) -> Option<String> {
        let assigned = self.assigned.get(&declaration.declaration_id());
        assigned.cloned().or_else(|| self.own(declaration))
    }

    /// Returns the declared name. A tag with the name of another type's typedef has its keyword in front: `struct_X`.
    fn own(&self, declaration: Cursor) -> Option<String> {
        let name = Some(declaration.name()).filter(|name| !name.is_empty())?;
        let keyword = match declaration.kind() {
            CXCursor_StructDecl => "struct",
            CXCursor_UnionDecl => "union",
            CXCursor_EnumDecl => "enum",
            _ => return Some(name),
        };
        match self.typedefs.contains(&name) {
            true => Some(format!("{keyword}_{name}")),
            false => Some(name),
        }
    }

    fn assign(&mut self, declaration: Cursor, name: String) {
        let id = declaration.declaration_id();
        self.assigned.entry(id).or_insert(name);
    }
}

/// Returns the names of the typedefs that name another type than the tag of that name. In C both may exist.
fn typedefs_beside_tags(unit: &Unit, nodes: &[Node]) -> HashSet<String> {
    let typedefs = nodes.iter().map(|node| node.cursor);
    let typedefs = typedefs.filter(|cursor| cursor.kind() == CXCursor_TypedefDecl);
    let beside_tag = typedefs.filter(|typedef| {
        let ty = typedef.aliased().canonical();
        let is_tagged = matches!(ty.kind(), CXType_Record | CXType_Enum);
        let declared = ty.declaration();
        !is_tagged || declared.name() != typedef.name() || !has_tag(unit, declared)
    });
    beside_tag.map(Cursor::name).collect()
}

/// Names each anonymous type after its typedef, or after its field and the field's parent.
pub fn name_anonymous(unit: &Unit, nodes: &[Node]) -> Names {
    let mut names = Names::default();
    if unit.is_driver() {
        names.typedefs = typedefs_beside_tags(unit, nodes);
    }
    for Node { cursor, .. } in nodes
        .iter()
        .filter(|node| node.cursor.kind() == CXCursor_TypedefDecl)
    {
        let tagged = tagged(cursor.aliased());
        // In C++ an anonymous type has the typedef's name for linkage, so the text decides whether it has a tag.
        if let Some(record) = tagged.filter(|tagged| !has_tag(unit, *tagged)) {
            names.assign(record, cursor.name());
        }
    }
    // Nested records precede their parents, so the reverse order visits the outermost record first.
    for Node {
        cursor: parent,
        children,
        ..
    } in nodes.iter().rev()
    {
        let Some(name) = is_record(*parent).then(|| names.get(*parent)).flatten() else {
            continue;
        };
        for (member, member_name) in named_members(children) {
            let record = match is_record(member) {
                true => Some(member),
                false => tagged(member.ty()).filter(|tagged| is_anonymous(unit, *tagged)),
            };
            if let Some(record) = record {
                names.assign(record, format!("{name}__{member_name}"));
            }
        }
    }
    names
}

/// Returns the struct, union or enumeration that `ty` is, points to, or is an array of.
fn tagged(ty: Ty<'_>) -> Option<Cursor<'_>> {
    let mut ty = ty.canonical();
    while matches!(ty.kind(), CXType_Pointer | CXType_ConstantArray) {
        ty = if ty.kind() == CXType_Pointer {
            ty.pointee()
        } else {
            ty.element()
        }
        .canonical();
    }
    let is_tagged = matches!(ty.kind(), CXType_Record | CXType_Enum);
    is_tagged.then(|| ty.declaration())
}

/// Returns true if neither a tag nor a typedef names a type. Older versions of clang do not report the typedef, whose
/// name is assigned before.
fn is_anonymous(unit: &Unit, declared: Cursor) -> bool {
    declared.name().is_empty() && !has_tag(unit, declared)
}

fn has_tag(unit: &Unit, declared: Cursor) -> bool {
    if let Some(has_tag) = spelled_tag(unit, declared) {
        return has_tag;
    }
    let mut tokens = declared.tokens();
    tokens.retain(|token| token.kind != CXToken_Comment);
    let after_keyword = tokens.get(1..).unwrap_or_default();
    match without_attributes(after_keyword).first() {
        Some(token) => token.text != "{" && token.text != ":",
        // A macro has composed the tag from parts.
        None => !declared.name().is_empty(),
    }
}

/// Words before a tag that have arguments.
const ATTRIBUTES: [&str; 4] = ["__attribute__", "__attribute", "__declspec", "_Alignas"];

/// Returns the tokens after attributes.
fn without_attributes(mut tokens: &[Token]) -> &[Token] {
    while let [first, rest @ ..] = tokens
        && ATTRIBUTES.contains(&&*first.text)
    {
        let mut depth = 0;
        let end = rest.iter().position(|token| {
            depth += i32::from(token.text == "(") - i32::from(token.text == ")");
            depth == 0
        });
        tokens = end.and_then(|end| rest.get(end + 1..)).unwrap_or_default();
    }
    tokens
}

/// Returns true if the header's text has a tag, or `None` if the declaration is in a macro or has attributes. Reading the text is faster
/// than reading tokens.
fn spelled_tag(unit: &Unit, declared: Cursor) -> Option<bool> {
    let start = declared.extent()?.start;
    let text = unit.text(&unit.header(start.file)?);
    let text = text.get(start.offset as usize..)?;
    let keyword = ["struct", "union", "enum"].iter();
    let rest = keyword.filter_map(|word| text.strip_prefix(word)).next()?;
    let next = rest.trim_start();
    let (word, _) = split_identifier(next);
    match next.chars().next()? {
        _ if ATTRIBUTES.contains(&word) => None,
        '{' | ':' => Some(false),
        first if rest.len() > next.len() && is_identifier_char(first) => Some(true),
        _ => None,
    }
}

/// Returns the members of a record with their names, in order. The first anonymous member is called `anonymous`, the
/// next one `anonymous_2`. The cursor of such a member is that of its record.
pub fn named_members<'u>(children: &[Cursor<'u>]) -> Vec<(Cursor<'u>, String)> {
    let mut anonymous = 0;
    let mut name = |child: Cursor| {
        if child.kind() == CXCursor_FieldDecl {
            return Some(child.name());
        }
        if !is_record(child) || !child.is_anonymous_member() {
            return None;
        }
        anonymous += 1;
        Some(match anonymous {
            1 => "anonymous".into(),
            index => format!("anonymous_{index}"),
        })
    };
    let children = children.iter();
    children
        .filter_map(|&child| name(child).map(|name| (child, name)))
        .collect()
}
