//! Safe wrappers of libclang's cursors, types and tokens.
//!
//! Each wrapper borrows the [`TranslationUnit`] that it belongs to, which keeps libclang loaded on its thread. So no
//! call can use a disposed unit or an unloaded library.

mod number;

use std::ffi::CString;
use std::marker::PhantomData;
use std::ops::Range;

use clang_sys::*;
use sp_ir::Visibility;

use super::string::text;
use super::translation_unit::TranslationUnit;
pub use number::Number;

/// A position in a source file. Lines and columns count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The file.
    pub file: File,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// The byte offset.
    pub offset: u32,
}

/// A file of a unit, by libclang's handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct File(usize);

impl File {
    /// Returns the file's path as clang has it. The file must belong to the given unit.
    pub(super) fn path(self, _: &TranslationUnit) -> String {
        // SAFETY: the handle belongs to the given unit, which is not yet disposed.
        text(unsafe { clang_getFileName(self.0 as CXFile) })
    }
}

/// The borrow of the unit that a handle of libclang belongs to.
type UnitBorrow<'u> = PhantomData<&'u TranslationUnit>;

/// A node of the syntax tree.
#[derive(Clone, Copy)]
pub struct Cursor<'u> {
    raw: CXCursor,
    unit: UnitBorrow<'u>,
}

/// A C or C++ type.
#[derive(Clone, Copy)]
pub struct Ty<'u> {
    raw: CXType,
    unit: UnitBorrow<'u>,
}

/// Identifies a type within a unit.
pub type TyId = (CXTypeKind, [usize; 2]);

/// Identifies a declaration within a unit. Declarations that one macro expands to have one position.
pub type DeclarationId = usize;

/// A lexical token.
#[derive(Debug, Clone)]
pub struct Token {
    /// `CXToken_Comment`, `CXToken_Literal`, ...
    pub kind: CXTokenKind,
    /// The source text.
    pub text: String,
    /// The byte offset of its first character.
    pub start: u32,
    /// The byte offset after its last character.
    pub end: u32,
}

/// Defines methods that return what one function of libclang returns for the handle, converted.
macro_rules! queries {
    ($owner:ident<$unit:lifetime>: $(
        $(#[$doc:meta])* $name:ident = $function:ident -> $result:ty, $convert:expr;
    )*) => {
        impl<$unit> $owner<$unit> {
            $(
                $(#[$doc])*
                pub fn $name(self) -> $result {
                    // SAFETY: `self` borrows its unit, so the handle and the loaded library are valid.
                    let found = unsafe { $function(self.raw) };
                    ($convert)(found, self.unit)
                }
            )*
        }
    };
}

queries! { Cursor<'u>:
    /// Returns libclang's text of the cursor: a declared name, or a string literal in ASCII.
    spelling = clang_getCursorSpelling -> String, |it, _| text(it);
    /// Returns the type that the cursor has or declares.
    ty = clang_getCursorType -> Ty<'u>, Ty::from_raw;
    /// Returns the underlying type of a typedef.
    aliased = clang_getTypedefDeclUnderlyingType -> Ty<'u>, Ty::from_raw;
    /// Returns the integer type of an enumeration.
    enum_integer = clang_getEnumDeclIntegerType -> Ty<'u>, Ty::from_raw;
    /// Returns true if this declaration is also the definition.
    is_definition = clang_isCursorDefinition -> bool, |it, _| it != 0;
    /// Returns true for a bit-field.
    is_bit_field = clang_Cursor_isBitField -> bool, |it, _| it != 0;
    /// Returns true for an unnamed struct or union whose members are accessed as the parent's own (C11, 6.7.2.1).
    is_anonymous_member = clang_Cursor_isAnonymousRecordDecl -> bool, |it, _| it != 0;
    /// Returns true for a macro that takes arguments.
    is_function_like = clang_Cursor_isMacroFunctionLike -> bool, |it, _| it != 0;
    /// Returns true for a function that no other file can refer to.
    is_static = clang_Cursor_getStorageClass -> bool, |it, _| it == CX_SC_Static;
    /// Returns true for a function declared `inline`.
    is_inline = clang_Cursor_isFunctionInlined -> bool, |it, _| it != 0;
    /// Returns the number of bits of a bit-field, which is negative for another declaration.
    bit_field_width = clang_getFieldDeclBitWidth -> i32, |it, _| it;
    /// Returns the offset of a field in its record, in bits.
    field_offset = clang_Cursor_getOffsetOfField -> i64, |it, _| it;
    /// Returns the symbol of a function in an object file.
    symbol = clang_Cursor_getMangling -> String, |it, _| text(it);
    /// Returns the position of the name.
    position = clang_getCursorLocation -> Option<Position>, |it, _| expansion(it);
    /// Returns the positions of the first character and of the one after the last.
    extent = clang_getCursorExtent -> Option<Range<Position>>, |it, _| to_positions(it);
}

impl<'u> Cursor<'u> {
    /// Returns the root of the syntax tree.
    pub(super) fn root(unit: &'u TranslationUnit) -> Self {
        Self {
            // SAFETY: a `TranslationUnit` is parsed and not yet disposed.
            raw: unsafe { clang_getTranslationUnitCursor(unit.as_raw()) },
            unit: PhantomData,
        }
    }

    fn from_raw(raw: CXCursor, unit: UnitBorrow<'u>) -> Self {
        Self { raw, unit }
    }

    /// Returns the kind: `CXCursor_StructDecl`, ...
    pub fn kind(self) -> CXCursorKind {
        self.raw.kind
    }

    /// Returns an identifier of the declaration.
    pub fn declaration_id(self) -> DeclarationId {
        self.raw.data[0] as usize
    }

    /// Returns the declared name, which is empty for an anonymous type.
    pub fn name(self) -> String {
        let name = self.spelling();
        // Newer versions of clang return a description of an anonymous type, older ones an empty name.
        if name.contains(' ') || name.contains('(') {
            String::new()
        } else {
            name
        }
    }

    /// Returns the visibility of a function's symbol.
    pub fn visibility(self) -> Visibility {
        const MARKS: [CXCursorKind; 3] = [
            CXCursor_VisibilityAttr,
            CXCursor_DLLExport,
            CXCursor_DLLImport,
        ];
        // SAFETY: `self` borrows its unit, so the cursor and the loaded library are valid.
        if unsafe { clang_getCursorVisibility(self.raw) } == CXVisibility_Hidden {
            return Visibility::Hidden;
        }
        let mut is_marked = self.children().into_iter();
        let is_marked = is_marked.any(|it| MARKS.contains(&it.kind()));
        match is_marked {
            true => Visibility::Exported,
            false => Visibility::Unmarked,
        }
    }

    /// Returns the children in source order.
    pub fn children(self) -> Vec<Cursor<'u>> {
        extern "C" fn push(child: CXCursor, _: CXCursor, data: CXClientData) -> CXChildVisitResult {
            // SAFETY: `data` points to `found` below, which nothing else uses during the visit.
            unsafe { (*data.cast::<Vec<CXCursor>>()).push(child) };
            CXChildVisit_Continue
        }
        let mut found: Vec<CXCursor> = Vec::new();
        // SAFETY: `self` borrows its unit, so the cursor is valid. `push` does not unwind, and `found` outlives the
        // visit.
        unsafe { clang_visitChildren(self.raw, push, (&raw mut found).cast()) };
        let found = found.into_iter().map(|raw| Self::from_raw(raw, self.unit));
        found.collect()
    }

    /// Returns the value of an enumerator. One above the range of `i64` has the bits of a negative number.
    pub fn enum_value(self) -> i64 {
        // libclang extends the sign of the enumerator's bits, also where its type is unsigned.
        match self.enumerator_type().is_unsigned() {
            // SAFETY: `self` borrows its unit, so the cursor and the loaded library are valid.
            true => unsafe { clang_getEnumConstantDeclUnsignedValue(self.raw) as i64 },
            // SAFETY: as above.
            false => unsafe { clang_getEnumConstantDeclValue(self.raw) },
        }
    }

    /// Returns the integer type of an enumerator, which is `int` in C if the value fits.
    pub fn enumerator_type(self) -> Ty<'u> {
        let ty = self.ty().canonical();
        match ty.kind() {
            CXType_Enum => ty.declaration().enum_integer().canonical(),
            _ => ty,
        }
    }

    /// Returns true if any declaration of the same name is a definition.
    pub fn is_defined(self) -> bool {
        // SAFETY: `self` borrows its unit, so the cursor is valid. The null cursor is a valid argument too.
        unsafe { clang_Cursor_isNull(clang_getCursorDefinition(self.raw)) == 0 }
    }

    /// Returns the file that an include directive includes, or `None` for another cursor.
    pub fn included_file(self) -> Option<File> {
        // SAFETY: `self` borrows its unit, so the cursor is valid. libclang returns null for another kind of cursor.
        let file = unsafe { clang_getIncludedFile(self.raw) };
        (!file.is_null()).then_some(File(file as usize))
    }

    /// Returns the parameters of a function.
    pub fn arguments(self) -> Vec<Cursor<'u>> {
        // SAFETY: `self` borrows its unit, so the cursor is valid. A negative result means no arguments.
        let count = unsafe { clang_Cursor_getNumArguments(self.raw) }.max(0);
        let argument = |index| {
            // SAFETY: as above; the index is less than the count.
            let raw = unsafe { clang_Cursor_getArgument(self.raw, index) };
            Self::from_raw(raw, self.unit)
        };
        (0..count as u32).map(argument).collect()
    }

    /// Returns the tokens of the declaration.
    pub fn tokens(self) -> Vec<Token> {
        // SAFETY: `self` borrows its unit, so the cursor and the loaded library are valid.
        let (unit, range) = unsafe {
            (
                clang_Cursor_getTranslationUnit(self.raw),
                clang_getCursorExtent(self.raw),
            )
        };
        tokens(unit, range)
    }

    /// Returns the tokens of a macro's body, or `None` if the macro takes arguments. Clang does not report arguments of a
    /// macro that is undefined later, so a parenthesis directly after the name decides.
    pub fn macro_body(self) -> Option<Vec<Token>> {
        if self.kind() != CXCursor_MacroDefinition || self.is_function_like() {
            return None;
        }
        let mut tokens = self.tokens();
        let takes_arguments = match tokens.as_slice() {
            [name, next, ..] => next.text == "(" && next.start == name.end,
            _ => false,
        };
        tokens.retain(|token| token.kind != CXToken_Comment);
        (!takes_arguments && !tokens.is_empty()).then(|| tokens.split_off(1))
    }
}

queries! { Ty<'u>:
    /// Returns the type as C spells it.
    spelling = clang_getTypeSpelling -> String, |it, _| text(it);
    /// Returns the type with every typedef resolved.
    canonical = clang_getCanonicalType -> Self, Self::from_raw;
    /// Returns the type that a pointer points to.
    pointee = clang_getPointeeType -> Self, Self::from_raw;
    /// Returns the element type of an array.
    element = clang_getArrayElementType -> Self, Self::from_raw;
    /// Returns the length of an array, which is negative if it has none.
    array_len = clang_getArraySize -> i64, |it, _| it;
    /// Returns the result type of a function.
    result = clang_getResultType -> Self, Self::from_raw;
    /// Returns true if the type itself is `const`, not only the type it points to.
    is_const = clang_isConstQualifiedType -> bool, |it, _| it != 0;
    /// Returns the declaration of the type.
    declaration = clang_getTypeDeclaration -> Cursor<'u>, Cursor::from_raw;
    /// Returns the size in bytes, which is negative if the type has none.
    size = clang_Type_getSizeOf -> i64, |it, _| it;
    /// Returns the alignment in bytes, which is negative if the type has none.
    align = clang_Type_getAlignOf -> i64, |it, _| it;
}

impl<'u> Ty<'u> {
    fn from_raw(raw: CXType, unit: UnitBorrow<'u>) -> Self {
        Self { raw, unit }
    }

    /// Returns an identifier that is equal for equal types.
    pub fn id(self) -> TyId {
        (self.raw.kind, self.raw.data.map(|pointer| pointer as usize))
    }

    /// Returns the kind: `CXType_Pointer`, ...
    pub fn kind(self) -> CXTypeKind {
        self.raw.kind
    }

    /// Returns the type without the elaborating keyword, such as `struct`; libclang also has it if the header omits it.
    pub fn unelaborated(self) -> Self {
        match self.raw.kind {
            CXType_Elaborated => {
                // SAFETY: `self` borrows its unit, so the type and the loaded library are valid.
                let named = unsafe { clang_Type_getNamedType(self.raw) };
                Self::from_raw(named, self.unit).unelaborated()
            }
            _ => self,
        }
    }

    /// Returns the parameter types of a function.
    pub fn arguments(self) -> Vec<Self> {
        // SAFETY: `self` borrows its unit, so the type is valid. A negative result means no arguments.
        let count = unsafe { clang_getNumArgTypes(self.raw) }.max(0);
        let argument = |index| {
            // SAFETY: as above; the index is less than the count.
            let raw = unsafe { clang_getArgType(self.raw, index) };
            Self::from_raw(raw, self.unit)
        };
        (0..count as u32).map(argument).collect()
    }

    /// Returns the calling convention of a function as its attribute names it, or `None` for that of C.
    pub fn convention(self) -> Option<&'static str> {
        // SAFETY: `self` borrows its unit, so the type and the loaded library are valid.
        match unsafe { clang_getFunctionTypeCallingConv(self.raw) } {
            CXCallingConv_Default | CXCallingConv_C | CXCallingConv_Invalid => {
                self.saved_registers()
            }
            CXCallingConv_X86StdCall => Some("stdcall"),
            CXCallingConv_X86FastCall => Some("fastcall"),
            CXCallingConv_X86ThisCall => Some("thiscall"),
            CXCallingConv_X86Pascal => Some("pascal"),
            CXCallingConv_AAPCS | CXCallingConv_AAPCS_VFP => Some("pcs"),
            CXCallingConv_X86RegCall => Some("regcall"),
            CXCallingConv_IntelOclBicc => Some("intel_ocl_bicc"),
            CXCallingConv_X86_64Win64 => Some("ms_abi"),
            CXCallingConv_X86_64SysV => Some("sysv_abi"),
            CXCallingConv_X86VectorCall => Some("vectorcall"),
            CXCallingConv_Swift | CXCallingConv_SwiftAsync => Some("swiftcall"),
            CXCallingConv_PreserveMost => Some("preserve_most"),
            CXCallingConv_PreserveAll => Some("preserve_all"),
            CXCallingConv_AArch64VectorCall => Some("aarch64_vector_pcs"),
            // A newer clang has more.
            _ => Some("other_convention"),
        }
    }

    /// Returns the attribute of a function type by which a call changes no register. libclang has it in the spelling only,
    /// whose length is that of the parameters' types.
    fn saved_registers(self) -> Option<&'static str> {
        const ATTRIBUTE: &str = "no_caller_saved_registers";
        let spelling = self.spelling();
        // The attributes of the function, not of its parameters, follow the last parenthesis of the parameters.
        let mut attributes = spelling.rsplit(" __attribute__((");
        let mut attributes = attributes.by_ref().map_while(|it| it.strip_suffix("))"));
        attributes.any(|it| it == ATTRIBUTE).then_some(ATTRIBUTE)
    }

    /// Returns true for a function that takes `...`. The declaration `f()` of C takes no arguments.
    pub fn is_variadic(self) -> bool {
        if self.canonical().kind() == CXType_FunctionNoProto {
            return false;
        }
        // SAFETY: `self` borrows its unit, so the type and the loaded library are valid.
        unsafe { clang_isFunctionTypeVariadic(self.raw) != 0 }
    }

    /// Returns true if a value of the type cannot be written: the type is `const`, or it is an array of such elements. A
    /// typedef may name either.
    pub fn is_const_value(self) -> bool {
        let mut ty = self;
        while !ty.is_const() {
            let canonical = ty.canonical();
            match canonical.kind() {
                _ if canonical.is_const() => return true,
                CXType_ConstantArray | CXType_IncompleteArray => ty = canonical.element(),
                _ => return false,
            }
        }
        true
    }

    /// Returns true for an unsigned integer type.
    pub fn is_unsigned(self) -> bool {
        matches!(
            self.canonical().kind(),
            CXType_Bool
                | CXType_Char_U
                | CXType_UChar
                | CXType_UShort
                | CXType_UInt
                | CXType_ULong
                | CXType_ULongLong
                | CXType_UInt128
        )
    }

    /// Returns the offset of the member `name` in bits, which is negative if there is none. Members of anonymous
    /// members are found too.
    pub fn offset_of(self, name: &str) -> i64 {
        let Ok(name) = CString::new(name) else {
            return -1;
        };
        // SAFETY: `self` borrows its unit, so the type is valid. A `CString` ends with a NUL.
        unsafe { clang_Type_getOffsetOf(self.raw, name.as_ptr()) }
    }
}

/// Returns the position of a location after macro expansion, or `None` for built-in text.
pub(super) fn expansion(location: CXSourceLocation) -> Option<Position> {
    // SAFETY: a source location is a plain value, and the pointers are those of local variables in `read_position`.
    read_position(|file, line, column, offset| unsafe {
        clang_getExpansionLocation(location, file, line, column, offset);
    })
}

fn read_position(read: impl FnOnce(*mut CXFile, *mut u32, *mut u32, *mut u32)) -> Option<Position> {
    let mut file: CXFile = std::ptr::null_mut();
    let (mut line, mut column, mut offset) = (0, 0, 0);
    read(&mut file, &mut line, &mut column, &mut offset);
    if file.is_null() {
        return None;
    }
    Some(Position {
        file: File(file as usize),
        line,
        column,
        offset,
    })
}

fn to_positions(range: CXSourceRange) -> Option<Range<Position>> {
    // SAFETY: a source range is a plain value.
    let (start, end) = unsafe { (clang_getRangeStart(range), clang_getRangeEnd(range)) };
    Some(expansion(start)?..expansion(end)?)
}

/// Returns the tokens of a range.
pub(super) fn tokens(unit: CXTranslationUnit, range: CXSourceRange) -> Vec<Token> {
    let mut raw: *mut CXToken = std::ptr::null_mut();
    let mut count = 0;
    // SAFETY: the caller's cursor borrows `unit`, so it is valid. libclang returns null or an array of `count` tokens,
    // which is read before it is disposed, once.
    unsafe {
        clang_tokenize(unit, range, &mut raw, &mut count);
        if raw.is_null() {
            return Vec::new();
        }
        let all = std::slice::from_raw_parts(raw, count as usize);
        let copy = all.iter().filter_map(|raw| token(unit, *raw)).collect();
        clang_disposeTokens(unit, raw, count);
        copy
    }
}

fn token(unit: CXTranslationUnit, raw: CXToken) -> Option<Token> {
    // SAFETY: `raw` is a token of `unit`, and `tokens` disposes it later.
    unsafe {
        let range = to_positions(clang_getTokenExtent(unit, raw))?;
        Some(Token {
            kind: clang_getTokenKind(raw),
            text: text(clang_getTokenSpelling(unit, raw)),
            start: range.start.offset,
            end: range.end.offset,
        })
    }
}
