//! Tests that parse C headers are skipped without libclang.

/// Returns true if headers can be parsed. Otherwise prints that the test is skipped.
pub fn has_libclang() -> bool {
    let library = sp_parse::clang::Library::load();
    if let Err(missing) = &library {
        eprintln!("skipped: no libclang: {missing}");
    }
    library.is_ok()
}
