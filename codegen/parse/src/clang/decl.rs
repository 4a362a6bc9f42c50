//! Converts each declaration of a selected header to an item without contract facts.
//!
//! The headers' declarations are in `extern "C"` blocks, so linkage blocks are entered. The first declaration of a name
//! is used, except that a definition replaces a forward declaration.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use clang_sys::*;
use miette::Diagnostic;
use sp_ir::{
    Alias, Callback, Enum, Field, Function, Handle, Item, Layout, Loc, Struct, Union, Variant,
};
use thiserror::Error;

use super::cursor::{Cursor, File, Position, Ty};
use super::ty::{Types, Unsupported};
use super::unit::Unit;
use crate::identifier::is_identifier_char;

use super::Declarations;

/// The IR cannot describe a declaration.
#[derive(Debug, Error, Diagnostic)]
#[error("{file}:{line}: `{name}` uses {what}, which sp-gen cannot describe", file = loc.file, line = loc.line)]
#[diagnostic(
    code(sp_gen::clang::unsupported),
    help("remove its header from the API's notes, or add this type to the IR")
)]
pub struct DeclError {
    name: String,
    what: String,
    loc: Loc,
}

/// The names of anonymous types, from the typedef or the field that declares them.
#[derive(Default)]
pub struct Names(HashMap<Position, String>);

impl Names {
    /// Returns the name of a struct, union or enumeration: the assigned one, else its own.
    pub fn get(&self, declaration: Cursor) -> Option<String> {
        let assigned = declaration
            .position()
            .and_then(|position| self.0.get(&position).cloned());
        assigned.or_else(|| Some(declaration.name()).filter(|name| !name.is_empty()))
    }

    fn assign(&mut self, declaration: Cursor, name: String) {
        if let Some(position) = declaration.position() {
            self.0.entry(position).or_insert(name);
        }
    }
}

/// The declarations to read from a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Selection {
    /// All declarations.
    All,
    /// The declarations that the IR can describe.
    Describable,
    /// Only the names that the header declares first, and its numeric macros. Another part contains its items.
    NamesOnly,
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
        Loc {
            file: self.header.to_string(),
            line: self.line,
        }
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

/// Converts the declarations of the selected headers.
///
/// # Errors
/// Returns an error if the IR cannot describe a declaration.
pub fn collect(unit: &Unit, nodes: &[Node]) -> Result<Declarations, DeclError> {
    let names = name_anonymous(unit, nodes);
    let owned = |cursor: Cursor| {
        let position = cursor.position();
        position.is_some_and(|position| unit.header(position.file).is_some())
    };
    let converter = Converter {
        unit,
        names: &names,
        types: Types::new(&names, &owned),
        declared_elsewhere: RefCell::default(),
        hidden_structs: RefCell::default(),
    };
    let mut items = BTreeMap::new();
    for node in nodes.iter().filter(|node| is_declaration(node.cursor)) {
        match node.selection {
            Selection::All => converter.declare(node, &mut items)?,
            Selection::Describable => converter.declare(node, &mut items).unwrap_or_default(),
            Selection::NamesOnly => converter.note_name(node),
            Selection::Nothing => {}
        }
    }
    let hidden_structs = converter.hidden_structs.into_inner();
    items.retain(|name, item| !is_forward(item) || !hidden_structs.contains(name));
    Ok(Declarations {
        items,
        hidden_structs,
        ..Default::default()
    })
}

/// Returns true for a declaration, false for a macro or an include.
pub fn is_declaration(cursor: Cursor) -> bool {
    !matches!(
        cursor.kind(),
        CXCursor_MacroDefinition | CXCursor_MacroExpansion | CXCursor_InclusionDirective
    )
}

/// Returns the location of a declaration, or `None` if it is not in a header under the include root.
fn loc(unit: &Unit, cursor: Cursor) -> Option<Loc> {
    let position = cursor.position()?;
    Some(Loc {
        file: unit.header(position.file)?.to_string(),
        line: position.line,
    })
}

/// Names each anonymous type after the typedef that stands for it, or after its field and the field's parent.
fn name_anonymous(unit: &Unit, nodes: &[Node]) -> Names {
    let mut names = Names::default();
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
    let tokens = declared.tokens();
    let tag = tokens.get(1).map(|token| token.text.as_str());
    tag.is_some_and(|text| text != "{" && text != ":")
}

/// Returns true if the header's text has a tag, or `None` if the declaration is in a macro. Reading the text is faster
/// than reading tokens.
fn spelled_tag(unit: &Unit, declared: Cursor) -> Option<bool> {
    let start = declared.extent()?.start;
    let text = unit.text(&unit.header(start.file)?);
    let text = text.get(start.offset as usize..)?;
    let keyword = ["struct", "union", "enum"].iter();
    let rest = keyword.filter_map(|word| text.strip_prefix(word)).next()?;
    let next = rest.trim_start();
    match next.chars().next()? {
        '{' | ':' => Some(false),
        first if rest.len() > next.len() && is_identifier_char(first) => Some(true),
        _ => None,
    }
}

fn is_record(cursor: Cursor) -> bool {
    matches!(cursor.kind(), CXCursor_StructDecl | CXCursor_UnionDecl)
}

/// Returns the members of a record with their names, in order. The first anonymous member is called `anonymous`, the
/// next one `anonymous_2`. The cursor of such a member is that of its record.
fn named_members<'u>(children: &[Cursor<'u>]) -> Vec<(Cursor<'u>, String)> {
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

/// Returns the name of the first named member, searching anonymous members too.
fn first_named_member(record: Cursor) -> Option<String> {
    named_members(&record.children())
        .into_iter()
        .find_map(|(member, name)| match is_record(member) {
            true => first_named_member(member),
            false => Some(name),
        })
}

/// Returns the offset of a member in bits, which is negative if clang has none.
fn offset_of(record: Cursor, member: Cursor) -> i64 {
    match is_record(member) {
        true => first_named_member(member).map_or(-1, |name| record.ty().offset_of(&name)),
        false => member.field_offset(),
    }
}

/// Converts declarations to items.
struct Converter<'a> {
    unit: &'a Unit,
    names: &'a Names,
    types: Types<'a>,
    /// Names that a header of the other part declares first.
    declared_elsewhere: RefCell<HashSet<String>>,
    /// Structs without definition that only a typedef of a pointer refers to: `SP_Stream_st`.
    hidden_structs: RefCell<BTreeSet<String>>,
}

type Items = BTreeMap<String, Item>;

impl Converter<'_> {
    fn declare(&self, node: &Node, items: &mut Items) -> Result<(), DeclError> {
        let (cursor, loc) = (node.cursor, node.loc());
        let Some(name) = self.names.get(cursor) else {
            return Ok(());
        };
        let item = match cursor.kind() {
            CXCursor_StructDecl | CXCursor_UnionDecl => self.record(node, &name, loc)?,
            CXCursor_EnumDecl => Some(self.enumeration(node, &name, loc)?),
            CXCursor_TypedefDecl => self.typedef(cursor, &name, loc)?,
            CXCursor_FunctionDecl => Some(self.function(cursor, &name, loc)?),
            _ => None,
        };
        let is_repeated =
            |item: &Item| is_forward(item) && self.declared_elsewhere.borrow().contains(&name);
        if let Some(item) = item.filter(|item| !is_repeated(item)) {
            insert(items, name, item);
        }
        Ok(())
    }

    /// Records a name that another part declares.
    fn note_name(&self, node: &Node) {
        let may_be_forward = matches!(
            node.cursor.kind(),
            CXCursor_StructDecl | CXCursor_UnionDecl | CXCursor_TypedefDecl
        );
        let name = may_be_forward.then(|| self.names.get(node.cursor));
        self.declared_elsewhere.borrow_mut().extend(name.flatten());
    }

    fn record(&self, node: &Node, name: &str, loc: Loc) -> Result<Option<Item>, DeclError> {
        let cursor = node.cursor;
        if !cursor.is_definition() {
            let is_opaque = !cursor.is_defined();
            return Ok(is_opaque.then(|| handle(false, loc)));
        }
        let fields = self.fields(node, name)?;
        let layout = self.layout(cursor.ty(), name, &loc)?;
        Ok(Some(match cursor.kind() {
            CXCursor_UnionDecl => Item::Union(Union {
                doc: None,
                discriminator: None,
                fields,
                layout,
                loc,
            }),
            _ => Item::Struct(Struct {
                doc: None,
                filled_by: None,
                receiver: None,
                author_trait: None,
                discriminator: None,
                fields,
                layout,
                struct_size: None,
                loc,
            }),
        }))
    }

    fn layout(&self, ty: Ty, name: &str, loc: &Loc) -> Result<Layout, DeclError> {
        match (u64::try_from(ty.size()), u64::try_from(ty.align())) {
            (Ok(size), Ok(align)) => Ok(Layout { size, align }),
            _ => Err(unsupported(name, "an incomplete layout", loc)),
        }
    }

    fn fields(&self, record: &Node, parent: &str) -> Result<Vec<Field>, DeclError> {
        named_members(&record.children)
            .into_iter()
            .map(|(member, name)| self.field(record.cursor, member, name, parent))
            .collect()
    }

    fn field(
        &self,
        record: Cursor,
        cursor: Cursor,
        name: String,
        parent: &str,
    ) -> Result<Field, DeclError> {
        let loc = loc(self.unit, cursor).unwrap_or(Loc {
            file: String::new(),
            line: 0,
        });
        let full = format!("{parent}.{name}");
        if cursor.is_bit_field() {
            return Err(unsupported(&full, "a bit-field", &loc));
        }
        let (Ok(bits), Ok(size)) = (
            u64::try_from(offset_of(record, cursor)),
            u64::try_from(cursor.ty().size()),
        ) else {
            return Err(unsupported(&full, "a field with no layout", &loc));
        };
        let ty = self
            .types
            .declared_type(cursor)
            .map_err(|error| unsupported_type(&full, error, &loc))?;
        Ok(Field {
            name,
            doc: None,
            ty,
            offset: bits / 8,
            size,
            filled_by: None,
            direction: None,
            presence: None,
            default_return: None,
            section: None,
            loc,
        })
    }

    fn enumeration(&self, node: &Node, name: &str, loc: Loc) -> Result<Item, DeclError> {
        let repr = self
            .types
            .convert(node.cursor.enum_integer())
            .map_err(|error| unsupported_type(name, error, &loc))?;
        let variants = node
            .children
            .iter()
            .filter(|child| child.kind() == CXCursor_EnumConstantDecl)
            .map(|child| Variant {
                name: child.name(),
                value: child.enum_value(),
            })
            .collect();
        Ok(Item::Enum(Enum {
            doc: None,
            repr,
            variants,
            loc,
        }))
    }

    fn typedef(&self, cursor: Cursor, name: &str, loc: Loc) -> Result<Option<Item>, DeclError> {
        let aliased = cursor.aliased();
        if let Some(signature) = self.types.pointed_signature(aliased, cursor) {
            let signature = signature.map_err(|error| unsupported_type(name, error, &loc))?;
            return Ok(Some(Item::Callback(Callback {
                doc: None,
                signature,
                loc,
            })));
        }
        if is_pointer_to_undefined(aliased) {
            let record = aliased.unelaborated().pointee().canonical();
            let tag = record.declaration().name();
            self.hidden_structs.borrow_mut().insert(tag);
            return Ok(Some(handle(true, loc)));
        }
        let ty = self
            .types
            .convert(aliased)
            .map_err(|error| unsupported_type(name, error, &loc))?;
        // `typedef struct S S` and `typedef struct {..} S` declare nothing beyond the struct.
        match ty.named() == Some(name) {
            true if is_undefined(aliased) => Ok(Some(handle(false, loc))),
            true => Ok(None),
            false => Ok(Some(Item::Alias(Alias { doc: None, ty, loc }))),
        }
    }

    fn function(&self, cursor: Cursor, name: &str, loc: Loc) -> Result<Item, DeclError> {
        let arguments = cursor.arguments();
        let mut signature = self
            .types
            .signature(cursor.ty(), &arguments)
            .map_err(|error| unsupported_type(name, error, &loc))?;
        // The parameters of a callback have their names only in its declaration.
        for (param, argument) in signature.params.iter_mut().zip(&arguments) {
            param.ty = self
                .types
                .declared_type(*argument)
                .map_err(|error| unsupported_type(name, error, &loc))?;
        }
        let symbol = plain_symbol(cursor.symbol(), name);
        let inline = cursor.is_inline();
        Ok(Item::Function(Function {
            doc: None,
            signature,
            exported_by: None,
            instead: None,
            inline,
            symbol,
            loc,
        }))
    }
}

/// Removes the leading underscore of symbols for Apple's targets, which `dlsym` does not expect.
fn plain_symbol(symbol: String, name: &str) -> String {
    if symbol.is_empty() || symbol.strip_prefix('_') == Some(name) {
        name.into()
    } else {
        symbol
    }
}

fn handle(pointer: bool, loc: Loc) -> Item {
    Item::Handle(Handle {
        doc: None,
        pointer,
        rust: None,
        loc,
    })
}

/// Returns true for a struct without definition.
fn is_undefined(ty: Ty) -> bool {
    let ty = ty.canonical();
    ty.kind() == CXType_Record && !ty.declaration().is_defined()
}

/// Returns true for the type in `typedef struct X_st* X` if the struct has no definition. A pointer to a typedef is an
/// alias instead.
fn is_pointer_to_undefined(ty: Ty) -> bool {
    let ty = ty.unelaborated();
    ty.kind() == CXType_Pointer
        && ty.pointee().unelaborated().kind() != CXType_Typedef
        && is_undefined(ty.pointee())
}

/// Returns true for a forward declaration of a struct.
pub fn is_forward(item: &Item) -> bool {
    matches!(item, Item::Handle(Handle { pointer: false, .. }))
}

/// Inserts the first declaration of a name, or its definition after a forward declaration.
fn insert(items: &mut Items, name: String, item: Item) {
    if items.get(&name).is_none_or(|known| completes(&item, known)) {
        items.insert(name, item);
    }
}

/// Returns true if `item` is a definition and `known` a forward declaration.
pub fn completes(item: &Item, known: &Item) -> bool {
    is_forward(known) && !is_forward(item)
}

fn unsupported_type(name: &str, error: Unsupported, loc: &Loc) -> DeclError {
    unsupported(name, &format!("the type `{}`", error.0), loc)
}

fn unsupported(name: &str, what: &str, loc: &Loc) -> DeclError {
    DeclError {
        name: name.into(),
        what: what.into(),
        loc: loc.clone(),
    }
}
