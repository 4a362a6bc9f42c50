//! The handle of a parse by libclang.
//!
//! The main file is a wrapper in memory. The builtin headers are ours and the target is explicit, so that the result does
//! not depend on an installed compiler.

use std::ffi::{CString, c_char};
use std::path::PathBuf;
use std::ptr;

use clang_sys::*;
use sp_data::embedded::BUILTIN_HEADERS;

use super::error::ParseError;
use super::input::{Dialect, Language, ParseInput, compiler_folder, system_folders};
use super::library::Library;
use super::string::text;

/// Virtual path of the wrapper. No file is written there.
pub const WRAPPER: &str = "/sp-gen/wrapper.cc";
/// Virtual folder of the builtin headers.
const BUILTIN: &str = "/sp-gen/builtin";

/// Returns true for the path of the wrapper or of a builtin header.
pub fn is_virtual(path: &str) -> bool {
    path == WRAPPER
        || path
            .strip_prefix(BUILTIN)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// A parsed translation unit, as libclang's handle.
pub struct TranslationUnit {
    raw: CXTranslationUnit,
    index: CXIndex,
    _library: Library,
}

impl TranslationUnit {
    /// Parses `wrapper`, which includes the headers of `input`.
    ///
    /// # Errors
    /// Returns an error if libclang is missing or returns no translation unit.
    pub fn parse(input: &ParseInput, wrapper: &str) -> Result<Self, ParseError> {
        let library = Library::load()?;
        let mut unit = Self {
            raw: ptr::null_mut(),
            // SAFETY: the library is loaded on this thread. `drop` disposes the index once.
            index: unsafe { clang_createIndex(0, 0) },
            _library: library,
        };
        unit.raw = translate(unit.index, input, wrapper)?;
        Ok(unit)
    }

    /// Returns the paths of the files that were read, as clang has them.
    pub fn included_files(&self) -> Vec<String> {
        extern "C" fn add(file: CXFile, _: *mut CXSourceLocation, _: u32, files: CXClientData) {
            // SAFETY: libclang calls this with the pointer that it was given below, while that borrow lasts. `file` is a
            // file of the unit, which is not yet disposed.
            unsafe {
                let files = &mut *files.cast::<Vec<String>>();
                files.push(text(clang_getFileName(file)));
            }
        }
        let mut files: Vec<String> = Vec::new();
        // SAFETY: the unit is not yet disposed. `add` uses the pointer during the call only.
        unsafe { clang_getInclusions(self.raw, add, ptr::from_mut(&mut files).cast()) };
        files
    }

    /// Returns libclang's handle, which is valid as long as `self` is borrowed.
    pub(super) fn as_raw(&self) -> CXTranslationUnit {
        self.raw
    }
}

impl Drop for TranslationUnit {
    fn drop(&mut self) {
        // SAFETY: `parse` created both and nothing else disposes them. The unit is disposed before its index. The
        // library is unloaded later, since fields are dropped after this.
        unsafe {
            if !self.raw.is_null() {
                clang_disposeTranslationUnit(self.raw);
            }
            clang_disposeIndex(self.index);
        }
    }
}

fn translate(
    index: CXIndex,
    input: &ParseInput,
    wrapper: &str,
) -> Result<CXTranslationUnit, ParseError> {
    let arguments: Vec<CString> = arguments(input).iter().map(|text| c_string(text)).collect();
    let arguments: Vec<*const c_char> = arguments.iter().map(|text| text.as_ptr()).collect();
    let files = unsaved(wrapper);
    let mut unsaved: Vec<CXUnsavedFile> = files
        .iter()
        .map(|(name, body)| CXUnsavedFile {
            Filename: name.as_ptr(),
            Contents: body.as_ptr(),
            Length: body.as_bytes().len() as _,
        })
        .collect();
    let name = c_string(WRAPPER);
    let mut raw = ptr::null_mut();
    // SAFETY: every pointer is that of a local value that outlives the call. libclang copies the strings it needs later.
    let code = unsafe {
        clang_parseTranslationUnit2(
            index,
            name.as_ptr(),
            arguments.as_ptr(),
            arguments.len() as _,
            unsaved.as_mut_ptr(),
            unsaved.len() as _,
            CXTranslationUnit_DetailedPreprocessingRecord | CXTranslationUnit_SkipFunctionBodies,
            &mut raw,
        )
    };
    match code {
        CXError_Success if !raw.is_null() => Ok(raw),
        code => Err(ParseError::Failed {
            target: input.target.clone(),
            code,
        }),
    }
}

fn arguments(input: &ParseInput) -> Vec<String> {
    match &input.dialect {
        Dialect::TensorFlow => tensorflow_arguments(input),
        Dialect::Driver {
            language,
            folders,
            defines,
        } => {
            let mut arguments = language_arguments(input, *language);
            arguments.extend(defines.iter().map(|define| format!("-D{define}")));
            arguments.extend(UNDEFINED.map(|name| format!("-U{name}")));
            arguments.extend(folder_arguments(&input.include_root, folders));
            // Each macro that is evaluated may have an error.
            arguments.push("-ferror-limit=0".to_owned());
            arguments
        }
    }
}

/// Macros by which headers include the compiler's headers of vector types, such as `xmmintrin.h`. No layout depends on them.
const UNDEFINED: [&str; 5] = ["__MMX__", "__SSE__", "__SSE2__", "__AVX__", "__ARM_NEON"];

fn language_arguments(input: &ParseInput, language: Language) -> Vec<String> {
    let (language, standard) = match language {
        Language::C => ("c", "-std=gnu11"),
        Language::Cpp => ("c++", "-std=c++17"),
    };
    let options = [
        "-x",
        language,
        standard,
        "-nostdinc",
        "-target",
        &input.target,
    ];
    options.map(str::to_owned).to_vec()
}

/// Returns the folders of a driver's header. The builtin headers come last: they supply what belongs to a compiler, and all
/// of the standard headers on a machine without them. What they lack is that of an installed compiler.
fn folder_arguments<'a>(
    include_root: &'a PathBuf,
    folders: &'a [PathBuf],
) -> impl Iterator<Item = String> + 'a {
    let own = std::iter::once(include_root).chain(folders).cloned();
    let own = own.map(|folder| ("-I", folder));
    let system = system_folders().into_iter();
    let system = system.chain([BUILTIN.into()]);
    let system = system.map(|folder| ("-isystem", folder));
    let compiler = compiler_folder().map(|folder| ("-idirafter", folder));
    let folders = own.chain(system).chain(compiler);
    folders.flat_map(|(option, folder)| [option.to_owned(), folder.to_string_lossy().into_owned()])
}

fn tensorflow_arguments(input: &ParseInput) -> Vec<String> {
    let root = input.include_root.to_string_lossy().into_owned();
    [
        "-x",
        "c++",
        "-std=c++17",
        "-nostdinc",
        "-isystem",
        BUILTIN,
        "-I",
        &root,
        // Static assertions take a third of the time for PJRT's headers. A failed one changes no layout, and a lint
        // reports a wrong `struct_size`.
        "-Dstatic_assert(...)=",
        "-target",
        &input.target,
    ]
    .map(String::from)
    .to_vec()
}

fn unsaved(wrapper: &str) -> Vec<(CString, CString)> {
    let builtin = BUILTIN_HEADERS
        .iter()
        .map(|(name, body)| (c_string(&format!("{BUILTIN}/{name}")), c_string(body)));
    // C++ has `cstddef` for `stddef.h`.
    let cpp = BUILTIN_HEADERS.iter().filter_map(|(name, _)| {
        let stem = name.strip_suffix(".h")?;
        let body = c_string(&format!("#include <{name}>\n"));
        Some((c_string(&format!("{BUILTIN}/c{stem}")), body))
    });
    std::iter::once((c_string(WRAPPER), c_string(wrapper)))
        .chain(builtin)
        .chain(cpp)
        .collect()
}

/// Returns `text` as a C string, cut at the first NUL. Our own texts contain none.
fn c_string(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_default()
}
