//! The declarations, macro definitions and macro uses in the headers under the include root.
//!
//! The headers' declarations are in `extern "C"` blocks, so linkage blocks are entered.

use std::collections::HashMap;
use std::rc::Rc;

use clang_sys::*;
use sp_ir::Loc;

use super::cursor::{Cursor, File, Position};
use super::unit::Unit;

/// The declarations to read from a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// All declarations.
    All,
    /// The declarations that the IR can describe.
    Describable,
    /// The structs, unions and enumerations that the IR can describe.
    TypesOnly,
    /// The declarations that the IR can describe, but no functions.
    WithoutFunctions,
    /// No declarations.
    Nothing,
}

/// A declaration, macro definition or macro use in a header under the include root.
#[derive(Clone)]
pub struct Node<'u> {
    /// The declaration.
    pub cursor: Cursor<'u>,
    /// The header that contains it.
    pub header: Rc<str>,
    /// The line of its name.
    pub line: u32,
    /// The declarations to read from its header.
    pub selection: Selection,
    /// The children of a struct, union or enumeration.
    pub children: Vec<Cursor<'u>>,
}

impl Node<'_> {
    /// Returns the location of the declaration.
    pub fn loc(&self) -> Loc {
        Loc::new(&*self.header, self.line)
    }

    /// Returns the name and the value of each enumerator.
    pub fn enumerators(&self) -> impl Iterator<Item = (String, i64)> {
        let children = self.children.iter();
        children
            .filter(|child| child.kind() == CXCursor_EnumConstantDecl)
            .map(|child| (child.name(), child.enum_value()))
    }
}

/// Returns the declarations in all headers under the include root, with those in linkage blocks. Nested records precede
/// their parents.
pub fn nodes<'u>(unit: &'u Unit, select: &dyn Fn(&str) -> Selection) -> Vec<Node<'u>> {
    let mut flattener = Flattener {
        unit,
        select,
        headers: HashMap::new(),
        nodes: Vec::new(),
    };
    flattener.flatten(&unit.cursor().children());
    flattener.nodes
}

struct Flattener<'u, 's> {
    unit: &'u Unit,
    select: &'s dyn Fn(&str) -> Selection,
    headers: HashMap<File, Option<(Rc<str>, Selection)>>,
    nodes: Vec<Node<'u>>,
}

impl<'u> Flattener<'u, '_> {
    fn flatten(&mut self, cursors: &[Cursor<'u>]) {
        for &cursor in cursors {
            let kind = cursor.kind();
            let is_block = matches!(kind, CXCursor_LinkageSpec | CXCursor_UnexposedDecl);
            let children = match is_block || is_record(cursor) || kind == CXCursor_EnumDecl {
                true => cursor.children(),
                false => Vec::new(),
            };
            if is_block || is_record(cursor) {
                self.flatten(&children);
            }
            if !is_block && kind != CXCursor_FieldDecl {
                self.push(cursor, children);
            }
        }
    }

    fn push(&mut self, cursor: Cursor<'u>, children: Vec<Cursor<'u>>) {
        let Some(Position { file, line, .. }) = cursor.position() else {
            return;
        };
        let known = self.headers.entry(file).or_insert_with(|| {
            let header = self.unit.header(file)?;
            let selection = (self.select)(&header);
            Some((header, selection))
        });
        if let Some((header, selection)) = known.clone() {
            self.nodes.push(Node {
                cursor,
                header,
                line,
                selection,
                children,
            });
        }
    }
}

/// Returns true for a declaration, false for a macro or an include.
pub fn is_declaration(cursor: Cursor) -> bool {
    !matches!(
        cursor.kind(),
        CXCursor_MacroDefinition | CXCursor_MacroExpansion | CXCursor_InclusionDirective
    )
}

/// Returns true for a struct or union.
pub fn is_record(cursor: Cursor) -> bool {
    matches!(cursor.kind(), CXCursor_StructDecl | CXCursor_UnionDecl)
}
