//! The kinds of thing a C header declares.

use crate::{
    Direction, Discriminator, Layout, Loc, Presence, Receiver, Side, Signature, Stated, StructSize,
    Type, Writer,
};

/// One declaration.
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

impl Item {
    /// Where it is declared.
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

/// A struct and what its contract says.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Struct {
    /// Our own line about it.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub doc: Option<String>,
    /// Which side fills it.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub filled_by: Option<Stated<Side>>,
    /// How its callbacks find the plugin's object; set on function tables only.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub receiver: Option<Stated<Receiver>>,
    /// The author trait that is generated for it; set on function tables only.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub author_trait: Option<Stated<String>>,
    /// What tells its layouts apart where their sizes do not.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub discriminator: Option<Stated<Discriminator>>,
    /// Its fields in order.
    pub fields: Vec<Field>,
    /// What the C compiler says.
    pub layout: Layout,
    /// What the `struct_size` protocol says.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub struct_size: Option<StructSize>,
    /// Where it is declared.
    pub loc: Loc,
}

impl Struct {
    /// Which side fills a field: as is said of it, else the struct's, or the other where the field's
    /// direction is out.
    pub fn filler(&self, field: &Field) -> Option<Side> {
        if let Some(said) = &field.filled_by {
            return Some(said.value);
        }
        let side = self.filled_by.as_ref()?.value;
        let is_out = field.direction.as_ref().map(|said| said.value) == Some(Direction::Out);
        Some(match (side, is_out) {
            (side, false) => side,
            (Side::Core, true) => Side::Plugin,
            (Side::Plugin, true) => Side::Core,
        })
    }

    /// Returns which party stores the value of `field`, or `None` if nothing states it; both write
    /// `struct_size`, whatever this returns for it. `is_versioned` tells a struct with a `struct_size` from other types.
    pub fn writer(&self, field: &Field, is_versioned: impl Fn(&Type) -> bool) -> Option<Writer> {
        if field.is_reserved() {
            return Some(Writer::Nobody);
        }
        // "output, to be filled by plugin" of a pointer to a struct: core allocates the struct.
        let is_allocated = field.filled_by.is_some()
            && matches!(&field.ty, Type::Pointer { pointee, mutable: true } if is_versioned(pointee));
        if is_allocated {
            return Some(Writer::Core);
        }
        self.filler(field).map(Writer::from)
    }
}

/// One member of a struct or union. Offsets and sizes are in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Field {
    /// The C name.
    pub name: String,
    /// Our own line about it.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub doc: Option<String>,
    /// The C type.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub ty: Type,
    /// Where it starts.
    pub offset: u64,
    /// How long it is.
    pub size: u64,
    /// Which side fills it, where that differs from the struct or is said of it alone.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub filled_by: Option<Stated<Side>>,
    /// Which way it travels.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub direction: Option<Stated<Direction>>,
    /// Whether it may be left empty.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub presence: Option<Stated<Presence>>,
    /// For a callback with no status to carry an error: the Rust expression it returns after a
    /// panic.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub neutral: Option<Stated<String>>,
    /// The section banner above it.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub section: Option<String>,
    /// Where it is declared.
    pub loc: Loc,
}

impl Field {
    /// Returns true if the header keeps this extension pointer for later releases: it has to stay
    /// null, since its comment names no party that sets it.
    pub fn is_reserved(&self) -> bool {
        let is_optional = self.presence.as_ref().map(|it| it.value) == Some(Presence::Optional);
        self.name == "ext" && is_optional && self.filled_by.is_none()
    }
}

/// A union.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Union {
    /// Our own line about it.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub doc: Option<String>,
    /// What tells its layouts apart where their sizes do not.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub discriminator: Option<Stated<Discriminator>>,
    /// Its members.
    pub fields: Vec<Field>,
    /// What the C compiler says.
    pub layout: Layout,
    /// Where it is declared.
    pub loc: Loc,
}

/// An enumeration. It is open: a newer host may send values that are not listed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Enum {
    /// Our own line about it.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub doc: Option<String>,
    /// The integer that carries it.
    pub repr: Type,
    /// Its values in order; two names may share one value.
    pub variants: Vec<Variant>,
    /// Where it is declared.
    pub loc: Loc,
}

/// One named value of an enumeration.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Variant {
    /// The C name.
    pub name: String,
    /// The value.
    pub value: i64,
}

/// A type whose inside is hidden.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Handle {
    /// Our own line about it.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub doc: Option<String>,
    /// Whether the name is itself a pointer (`typedef struct SP_Stream_st* SP_Stream`) or the
    /// hidden struct behind one (`typedef struct TF_Tensor TF_Tensor`).
    pub pointer: bool,
    /// The Rust type that sp-runtime already has for it, where it has one.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub rust: Option<String>,
    /// Where it is declared.
    pub loc: Loc,
}

/// Another name for a type.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Alias {
    /// Our own line about it.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub doc: Option<String>,
    /// The type it names.
    #[cfg_attr(feature = "serde", serde(rename = "type"))]
    pub ty: Type,
    /// Where it is declared.
    pub loc: Loc,
}

/// A typedef of a function pointer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Callback {
    /// Our own line about it.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub doc: Option<String>,
    /// What a call passes and returns.
    pub signature: Signature,
    /// Where it is declared.
    pub loc: Loc,
}

/// A function.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Function {
    /// Our own line about it.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub doc: Option<String>,
    /// What a call passes and returns.
    pub signature: Signature,
    /// Which side defines it: the plugin's entry points are the plugin's, all else is core's.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub exported_by: Option<Stated<Side>>,
    /// What does the same where no library exports it.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub instead: Option<Stated<String>>,
    /// Whether the header holds its body.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "std::ops::Not::not")
    )]
    pub inline: bool,
    /// The symbol a library exports for it.
    pub symbol: String,
    /// Where it is declared.
    pub loc: Loc,
}

/// A macro or constant with a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Constant {
    /// Our own line about it.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub doc: Option<String>,
    /// What it stands for.
    pub value: Value,
    /// Where it is declared.
    pub loc: Loc,
}

/// What a constant stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Value {
    /// A number.
    Int(i64),
    /// A string.
    Text(String),
    /// Another name, such as `TSL_OK`.
    Name(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Evidence;

    fn stated<T>(value: T) -> Option<Stated<T>> {
        let evidence = Evidence::Prefix;
        Some(Stated {
            value,
            evidence,
            comment: None,
        })
    }

    fn field(name: &str, ty: Type) -> Field {
        Field {
            name: name.into(),
            doc: None,
            ty,
            offset: 0,
            size: 8,
            filled_by: None,
            direction: None,
            presence: None,
            neutral: None,
            section: None,
            loc: loc(),
        }
    }

    fn loc() -> Loc {
        Loc {
            file: "demo.h".into(),
            line: 1,
        }
    }

    fn writer(filled_by: Option<Side>, field: Field) -> Option<Writer> {
        let item = Struct {
            doc: None,
            filled_by: filled_by.and_then(stated),
            receiver: None,
            author_trait: None,
            discriminator: None,
            fields: vec![field],
            layout: Layout { size: 8, align: 8 },
            struct_size: None,
            loc: loc(),
        };
        item.writer(&item.fields[0], |ty| *ty == Type::Named("SP_Table".into()))
    }

    fn pointer(pointee: Type) -> Type {
        Type::Pointer {
            pointee: Box::new(pointee),
            mutable: true,
        }
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
    fn pointer_to_struct_that_the_plugin_fills_is_written_by_core() {
        let filled = |pointee| {
            let mut table = field("table", pointer(pointee));
            table.filled_by = stated(Side::Plugin);
            table.direction = stated(Direction::Out);
            writer(Some(Side::Core), table)
        };
        assert_eq!(filled(Type::Named("SP_Table".into())), Some(Writer::Core));
        assert_eq!(filled(Type::Char), Some(Writer::Plugin));
    }

    #[test]
    fn reserved_ext_is_written_by_nobody_and_free_form_ext_by_its_filler() {
        let mut ext = field("ext", pointer(Type::Void));
        ext.presence = stated(Presence::Optional);
        assert_eq!(
            writer(Some(Side::Plugin), ext.clone()),
            Some(Writer::Nobody)
        );
        ext.filled_by = stated(Side::Plugin);
        assert_eq!(writer(Some(Side::Core), ext), Some(Writer::Plugin));
    }
}
