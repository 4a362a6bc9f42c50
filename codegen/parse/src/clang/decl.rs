//! Converts each declaration of a selected header to an item without contract facts.
//!
//! The first declaration of a name is used, except that a definition replaces a forward declaration.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use clang_sys::*;
use miette::Diagnostic;
use sp_ir::{
    Alias, Callback, Enum, Field, Function, Handle, Item, Layout, Loc, Struct, Union, Variant,
    Visibility,
};
use thiserror::Error;

use super::Declarations;
use super::bit_field::BitField;
use super::cursor::{Cursor, Ty};
use super::names::{Names, name_anonymous, named_members};
use super::node::{Node, Selection, is_declaration, is_record};
use super::ty::{Types, Unsupported};
use super::unit::Unit;

/// The IR cannot describe a declaration.
#[derive(Debug, Error, Diagnostic)]
#[error("{file}:{line}: `{name}` uses {what}, which sp-gen cannot describe", file = loc.file, line = loc.line)]
#[diagnostic(
    code(sp_gen::clang::unsupported),
    help("remove its header from the API's notes, or add this type to the IR")
)]
pub struct DeclError {
    /// The declaration, with the member that the error is about: `S.flags`.
    pub name: String,
    /// The construct that the IR cannot describe, such as `a bit-field`.
    pub what: String,
    /// The position of the declaration.
    pub loc: Loc,
}

/// A declaration that the IR cannot describe.
#[derive(Debug)]
pub struct Undescribed {
    /// The declared name.
    pub name: String,
    /// The reason.
    pub reason: UndescribedReason,
    /// The position.
    pub loc: Loc,
    /// The size and alignment of a struct or union.
    pub layout: Option<Layout>,
    /// True for a function.
    pub is_function: bool,
}

/// The reason why a declaration is no item.
#[derive(Debug)]
pub enum UndescribedReason {
    /// The IR cannot describe it.
    Unsupported(DeclError),
    /// A function with `...`.
    Variadic,
}

/// Converts the declarations of the selected headers.
/// `is_owned` returns true for a header whose typedefs stay names; those of other headers are resolved.
///
/// # Errors
/// Returns an error if the IR cannot describe a declaration.
pub fn collect(
    unit: &Unit,
    nodes: &[Node],
    is_owned: &dyn Fn(&str) -> bool,
) -> Result<Declarations, DeclError> {
    let names = name_anonymous(unit, nodes);
    let owned = |cursor: Cursor| is_declared_in(unit, cursor, is_owned);
    let converter = Converter {
        unit,
        names: &names,
        types: Types::new(&names, &owned, unit.is_driver()),
        hidden_structs: RefCell::default(),
        bit_fields: RefCell::default(),
        visibility: RefCell::default(),
    };
    let mut items = BTreeMap::new();
    let mut functions = BTreeMap::new();
    let mut undescribed = Vec::new();
    for node in nodes.iter().filter(|node| is_declaration(node.cursor)) {
        match node.selection {
            Selection::All => converter.declare(node, &mut items)?,
            Selection::TypesOnly if !is_type(node.cursor) => {}
            Selection::Describable if unit.is_driver() && is_function(node.cursor) => {
                undescribed.extend(converter.declare_describable(node, &mut functions));
            }
            Selection::WithoutFunctions if is_function(node.cursor) => {}
            Selection::Describable | Selection::TypesOnly | Selection::WithoutFunctions => {
                undescribed.extend(converter.declare_describable(node, &mut items));
            }
            Selection::Nothing => {}
        }
    }
    let hidden_structs = converter.hidden_structs.into_inner();
    items.retain(|name, item| !is_forward(item) || !hidden_structs.contains(name));
    Ok(Declarations {
        items,
        functions,
        bit_fields: converter.bit_fields.into_inner(),
        hidden_structs,
        visibility: converter.visibility.into_inner(),
        undescribed,
        ..Default::default()
    })
}

/// Returns true for a declaration in a header that `is_owned` accepts.
pub fn is_declared_in(unit: &Unit, cursor: Cursor, is_owned: &dyn Fn(&str) -> bool) -> bool {
    let position = cursor.position();
    let header = position.and_then(|position| unit.header(position.file));
    header.is_some_and(|header| is_owned(&header))
}

/// Returns the location of a declaration, or `None` if it is not in a header under the include root.
fn loc(unit: &Unit, cursor: Cursor) -> Option<Loc> {
    let position = cursor.position()?;
    Some(Loc::new(&*unit.header(position.file)?, position.line))
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
    /// Structs without definition that only a typedef of a pointer refers to: `SP_Stream_st`.
    hidden_structs: RefCell<BTreeSet<String>>,
    bit_fields: RefCell<BTreeMap<String, Vec<BitField>>>,
    /// The visibility of the functions, by the first declaration.
    visibility: RefCell<BTreeMap<String, Visibility>>,
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
        if let Some(item) = item {
            insert(items, name, item);
        }
        Ok(())
    }

    /// Declares an item, or returns the reason why it is none.
    fn declare_describable(&self, node: &Node, items: &mut Items) -> Option<Undescribed> {
        let cursor = node.cursor;
        let name = self.names.get(cursor)?;
        let is_function = is_function(cursor);
        let reason = match is_function && cursor.ty().is_variadic() {
            true => UndescribedReason::Variadic,
            false => UndescribedReason::Unsupported(self.declare(node, items).err()?),
        };
        let loc = node.loc();
        let layout = is_record(cursor)
            .then(|| self.layout(cursor.ty(), &name, &loc).ok())
            .flatten();
        Some(Undescribed {
            name,
            reason,
            loc,
            layout,
            is_function,
        })
    }

    fn record(&self, node: &Node, name: &str, loc: Loc) -> Result<Option<Item>, DeclError> {
        let cursor = node.cursor;
        if !cursor.is_definition() {
            let is_opaque = !cursor.is_defined();
            return Ok(is_opaque.then(|| Item::Handle(Handle::new(false, loc))));
        }
        let fields = self.fields(node, name)?;
        let bit_fields = self.bit_fields(node, name)?;
        let layout = self.layout(cursor.ty(), name, &loc)?;
        if !bit_fields.is_empty() {
            let mut all = self.bit_fields.borrow_mut();
            all.entry(name.to_owned()).or_insert(bit_fields);
        }
        Ok(Some(match cursor.kind() {
            CXCursor_UnionDecl => Item::Union(Union {
                doc: None,
                discriminator: None,
                fields,
                layout,
                loc,
            }),
            _ => Item::Struct(Struct::new(fields, layout, loc)),
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
            .filter(|(member, _)| !self.unit.is_driver() || !member.is_bit_field())
            .map(|(member, name)| self.field(record.cursor, member, name, parent))
            .collect()
    }

    /// Returns the bit-fields of a driver's record. Those of TensorFlow's headers are errors.
    fn bit_fields(&self, record: &Node, parent: &str) -> Result<Vec<BitField>, DeclError> {
        let members = record.children.iter().filter(|it| it.is_bit_field());
        let bit_fields = members.map(|member| {
            let full = || format!("{parent}.{}", member.name());
            let converted = BitField::new(*member, &self.types);
            converted.map_err(|error| unsupported_type(&full(), error, &record.loc()))
        });
        let found: Result<Vec<_>, _> = bit_fields.collect();
        Ok(found?.into_iter().flatten().collect())
    }

    fn field(
        &self,
        record: Cursor,
        cursor: Cursor,
        name: String,
        parent: &str,
    ) -> Result<Field, DeclError> {
        let loc = loc(self.unit, cursor).unwrap_or(Loc::new("", 0));
        let full = format!("{parent}.{name}");
        if cursor.is_bit_field() {
            return Err(unsupported(&full, "a bit-field", &loc));
        }
        let is_flexible = cursor.ty().canonical().kind() == CXType_IncompleteArray;
        let size = if is_flexible { 0 } else { cursor.ty().size() };
        let (Ok(bits), Ok(size)) = (
            u64::try_from(offset_of(record, cursor)),
            u64::try_from(size),
        ) else {
            return Err(unsupported(&full, "a field with no layout", &loc));
        };
        let ty = match is_flexible {
            true => self.types.flexible_array(cursor.ty()),
            false => self.types.declared_type(cursor),
        };
        let ty = ty.map_err(|error| unsupported_type(&full, error, &loc))?;
        Ok(Field::new(name, ty, bits / 8, size, loc))
    }

    fn enumeration(&self, node: &Node, name: &str, loc: Loc) -> Result<Item, DeclError> {
        let repr = self.types.convert(node.cursor.enum_integer());
        let repr = repr.map_err(|error| unsupported_type(name, error, &loc))?;
        let variants = node
            .enumerators()
            .map(|(name, value)| Variant { name, value })
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
            return Ok(Some(Item::Callback(Callback::new(signature, loc))));
        }
        if is_pointer_to_undefined(aliased) {
            let record = aliased.unelaborated().pointee().canonical();
            let tag = self.names.get(record.declaration());
            self.hidden_structs.borrow_mut().extend(tag);
            return Ok(Some(Item::Handle(Handle::new(true, loc))));
        }
        let ty = self.types.convert(aliased);
        let ty = ty.map_err(|error| unsupported_type(name, error, &loc))?;
        // `typedef struct S S` and `typedef struct {..} S` declare nothing beyond the struct.
        match ty.named() == Some(name) {
            true if is_undefined(aliased) => Ok(Some(Item::Handle(Handle::new(false, loc)))),
            true => Ok(None),
            false => Ok(Some(Item::Alias(Alias::new(ty, loc)))),
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
                .declared_parameter(*argument)
                .map_err(|error| unsupported_type(name, error, &loc))?;
        }
        let symbol = plain_symbol(cursor.symbol(), name);
        let inline = cursor.is_inline() || cursor.is_static();
        let mut visibility = self.visibility.borrow_mut();
        visibility
            .entry(name.into())
            .or_insert_with(|| cursor.visibility());
        Ok(Item::Function(Function {
            inline,
            ..Function::new(signature, symbol, loc)
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

fn is_function(cursor: Cursor) -> bool {
    cursor.kind() == CXCursor_FunctionDecl
}

/// Returns true for a struct, union or enumeration.
fn is_type(cursor: Cursor) -> bool {
    is_record(cursor) || cursor.kind() == CXCursor_EnumDecl
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
