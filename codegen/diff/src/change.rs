//! The values of changes: declarations, signatures and layouts of both sides.

use sp_ir::{Field, Item, Loc, Side, Signature, Struct, c};

use super::finding::{ByteRange, DeclarationText};

/// A declaration on one side.
#[derive(Clone, Copy, Debug)]
pub enum Declaration<'p> {
    /// An item and its name.
    Item(&'p str, &'p Item),
    /// A member of a struct or union.
    Field(&'p Field),
    /// An enumerator: its name, its number and the location of the enumeration.
    Enumerator(&'p str, i64, &'p Loc),
}

impl<'p> Declaration<'p> {
    /// Returns the name.
    pub fn name(&self) -> &'p str {
        match self {
            Self::Item(name, _) | Self::Enumerator(name, ..) => name,
            Self::Field(field) => &field.name,
        }
    }

    /// Returns the declaration in C, on one line, and its location.
    pub fn text(&self) -> DeclarationText {
        let (text, loc) = match self {
            Self::Enumerator(name, value, loc) => (format!("{name} = {value}"), *loc),
            Self::Field(field) => (c::member(&field.name, &field.ty), &field.loc),
            Self::Item(name, item) => (c::item(name, item), item.loc()),
        };
        DeclarationText {
            text,
            loc: loc.clone(),
        }
    }
}

/// OLD's and NEW's value of the same property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldNew<T> {
    /// OLD's value.
    pub old: T,
    /// NEW's value.
    pub new: T,
}

impl<T> OldNew<T> {
    /// Returns the pair of both values.
    pub fn new(old: T, new: T) -> Self {
        Self { old, new }
    }

    /// Applies `convert` to both values.
    pub fn map<U>(self, convert: impl Fn(T) -> U) -> OldNew<U> {
        OldNew::new(convert(self.old), convert(self.new))
    }
}

/// An enumerator whose number an insertion changed.
#[derive(Clone, Debug)]
pub struct ValueChange<'p> {
    /// The enumerator.
    pub name: &'p str,
    /// Its numbers.
    pub value: OldNew<i64>,
}

/// The reasons why a difference has no finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnreportedReason {
    /// One name is an alias of the other.
    Alias,
    /// A macro has the name and the value of an enumerator, or the reverse.
    MacroForEnumerator,
    /// Another header declares the item, which is why another API has it.
    MovedToOtherApi,
    /// The difference follows from another change, which has the finding.
    Consequence,
    /// The version macro is part of the API's version.
    VersionMacro,
    /// Only one side states the fact.
    StatedOnOneSide,
    /// Only the order in the header differs, which no binary depends on.
    Order,
    /// C gives the type no name; the struct that contains it has the finding.
    Anonymous,
}

/// A call whose signature differs between the sides.
#[derive(Clone, Debug)]
pub struct CallChange<'p> {
    /// The signatures.
    pub signature: OldNew<&'p Signature>,
    /// The side that calls.
    pub caller: Side,
    /// The difference: `validate_shape was added as parameter 3`.
    pub description: String,
}

/// The effect of a change on the layout of a struct or union.
#[derive(Clone, Debug)]
pub struct LayoutChange<'p> {
    /// The names of the struct or union.
    pub name: OldNew<&'p str>,
    /// The struct, or `None` for a union.
    pub structure: Option<OldNew<&'p Struct>>,
    /// The size that each side writes into `struct_size`.
    pub written_size: OldNew<Option<u64>>,
    /// `sizeof` on each side.
    pub size: OldNew<u64>,
    /// The members that were added, removed or moved by themselves.
    pub fields: Vec<&'p Field>,
    /// The members that moved as a consequence.
    pub moved: Vec<&'p str>,
    /// The members of both sides, by offset.
    pub rows: Vec<LayoutRow<'p>>,
}

/// A range of bytes of a struct, and the member that each side has there.
#[derive(Clone, Copy, Debug)]
pub struct LayoutRow<'p> {
    /// The offset of the first byte.
    pub offset: u64,
    /// The number of bytes.
    pub size: u64,
    /// OLD's and NEW's member.
    pub member: OldNew<Option<&'p Field>>,
    /// True if both are the same member at the same offset.
    pub same: bool,
}

impl LayoutChange<'_> {
    /// Returns the rows that differ, in the form of a finding.
    pub fn byte_ranges(&self) -> Vec<ByteRange> {
        let name = |field: Option<&Field>| field.map(|field| field.name.clone());
        let rows = self.rows.iter().filter(|row| !row.same);
        let range = |row: &LayoutRow| ByteRange {
            offset: row.offset,
            size: row.size,
            old: name(row.member.old),
            new: name(row.member.new),
        };
        rows.map(range).collect()
    }

    /// Returns the names of the changed members.
    pub fn field_names(&self) -> Vec<&str> {
        let fields = self.fields.iter().map(|field| field.name.as_str());
        fields.collect()
    }
}
