//! Clang's errors.

use clang_sys::*;

use super::cursor::{Position, expansion};
use super::string::text;
use super::translation_unit::TranslationUnit;

/// An error that clang reports.
#[derive(Debug)]
pub struct ClangDiagnostic {
    /// The message.
    pub message: String,
    /// The position, or `None` for the command line.
    pub position: Option<Position>,
    /// The positions of its notes, such as of the bracket that is not closed.
    pub notes: Vec<Position>,
}

/// Returns the errors of a parse.
pub fn errors(unit: &TranslationUnit) -> Vec<ClangDiagnostic> {
    // SAFETY: the unit is parsed and not yet disposed.
    let count = unsafe { clang_getNumDiagnostics(unit.as_raw()) };
    (0..count).filter_map(|index| error(unit, index)).collect()
}

fn error(unit: &TranslationUnit, index: u32) -> Option<ClangDiagnostic> {
    // SAFETY: the index is less than the count. The diagnostic is disposed once, before its unit.
    unsafe {
        let diagnostic = clang_getDiagnostic(unit.as_raw(), index);
        let is_error = clang_getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error;
        let found = is_error.then(|| ClangDiagnostic {
            message: text(clang_getDiagnosticSpelling(diagnostic)),
            position: expansion(clang_getDiagnosticLocation(diagnostic)),
            notes: notes(diagnostic),
        });
        clang_disposeDiagnostic(diagnostic);
        found
    }
}

/// Returns the positions of a diagnostic's notes.
///
/// # Safety
/// - `diagnostic` is not yet disposed.
unsafe fn notes(diagnostic: CXDiagnostic) -> Vec<Position> {
    // SAFETY: the caller's diagnostic owns its notes, and each index is less than their number.
    unsafe {
        let notes = clang_getChildDiagnostics(diagnostic);
        let count = clang_getNumDiagnosticsInSet(notes);
        let note = |index| {
            expansion(clang_getDiagnosticLocation(clang_getDiagnosticInSet(
                notes, index,
            )))
        };
        (0..count).filter_map(note).collect()
    }
}
