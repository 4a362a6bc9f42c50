//! The kinds of changes, and the rule of each: [`rules!`] explains a row.
//!
//! The doc comment of a row is the rule's text. Its first paragraph is the summary in lists and reports, and `sp-gen explain`
//! prints all of it.

use sp_ir::{Direction, Function, Presence, Scope, Side, StructSize, Transfer, Type};

use super::define::rules;
use super::{JudgedChange, Rule, apis, calls, contract, functions, layout, types, values};
use crate::change::{CallChange, LayoutChange, OldNew, UnreportedReason, ValueChange};
use crate::finding::{Bump, Finding, Impact};
use crate::similarity::Similarity;

const ALIGNMENT: &str =
    "C11 6.2.8 and 6.7.2.1: alignment, and padding inside and at the end of a struct";
const CALLING_CONVENTION: &str =
    "the calling convention of the target; on x86_64 Linux the System V ABI, section 3.2.3";
const COMMENTS: &str = "the comments in both headers";
const ENUM_VALUES: &str = "C11 6.7.2.2: an enumerator is an integer constant";
const FIELD_ORDER: &str =
    "C11 6.7.2.1: the offsets of members increase in the order of their declaration";
const INLINE: &str = "C11 6.7.4: inline functions";
const LOADER: &str = "ld.so(8): with RTLD_NOW a library with an unresolved symbol is not loaded";
const MACROS: &str = "C11 6.10.3: the preprocessor replaces macros when code is compiled";
const NOTES: &str = "the API's notes in headers/apis, each with its evidence";
const QUALIFIERS: &str = "C11 6.7.3: type qualifiers";
const SEMVER: &str = "semver.org 2.0.0, points 6 to 8; pjrt_c_api.h at PJRT_API_MAJOR";
const STRUCT_SIZE: &str =
    "stream_executor.h, conventions at the top of the file: struct_size identifies the version";
const VISIBILITY: &str =
    "ELF gABI, symbol visibility: a hidden symbol is not visible to other libraries";
const TYPES: &str = "C11 6.2.7: compatible types";

rules! {
    /// The kinds of changes.
    #[derive(Clone, Debug)]
    pub enum ChangeKind<'p> {
        /// A difference without a finding.
        Unreported(UnreportedReason),
    }

    handlers: fn(&JudgedChange, ..) -> Finding;

    /// The type behind a typedef changed.
    ///
    /// Everything declared with the typedef has the new type: members may move, arguments may be passed in other
    /// registers, values may mean something else. If the new type has the same bytes, only a compiler sees the change.
    AliasRetyped(similarity: Similarity) => types::alias_retyped, Breaking, Major, TYPES;

    /// An API was added.
    ///
    /// Existing plugins do not use it. A plugin that uses it needs a host of that release: no library of an older host
    /// exports its functions, so a plugin with a strong reference to one of them does not load.
    ///
    /// Look the functions up at run time. The functions of sp-abi do, and their error names the first release that
    /// has the function.
    ApiAdded => apis::api_added, Compatible, Minor, LOADER;

    /// An API was removed, with all its declarations.
    ///
    /// A plugin with a strong reference to one of its functions does not load. A plugin that looks the functions up
    /// does not find them.
    ///
    /// If the exports of the libraries are known and still contain the functions, the plugin still works.
    ApiRemoved => apis::api_removed, Breaking, Major, LOADER;

    /// The signature of a function pointer in a struct, or of a callback type, changed.
    ///
    /// The size of the struct and the offsets of its members are unchanged, so struct_size does not show the change. In
    /// 2.6 TP_Optimizer.optimize_func got an additional argument, the grappler item: a plugin built for 2.5 uses that
    /// item as its output buffer.
    ///
    /// Choose the function by the running release. sp-abi has a struct for each layout version.
    CallbackSignatureChanged(call: CallChange<'p>) => calls::callback_signature_changed, Breaking, Major, CALLING_CONVENTION;

    /// The calling convention of a function changed.
    ///
    /// Caller and callee have arguments and results in other registers, and other registers survive the call. The symbol is
    /// the same, so the loader does not find the difference.
    ///
    /// Call the function with the convention of the running release. That of a function pointer or callback is a part of
    /// callback_signature_changed.
    CallingConventionChanged(call: CallChange<'p>) => calls::calling_convention_changed, Breaking, Major, CALLING_CONVENTION;

    /// The contract that a comment states was changed or removed.
    ///
    /// A comment on a member, a parameter or a result may state who sets it, whether it may be null, or who owns it.
    /// One header states such a fact and the other does not, and no other fact contradicts it. Read both comments: the
    /// header may only be clearer, or the contract may have changed.
    CommentChanged => contract::comment_changed, Compatible, Patch, COMMENTS;

    /// A macro or constant was added.
    ///
    /// The compiler copies its value into the code that uses it, so no binary depends on it.
    ConstAdded => values::const_added, SourceOnly, Minor, MACROS;

    /// The value of a macro or constant changed.
    ///
    /// Each side keeps the value that it was compiled with. If the two sides compare such values, as with the version
    /// numbers of the filesystem API, they may disagree. Check what the constant is used for.
    ConstChanged => values::const_changed, SourceOnly, Patch, MACROS;

    /// A macro or constant was removed.
    ///
    /// Binaries keep the value that they were compiled with. Code that uses the name does not compile with the newer
    /// headers.
    ConstRemoved => values::const_removed, SourceOnly, Minor, MACROS;

    /// A pointer gained or lost const.
    ///
    /// Constness exists for the compiler only; the same bytes are passed. In C++ a caller or a callback may need a cast
    /// to compile with both headers. Code that writes through the pointer must check whether it still may.
    ConstnessChanged(types: OldNew<&'p Type>) => types::constness_changed, SourceOnly, None, QUALIFIERS;

    /// The default return value of a function pointer after a panic changed.
    ///
    /// The value is in the notes and is used by generated code only.
    DefaultReturnChanged => contract::default_return_changed, SourceOnly, None, NOTES;

    /// The direction of a parameter (in, out, inout) changed.
    ///
    /// The callee now writes a value that it read before, or the reverse. A value that no side has set is read, or a
    /// value that is still needed is overwritten.
    DirectionChanged(directions: OldNew<Direction>) => contract::direction_changed, Breaking, Major, NOTES;

    /// A struct that is used by value grew: embedded, passed as an argument, or an array element.
    ///
    /// Its own struct_size covers the new members. But the next element of an array and the next member of an enclosing
    /// struct move. As an argument the struct is passed in other registers, or on the stack.
    EmbeddedStructGrown(layout: LayoutChange<'p>) => layout::embedded_struct_grown, Breaking, Major, FIELD_ORDER;

    /// The integer type of an enumeration changed.
    ///
    /// If the width differs, members move and arguments are read with the wrong width. If only the signedness differs,
    /// negative values change.
    EnumRetyped(integers: OldNew<&'p Type>, similarity: Similarity) => types::enum_retyped, Breaking, Major, ENUM_VALUES;

    /// The declaration of a function no longer marks it as exported.
    ///
    /// It has hidden visibility, or lost the attribute or macro that exports it from a library that hides symbols. A plugin
    /// with a strong reference to it does not load.
    ///
    /// If the exports of the new libraries are known and contain the function, the plugin still works.
    ExportMarkRemoved(mark: &'static str) => functions::export_mark_removed, Breaking, Major, VISIBILITY;

    /// A function is now defined by the other side (core or the plugin).
    ///
    /// Core now defines what the plugin defined, or the reverse. Either one side looks for a function that does not
    /// exist, or both define it and one definition is never called.
    ExporterChanged(exporters: OldNew<Side>) => functions::exporter_changed, Breaking, Major, NOTES;

    /// Members were appended, and the size macro covers them.
    ///
    /// The struct_size protocol permits this. All existing members keep their offsets, and each side checks struct_size
    /// before it accesses the new members. A member in the tail padding changes the size macro and not sizeof.
    ///
    /// The protocol protects only code that follows it. A plugin that writes its whole, longer struct into the memory
    /// of an older host writes past the end.
    ///
    /// Read and write through the prefix views of sp-runtime, which stop at the host's struct_size.
    FieldAppended(layout: LayoutChange<'p>) => layout::field_appended, Compatible, Minor, STRUCT_SIZE;

    /// Members were inserted, and the members after them moved.
    ///
    /// A plugin built for the other layout accesses the later members at wrong offsets. It calls the wrong functions
    /// and reads other members' values.
    ///
    /// In 2.7 mem_zero, memset and memset32 were inserted before host_callback in SP_StreamExecutor, which grew from
    /// 264 to 288 bytes. A plugin built for 2.6 stores host_callback where 2.7 has mem_zero. A plugin built for 2.7
    /// writes 24 bytes past the end of the struct that 2.6 provides.
    ///
    /// A check of struct_size alone does not help, because members that exist on both sides moved. Choose the layout by
    /// the struct_size that the host wrote; sp-abi has one for each layout version.
    FieldInserted(layout: LayoutChange<'p>) => layout::field_inserted, Breaking, Major, STRUCT_SIZE;

    /// Members moved or were reordered.
    ///
    /// No member was added or removed. The members have another order, or the header packs or aligns them differently.
    /// Each side accesses the other side's members at wrong offsets.
    FieldMoved(layout: LayoutChange<'p>) => layout::field_moved, Breaking, Major, FIELD_ORDER;

    /// Members were removed.
    ///
    /// The members after them moved up, so an older plugin finds other members at the old offsets. If the last members
    /// were removed, an older plugin accesses memory past the end of the shorter struct, unless it checks struct_size.
    FieldRemoved(layout: LayoutChange<'p>) => layout::field_removed, Breaking, Major, STRUCT_SIZE;

    /// A member was renamed.
    ///
    /// Type and offset are unchanged, so binaries are not affected. Code that uses the name must change.
    ///
    /// Two names are the same member if type and offset are the same. Function pointers are excluded from this: another
    /// name at the same offset is another function.
    FieldRenamed => layout::field_renamed, SourceOnly, Minor, FIELD_ORDER;

    /// A member was replaced by another at the same offset.
    ///
    /// The size of the struct and all other offsets are unchanged, so struct_size does not show the change. A function
    /// pointer is now another function with other arguments; a value has another meaning.
    FieldReplaced(layout: LayoutChange<'p>) => layout::field_replaced, Breaking, Major, STRUCT_SIZE;

    /// The type of a member changed.
    ///
    /// The bytes at its offset have another meaning. If the size differs, the members after it moved. A difference in
    /// constness or spelling only has its own rules and breaks no binary.
    FieldRetyped(layout: LayoutChange<'p>, similarity: Similarity) => layout::field_retyped, Breaking, Major, FIELD_ORDER;

    /// Members were moved into or out of an embedded struct and kept their offsets.
    ///
    /// The same bytes have another path: ext.next became ext.base.next. Code must change; binaries are not affected. In
    /// 2.20 the PJRT extensions started to embed PJRT_Extension_Base in this way.
    FieldsGrouped(names: Vec<String>) => layout::fields_grouped, SourceOnly, Minor, FIELD_ORDER;

    /// A struct or member is now set by the other side (core or the plugin).
    ///
    /// Each side expects the other to set it, or both set it. The layout does not show this.
    FillerChanged(fillers: OldNew<Side>) => contract::filler_changed, Breaking, Major, NOTES;

    /// A function was added.
    ///
    /// Older plugins do not use it. A newer plugin with a strong reference to it does not load on an older host. A
    /// plugin that looks it up does not find it there and must work without it.
    ///
    /// If the plugin defines the function, a newer host looks for it and an older host never calls it.
    ///
    /// The functions of sp-abi are looked up at run time, and their error names the first release that has them.
    FunctionAdded(function: &'p Function) => functions::function_added, Compatible, Minor, LOADER;

    /// An exported function became inline: its body is now in the header.
    ///
    /// Code compiled with the newer header contains its own copy and needs no symbol. A plugin built with the older
    /// header still needs the symbol. If the libraries are known to export it as before, the finding is compatible.
    FunctionInlined(functions: OldNew<&'p Function>) => functions::function_inlined, Breaking, Major, INLINE;

    /// An inline function became an exported one: its body is no longer in the header.
    ///
    /// A plugin built with the older header contains the body and still works. A plugin built with the newer header
    /// needs the symbol. No older host exports it, so the plugin does not load there.
    FunctionOutlined(functions: OldNew<&'p Function>) => functions::function_outlined, Compatible, Minor, INLINE;

    /// A function was removed.
    ///
    /// A plugin with a strong reference to it does not load if no library exports it. A plugin that looks it up does
    /// not find it. If the exports of the libraries are known and still contain it, only a compiler sees the change.
    ///
    /// The body of an inline function is part of the plugin, so only a compiler sees that change.
    FunctionRemoved(function: &'p Function) => functions::function_removed, Breaking, Major, LOADER;

    /// An opaque struct became a pointer to one, or the reverse.
    ///
    /// `typedef struct X_st* X` names a pointer, `typedef struct X X` the opaque struct itself. The same spelling in a
    /// declaration then has one level of indirection more or less.
    HandleRetyped => types::handle_retyped, Breaking, Major, TYPES;

    /// A name is now another kind of declaration.
    ///
    /// For example, a struct became an enumeration, a function became a macro, or a typedef names a type of another
    /// size. A plugin built with one does not work with the other.
    ///
    /// If the bytes are the same, or the type is only used behind a pointer, no binary is affected and the finding is
    /// source-only. An opaque handle whose members become public is such a case.
    KindChanged(similarity: Similarity) => types::kind_changed, Breaking, Major, TYPES;

    /// Members were added in padding, or a member grew into padding.
    ///
    /// No offset and no size changed, so the two sides cannot detect it. The newer side reads bytes that the older side
    /// never sets. They are zero if the host allocates and clears the memory, and undefined if the plugin allocates it.
    PaddingFilled(layout: LayoutChange<'p>) => layout::padding_filled, Breaking, Major, ALIGNMENT;

    /// A parameter was added to a function.
    ///
    /// Name and symbol are unchanged, so the plugin loads: caller and callee disagree about which register has which
    /// argument. In 2.10 TF_AssignVariable got a bool before its copy function. A plugin built before that passes the
    /// function as the bool and its status as the function.
    ///
    /// If the new parameter is the last one, an older callee ignores it. A newer callee that does not get it reads
    /// whatever is in the register.
    ///
    /// No struct_size shows the change: choose the signature by the running release. The functions of sp-abi do.
    ParameterAdded(call: CallChange<'p>) => calls::parameter_added, Breaking, Major, CALLING_CONVENTION;

    /// The parameters of a function were reordered.
    ///
    /// Each argument is passed where the callee expects another one. If the types permit it, even a compiler does not
    /// report this.
    ParameterMoved(call: CallChange<'p>) => calls::parameter_moved, Breaking, Major, CALLING_CONVENTION;

    /// A parameter was removed from a function.
    ///
    /// The reverse of parameter_added. An older caller passes more arguments than the callee reads. Unless the last
    /// parameter was removed, all arguments after it are passed in the wrong position.
    ParameterRemoved(call: CallChange<'p>) => calls::parameter_removed, Breaking, Major, CALLING_CONVENTION;

    /// A parameter was renamed.
    ///
    /// C passes arguments by position, so binaries and callers are not affected. Bindings that expose the names are.
    ParameterRenamed(names: OldNew<&'p str>) => calls::parameter_renamed, SourceOnly, None, CALLING_CONVENTION;

    /// The type of a parameter changed.
    ///
    /// For example, an integer has another width or signedness, a pointer another target, or a struct another size. The
    /// callee does not read what the caller passes. A difference in constness or spelling only has its own rules and
    /// breaks no binary.
    ParameterRetyped(call: CallChange<'p>) => calls::parameter_retyped, Breaking, Major, CALLING_CONVENTION;

    /// A required member became optional.
    ///
    /// Older plugins still set it. An older host rejects a newer plugin that leaves it null. The timer functions of
    /// stream_executor.h are optional from 2.14 on; 2.13 rejects a plugin without them.
    PresenceRelaxed(presence: OldNew<Presence>, filler: Side) => contract::presence_relaxed, Compatible, Minor, NOTES;

    /// An optional member became required.
    ///
    /// The newer host rejects a plugin that leaves it null, which ends the process at import, or calls the null pointer.
    PresenceTightened(presence: OldNew<Presence>, filler: Side) => contract::presence_tightened, Breaking, Major, NOTES;

    /// The way in which callbacks get the plugin's object changed.
    ///
    /// The notes state how a callback gets the object that the plugin registered. Only the code that sp-gen generates
    /// depends on this; changes of the layout have their own rules.
    ReceiverChanged => contract::receiver_changed, SourceOnly, Patch, NOTES;

    /// Members were appended that the host requires.
    ///
    /// The layout is compatible, the contract is not. The newer host finds null in an older plugin and rejects the
    /// registration, which ends the process at import.
    ///
    /// A plugin for both releases sets the member if the host's struct_size covers it.
    RequiredFieldAppended(layout: LayoutChange<'p>) => layout::required_field_appended, Breaking, Major, NOTES;

    /// The return type of a function changed.
    ///
    /// The caller reads the result from another register, or as another type, than the callee writes it. A caller that
    /// ignores the result is not affected.
    ReturnRetyped(call: CallChange<'p>) => calls::return_retyped, Breaking, Major, CALLING_CONVENTION;

    /// The callee stores a value for a longer or shorter time.
    ///
    /// A value that is stored after the call must stay valid. If its owner frees it when the call returns, the callee
    /// has a dangling pointer.
    ScopeChanged(scopes: OldNew<Scope>, giver: Side) => contract::scope_changed, Breaking, Major, NOTES;

    /// The alignment of a type changed, and no change of a member explains it.
    ///
    /// Memory that one side allocates may not have the alignment that the other side's instructions require. Structs
    /// that embed the type may have another layout.
    StructRealigned(alignment: OldNew<u64>) => layout::struct_realigned, Breaking, Major, ALIGNMENT;

    /// The size of a struct or union changed, and no change of a member explains it.
    ///
    /// The header pads or packs the type differently. Array elements and the members after an embedded one move. A side
    /// that allocates by its own sizeof may allocate too little.
    StructResized(layout: LayoutChange<'p>) => layout::struct_resized, Breaking, Major, ALIGNMENT;

    /// A size macro was added for a struct.
    ///
    /// From this release on a header defines the value of struct_size. Before, each side computed it, with or without
    /// the padding at the end.
    StructSizeAdded(size: &'p StructSize) => layout::struct_size_added, Compatible, Minor, STRUCT_SIZE;

    /// The size macro now covers members that existed before.
    ///
    /// The members existed, but struct_size did not cover them. On older hosts it still does not, so code that checks
    /// struct_size does not use them there.
    StructSizeCorrected(sizes: OldNew<&'p StructSize>, layout: LayoutChange<'p>)
        => layout::struct_size_corrected, Compatible, Patch, STRUCT_SIZE;

    /// The size macro of a struct was removed.
    ///
    /// Code that uses it does not compile; the layout is unchanged. From this release on nothing shows changes of the
    /// struct.
    StructSizeDropped(size: &'p StructSize) => layout::struct_size_dropped, SourceOnly, Minor, STRUCT_SIZE;

    /// Members were appended, and the size macro does not cover them.
    ///
    /// The constant that both sides write into struct_size still ends before the new members. Code that checks it, as
    /// the protocol requires, never uses them. Code that does not check it accesses memory past the end of an older
    /// side's struct.
    ///
    /// In 2.16 PJRT_Api grew to 816 bytes while its constant was 808. In 2.17 it grew to 840 bytes, with 808 still.
    ///
    /// A member that the size does not cover can only be used if the release is known in another way.
    StructSizeOutdated(layout: LayoutChange<'p>) => layout::struct_size_outdated, Breaking, Major, STRUCT_SIZE;

    /// The size macro of a struct was renamed.
    ///
    /// Code that uses the name must change. A change of its value has its own rules.
    StructSizeRenamed(sizes: OldNew<&'p StructSize>) => layout::struct_size_renamed, SourceOnly, Minor, STRUCT_SIZE;

    /// The size macro covers fewer members than before.
    ///
    /// The members still exist, but the size that both sides write does not cover them. Code that checks struct_size,
    /// as the protocol requires, no longer uses them. The layout itself is unchanged.
    StructSizeShrunk(sizes: OldNew<&'p StructSize>, layout: LayoutChange<'p>)
        => layout::struct_size_shrunk, Breaking, Major, STRUCT_SIZE;

    /// A declared function is no longer exported by any library.
    ///
    /// The header declares a function that the wheel does not contain. Plugins compile and link, and then do not load.
    /// In tensorflow-cpu for Linux this applies to the 14 functions of kernels_experimental.h from 2.19 on.
    SymbolDropped(libraries: String) => functions::symbol_dropped, Breaking, Major, LOADER;

    /// A declared function that no library exported is now exported.
    ///
    /// The header declared it before, but no library exported it. Plugins that use it load from this release on.
    SymbolExported(libraries: String) => functions::symbol_exported, Compatible, Minor, LOADER;

    /// A function moved to another library.
    ///
    /// The dynamic linker searches the libraries that a plugin names and their dependencies. A plugin that is linked to
    /// the old library finds the function only if that library still exists and depends on the new one. In 2.12 the
    /// helpers for graphs and strings moved from _pywrap_tensorflow_internal.so to libtensorflow_cc.so.2. The first
    /// depends on the second, so a plugin linked to the first loads. A plugin linked to the second does not load on
    /// 2.11, which does not have that library.
    ///
    /// A plugin that looks functions up in all loaded TensorFlow libraries, as sp-runtime does, is not affected.
    SymbolMoved(libraries: OldNew<String>) => functions::symbol_moved, Breaking, Major, LOADER;

    /// The exported symbol of a function was renamed.
    ///
    /// The name in C is unchanged, the linker's symbol is not. A plugin loads only on hosts with the symbol that it was
    /// built with.
    SymbolRenamed(symbols: OldNew<&'p str>) => functions::symbol_renamed, Breaking, Major, LOADER;

    /// The set of libraries that export a function changed, and at least one still exports it.
    ///
    /// libtensorflow_framework.so.2 exports most functions in every release. In some releases libtensorflow_cc.so.2 or
    /// _pywrap_tensorflow_internal.so had copies. Those two depend on the first, so a plugin linked to any of them still
    /// finds the function.
    SymbolShared(libraries: OldNew<String>) => functions::symbol_shared, Compatible, Patch, LOADER;

    /// The ownership transfer of a value changed.
    ///
    /// Either both sides free the value, which corrupts the heap, or neither does, which leaks it. No type and no size
    /// shows the change.
    TransferChanged(transfers: OldNew<Transfer>, giver: Side) => contract::transfer_changed, Breaking, Major, NOTES;

    /// A struct, union, enumeration, handle or typedef was added.
    ///
    /// A type alone does not exist in a binary; the functions and members that use it have their own findings. Code
    /// that uses the name does not compile with the older headers.
    TypeAdded => types::type_added, SourceOnly, Minor, TYPES;

    /// A struct, union, enumeration, handle or typedef was removed.
    ///
    /// A type alone does not exist in a binary; the functions and members that used it have their own findings. Code
    /// that uses the name does not compile with the newer headers.
    TypeRemoved => types::type_removed, SourceOnly, Minor, TYPES;

    /// A type was renamed; its definition is unchanged.
    ///
    /// Every declaration that used the old name uses the new one, and the two definitions are the same. No binary
    /// contains the name. Code that uses it must change, or declare the old name itself.
    ///
    /// If the header keeps the old name as an alias, as with TF_Status and TSL_Status, there is no finding.
    TypeRenamed => types::type_renamed, SourceOnly, Minor, TYPES;

    /// A type is spelled differently and has the same bytes.
    ///
    /// For example, a void* got a target type, an enumeration became its integer type, or a struct was replaced by one
    /// with the same layout. Binaries are not affected; a compiler may report the difference.
    TypeRespelled(types: OldNew<&'p Type>) => types::type_respelled, SourceOnly, None, TYPES;

    /// A member was added to a union.
    ///
    /// If the size of the union is unchanged, older code never reads the new member, as long as it checks which member
    /// is active. Only a union that grew changes the layout around it; otherwise the finding is compatible.
    UnionMemberAdded(layout: LayoutChange<'p>) => layout::union_member_added, Breaking, Major, FIELD_ORDER;

    /// A member was removed from a union.
    ///
    /// A plugin that stores the member stores bytes that the host reads as another member.
    UnionMemberRemoved(layout: LayoutChange<'p>) => layout::union_member_removed, Breaking, Major, FIELD_ORDER;

    /// Members were appended to a struct without a size field.
    ///
    /// The struct has no struct_size, and no constant for its size is passed at registration. Neither side can know
    /// which members the other has. The side with the longer struct accesses memory past the end of the other's.
    UnsizedStructGrown(layout: LayoutChange<'p>) => layout::unsized_struct_grown, Breaking, Major, STRUCT_SIZE;

    /// An enumerator was added.
    ///
    /// Older code may get a number that it does not know, and should accept it. An older host does not know the number
    /// either: 2.19 returns an error for a data type that was added later.
    VariantAdded(value: i64) => values::variant_added, Compatible, Minor, ENUM_VALUES;

    /// An enumerator was inserted, and the numbers of others changed.
    ///
    /// The same names have other numbers. Each side reads the other side's numbers as other enumerators, and no type
    /// shows the change.
    VariantInserted(moved: Vec<ValueChange<'p>>) => values::variant_inserted, Breaking, Major, ENUM_VALUES;

    /// An enumerator was removed.
    ///
    /// The host no longer knows the number that a plugin sends, or the number may get another meaning.
    VariantRemoved(value: i64) => values::variant_removed, Breaking, Major, ENUM_VALUES;

    /// An enumerator was renamed.
    ///
    /// The number is unchanged, so binaries are not affected. If a macro keeps the old name, as TF_OK for TSL_OK, there
    /// is no finding.
    VariantRenamed(value: i64) => values::variant_renamed, SourceOnly, Minor, ENUM_VALUES;

    /// The number of an enumerator changed.
    ///
    /// Each side reads the other side's numbers as other enumerators, and no type shows the change.
    VariantRevalued(values: OldNew<i64>) => values::variant_revalued, Breaking, Major, ENUM_VALUES;

    /// The version macros changed as much as the other changes require.
    ///
    /// The layout does not depend on them. A plugin or host that compares them gets the correct result.
    VersionChanged(versions: OldNew<&'p str>) => apis::version_changed, SourceOnly, None, SEMVER;

    /// The version macros changed less than the other changes require.
    ///
    /// The headers give the API a version so that each side can detect an incompatible other side. A breaking change
    /// requires a new major version, an addition a new minor version. Here the version changed less, so a program that
    /// compares versions accepts an incompatible side.
    ///
    /// In TensorFlow SE_MAJOR, SE_MINOR and SE_PATCH were 0.0.1 through every break of stream_executor.h. Choose the
    /// layout by struct_size and the running release, not by these macros.
    VersionUnbumped(versions: OldNew<&'p str>, required: Bump) => apis::version_unbumped, SourceOnly, None, SEMVER;
}
