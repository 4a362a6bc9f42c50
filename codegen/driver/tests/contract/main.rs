//! Contracts of drivers: the safe methods for each role, and errors.

#[path = "../compilers/mod.rs"]
mod compilers;
mod help;
mod owned;
mod pointee;
mod values;

use compilers::{bind, compile, has_libclang, options};
use sp_driver::{Bindings, Contract, DriverError, Options};
use sp_tests::rows;

const HEADER: &str = "#include <stddef.h>\n\
    #include <stdint.h>\n\
    typedef enum st { ST_OK, ST_LATER, ST_BAD } st;\n\
    typedef struct dev_st* dev;\n\
    typedef struct q_st* q;\n\
    typedef struct { size_t size; int value; } info;\n\
    st dev_open(int ordinal, dev* out);\n\
    st dev_close(dev d);\n\
    st q_create(dev d, const info* options, q* out);\n\
    st q_destroy(q queue);\n\
    st q_call(q queue, void (*f)(void*), void* data);\n\
    st q_put(q queue, void* to, const void* from, size_t bytes);\n\
    st q_get(q queue, void* to, const void* from, unsigned bytes);\n\
    st q_name(q queue, char* name, size_t size);\n\
    st q_ready(q queue);\n\
    st q_values(q queue, const int* values, unsigned char count, const char* name, void* hint);\n\
    st mem_alloc(dev d, size_t bytes, void** out);\n\
    st mem_free(dev d, void* memory);\n\
    const char* text(st status);\n\
    int count(void);\n\
    typedef unsigned long long devptr;\n\
    st q_pair(q queue, const int* a, const int* b, size_t n);\n\
    st q_odd(q queue, const int* a, const char* name);\n\
    st q_fill(q queue, devptr to, unsigned value, uintptr_t from);\n\
    struct ctx;\n\
    typedef struct ctx context;\n\
    typedef void nothing;\n\
    st ctx_init(struct ctx* p);\n\
    st ctx_alias(context* p);\n\
    st ctx_nothing(nothing* p);\n\
    st ctx_read(const context* p, size_t count);\n\
    st ctx_peek(const nothing* p);\n\
    st mem_share(dev first, dev second, void** out);\n\
    typedef struct { union { info a; int b; } either; } hidden;\n\
    st q_hidden(const hidden* p);\n\
    typedef struct { unsigned size : 7; } bits;\n\
    st q_bits(const bits* p);\n\
    st q_devices(q queue, const dev* devices, size_t count);\n\
    typedef struct { int a; union { int b; dev d[2]; } either; } with_device;\n\
    st q_with(q queue, const with_device* p);\n\
    st with_inout(with_device* p);\n\
    st info_in(const info* p);\n\
    typedef struct k_st* kernel;\n\
    st k_find(q queue, const char* name, kernel* out);\n\
    st k_run(kernel k, int count, q queue);\n\
    st put_last(devptr to, const void* from, size_t bytes, q queue);\n\
    st get_last(void* to, devptr from, size_t bytes, q queue);\n\
    st put_two(const void* from, size_t bytes, q first, q second);\n";

const CONTRACT: &str = r#"threads = "any"
size_field = "size"
host_function = "q_call"
[owned]
dev = { destroy = "dev_close" }
q = { destroy = "q_destroy" }
kernel = {}
memory = { type = "void*", destroy = "mem_free" }
[functions]
dev_open = { out = "new" }
q_create = { options = "optional", out = "new" }
q_call = { f = "function data" }
q_put = { to = "address", from = "source bytes" }
q_get = { to = "target bytes", from = "address" }
q_name = { name = "text size" }
q_ready = { return = "false ST_LATER" }
q_values = { values = "slice count", name = "string", hint = "null" }
mem_alloc = { out = "new memory" }
text = { return = "string" }
count = {}
q_fill = { to = "address", from = "address" }
k_find = { name = "string", out = "new" }
k_run = {}
put_last = { to = "address", from = "source bytes" }
get_last = { to = "target bytes", from = "address" }
"#;

/// Binds `HEADER` with a contract. `None` without libclang.
fn bind_with(contract: &str) -> Option<Result<Bindings, DriverError>> {
    bind_text_with(HEADER, contract)
}

/// Binds a header with a contract. `None` without libclang.
fn bind_text_with(text: &str, contract: &str) -> Option<Result<Bindings, DriverError>> {
    if !has_libclang() {
        return None;
    }
    let folder = tempfile::tempdir().unwrap();
    let header = folder.path().join("demo.h");
    std::fs::write(&header, text).unwrap();
    let contract = Contract::parse("demo.toml", contract);
    Some(contract.and_then(|contract| {
        sp_driver::bindings(&Options {
            contract: Some(contract),
            ..options(&header)
        })
    }))
}

#[test]
fn roles_give_owned_types_slices_and_closures() {
    let Some(bindings) = bind_with(CONTRACT) else {
        return;
    };
    let bindings = bindings.unwrap();
    assert_eq!(bindings.safe_functions.len(), 16);
    let code = "use driver::{self as raw, safe};
        use std::ffi::CStr;
        fn check<T: Send + Sync + Clone>() {}
        fn uses(driver: safe::Driver) -> raw::Result<()> {
            let device: safe::dev = driver.dev_open(0)?;
            let queue: safe::q = device.q_create(Some(raw::info::default()))?;
            let memory: safe::memory = device.mem_alloc(4)?;
            queue.q_call(|| ())?;
            queue.q_put(memory.address(), [1_u8, 2])?;
            queue.q_fill(memory.address(), 7, memory.address())?;
            queue.q_get(|bytes: Vec<u8>| drop(bytes), memory.address(), 4_usize)?;
            let _: String = queue.q_name()?;
            let _: bool = queue.q_ready()?;
            queue.q_values(&[1, 2], c\"x\")?;
            let _: Option<&'static CStr> = driver.text(raw::st::ST_OK)?;
            let _: i32 = driver.count()?;
            let _: &safe::dev = queue.dev();
            let kernel: safe::kernel = queue.k_find(c\"k\")?;
            kernel.k_run(1, &queue)?;
            let _: &safe::q = kernel.q();
            driver.put_last(memory.address(), [1_u8, 2], &queue)?;
            driver.get_last(|bytes: Vec<u8>| drop(bytes), memory.address(), 4_usize, &queue)?;
            Ok(())
        }
        fn main() {
            check::<(safe::dev, safe::q, safe::memory, safe::kernel)>();
            let _ = uses;
        }";
    compile(&bindings.text, code);
}

#[test]
fn bindings_without_contract_have_no_safe_methods() {
    let Some(bindings) = bind(HEADER) else { return };
    assert!(bindings.safe_functions.is_empty() && !bindings.text.contains("mod safe"));
}

/// A line of the contract, its replacement, and a part of the message.
const INVALID: &str = r#"
threads = "any" | | missing field `threads`
threads = "any" | threads = "one" | unknown variant `one`
size_field | sizefield | unknown field `sizefield`
count = {} | counts = {} | the header has no function `counts` that is bound
q_ready = { | q_ready = { queues = "out", | `q_ready` has no parameter `queues`
return = "false ST_LATER" | return = "false ST_NEVER" | the header has no value `ST_NEVER`
name = "text size" | name = "text sizes" | has no parameter `sizes`
name = "text size" | name = "texts" | has no role `texts`
name = "text size" | size = "out" | parameter `size` of `q_name` is no pointer
hint = "null" | hint = "inout" | is a pointer to a type without a size
q_name = { name = "text size" } | with_inout = { p = "inout" }
    parameter `p` of `with_inout` has a handle in its value (field `either.d`): a safe caller could invent one
q_name = { name = "text size" } | info_in = { p = "inout" }
    is a pointer to a const value: expected `in`, `optional`
size_field = "size" | size_field = "sise"
    no struct of the contract's functions has the `size_field` `sise`, as a number
hint = "null" | hint = "in" | is a pointer to a value that is not const
, hint = "null" | | parameter `hint` of `q_values` is no number and no owned handle
out = "new memory" | out = "new block" | creates a type that [owned] does not have
host_function = "q_call" | | needs a status as the result, and one parameter of the type
host_function = "q_call" | host_function = "q_ready" | is not among [functions] with an owned handle
destroy = "q_destroy" | destroy = "q_name" | `q_name` cannot destroy an owned value
kernel = {} | st = {} | `st` has no `destroy`, and is no handle of the header
kernel = {} | info = {}
    parameter `options` of `q_create` is an owned `info`, which cannot have the role `optional`
memory = { type = "void*", destroy = "mem_free" } | memory = { type = "void*" }
    `memory` has no `destroy`, and is no handle of the header
count = {} | put_two = { from = "source bytes" }
    parameter `from` of `put_two` needs a status as the result, and one parameter of the type
count = {} | q_destroy = {} | `q_destroy` destroys owned values
q_fill = { | q_fill = { value = "address",
    parameter `value` of `q_fill` is no pointer, and no integer as wide as one
count = {} | ctx_init = { p = "out" }
    parameter `p` of `ctx_init` is a pointer to a type without a size
count = {} | ctx_alias = { p = "out" }
    parameter `p` of `ctx_alias` is a pointer to a type without a size
count = {} | ctx_nothing = { p = "out" }
    parameter `p` of `ctx_nothing` is a pointer to a type without a size
count = {} | ctx_read = { p = "in" }
    parameter `p` of `ctx_read` is a pointer to a type without a size
count = {} | ctx_peek = { p = "optional" }
    parameter `p` of `ctx_peek` is a pointer to a type without a size
count = {} | ctx_read = { p = "slice count" }
    parameter `p` of `ctx_read` is a pointer to a type without a size
count = {} | q_pair = { a = "slice n", b = "slice n" } | parameter `n` of `q_pair` has two roles
count = {} | q_odd = { a = "slice name" }
    parameter `name` of `q_odd` is no number, so it cannot be a length
f = "function data" } | f = "function data", return = "false ST_LATER" }
    `q_call` takes a function, so its result cannot be `false`
return = "string" | return = "new" | the result of `text` is of no type, or of several, of [owned]
return = "string" | return = "new device" | the result of `text` creates a type that [owned] does not have
return = "string" | return = "new q" | the result of `text` is of the type `const char*`, which is no `q`
count = {} | count = { return = "new memory" } | is of the type `int32_t`, which is no `memory`
return = "false ST_LATER" | return = "new q" | the result of `q_ready` has no role
count = {} | mem_share = { out = "new memory" }
    `mem_share` creates `memory` with several `dev`, and `mem_free` needs one of them
count = {} | q_devices = { devices = "slice count" }
    parameter `devices` of `q_devices` has a handle in its value: a safe caller could invent one
count = {} | q_with = { p = "in" }
    parameter `p` of `q_with` has a handle in its value (field `either.d`): a safe caller could invent one
count = {} | q_hidden = { p = "in" }
    parameter `p` of `q_hidden` has a type in which no assignment sets the `size_field`
count = {} | q_bits = { p = "optional" }
    parameter `p` of `q_bits` has a type in which no assignment sets the `size_field`
"#;

#[test]
fn contract_that_does_not_fit_the_header_is_an_error() {
    for [line, replacement, part] in rows(INVALID) {
        assert!(CONTRACT.contains(line), "{line}");
        let Some(result) = bind_with(&CONTRACT.replacen(line, replacement, 1)) else {
            return;
        };
        let error = result.unwrap_err();
        assert!(matches!(error, DriverError::Contract { .. }), "{error}");
        let message = error.to_string();
        assert!(
            message.starts_with("demo.toml") && message.contains(part),
            "{message}"
        );
    }
}

#[test]
fn creator_without_the_handle_that_destroys_is_an_error() {
    let without_creator = CONTRACT.replace("mem_alloc = { out = \"new memory\" }\n", "");
    let Some(result) = bind_with(&without_creator) else {
        return;
    };
    let message = result.unwrap_err().to_string();
    assert!(
        message.contains("not each function that creates `memory` has a `dev`"),
        "{message}"
    );
}

/// A header of structs, each of two of the one before. libclang's own time for offsets doubles with each.
fn doubled_structs(field: &str) -> String {
    let first =
        format!("typedef enum {{ ST_OK = 0 }} st;\ntypedef struct {{ unsigned {field}; }} s0;\n");
    let nested = (0..16).map(|at| format!("typedef struct {{ s{at} a, b; }} s{};\n", at + 1));
    let functions = "st q_read(const s16* p);\n".to_owned();
    [first]
        .into_iter()
        .chain(nested)
        .chain([functions])
        .collect()
}

#[test]
fn value_with_thousands_of_sizes_is_an_error() {
    let contract =
        "threads = \"any\"\nsize_field = \"size\"\n[functions]\nq_read = { p = \"in\" }\n";
    let without_size = contract.replace("size_field = \"size\"\n", "");
    let Some(plain) = bind_text_with(&doubled_structs("other"), &without_size) else {
        return;
    };
    assert_eq!(plain.unwrap().safe_functions.len(), 1);
    let sized = bind_text_with(&doubled_structs("size"), contract).unwrap();
    let error = sized.unwrap_err().to_string();
    assert!(error.contains("more than 1,000 times"), "{error}");
}

#[test]
fn size_field_that_no_nested_struct_has_is_an_error() {
    let contract =
        "threads = \"any\"\nsize_field = \"size\"\n[functions]\nq_read = { p = \"in\" }\n";
    let Some(result) = bind_text_with(&doubled_structs("other"), contract) else {
        return;
    };
    let error = result.unwrap_err().to_string();
    assert!(
        error.contains("no struct of the contract's functions has the `size_field`"),
        "{error}"
    );
}
