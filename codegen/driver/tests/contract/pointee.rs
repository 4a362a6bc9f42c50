//! Owned types whose values are pointers to a struct.

use super::*;

const HEADER: &str = "#include <stddef.h>\n\
    typedef enum st { ST_OK, ST_BAD } st;\n\
    typedef struct dev dev;\n\
    typedef dev dev_alias;\n\
    typedef dev *dev_h;\n\
    typedef const dev *dev_view;\n\
    typedef struct buf_tag buf;\n\
    typedef struct def { int a; } def;\n\
    typedef struct passed { int a; } passed;\n\
    typedef void any;\n\
    typedef struct { int a; dev *owner; } with_dev;\n\
    typedef struct { int a; dev_view owner; } with_view;\n\
    typedef struct { def all[2]; } with_def;\n\
    st dev_open(int ordinal, dev **out);\n\
    st dev_open_const(int ordinal, const dev **out);\n\
    st dev_open_h(int ordinal, dev_h *out);\n\
    dev *dev_make(int ordinal);\n\
    dev_h dev_make_h(int ordinal);\n\
    void dev_close(dev *d);\n\
    void dev_close_h(dev_h d);\n\
    st dev_use(const dev *d, int value);\n\
    st dev_use_h(dev_h d, dev_alias *other);\n\
    st dev_use_view(dev_view d);\n\
    st dev_list(dev *const *devices, size_t count);\n\
    st dev_bytes(const dev *from, size_t bytes);\n\
    st dev_in(const with_dev *p);\n\
    st dev_view_in(const with_view *p);\n\
    st dev_inout(with_dev *p);\n\
    st dev_call(dev *d, void (*f)(void*), void* data);\n\
    st dev_put(dev *d, const void *from, size_t bytes);\n\
    st buf_make(dev *d, size_t bytes, buf **out);\n\
    void buf_free(struct buf_tag *b);\n\
    st buf_fill(buf *b, int value);\n\
    st def_get(def *out);\n\
    st def_set(const def *in);\n\
    st def_all(const with_def *in);\n\
    def *def_make(dev *d);\n\
    st def_free(dev *d, def *it);\n\
    st passed_free(passed *it);\n\
    st passed_by_value(passed it);\n\
    any *any_make(void);\n\
    void any_free(any *it);\n\
    st any_use(any *it, void *other);\n";

fn contract(owned: &str, functions: &str) -> String {
    format!(
        "threads = \"any\"\nhost_function = \"dev_call\"\n[owned]\n{owned}\n[functions]\n\
        dev_call = {{ f = \"function data\" }}\n{functions}\n"
    )
}

const OWNED: &str = "dev = { destroy = \"dev_close\" }\nbuf = { destroy = \"buf_free\" }\n\
    def = { destroy = \"def_free\" }\nany = { destroy = \"any_free\" }";

#[test]
fn pointers_to_an_owned_struct_are_its_handles() {
    let functions = "dev_open = { out = \"new\" }\ndev_open_const = { out = \"new\" }\n\
        dev_open_h = { out = \"new\" }\ndev_make = { return = \"new\" }\ndev_make_h = { return = \"new dev\" }\n\
        dev_use = {}\ndev_use_h = {}\ndev_use_view = {}\n\
        dev_put = { from = \"source bytes\" }\nbuf_make = { out = \"new\" }\nbuf_fill = {}\n\
        def_make = { return = \"new\" }\nany_make = { return = \"new\" }\nany_use = { other = \"address\" }";
    let Some(bindings) = bind_text_with(HEADER, &contract(OWNED, functions)) else {
        return;
    };
    let bindings = bindings.unwrap();
    assert!(bindings.never_created.is_empty());
    let code = "use driver::{self as raw, safe};
        fn check<T: Send + Sync + Clone>() {}
        fn uses(driver: safe::Driver) -> raw::Result<()> {
            let device: safe::dev = driver.dev_open(0)?;
            let other: safe::dev = driver.dev_open_const(0)?;
            let _: (safe::dev, safe::dev) = (driver.dev_open_h(0)?, driver.dev_make(0)?);
            let _: safe::dev = driver.dev_make_h(0)?;
            device.dev_use(7)?;
            device.dev_use_h(&other)?;
            other.dev_use_view()?;
            device.dev_put([1_u8])?;
            device.dev_call(|| ())?;
            let buffer: safe::buf = device.buf_make(4)?;
            buffer.buf_fill(1)?;
            let _: &safe::dev = buffer.dev();
            let _: *mut raw::dev = device.handle();
            let _: *mut raw::def = device.def_make()?.handle();
            driver.any_make()?.any_use(device.handle() as usize)
        }
        fn main() {
            check::<(safe::dev, safe::buf, safe::def, safe::any)>();
            let _ = uses;
        }";
    compile(&bindings.text, code);
}

#[test]
fn pointers_to_a_struct_are_handles_of_its_owned_typedef() {
    let owned = "dev_h = { destroy = \"dev_close\" }\nbuf = {}";
    let functions = "dev_open = { out = \"new\" }\ndev_make = { return = \"new\" }\ndev_use = {}\n\
        dev_use_h = {}\nbuf_make = { out = \"new\" }\ndev_use_view = {}";
    let Some(bindings) = bind_text_with(HEADER, &contract(owned, functions)) else {
        return;
    };
    let code = "use driver::{self as raw, safe};
        fn uses(driver: safe::Driver) -> raw::Result<()> {
            let device: safe::dev_h = driver.dev_open(0)?;
            device.dev_use_h(&driver.dev_make(0)?)?;
            let _: safe::buf = device.buf_make(4)?;
            let _: raw::dev_h = device.handle();
            device.dev_use_view()?;
            device.dev_use(7)
        }
        fn main() {
            let _ = uses;
        }";
    compile(&bindings.unwrap().text, code);
}

#[test]
fn struct_that_is_not_owned_has_the_roles_of_a_value() {
    let owned = "dev = { destroy = \"dev_close\" }";
    let functions =
        "def_get = { out = \"out\" }\ndef_set = { in = \"in\" }\ndef_all = { in = \"optional\" }";
    let Some(bindings) = bind_text_with(HEADER, &contract(owned, functions)) else {
        return;
    };
    let bindings = bindings.unwrap();
    assert_eq!(bindings.never_created, ["dev"]);
    let code = "use driver::{self as raw, safe};
        fn uses(driver: safe::Driver) -> raw::Result<()> {
            let value: raw::def = driver.def_get()?;
            driver.def_set(value)
        }
        fn main() {
            let _ = uses;
        }";
    compile(&bindings.text, code);
}

/// Entries of functions that a contract with owned structs must not have, and a part of the message.
const UNSAFE: &str = r#"
dev_bytes = { from = "source bytes" }
    parameter `from` of `dev_bytes` is an owned `dev`, which cannot have the role `source bytes`
def_get = { out = "out" } | is an owned `def`, which cannot have the role `out`
def_get = { out = "inout" } | is an owned `def`, which cannot have the role `inout`
def_get = { out = "new" } | is an owned `def`, which cannot have the role `new`
def_set = { in = "in" } | is an owned `def`, which cannot have the role `in`
def_all = { in = "in" } | has an owned `def` in its value (field `all`): a safe caller could invent one
dev_list = { devices = "slice count" }
    parameter `devices` of `dev_list` has an owned `dev` in its value: a safe caller could invent one
dev_in = { p = "in" } | has an owned `dev` in its value (field `owner`): a safe caller
dev_in = { p = "optional" } | has an owned `dev` in its value (field `owner`): a safe caller
dev_view_in = { p = "in" } | has an owned `dev` in its value (field `owner`): a safe caller
dev_inout = { p = "inout" } | has an owned `dev` in its value (field `owner`): a safe caller
dev_open = { out = "new buf" } | is a pointer to `dev*`, which is no `buf`
dev_make = { return = "new buf" } | the result of `dev_make` is of the type `dev*`, which is no `buf`
dev_make = {} | the result of `dev_make` has no role
any_use = {} | parameter `other` of `any_use` is no number and no owned handle
def_free = {} | `def_free` destroys owned values
"#;

#[test]
fn safe_caller_cannot_invent_a_pointer_to_an_owned_struct() {
    for [entry, part] in rows(UNSAFE) {
        let Some(result) = bind_text_with(HEADER, &contract(OWNED, entry)) else {
            return;
        };
        let message = result.map(|_| ()).expect_err(entry).to_string();
        assert!(message.contains(part), "{entry}: {message}");
    }
}

/// Owned types, and a part of the message.
const INVALID: &str = r#"
dev = { destroy = "buf_free" } | `buf_free` takes no pointer to `dev`
dev = { destroy = "dev_use" } | `dev_use` cannot destroy an owned value
passed = { destroy = "passed_free" } | `passed` is no handle: `passed_by_value` passes the struct by value
nothing = {} | `nothing` has no `destroy`, and is no handle
dev = {}\ndev_alias = {} | `d` of `dev_call` is a value of several owned types: dev, dev_alias
"#;

#[test]
fn owned_struct_that_does_not_fit_the_header_is_an_error() {
    for [owned, part] in rows(INVALID) {
        let owned = owned.replace(r"\n", "\n");
        let Some(result) = bind_text_with(HEADER, &contract(&owned, "")) else {
            return;
        };
        let message = result.map(|_| ()).expect_err(&owned).to_string();
        assert!(message.contains(part), "{owned}: {message}");
    }
}
