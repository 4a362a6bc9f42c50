//! The bindings of `virtaccel.h`, which the tests of virtaccel use.

mod compilers;

use compilers::{has_libclang, virtaccel};
use sp_tests::assert_golden;

#[test]
fn bindings_of_virtaccel_equal_golden_file() {
    if !has_libclang() {
        return;
    }
    let bound = sp_driver::bindings(&virtaccel()).unwrap();
    assert_eq!(bound.status.as_deref(), Some("va_status"));
    assert_eq!(bound.left_out, []);
    assert_golden("tests/virtaccel/generated/bindings.rs", &bound.text);
}
