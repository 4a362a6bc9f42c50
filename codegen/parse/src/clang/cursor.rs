//! libclang's cursors, types and tokens behind safe methods.
//!
//! Everything here borrows the [`Unit`] it came from, and a `Unit` keeps its library loaded on
//! its thread, so no call can reach a freed unit or an unloaded library.

use std::ffi::{CStr, CString};
use std::marker::PhantomData;
use std::ops::Range;

use clang_sys::*;

use super::unit::Unit;

/// A place in a source file. Lines and columns count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataFolders {
    /// The file.
    pub file: File,
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
    /// The byte offset.
    pub offset: u32,
}

/// A file of a unit, by libclang's handle; [`Unit`] knows its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct File(usize);

impl File {
    /// The file's path as clang has it. The file must be of a unit that is alive.
    pub(super) fn path(self, _: &Unit) -> String {
        // SAFETY: the handle is the unit's.
        text(unsafe { clang_getFileName(self.0 as CXFile) })
    }
}

/// A node of the syntax tree.
#[derive(Clone, Copy)]
pub struct Cursor<'u> {
    raw: CXCursor,
    unit: PhantomData<&'u Unit>,
}

/// A C or C++ type.
#[derive(Clone, Copy)]
pub struct Ty<'u> {
    raw: CXType,
    unit: PhantomData<&'u Unit>,
}

/// What tells one type of a unit from another.
pub type TyId = (CXTypeKind, [usize; 2]);

/// A lexical token.
#[derive(Debug, Clone)]
pub struct Token {
    /// `CXToken_Comment`, `CXToken_Literal`, ...
    pub kind: CXTokenKind,
    /// The source text.
    pub text: String,
    /// The byte offset of its first character.
    pub start: u32,
    /// The byte offset behind its last.
    pub end: u32,
}

impl<'u> Cursor<'u> {
    pub(super) fn new(raw: CXCursor, _: &'u Unit) -> Self {
        Self {
            raw,
            unit: PhantomData,
        }
    }

    fn sibling(self, raw: CXCursor) -> Self {
        Self { raw, ..self }
    }

    /// `CXCursor_StructDecl`, ...
    pub fn kind(self) -> CXCursorKind {
        self.raw.kind
    }

    /// The declared name; empty for an anonymous type.
    pub fn name(self) -> String {
        // SAFETY: the cursor's unit is alive.
        let name = text(unsafe { clang_getCursorSpelling(self.raw) });
        // Newer clangs describe an anonymous type where older ones say nothing.
        if name.contains(' ') || name.contains('(') {
            String::new()
        } else {
            name
        }
    }

    /// The children in source order.
    pub fn children(self) -> Vec<Cursor<'u>> {
        extern "C" fn push(child: CXCursor, _: CXCursor, data: CXClientData) -> CXChildVisitResult {
            // SAFETY: `data` is the vector below, borrowed for the whole visit.
            unsafe { (*data.cast::<Vec<CXCursor>>()).push(child) };
            CXChildVisit_Continue
        }
        let mut found: Vec<CXCursor> = Vec::new();
        // SAFETY: the visitor does not unwind and `found` outlives the visit.
        unsafe { clang_visitChildren(self.raw, push, (&raw mut found).cast()) };
        found.into_iter().map(|raw| self.sibling(raw)).collect()
    }

    /// The type it has or declares.
    pub fn ty(self) -> Ty<'u> {
        // SAFETY: the cursor's unit is alive.
        self.typed(unsafe { clang_getCursorType(self.raw) })
    }

    /// The right-hand side of a typedef.
    pub fn aliased(self) -> Ty<'u> {
        // SAFETY: the cursor's unit is alive.
        self.typed(unsafe { clang_getTypedefDeclUnderlyingType(self.raw) })
    }

    /// The integer type of an enumeration.
    pub fn enum_integer(self) -> Ty<'u> {
        // SAFETY: the cursor's unit is alive.
        self.typed(unsafe { clang_getEnumDeclIntegerType(self.raw) })
    }

    fn typed(self, raw: CXType) -> Ty<'u> {
        Ty {
            raw,
            unit: PhantomData,
        }
    }

    /// The value of an enumerator.
    pub fn enum_value(self) -> i64 {
        // SAFETY: the cursor's unit is alive.
        unsafe { clang_getEnumConstantDeclValue(self.raw) }
    }

    /// The value of a constant's initializer, if it is an integer.
    pub fn initial_value(self) -> Option<i64> {
        // SAFETY: the cursor's unit is alive; the result is disposed once, and null is allowed.
        unsafe {
            let result = clang_Cursor_Evaluate(self.raw);
            let is_int = clang_EvalResult_getKind(result) == CXEval_Int;
            let value = is_int.then(|| clang_EvalResult_getAsLongLong(result));
            clang_EvalResult_dispose(result);
            value
        }
    }

    /// Whether this declaration is also the definition.
    pub fn is_definition(self) -> bool {
        // SAFETY: the cursor's unit is alive.
        unsafe { clang_isCursorDefinition(self.raw) != 0 }
    }

    /// Whether any declaration of it is a definition.
    pub fn is_defined(self) -> bool {
        // SAFETY: the cursor's unit is alive; the null cursor is a value.
        unsafe { clang_Cursor_isNull(clang_getCursorDefinition(self.raw)) == 0 }
    }

    /// Whether a field is a bit-field.
    pub fn is_bit_field(self) -> bool {
        // SAFETY: the cursor's unit is alive.
        unsafe { clang_Cursor_isBitField(self.raw) != 0 }
    }

    /// Whether this is a struct or union without name whose members count as the parent's own.
    pub fn is_nameless_member(self) -> bool {
        // SAFETY: the cursor's unit is alive.
        unsafe { clang_Cursor_isAnonymousRecordDecl(self.raw) != 0 }
    }

    /// Whether a macro takes arguments.
    pub fn is_function_like(self) -> bool {
        // SAFETY: the cursor's unit is alive.
        unsafe { clang_Cursor_isMacroFunctionLike(self.raw) != 0 }
    }

    /// Whether a function is declared `inline`.
    pub fn is_inline(self) -> bool {
        // SAFETY: the cursor's unit is alive.
        unsafe { clang_Cursor_isFunctionInlined(self.raw) != 0 }
    }

    /// Where a field starts in its record, in bits.
    pub fn field_offset(self) -> i64 {
        // SAFETY: the cursor's unit is alive.
        unsafe { clang_Cursor_getOffsetOfField(self.raw) }
    }

    /// The parameters of a function.
    pub fn arguments(self) -> Vec<Cursor<'u>> {
        // SAFETY: the cursor's unit is alive; a negative count means none.
        let count = unsafe { clang_Cursor_getNumArguments(self.raw) }.max(0);
        (0..count as u32)
            // SAFETY: the index is below the count.
            .map(|index| self.sibling(unsafe { clang_Cursor_getArgument(self.raw, index) }))
            .collect()
    }

    /// The symbol an object file has for it.
    pub fn symbol(self) -> String {
        // SAFETY: the cursor's unit is alive.
        text(unsafe { clang_Cursor_getMangling(self.raw) })
    }

    /// Where the name stands.
    pub fn place(self) -> Option<DataFolders> {
        // SAFETY: the cursor's unit is alive.
        expansion(unsafe { clang_getCursorLocation(self.raw) })
    }

    /// From the first to one past the last character.
    pub fn extent(self) -> Option<Range<DataFolders>> {
        // SAFETY: the cursor's unit is alive.
        span(unsafe { clang_getCursorExtent(self.raw) })
    }

    /// The tokens it is made of.
    pub fn tokens(self) -> Vec<Token> {
        // SAFETY: the cursor's unit is alive.
        let (unit, range) = unsafe {
            (
                clang_Cursor_getTranslationUnit(self.raw),
                clang_getCursorExtent(self.raw),
            )
        };
        tokens(unit, range)
    }
}

impl<'u> Ty<'u> {
    fn other(self, raw: CXType) -> Self {
        Self { raw, ..self }
    }

    /// Equal for equal types.
    pub fn id(self) -> TyId {
        (self.raw.kind, self.raw.data.map(|one| one as usize))
    }

    /// `CXType_Pointer`, ...
    pub fn kind(self) -> CXTypeKind {
        self.raw.kind
    }

    /// As C spells it.
    pub fn spelling(self) -> String {
        // SAFETY: the type's unit is alive.
        text(unsafe { clang_getTypeSpelling(self.raw) })
    }

    /// With every typedef resolved.
    pub fn canonical(self) -> Self {
        // SAFETY: the type's unit is alive.
        self.other(unsafe { clang_getCanonicalType(self.raw) })
    }

    /// Without the word `struct` or the like before it, spoken or not.
    pub fn bare(self) -> Self {
        match self.raw.kind {
            // SAFETY: the type's unit is alive.
            CXType_Elaborated => self
                .other(unsafe { clang_Type_getNamedType(self.raw) })
                .bare(),
            _ => self,
        }
    }

    /// What a pointer points to.
    pub fn pointee(self) -> Self {
        // SAFETY: the type's unit is alive.
        self.other(unsafe { clang_getPointeeType(self.raw) })
    }

    /// The element of an array.
    pub fn element(self) -> Self {
        // SAFETY: the type's unit is alive.
        self.other(unsafe { clang_getArrayElementType(self.raw) })
    }

    /// The length of an array; negative where it has none.
    pub fn array_len(self) -> i64 {
        // SAFETY: the type's unit is alive.
        unsafe { clang_getArraySize(self.raw) }
    }

    /// What a function returns.
    pub fn result(self) -> Self {
        // SAFETY: the type's unit is alive.
        self.other(unsafe { clang_getResultType(self.raw) })
    }

    /// What a function takes.
    pub fn arguments(self) -> Vec<Self> {
        // SAFETY: the type's unit is alive; a negative count means none.
        let count = unsafe { clang_getNumArgTypes(self.raw) }.max(0);
        (0..count as u32)
            // SAFETY: the index is below the count.
            .map(|index| self.other(unsafe { clang_getArgType(self.raw, index) }))
            .collect()
    }

    /// Whether a function takes `...`.
    pub fn is_variadic(self) -> bool {
        // SAFETY: the type's unit is alive.
        unsafe { clang_isFunctionTypeVariadic(self.raw) != 0 }
    }

    /// Whether it is `const` at the top.
    pub fn is_const(self) -> bool {
        // SAFETY: the type's unit is alive.
        unsafe { clang_isConstQualifiedType(self.raw) != 0 }
    }

    /// The cursor that declares it.
    pub fn declaration(self) -> Cursor<'u> {
        // SAFETY: the type's unit is alive.
        let raw = unsafe { clang_getTypeDeclaration(self.raw) };
        Cursor {
            raw,
            unit: PhantomData,
        }
    }

    /// `sizeof`; negative where it has none.
    pub fn size(self) -> i64 {
        // SAFETY: the type's unit is alive.
        unsafe { clang_Type_getSizeOf(self.raw) }
    }

    /// Where the member called `name` starts, those of nameless members included, in bits; negative
    /// where there is none.
    pub fn offset_of(self, name: &str) -> i64 {
        let Ok(name) = CString::new(name) else {
            return -1;
        };
        // SAFETY: the type's unit is alive, and the name ends in NUL.
        unsafe { clang_Type_getOffsetOf(self.raw, name.as_ptr()) }
    }

    /// `alignof`; negative where it has none.
    pub fn align(self) -> i64 {
        // SAFETY: the type's unit is alive.
        unsafe { clang_Type_getAlignOf(self.raw) }
    }
}

/// Takes over a libclang string.
pub(super) fn text(raw: CXString) -> String {
    // SAFETY: `raw` is disposed once, after its bytes were copied; a null string is allowed.
    unsafe {
        let bytes = clang_getCString(raw);
        let copy = match bytes.is_null() {
            true => String::new(),
            false => copy(CStr::from_ptr(bytes)),
        };
        clang_disposeString(raw);
        copy
    }
}

fn copy(text: &CStr) -> String {
    match text.to_str() {
        Ok(text) => text.into(),
        Err(_) => text.to_string_lossy().into_owned(),
    }
}

/// Where the text that a location expands to was written; none for built-in text.
pub(super) fn expansion(location: CXSourceLocation) -> Option<DataFolders> {
    // SAFETY: plain out-parameters.
    place(|file, line, column, offset| unsafe {
        clang_getExpansionLocation(location, file, line, column, offset);
    })
}

fn place(read: impl FnOnce(*mut CXFile, *mut u32, *mut u32, *mut u32)) -> Option<DataFolders> {
    let mut file: CXFile = std::ptr::null_mut();
    let (mut line, mut column, mut offset) = (0, 0, 0);
    read(&mut file, &mut line, &mut column, &mut offset);
    if file.is_null() {
        return None;
    }
    Some(DataFolders {
        file: File(file as usize),
        line,
        column,
        offset,
    })
}

fn span(range: CXSourceRange) -> Option<Range<DataFolders>> {
    // SAFETY: plain values.
    let (start, end) = unsafe { (clang_getRangeStart(range), clang_getRangeEnd(range)) };
    Some(expansion(start)?..expansion(end)?)
}

/// The tokens of a range.
pub(super) fn tokens(unit: CXTranslationUnit, range: CXSourceRange) -> Vec<Token> {
    let mut raw: *mut CXToken = std::ptr::null_mut();
    let mut count = 0;
    // SAFETY: libclang hands out an array of `count` tokens, read here and disposed below.
    unsafe {
        clang_tokenize(unit, range, &mut raw, &mut count);
        if raw.is_null() {
            return Vec::new();
        }
        let all = std::slice::from_raw_parts(raw, count as usize);
        let copy = all.iter().filter_map(|one| token(unit, *one)).collect();
        clang_disposeTokens(unit, raw, count);
        copy
    }
}

fn token(unit: CXTranslationUnit, raw: CXToken) -> Option<Token> {
    // SAFETY: `raw` is one of `unit`'s tokens, not yet disposed.
    unsafe {
        let range = span(clang_getTokenExtent(unit, raw))?;
        Some(Token {
            kind: clang_getTokenKind(raw),
            text: text(clang_getTokenSpelling(unit, raw)),
            start: range.start.offset,
            end: range.end.offset,
        })
    }
}
