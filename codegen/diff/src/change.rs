//! Differences between two surfaces. A change is one cause: an insertion is one change, however many
//! members it moves.

use sp_ir::{
    Direction, Field, Item, Loc, Presence, Scope, Side, Signature, Struct, StructSize, Transfer,
    Type,
};

use super::finding::{Bump, ByteRange};
use super::similarity::Similarity;

/// One difference.
#[derive(Clone, Debug)]
pub struct Change<'p> {
    /// The API that the item belongs to.
    pub api: &'p str,
    /// The changed item: `SP_StreamExecutor.mem_zero`, `TF_AssignVariable`, `TF_Code.TF_OK`.
    pub item: String,
    /// The kind of the change.
    pub kind: ChangeKind<'p>,
    /// OLD's declaration.
    pub old: Option<Declaration<'p>>,
    /// NEW's declaration.
    pub new: Option<Declaration<'p>>,
}

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

/// OLD's and NEW's value of the same property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldNew<T> {
    /// OLD's value.
    pub old: T,
    /// NEW's value.
    pub new: T,
}

impl<T> OldNew<T> {
    /// Applies `convert` to both values.
    pub fn map<U>(self, convert: impl Fn(T) -> U) -> OldNew<U> {
        OldNew {
            old: convert(self.old),
            new: convert(self.new),
        }
    }
}

/// The kinds of changes.
#[derive(Clone, Debug)]
pub enum ChangeKind<'p> {
    /// An API was added.
    ApiAdded,
    /// An API was removed.
    ApiRemoved,
    /// The version macros, compared with the bump that all other findings of the API require.
    Version {
        /// The values of the version macros.
        versions: OldNew<Option<&'p str>>,
        /// The largest bump of the other findings.
        required: Bump,
    },
    /// A type was added.
    TypeAdded,
    /// A type was removed.
    TypeRemoved,
    /// A type was renamed, and no alias declares that.
    TypeRenamed,
    /// A name is another kind of declaration.
    KindChanged(Similarity),
    /// A typedef names another type.
    AliasRetyped(Similarity),
    /// An opaque type became a pointer to one, or the reverse.
    HandleRetyped,
    /// A macro or constant was added.
    ConstAdded,
    /// A macro or constant was removed.
    ConstRemoved,
    /// The value of a macro or constant changed.
    ConstChanged,
    /// A function was added.
    FunctionAdded,
    /// A function was removed.
    FunctionRemoved,
    /// The body of a function was moved into the header.
    FunctionInlined,
    /// The body of a function was removed from the header.
    FunctionOutlined,
    /// The other side defines a function.
    ExporterChanged(OldNew<Side>),
    /// The symbol of a function changed.
    SymbolRenamed(OldNew<&'p str>),
    /// Only libraries that did not export a function before export it.
    SymbolMoved(OldNew<String>),
    /// The set of libraries that export a function changed; at least one still exports it.
    SymbolShared(OldNew<String>),
    /// No library exports a declared function any longer. Has the libraries that did.
    SymbolDropped(String),
    /// Libraries export a function that none exported before. Has these libraries.
    SymbolExported(String),
    /// A parameter was added.
    ParameterAdded(CallChange<'p>),
    /// A parameter was removed.
    ParameterRemoved(CallChange<'p>),
    /// The parameters were reordered.
    ParameterMoved(CallChange<'p>),
    /// The type of a parameter changed.
    ParameterRetyped(CallChange<'p>),
    /// A parameter was renamed.
    ParameterRenamed(OldNew<&'p str>),
    /// The return type changed.
    ReturnRetyped(CallChange<'p>),
    /// The signature of a function pointer or callback changed.
    CallbackSignature(CallChange<'p>),
    /// Only the constness of a type changed.
    ConstnessChanged(OldNew<&'p Type>),
    /// The spelling of a type changed, and its bytes are the same.
    TypeRespelled(OldNew<&'p Type>),
    /// Members were added that move others, or overlap others of OLD.
    FieldInserted(LayoutChange<'p>),
    /// Members were appended, and the size macro covers them.
    FieldAppended(LayoutChange<'p>),
    /// Members were appended, the size macro covers them, and the host requires them.
    RequiredAppended(LayoutChange<'p>),
    /// Members were appended, and the size macro does not cover them.
    SizeOutdated(LayoutChange<'p>),
    /// Members were added in padding.
    PaddingFilled(LayoutChange<'p>),
    /// Members were appended to a struct without a size field.
    UnsizedGrown(LayoutChange<'p>),
    /// Members were appended to a struct that is used by value.
    EmbeddedGrown(LayoutChange<'p>),
    /// Members were removed.
    FieldRemoved(LayoutChange<'p>),
    /// A member was replaced by another at the same offset.
    FieldReplaced(LayoutChange<'p>),
    /// Members have other offsets.
    FieldMoved(LayoutChange<'p>),
    /// A member was renamed.
    FieldRenamed,
    /// The type of a member changed.
    FieldRetyped(LayoutChange<'p>, Similarity),
    /// Members moved into or out of an embedded struct and kept their offsets.
    FieldsGrouped(Vec<String>),
    /// A member was added to a union.
    UnionMemberAdded(LayoutChange<'p>),
    /// A member was removed from a union.
    UnionMemberRemoved(LayoutChange<'p>),
    /// The size macro covers fewer members.
    SizeShrunk(OldNew<&'p StructSize>, LayoutChange<'p>),
    /// The size macro covers members that existed before.
    SizeCorrected(OldNew<&'p StructSize>, LayoutChange<'p>),
    /// A size macro was added.
    SizeAdded(&'p StructSize),
    /// The size macro was removed.
    SizeDropped(&'p StructSize),
    /// The size macro was renamed.
    SizeRenamed(OldNew<&'p StructSize>),
    /// `sizeof` changed, and no member explains it.
    StructResized(LayoutChange<'p>),
    /// `alignof` changed, and no member explains it.
    StructRealigned(OldNew<u64>),
    /// The other side sets a struct or member.
    FillerChanged(OldNew<Side>),
    /// The direction of a parameter changed.
    DirectionChanged(OldNew<Direction>),
    /// An optional member became required. Has the side that sets it.
    PresenceTightened(OldNew<Presence>, Side),
    /// A required member became optional. Has the side that sets it.
    PresenceRelaxed(OldNew<Presence>, Side),
    /// The ownership transfer changed. Has the side that passes the value.
    TransferChanged(OldNew<Transfer>, Side),
    /// The callee stores a value for a longer or shorter time. Has the side that passes the value.
    ScopeChanged(OldNew<Scope>, Side),
    /// Callbacks get the plugin's object in another way.
    ReceiverChanged,
    /// A comment states another contract, or none, and no other fact contradicts it.
    CommentChanged,
    /// The default return value after a panic changed.
    DefaultReturnChanged,
    /// An enumerator was added.
    VariantAdded(i64),
    /// An enumerator was inserted, and the numbers of others changed.
    VariantInserted(Vec<ValueChange<'p>>),
    /// An enumerator was removed.
    VariantRemoved(i64),
    /// An enumerator was renamed.
    VariantRenamed(i64),
    /// The number of an enumerator changed.
    VariantRevalued(OldNew<i64>),
    /// The integer type of an enumeration changed.
    EnumRetyped(OldNew<&'p Type>, Similarity),
    /// The calling convention of a function changed.
    ConventionChanged(CallChange<'p>),
    /// A function is no longer exported, according to its declaration: it is hidden, or has no mark of an export.
    ExportMarkRemoved(&'static str),
    /// A difference without a finding.
    Unreported(UnreportedReason),
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
        self.fields
            .iter()
            .map(|field| field.name.as_str())
            .collect()
    }
}
