//! What can differ between two sides. A change is one cause: an insertion is one change, however many
//! members it moves.

use sp_ir::{
    Field, Item, Loc, Presence, Receiver, Scope, Side, Signature, Struct, StructSize, Transfer,
    Type,
};

use super::finding::{Bump, Slot};
use super::likeness::Likeness;

/// One difference.
#[derive(Clone, Debug)]
pub struct Change<'p> {
    /// The API that the item belongs to.
    pub api: &'p str,
    /// What changed: `SP_StreamExecutor.mem_zero`, `TF_AssignVariable`, `TF_Code.TF_OK`.
    pub item: String,
    /// In what way.
    pub kind: Kind<'p>,
    /// OLD's declaration.
    pub old: Option<Declared<'p>>,
    /// NEW's declaration.
    pub new: Option<Declared<'p>>,
}

/// A declaration on one side.
#[derive(Clone, Copy, Debug)]
pub enum Declared<'p> {
    /// An item under its name.
    Item(&'p str, &'p Item),
    /// A member of a struct or union.
    Field(&'p Field),
    /// A value of an enumeration, which stands at the place of the enumeration.
    Variant(&'p str, i64, &'p Loc),
}

/// Both sides of one thing.
#[derive(Clone, Copy, Debug)]
pub struct Both<T> {
    /// OLD's.
    pub old: T,
    /// NEW's.
    pub new: T,
}

impl<T> Both<T> {
    /// The two, the other way round.
    pub fn turned(self) -> Self {
        Self {
            old: self.new,
            new: self.old,
        }
    }

    /// Each, seen through `view`.
    pub fn map<U>(self, view: impl Fn(T) -> U) -> Both<U> {
        Both {
            old: view(self.old),
            new: view(self.new),
        }
    }
}

/// The ways in which things change.
#[derive(Clone, Debug)]
pub enum Kind<'p> {
    /// An API came.
    ApiAdded,
    /// An API went.
    ApiRemoved,
    /// The version macros, and the bump that all other findings of the API ask for.
    Version {
        /// What they say.
        said: Both<Option<&'p str>>,
        /// The largest bump of the other findings.
        asked: Bump,
    },
    /// A type came.
    TypeAdded,
    /// A type went.
    TypeRemoved,
    /// A type has another name, and no alias says so.
    TypeRenamed,
    /// A name is another kind of thing.
    KindChanged(Likeness),
    /// A typedef names another type.
    AliasRetyped(Likeness),
    /// An opaque type became a pointer to one, or the reverse.
    HandleRetyped,
    /// A macro or constant came.
    ConstAdded,
    /// A macro or constant went.
    ConstRemoved,
    /// A macro or constant has another value.
    ConstChanged,
    /// A function came.
    FunctionAdded,
    /// A function went.
    FunctionRemoved,
    /// The header holds a function's body now.
    FunctionInlined,
    /// The header holds a function's body no more.
    FunctionOutlined,
    /// The other side defines a function.
    ExporterChanged(Both<Side>),
    /// A function has another symbol.
    SymbolRenamed(Both<&'p str>),
    /// None of the libraries that exported a function does, and others do.
    SymbolMoved(Both<String>),
    /// Other libraries export a function too, or no more, and one that had it has it still.
    SymbolShared(Both<String>),
    /// No library exports a function that is declared.
    SymbolDropped(String),
    /// A library exports a function that none did before.
    SymbolExported(String),
    /// Parameters of a function.
    ParameterAdded(Called<'p>),
    /// A parameter went.
    ParameterRemoved(Called<'p>),
    /// Parameters stand in another order.
    ParameterMoved(Called<'p>),
    /// A parameter has another type.
    ParameterRetyped(Called<'p>),
    /// A parameter has another name.
    ParameterRenamed,
    /// Another type is returned.
    ReturnRetyped(Called<'p>),
    /// What a slot or callback is called with differs.
    CallbackSignature(Called<'p>),
    /// Only constness of a type differs.
    Constness(Both<&'p Type>),
    /// A type is written otherwise, and its bytes are the same.
    Respelled(Both<&'p Type>),
    /// Members came that push others back, or stand where others stood.
    FieldInserted(Relaid<'p>),
    /// Members came behind all others, within what the size macro covers.
    FieldAppended(Relaid<'p>),
    /// As before, and the host demands them.
    RequiredAppended(Relaid<'p>),
    /// Members came behind all others, and the size macro does not cover them.
    SizeOutdated(Relaid<'p>),
    /// Members came where padding was.
    PaddingFilled(Relaid<'p>),
    /// Members came to a struct that does not say its size.
    UnsizedGrown(Relaid<'p>),
    /// Members came to a struct that others hold by value.
    HeldGrown(Relaid<'p>),
    /// Members went.
    FieldRemoved(Relaid<'p>),
    /// Another member stands where one stood.
    FieldReplaced(Relaid<'p>),
    /// Members stand elsewhere.
    FieldMoved(Relaid<'p>),
    /// A member has another name.
    FieldRenamed,
    /// A member has another type.
    FieldRetyped(Relaid<'p>, Likeness),
    /// Members were put into a struct of their own, or taken out of one, and stand where they stood.
    FieldsGrouped(Vec<String>),
    /// A union's member came.
    UnionMemberAdded(Relaid<'p>),
    /// A union's member went.
    UnionMemberRemoved(Relaid<'p>),
    /// The size macro covers less than before.
    SizeShrunk(Both<&'p StructSize>, Relaid<'p>),
    /// The size macro covers members that it left out before.
    SizeCorrected(Both<&'p StructSize>, Relaid<'p>),
    /// A size macro came.
    SizeAdded(&'p StructSize),
    /// The size macro went.
    SizeDropped(&'p StructSize),
    /// The size macro has another name.
    SizeRenamed(Both<&'p StructSize>),
    /// `sizeof` differs and no member says why.
    Resized(Relaid<'p>),
    /// `alignof` differs and no member says why.
    Realigned(Both<u64>),
    /// The other side fills a struct or member.
    FillerChanged(Both<Side>),
    /// A value travels the other way.
    DirectionChanged(Both<sp_ir::Direction>),
    /// A member may be left empty no more.
    PresenceTightened(Both<Presence>, Side),
    /// A member may be left empty now.
    PresenceRelaxed(Both<Presence>, Side),
    /// Ownership moves otherwise; and the side that gives.
    TransferChanged(Both<Transfer>, Side),
    /// The callee keeps a value longer or shorter; and the side that gives.
    ScopeChanged(Both<Scope>, Side),
    /// The plugin's object is found elsewhere.
    ReceiverChanged(Both<Option<&'p Receiver>>),
    /// A comment in the header states something else, or nothing, and no fact is contradicted.
    CommentChanged,
    /// What a panic returns.
    NeutralChanged(Both<Option<&'p str>>),
    /// An enumeration's value came.
    VariantAdded(i64),
    /// Values came, and others that kept their names were pushed on.
    VariantInserted(Vec<Revalued<'p>>),
    /// An enumeration's value went.
    VariantRemoved(i64),
    /// A value has another name.
    VariantRenamed(i64),
    /// A name has another value.
    VariantRevalued(Both<i64>),
    /// Another integer carries an enumeration.
    EnumRetyped(Both<&'p Type>, Likeness),
    /// No change, for a reason.
    None(Reason),
}

/// A name that an insertion gave another value.
#[derive(Clone, Debug)]
pub struct Revalued<'p> {
    /// The name.
    pub name: &'p str,
    /// Its values.
    pub value: Both<i64>,
}

/// Why a difference is no change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// A name became another name for what it was, or was one.
    Alias,
    /// A macro stands for the value that an enumeration had under the name, or the reverse.
    MacroForVariant,
    /// Another header declares it, so that another API has it.
    Rehomed,
    /// It follows from another change, which has the finding.
    Follows,
    /// The version macro says what the API's version says.
    VersionMacro,
    /// A fact is stated that nothing said before, or is said no more.
    Stated,
    /// The order in the header, which nothing depends on.
    Order,
    /// What C leaves nameless goes with what has a name.
    Nameless,
}

/// A call that the two sides see differently.
#[derive(Clone, Debug)]
pub struct Called<'p> {
    /// Its signatures.
    pub signature: Both<&'p Signature>,
    /// The side that calls.
    pub caller: Side,
    /// What differs, in words: `validate_shape added at 3`.
    pub what: String,
    /// Whether the function is reached through a symbol, which a plugin may look up.
    pub by_symbol: bool,
}

/// What a change does to a struct's bytes.
#[derive(Clone, Debug)]
pub struct Relaid<'p> {
    /// The struct or union, where it is one on both sides: its names.
    pub name: Both<&'p str>,
    /// The struct, where it is no union.
    pub structure: Option<Both<&'p Struct>>,
    /// The size that each side announces.
    pub announced: Both<Option<u64>>,
    /// `sizeof` on each side.
    pub size: Both<u64>,
    /// The members that came, went or moved by themselves.
    pub fields: Vec<&'p Field>,
    /// Those that stand elsewhere because of it.
    pub moved: Vec<&'p str>,
    /// What stands where.
    pub rows: Vec<DataFolders<'p>>,
}

/// What stands at one place of a struct on either side.
#[derive(Clone, Copy, Debug)]
pub struct DataFolders<'p> {
    /// Bytes from the struct's start.
    pub offset: u64,
    /// Bytes that it takes.
    pub size: u64,
    /// OLD's and NEW's member there.
    pub member: Both<Option<&'p Field>>,
    /// Whether the two are one member, where it stood.
    pub same: bool,
}

impl Relaid<'_> {
    /// The places, as a finding says them.
    pub fn slots(&self) -> Vec<Slot> {
        let name = |field: Option<&Field>| field.map(|field| field.name.clone());
        let rows = self.rows.iter().filter(|row| !row.same);
        let slot = |row: &DataFolders| Slot {
            offset: row.offset,
            size: row.size,
            old: name(row.member.old),
            new: name(row.member.new),
        };
        rows.map(slot).collect()
    }

    /// The names of the members that it is about.
    pub fn names(&self) -> Vec<&str> {
        self.fields
            .iter()
            .map(|field| field.name.as_str())
            .collect()
    }
}
