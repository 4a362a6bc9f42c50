//! What the macros and the types say to an author who got something wrong.

#[test]
fn errors_are_for_a_person() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
