//! Golden files of the error messages that macros and types give an author.

#[test]
fn error_messages_match_golden_files() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}
