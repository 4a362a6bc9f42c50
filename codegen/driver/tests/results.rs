//! Functions whose negative values are errors, and whose others are results: `--driver-status int>=0`.

mod compilers;

use compilers::{bind_with_status, compile, has_libclang, library_of_c, options};
use sp_driver::{Contract, DriverError, Options};

const HEADER: &str = "#include <stddef.h>\n\
    enum { U_LATER = -2 };\n\
    typedef struct u_list u_list;\n\
    typedef enum kind { KIND_A } kind;\n\
    int u_init(u_list **out);\n\
    void u_exit(u_list *list);\n\
    int u_count(u_list *list, int is_failing);\n\
    int u_ready(const u_list *list, int value);\n\
    unsigned u_flags(void);\n\
    kind u_kind(void);\n\
    int u_call(u_list *list, void (*f)(void*), void *data);\n\
    int u_put(u_list *list, const void *from, size_t bytes);\n";

const CODE: &str = "struct u_list { int count; };\n\
    static u_list list;\n\
    int u_init(u_list **out) { *out = &list; return 7; }\n\
    void u_exit(u_list *it) {}\n\
    int u_count(u_list *it, int is_failing) { return is_failing ? -5 : 3; }\n\
    int u_ready(const u_list *it, int value) { return value; }\n\
    unsigned u_flags(void) { return 4000000000u; }\n\
    kind u_kind(void) { return KIND_A; }\n\
    int u_call(u_list *it, void (*f)(void*), void *data) { f(data); return 1; }\n\
    int u_put(u_list *it, const void *from, size_t bytes) { return 0; }\n";

const CONTRACT: &str = r#"threads = "any"
host_function = "u_call"
[owned]
u_list = { destroy = "u_exit" }
[functions]
u_init = { out = "new" }
u_count = {}
u_ready = { return = "false U_LATER" }
u_flags = {}
u_kind = {}
u_call = { f = "function data" }
"#;

/// Binds the header with `--driver-status` and a contract.
fn bind(status: &str, contract: &str, folder: &std::path::Path) -> Result<String, DriverError> {
    let header = folder.join("list.h");
    std::fs::write(&header, HEADER).unwrap();
    let bindings = sp_driver::bindings(&Options {
        status: Some(status.parse().unwrap()),
        contract: Some(Contract::parse("list.toml", contract)?),
        ..options(&header)
    });
    bindings.map(|it| it.text)
}

#[test]
fn negative_value_is_an_error_and_others_are_the_result() {
    if !has_libclang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let bindings = bind("int>=0", CONTRACT, folder.path()).unwrap();
    let code = format!(
        "#include \"{}\"\n{CODE}",
        folder.path().join("list.h").display()
    );
    let library = library_of_c(&code, folder.path());
    let program = "use driver::{self as raw, safe};
        fn main() {
            let driver = safe::Driver::get(&[]).expect(\"the library\");
            let (result, list): (i32, safe::u_list) = driver.u_init().unwrap();
            assert_eq!((result, list.u_count(0)), (7, Ok(3)));
            let error: raw::Error = list.u_count(1).unwrap_err();
            assert_eq!((error.status(), error.to_string()), (Some(-5), \"u_count: status -5\".to_owned()));
            assert_eq!((list.u_ready(0), list.u_ready(9), list.u_ready(-2)), (Ok(true), Ok(true), Ok(false)));
            assert!(list.u_ready(-1).is_err());
            assert_eq!((driver.u_flags(), driver.u_kind()), (Ok(4000000000), Ok(raw::kind::KIND_A)));
            assert_eq!(list.u_call(|| ()), Ok(1));
            let raw_driver = raw::Driver::get(&[]).unwrap();
            // SAFETY: the list is alive.
            let count: raw::Result<i32> = unsafe { raw_driver.u_count(list.handle(), 0) };
            assert_eq!(count, Ok(3));
            // SAFETY: as above, and the bytes are valid during the call.
            assert_eq!(unsafe { raw_driver.u_put(list.handle(), [1_u8].as_ptr().cast(), 1) }, Ok(0));
        }";
    let built = compile(&bindings, program);
    let mut command = std::process::Command::new(built.path().join("program"));
    let output = command.env("LIST_LIBRARY", library).output();
    compilers::assert_success(&output.expect("the program runs"));
}

#[test]
fn host_memory_needs_a_status_without_results() {
    if !has_libclang() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let contract = CONTRACT.to_owned() + "u_put = { from = \"source bytes\" }\n";
    let error = bind("int>=0", &contract, folder.path()).unwrap_err();
    let help = miette::Diagnostic::help(&error).unwrap().to_string();
    assert!(
        error.to_string().contains("needs a status as the result"),
        "{error}"
    );
    assert_eq!(help, "`u_put` returns a result of `--driver-status int>=0`");
}

#[test]
fn type_without_negative_values_has_no_results() {
    for ty in ["unsigned>=0", "uint32_t >= 0", "kind>=0"] {
        let Some(result) = bind_with_status(HEADER, Some(ty)) else {
            return;
        };
        let error = result.unwrap_err().to_string();
        let parts = [
            "is no signed integer in demo.h",
            "no function returns `unsigned`",
        ];
        assert!(parts.iter().any(|part| error.contains(part)), "{error}");
    }
}
