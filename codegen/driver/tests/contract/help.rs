//! The help of an error is that of its kind.

use super::owned::{MEMORY_CONTRACT, header_of_memory};
use super::*;

/// A line of the contract, its replacement, and a part of the help.
const HELPS: &str = r#"
count = {} | coutn = {} | did you mean `count`?
count = {} | zzz = {} | the functions are those of the header
count = {} | q_print = {} | `q_print` is left out: it takes a variable number of arguments
host_function = "q_call" | host_function = "q_cal" | did you mean `q_call`?
destroy = "q_destroy" | destroy = "q_destory" | did you mean `q_destroy`?
destroy = "q_destroy" | destroy = "dev_close"
    the declaration is `st dev_close(dev d)`; an owned type is a handle, a struct behind pointers or a typedef
kernel = {} | st = {} | an owned type is a handle, a struct behind pointers or a typedef
name = "text size" | nam = "text size"
    did you mean `name`?\nthe declaration is `st q_name(q queue, char* name, size_t size)`
name = "text size" | name = "text siz"
    did you mean `size`?\nthe parameter of `q_name` that is a number is `size`; the declaration is
to = "target bytes" | to = "target len" | that is a number is `bytes`; the declaration is
values = "slice count" | values = "slice coun" | did you mean `count`?
count = {} | q_with = { p = "in" }
    leave `q_with` out of [functions], and call the `unsafe` method `q_with` of `driver::Driver`
size_field = "size" | size_field = "sise" | did you mean `size`?
size_field = "size" | size_field = "zzz" | remove it if the driver has none
name = "text size" | name = "txt size" | did you mean `text`?\nthe roles of a parameter are
return = "false ST_LATER" | return = "false ST_LATR" | did you mean `ST_LATER`?
count = {} | count = { return = "false ST_LATER" }
    the roles of a result are `return = "string"`, `return = "new"`, `return = "new NAME"` and `return = "false VALUE"`; `count` returns `int`
host_function = "q_call" |
    `host_function = "FUNCTION"` names the function that enqueues a host function
count = {} | put_two = { from = "source bytes" } | the first parameter of `q_call` is the queue
"#;

#[test]
fn help_is_that_of_the_error() {
    let header = HEADER.to_owned() + "st q_print(q queue, const char* format, ...);\n";
    for [line, replacement, part] in rows(HELPS) {
        let contract = CONTRACT.replacen(line, replacement, 1);
        let Some(result) = bind_text_with(&header, &contract) else {
            return;
        };
        let help = help(&result.unwrap_err());
        let part = part.replace(r"\n", "\n");
        assert!(help.contains(&part), "{replacement}: {help}");
    }
}

fn help(error: &DriverError) -> String {
    miette::Diagnostic::help(error).map_or_else(String::new, |help| help.to_string())
}

#[test]
fn status_that_is_int_is_named_by_the_help() {
    let header = "#include <stddef.h>\n\
        typedef struct q_st* q;\n\
        int q_destroy(q queue);\n\
        int q_call(q queue, void (*f)(void*), void* data);\n\
        int q_put(q queue, const void* from, size_t bytes);\n";
    let contract = "threads = \"any\"\nhost_function = \"q_call\"\n\
        [owned]\nq = { destroy = \"q_destroy\" }\n\
        [functions]\nq_call = { f = \"function data\" }\nq_put = { from = \"source bytes\" }\n";
    let Some(result) = bind_text_with(header, contract) else {
        return;
    };
    let error = result.unwrap_err();
    let expected = "`q_put` returns `int`; if that is a status, state `--driver-status int`";
    assert_eq!(help(&error), expected, "{error}");
}

#[test]
fn help_of_a_type_that_the_destroying_function_does_not_take_names_its_typedef() {
    let owned = "memory = { type = \"void*\", destroy = \"mem_free\" }";
    let contract = MEMORY_CONTRACT.replace("OWNED", owned);
    let Some(result) = bind_text_with(&header_of_memory("uint64_t ptr"), &contract) else {
        return;
    };
    let help = help(&result.unwrap_err());
    assert!(help.starts_with("state `type = \"ptr\"`; "), "{help}");
}

#[test]
fn help_of_an_enumeration_that_no_function_returns_names_int() {
    let header = "typedef enum err { ERR_OK, ERR_BAD } err;\nstruct s { int a; };\n\
        int first(void);\nint second(void);\nvoid third(err it, struct s *s);\n";
    for (status, expected) in [
        (
            "err",
            "the functions return `int` (2 functions); if those with `int` return values of `err`, state `--driver-status int`, \
            or `int=NAME` if `NAME` means success",
        ),
        ("s", "the functions return `int` (2 functions)"),
    ] {
        let Some(result) = compilers::bind_with_status(header, Some(status)) else {
            return;
        };
        assert_eq!(help(&result.unwrap_err()), expected);
    }
}
