//! Walks the tree and turns each declaration of a wanted header into an item, facts unsaid.
//!
//! C++ puts the declarations under `extern "C"`, so linkage blocks are entered. The first
//! declaration of a name wins, except that a definition beats a forward declaration.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use clang_sys::*;
use miette::Diagnostic;
use sp_ir::{
    Alias, Callback, Enum, Field, Function, Handle, Item, Layout, Loc, Struct, Union, Variant,
};
use thiserror::Error;

use super::cursor::{Cursor, DataFolders, File, Ty};
use super::ty::{Types, Unsupported};
use super::unit::Unit;

use super::Declarations;

/// A declaration is of a kind that the IR has no words for.
#[derive(Debug, Error, Diagnostic)]
#[error("{file}:{line}: `{name}` uses {what}, which sp-gen cannot describe", file = loc.file, line = loc.line)]
#[diagnostic(
    code(sp_gen::clang::unsupported),
    help("leave its header out of the API's notes, or teach the IR this type")
)]
pub struct DeclError {
    name: String,
    what: String,
    loc: Loc,
}

/// The names that anonymous types get from what stands around them.
#[derive(Default)]
pub struct Names(HashMap<DataFolders, String>);

impl Names {
    /// The name of a struct, union or enum, its own or the given one.
    pub fn of(&self, declaration: Cursor) -> Option<String> {
        let given = declaration
            .place()
            .and_then(|place| self.0.get(&place).cloned());
        given.or_else(|| Some(declaration.name()).filter(|name| !name.is_empty()))
    }

    fn give(&mut self, declaration: Cursor, name: String) {
        if let Some(place) = declaration.place() {
            self.0.entry(place).or_insert(name);
        }
    }
}

/// What is wanted of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// All that it declares.
    Items,
    /// All that it declares and the IR can describe.
    Describable,
    /// What is declared there first, and which macros are numbers: the items are the other half's.
    Names,
    /// Nothing.
    Nothing,
}

/// One declaration, macro or use of a macro of a header under the include root.
#[derive(Clone)]
pub struct Node<'u> {
    /// The declaration.
    pub cursor: Cursor<'u>,
    /// Its header.
    pub header: Rc<str>,
    /// The line of its name.
    pub line: u32,
    /// What is wanted of its header.
    pub wanted: Wanted,
    /// What stands directly in a struct, union or enumeration.
    pub inside: Vec<Cursor<'u>>,
}

impl Node<'_> {
    /// Where it is declared.
    pub fn loc(&self) -> Loc {
        Loc {
            file: self.header.to_string(),
            line: self.line,
        }
    }
}

/// The declarations of all headers under the include root, those in linkage blocks included, nested
/// records before their parents.
pub fn nodes<'u>(unit: &'u Unit, wanted: &dyn Fn(&str) -> Wanted) -> Vec<Node<'u>> {
    let mut listing = Listing {
        unit,
        wanted,
        headers: HashMap::new(),
        found: Vec::new(),
    };
    listing.flatten(&unit.cursor().children());
    listing.found
}

struct Listing<'u, 'w> {
    unit: &'u Unit,
    wanted: &'w dyn Fn(&str) -> Wanted,
    headers: HashMap<File, Option<(Rc<str>, Wanted)>>,
    found: Vec<Node<'u>>,
}

impl<'u> Listing<'u, '_> {
    fn flatten(&mut self, cursors: &[Cursor<'u>]) {
        for &cursor in cursors {
            let kind = cursor.kind();
            let is_block = matches!(kind, CXCursor_LinkageSpec | CXCursor_UnexposedDecl);
            let inside = match is_block || is_record(cursor) || kind == CXCursor_EnumDecl {
                true => cursor.children(),
                false => Vec::new(),
            };
            if is_block || is_record(cursor) {
                self.flatten(&inside);
            }
            if !is_block && kind != CXCursor_FieldDecl {
                self.list(cursor, inside);
            }
        }
    }

    fn list(&mut self, cursor: Cursor<'u>, inside: Vec<Cursor<'u>>) {
        let Some(DataFolders { file, line, .. }) = cursor.place() else {
            return;
        };
        let known = self.headers.entry(file).or_insert_with(|| {
            let header = self.unit.header(file)?;
            let wanted = (self.wanted)(&header);
            Some((header, wanted))
        });
        if let Some((header, wanted)) = known.clone() {
            self.found.push(Node {
                cursor,
                header,
                line,
                wanted,
                inside,
            });
        }
    }
}

/// Collects the declarations of the wanted headers.
pub fn collect(unit: &Unit, nodes: &[Node]) -> Result<Declarations, DeclError> {
    let names = name_anonymous(unit, nodes);
    let owned = |cursor: Cursor| {
        let place = cursor.place();
        place.is_some_and(|place| unit.header(place.file).is_some())
    };
    let walk = Walk {
        unit,
        names: &names,
        types: Types::new(&names, &owned),
        passed: RefCell::default(),
        behind: RefCell::default(),
    };
    let mut found = BTreeMap::new();
    for node in nodes.iter().filter(|node| is_declaration(node.cursor)) {
        match node.wanted {
            Wanted::Items => walk.declare(node, &mut found)?,
            Wanted::Describable => walk.declare(node, &mut found).unwrap_or_default(),
            Wanted::Names => walk.pass(node),
            Wanted::Nothing => {}
        }
    }
    let behind = walk.behind.into_inner();
    found.retain(|name, item| !is_forward(item) || !behind.contains(name));
    Ok(Declarations {
        items: found,
        behind,
        ..Default::default()
    })
}

/// Returns true if the cursor is not the preprocessor's.
pub fn is_declaration(cursor: Cursor) -> bool {
    !matches!(
        cursor.kind(),
        CXCursor_MacroDefinition | CXCursor_MacroExpansion | CXCursor_InclusionDirective
    )
}

/// Where a cursor is declared, if in a header under the include root.
fn loc(unit: &Unit, cursor: Cursor) -> Option<Loc> {
    let place = cursor.place()?;
    Some(Loc {
        file: unit.header(place.file)?.to_string(),
        line: place.line,
    })
}

/// A typedef names the anonymous type it stands for; a field names its parent's.
fn name_anonymous(unit: &Unit, nodes: &[Node]) -> Names {
    let mut names = Names::default();
    for Node { cursor, .. } in nodes
        .iter()
        .filter(|node| node.cursor.kind() == CXCursor_TypedefDecl)
    {
        let tagged = tagged(cursor.aliased());
        // In C++ a typedef's name is the type's own for linkage, so ask the text, not the name.
        if let Some(record) = tagged.filter(|tagged| !has_tag(unit, *tagged)) {
            names.give(record, cursor.name());
        }
    }
    // Parents come after what is nested in them, so the outermost is last.
    for Node {
        cursor: parent,
        inside,
        ..
    } in nodes.iter().rev()
    {
        let Some(name) = is_record(*parent).then(|| names.of(*parent)).flatten() else {
            continue;
        };
        for (member, called) in members_of(inside) {
            let record = match is_record(member) {
                true => Some(member),
                false => tagged(member.ty()).filter(|one| is_nameless(unit, *one)),
            };
            if let Some(record) = record {
                names.give(record, format!("{name}__{called}"));
            }
        }
    }
    names
}

/// The struct, union or enumeration that `ty` is, points to, or is an array of.
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

/// Whether neither a tag nor a typedef names it. Older clangs do not tell of the typedef, which then
/// has given its name before.
fn is_nameless(unit: &Unit, declared: Cursor) -> bool {
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

/// As the header has it, which is quicker than tokens; nothing where a macro wrote it.
fn spelled_tag(unit: &Unit, declared: Cursor) -> Option<bool> {
    let start = declared.extent()?.start;
    let text = unit.text(&unit.header(start.file)?);
    let text = text.get(start.offset as usize..)?;
    let keyword = ["struct", "union", "enum"].iter();
    let rest = keyword.filter_map(|word| text.strip_prefix(word)).next()?;
    let next = rest.trim_start();
    match next.chars().next()? {
        '{' | ':' => Some(false),
        one if rest.len() > next.len() && (one.is_alphabetic() || one == '_') => Some(true),
        _ => None,
    }
}

fn is_record(cursor: Cursor) -> bool {
    matches!(cursor.kind(), CXCursor_StructDecl | CXCursor_UnionDecl)
}

/// The members of a record by name, in order. What C leaves nameless is called `anonymous`, the
/// next one `anonymous_2`; the cursor of such a member is its record's.
fn members_of<'u>(inside: &[Cursor<'u>]) -> Vec<(Cursor<'u>, String)> {
    let mut nameless = 0;
    let mut member = |child: Cursor| {
        if child.kind() == CXCursor_FieldDecl {
            return Some(child.name());
        }
        if !is_record(child) || !child.is_nameless_member() {
            return None;
        }
        nameless += 1;
        Some(match nameless {
            1 => "anonymous".into(),
            more => format!("anonymous_{more}"),
        })
    };
    let children = inside.iter();
    children
        .filter_map(|&child| member(child).map(|name| (child, name)))
        .collect()
}

/// The first member with a name, looking into nameless ones.
fn first_named(record: Cursor) -> Option<String> {
    members_of(&record.children())
        .into_iter()
        .find_map(|(member, name)| match is_record(member) {
            true => first_named(member),
            false => Some(name),
        })
}

/// Where a member starts, in bits; negative where clang does not know.
fn offset_of(record: Cursor, member: Cursor) -> i64 {
    match is_record(member) {
        true => first_named(member).map_or(-1, |name| record.ty().offset_of(&name)),
        false => member.field_offset(),
    }
}

struct Walk<'a> {
    unit: &'a Unit,
    names: &'a Names,
    types: Types<'a>,
    /// What was first declared in a header of the other half.
    passed: RefCell<HashSet<String>>,
    /// Structs seen only behind the pointer that is the handle: `SP_Stream_st`.
    behind: RefCell<BTreeSet<String>>,
}

type Items = BTreeMap<String, Item>;

impl Walk<'_> {
    fn declare(&self, node: &Node, items: &mut Items) -> Result<(), DeclError> {
        let (cursor, loc) = (node.cursor, node.loc());
        let Some(name) = self.names.of(cursor) else {
            return Ok(());
        };
        let item = match cursor.kind() {
            CXCursor_StructDecl | CXCursor_UnionDecl => self.record(node, &name, loc)?,
            CXCursor_EnumDecl => Some(self.enumeration(node, &name, loc)?),
            CXCursor_TypedefDecl => self.typedef(cursor, &name, loc)?,
            CXCursor_FunctionDecl => Some(self.function(cursor, &name, loc)?),
            _ => None,
        };
        let is_late = |item: &Item| is_forward(item) && self.passed.borrow().contains(&name);
        if let Some(item) = item.filter(|item| !is_late(item)) {
            keep(items, name, item);
        }
        Ok(())
    }

    fn pass(&self, node: &Node) {
        let may_be_forward = matches!(
            node.cursor.kind(),
            CXCursor_StructDecl | CXCursor_UnionDecl | CXCursor_TypedefDecl
        );
        let name = may_be_forward.then(|| self.names.of(node.cursor));
        self.passed.borrow_mut().extend(name.flatten());
    }

    fn record(&self, node: &Node, name: &str, loc: Loc) -> Result<Option<Item>, DeclError> {
        let cursor = node.cursor;
        if !cursor.is_definition() {
            let opaque = !cursor.is_defined();
            return Ok(opaque.then(|| handle(false, loc)));
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
        members_of(&record.inside)
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
            .declared(cursor)
            .map_err(|error| refuse(&full, error, &loc))?;
        Ok(Field {
            name,
            doc: None,
            ty,
            offset: bits / 8,
            size,
            filled_by: None,
            direction: None,
            presence: None,
            neutral: None,
            section: None,
            loc,
        })
    }

    fn enumeration(&self, node: &Node, name: &str, loc: Loc) -> Result<Item, DeclError> {
        let repr = self
            .types
            .convert(node.cursor.enum_integer())
            .map_err(|error| refuse(name, error, &loc))?;
        let variants = node
            .inside
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
            let signature = signature.map_err(|error| refuse(name, error, &loc))?;
            return Ok(Some(Item::Callback(Callback {
                doc: None,
                signature,
                loc,
            })));
        }
        if hidden_behind_pointer(aliased) {
            let tag = aliased.bare().pointee().canonical().declaration().name();
            self.behind.borrow_mut().insert(tag);
            return Ok(Some(handle(true, loc)));
        }
        let ty = self
            .types
            .convert(aliased)
            .map_err(|error| refuse(name, error, &loc))?;
        // `typedef struct S S` and `typedef struct {..} S` declare nothing beyond the struct.
        match ty.named() == Some(name) {
            true if hidden(aliased) => Ok(Some(handle(false, loc))),
            true => Ok(None),
            false => Ok(Some(Item::Alias(Alias { doc: None, ty, loc }))),
        }
    }

    fn function(&self, cursor: Cursor, name: &str, loc: Loc) -> Result<Item, DeclError> {
        let arguments = cursor.arguments();
        let mut signature = self
            .types
            .signature(cursor.ty(), &arguments)
            .map_err(|error| refuse(name, error, &loc))?;
        // Callbacks among the parameters have names too.
        for (param, argument) in signature.params.iter_mut().zip(&arguments) {
            param.ty = self
                .types
                .declared(*argument)
                .map_err(|error| refuse(name, error, &loc))?;
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

/// Apple's linker names carry an underscore that `dlsym` does not want.
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

fn hidden(ty: Ty) -> bool {
    let ty = ty.canonical();
    ty.kind() == CXType_Record && !ty.declaration().is_defined()
}

/// `typedef struct X_st* X`, where the struct has no definition. Another handle's pointer, by a
/// typedef of it, is an alias instead.
fn hidden_behind_pointer(ty: Ty) -> bool {
    let ty = ty.bare();
    ty.kind() == CXType_Pointer
        && ty.pointee().bare().kind() != CXType_Typedef
        && hidden(ty.pointee())
}

/// Whether all that is known of a struct is that there is one.
pub fn is_forward(item: &Item) -> bool {
    matches!(item, Item::Handle(Handle { pointer: false, .. }))
}

fn keep(items: &mut Items, name: String, item: Item) {
    if items.get(&name).is_none_or(|known| is_better(&item, known)) {
        items.insert(name, item);
    }
}

/// A definition says more than a forward declaration.
pub fn is_better(item: &Item, known: &Item) -> bool {
    is_forward(known) && !is_forward(item)
}

fn refuse(name: &str, error: Unsupported, loc: &Loc) -> DeclError {
    unsupported(name, &format!("the type `{}`", error.0), loc)
}

fn unsupported(name: &str, what: &str, loc: &Loc) -> DeclError {
    DeclError {
        name: name.into(),
        what: what.into(),
        loc: loc.clone(),
    }
}
