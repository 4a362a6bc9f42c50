//! The bindings of `virtaccel.h`, which the tests of virtaccel use.

mod compilers;

use compilers::{has_libclang, virtaccel};
use std::fs;
use std::path::Path;

#[test]
fn bindings_of_virtaccel_equal_golden_file() {
    if !has_libclang() {
        return;
    }
    let golden =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/virtaccel/generated/bindings.rs");
    let bound = sp_driver::bindings(&virtaccel()).unwrap();
    assert_eq!(bound.status.as_deref(), Some("va_status"));
    assert_eq!(bound.left_out, []);
    if std::env::var_os("SP_BLESS").is_some() {
        fs::write(&golden, &bound.text).unwrap();
    }
    let expected = fs::read_to_string(&golden).unwrap();
    assert!(
        expected == bound.text,
        "SP_BLESS=1 writes {}",
        golden.display()
    );
}
