//! The declarations of a C header, by kind.

use crate::{
    Direction, Discriminator, Layout, Loc, Presence, Receiver, Side, Signature, Stated, StructSize,
    Type, Writer,
};

/// A declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "kind", rename_all = "lowercase"))]
pub enum Item {
    /// A struct with fields.
    Struct(Struct),
    /// A union.
    Union(Union),
    /// An enumeration.
    Enum(Enum),
    /// An opaque type.
    Handle(Handle),
    /// Another name for a type.
    Alias(Alias),
    /// A typedef of a function pointer.
    Callback(Callback),
    /// A function.
    Function(Function),
    /// A macro or constant with a value.
    Constant(Constant),
}

/// Defines a method of [`Item`] for each kind, which returns the item if it is of that kind.
macro_rules! kinds {
    ($($method:ident: $kind:ident, $article:literal;)*) => {
        impl Item {
            $(
                #[doc = concat!("Returns the item if it is ", $article, ", or `None`.")]
                pub fn $method(&self) -> Option<&$kind> {
                    match self {
                        Self::$kind(item) => Some(item),
                        _ => None,
                    }
                }
            )*
        }
    };
}

kinds! {
    as_struct: Struct, "a struct";
    as_union: Union, "a union";
    as_enum: Enum, "an enumeration";
    as_handle: Handle, "an opaque type";
    as_alias: Alias, "another name for a type";
    as_callback: Callback, "a typedef of a function pointer";
    as_function: Function, "a function";
    as_constant: Constant, "a macro or constant";
}

impl Item {
    /// Returns the members of a struct or union, or `None` for another item.
    pub fn fields(&self) -> Option<&[Field]> {
        match self {
            Item::Struct(item) => Some(&item.fields),
            Item::Union(item) => Some(&item.fields),
            _ => None,
        }
    }

    /// Returns size and alignment of a struct or union, or `None` for another item.
    pub fn layout(&self) -> Option<Layout> {
        match self {
            Item::Struct(item) => Some(item.layout),
            Item::Union(item) => Some(item.layout),
            _ => None,
        }
    }

    /// Returns the position of the declaration.
    pub fn loc(&self) -> &Loc {
        match self {
            Item::Struct(item) => &item.loc,
            Item::Union(item) => &item.loc,
            Item::Enum(item) => &item.loc,
            Item::Handle(item) => &item.loc,
            Item::Alias(item) => &item.loc,
            Item::Callback(item) => &item.loc,
            Item::Function(item) => &item.loc,
            Item::Constant(item) => &item.loc,
        }
    }
}

/// A struct and the facts of its contract.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Struct {
    /// Our own description of it, from the notes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub doc: Option<String>,
    /// The side that fills it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub filled_by: Option<Stated<Side>>,
    /// The field in which its callbacks find the plugin's object; for function tables only.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub receiver: Option<Stated<Receiver>>,
    /// The author trait that is generated for it; for function tables only.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub author_trait: Option<Stated<String>>,
    /// The property that distinguishes its layouts of the same size.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub discriminator: Option<Stated<Discriminator>>,
    /// Its fields in order.
    pub fields: Vec<Field>,
    /// Its size and alignment in C.
    pub layout: Layout,
    /// Its size in the `struct_size` protocol, if it takes part in that.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub struct_size: Option<StructSize>,
    /// The position of the declaration.
    pub loc: Loc,
}

impl Struct {
    /// Returns a struct without facts and without a `struct_size`.
    pub fn new(fields: Vec<Field>, layout: Layout, loc: Loc) -> Self {
        Self {
            doc: None,
            filled_by: None,
            receiver: None,
            author_trait: None,
            discriminator: None,
            fields,
            layout,
            struct_size: None,
            loc,
        }
    }

    /// Returns true if the first field is the struct's `struct_size`. A struct that begins with a base struct has
    /// the `struct_size` of that base.
    pub fn is_versioned(&self) -> bool {
        let first = self.fields.first();
        self.struct_size.is_some() && first.is_some_and(|field| field.name == "struct_size")
    }

    /// Returns the side that fills `field`, or `None` if no fact states it.
    ///
    /// A fact about the field takes precedence. Otherwise the side that fills the struct fills the field,
    /// unless the field's direction is out; then the other side does.
    pub fn filler(&self, field: &Field) -> Option<Side> {
        if let Some(stated) = &field.filled_by {
            return Some(stated.value);
        }
        let side = self.filled_by.as_ref()?.value;
        let is_out = field.direction.as_ref().map(|stated| stated.value) == Some(Direction::Out);
        Some(match (side, is_out) {
            (side, false) => side,
            (Side::Core, true) => Side::Plugin,
            (Side::Plugin, true) => Side::Core,
        })
    }

    /// Returns the party that stores the value of `field`, or `None` if no fact states it. `is_versioned`
    /// returns true for structs with a `struct_size`.
    ///
    /// The result for the field `struct_size` has no meaning: both parties write it.
    pub fn writer(&self, field: &Field, is_versioned: impl Fn(&Type) -> bool) -> Option<Writer> {
        if field.is_reserved() {
            return Some(Writer::Reserved);
        }
        // "output, to be filled by plugin" at a pointer to a struct means that core allocates the struct.
        let is_allocated = field.filled_by.is_some()
            && matches!(&field.ty, Type::Pointer { pointee, mutable: true } if is_versioned(pointee));
        if is_allocated {
            return Some(Writer::Core);
        }
        self.filler(field).map(Writer::from)
    }
}

/// A member of a struct or union. Offsets and sizes are in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Field {
    /// The C name.
    pub name: String,
    /// Our own description of it, from the notes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub doc: Option<String>,
    /// The C type.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub ty: Type,
    /// Offset of its first byte.
    pub offset: u64,
    /// Size of its type.
    pub size: u64,
    /// The side that fills it, if a fact states that of this field.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub filled_by: Option<Stated<Side>>,
    /// The direction of the value.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub direction: Option<Stated<Direction>>,
    /// The presence of the field: an optional field may be null.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub presence: Option<Stated<Presence>>,
    /// The default return value of a callback without a status, after a panic: a Rust expression. Up to schema 3
    /// the key was `neutral`.
    #[cfg_attr(
        feature = "serde",
        serde(default, alias = "neutral", skip_serializing_if = "Option::is_none")
    )]
    pub default_return: Option<Stated<String>>,
    /// The section banner above it.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub section: Option<String>,
    /// The position of the declaration.
    pub loc: Loc,
}

impl Field {
    /// Returns a field without facts.
    pub fn new(name: impl Into<String>, ty: Type, offset: u64, size: u64, loc: Loc) -> Self {
        Self {
            name: name.into(),
            doc: None,
            ty,
            offset,
            size,
            filled_by: None,
            direction: None,
            presence: None,
            default_return: None,
            section: None,
            loc,
        }
    }

    /// Returns true if the header reserves this extension pointer for later releases. Such a pointer stays
    /// null, since no comment names a party that sets it.
    pub fn is_reserved(&self) -> bool {
        self.name == "ext" && self.is_optional() && self.filled_by.is_none()
    }

    /// Returns true if the field may be null.
    pub fn is_optional(&self) -> bool {
        self.presence.as_ref().map(|it| it.value) == Some(Presence::Optional)
    }
}

/// A union.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Union {
    /// Our own description of it, from the notes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub doc: Option<String>,
    /// The property that distinguishes its layouts of the same size.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub discriminator: Option<Stated<Discriminator>>,
    /// Its members.
    pub fields: Vec<Field>,
    /// Its size and alignment in C.
    pub layout: Layout,
    /// The position of the declaration.
    pub loc: Loc,
}

/// An enumeration. It is open: a newer host may send values that are not listed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Enum {
    /// Our own description of it, from the notes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub doc: Option<String>,
    /// The integer that carries it.
    pub repr: Type,
    /// Its values in order; two names may share one value.
    pub variants: Vec<Variant>,
    /// The position of the declaration.
    pub loc: Loc,
}

/// An enumerator of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Variant {
    /// The C name.
    pub name: String,
    /// The value.
    pub value: i64,
}

/// An opaque type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Handle {
    /// Our own description of it, from the notes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub doc: Option<String>,
    /// True if the name is a pointer (`typedef struct SP_Stream_st* SP_Stream`), false if it is the opaque
    /// struct (`typedef struct TF_Tensor TF_Tensor`).
    pub pointer: bool,
    /// The Rust type of sp-runtime to use for it, if there is one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub rust: Option<String>,
    /// The position of the declaration.
    pub loc: Loc,
}

impl Handle {
    /// Returns an opaque type without a Rust type of sp-runtime.
    pub fn new(pointer: bool, loc: Loc) -> Self {
        Self {
            doc: None,
            pointer,
            rust: None,
            loc,
        }
    }
}

/// Another name for a type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Alias {
    /// Our own description of it, from the notes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub doc: Option<String>,
    /// The type it names.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub ty: Type,
    /// The position of the declaration.
    pub loc: Loc,
}

impl Alias {
    /// Returns another name for `ty`.
    pub fn new(ty: Type, loc: Loc) -> Self {
        let doc = None;
        Self { doc, ty, loc }
    }
}

/// A typedef of a function pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Callback {
    /// Our own description of it, from the notes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub doc: Option<String>,
    /// The parameters and return type.
    pub signature: Signature,
    /// The position of the declaration.
    pub loc: Loc,
}

impl Callback {
    /// Returns a typedef of a pointer to a function with `signature`.
    pub fn new(signature: Signature, loc: Loc) -> Self {
        Self {
            doc: None,
            signature,
            loc,
        }
    }
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Function {
    /// Our own description of it, from the notes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub doc: Option<String>,
    /// The parameters and return type.
    pub signature: Signature,
    /// The side that defines the function: the plugin for its entry points, core for all others.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub exported_by: Option<Stated<Side>>,
    /// The function to use if no library exports this one.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub instead: Option<Stated<String>>,
    /// True if the header contains the function's body.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "std::ops::Not::not")
    )]
    pub inline: bool,
    /// The symbol that a library exports for the function.
    pub symbol: String,
    /// The position of the declaration.
    pub loc: Loc,
}

impl Function {
    /// Returns a function without facts and without a body in the header.
    pub fn new(signature: Signature, symbol: impl Into<String>, loc: Loc) -> Self {
        Self {
            doc: None,
            signature,
            exported_by: None,
            instead: None,
            inline: false,
            symbol: symbol.into(),
            loc,
        }
    }

    /// Returns true if core defines the function in a library: it is neither inline nor defined by plugins.
    pub fn is_exported_by_core(&self) -> bool {
        let side = self.exported_by.as_ref().map(|side| side.value);
        !self.inline && side != Some(Side::Plugin)
    }
}

/// A macro or constant with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Constant {
    /// Our own description of it, from the notes.
    #[cfg_attr(feature = "serde", serde(skip_serializing_if = "Option::is_none"))]
    pub doc: Option<String>,
    /// The value.
    pub value: Value,
    /// The position of the declaration.
    pub loc: Loc,
}

impl Constant {
    /// Returns a constant with `value`.
    pub fn new(value: Value, loc: Loc) -> Self {
        let doc = None;
        Self { doc, value, loc }
    }
}

/// The value of a constant.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Value {
    /// A number.
    Int(i64),
    /// A string.
    Text(String),
    /// The name of another constant, such as `TSL_OK`.
    Name(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Evidence;

    fn stated<T>(value: T) -> Option<Stated<T>> {
        Some(Stated::new(value, Evidence::Prefix))
    }

    fn field(name: &str, ty: Type) -> Field {
        Field::new(name, ty, 0, 8, Loc::new("demo.h", 1))
    }

    fn writer(filled_by: Option<Side>, field: Field) -> Option<Writer> {
        let layout = Layout { size: 8, align: 8 };
        let mut item = Struct::new(vec![field], layout, Loc::new("demo.h", 1));
        item.filled_by = filled_by.and_then(stated);
        item.writer(&item.fields[0], |ty| *ty == Type::Named("SP_Table".into()))
    }

    #[test]
    fn writer_follows_struct_and_direction() {
        let ordinal = || field("ordinal", Type::Size);
        assert_eq!(writer(Some(Side::Core), ordinal()), Some(Writer::Core));
        assert_eq!(writer(Some(Side::Plugin), ordinal()), Some(Writer::Plugin));
        assert_eq!(writer(None, ordinal()), None);
        let mut out = ordinal();
        out.direction = stated(Direction::Out);
        assert_eq!(writer(Some(Side::Core), out), Some(Writer::Plugin));
    }

    #[test]
    fn core_writes_pointer_to_plugin_filled_struct() {
        let filled = |pointee| {
            let mut table = field("table", Type::pointer(pointee, true));
            table.filled_by = stated(Side::Plugin);
            table.direction = stated(Direction::Out);
            writer(Some(Side::Core), table)
        };
        assert_eq!(filled(Type::Named("SP_Table".into())), Some(Writer::Core));
        assert_eq!(filled(Type::Char), Some(Writer::Plugin));
    }

    #[test]
    fn reserved_ext_has_no_writer() {
        let mut ext = field("ext", Type::pointer(Type::Void, true));
        ext.presence = stated(Presence::Optional);
        let expected = Some(Writer::Reserved);
        assert_eq!(writer(Some(Side::Plugin), ext.clone()), expected);
        ext.filled_by = stated(Side::Plugin);
        assert_eq!(writer(Some(Side::Core), ext), Some(Writer::Plugin));
    }
}
