//! Contracts of drivers: the safe methods for each role, and errors.

mod compilers;

use compilers::{bind, compile, has_libclang, options};
use sp_driver::{Bindings, Contract, DriverError, Options};

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
    let Some(bindings) = bind(HEADER) else {
        return;
    };
    let bindings = bindings.unwrap();
    assert!(bindings.safe_functions.is_empty() && !bindings.text.contains("mod safe"));
}

/// A line of the contract, its replacement, and a part of the message.
const INVALID: [(&str, &str, &str); 34] = [
    ("threads = \"any\"", "", "missing field `threads`"),
    (
        "threads = \"any\"",
        "threads = \"one\"",
        "unknown variant `one`",
    ),
    ("size_field", "sizefield", "unknown field `sizefield`"),
    (
        "count = {}",
        "counts = {}",
        "the header has no function `counts` that is bound",
    ),
    (
        "q_ready = {",
        "q_ready = { queues = \"out\",",
        "`q_ready` has no parameter `queues`",
    ),
    (
        "return = \"false ST_LATER\"",
        "return = \"false ST_NEVER\"",
        "the header has no value `ST_NEVER`",
    ),
    (
        "name = \"text size\"",
        "name = \"text sizes\"",
        "has no parameter `sizes`",
    ),
    (
        "name = \"text size\"",
        "name = \"texts\"",
        "has no role `texts`",
    ),
    (
        "name = \"text size\"",
        "size = \"out\"",
        "parameter `size` of `q_name` is no pointer",
    ),
    (
        "hint = \"null\"",
        "hint = \"in\"",
        "is a pointer to a value that is not const",
    ),
    (
        ", hint = \"null\"",
        "",
        "parameter `hint` of `q_values` is no number and no owned handle",
    ),
    (
        "out = \"new memory\"",
        "out = \"new block\"",
        "creates a type that [owned] does not have",
    ),
    (
        "host_function = \"q_call\"",
        "",
        "needs a status as the result, and one parameter of the type",
    ),
    (
        "host_function = \"q_call\"",
        "host_function = \"q_ready\"",
        "is not among [functions] with an owned handle",
    ),
    (
        "destroy = \"q_destroy\"",
        "destroy = \"q_name\"",
        "`q_name` cannot destroy an owned value",
    ),
    (
        "kernel = {}",
        "info = {}",
        "`info` has no `destroy`, and is no handle of the header",
    ),
    (
        "memory = { type = \"void*\", destroy = \"mem_free\" }",
        "memory = { type = \"void*\" }",
        "`memory` has no `destroy`, and is no handle of the header",
    ),
    (
        "count = {}",
        "put_two = { from = \"source bytes\" }",
        "parameter `from` of `put_two` needs a status as the result, and one parameter of the type",
    ),
    (
        "count = {}",
        "q_destroy = {}",
        "`q_destroy` destroys owned values",
    ),
    (
        "q_fill = {",
        "q_fill = { value = \"address\",",
        "parameter `value` of `q_fill` is no pointer, and no integer as wide as one",
    ),
    (
        "count = {}",
        "ctx_init = { p = \"out\" }",
        "parameter `p` of `ctx_init` is a pointer to a type without a size",
    ),
    (
        "count = {}",
        "ctx_alias = { p = \"out\" }",
        "parameter `p` of `ctx_alias` is a pointer to a type without a size",
    ),
    (
        "count = {}",
        "ctx_nothing = { p = \"out\" }",
        "parameter `p` of `ctx_nothing` is a pointer to a type without a size",
    ),
    (
        "count = {}",
        "ctx_read = { p = \"in\" }",
        "parameter `p` of `ctx_read` is a pointer to a type without a size",
    ),
    (
        "count = {}",
        "ctx_peek = { p = \"optional\" }",
        "parameter `p` of `ctx_peek` is a pointer to a type without a size",
    ),
    (
        "count = {}",
        "ctx_read = { p = \"slice count\" }",
        "parameter `p` of `ctx_read` is a pointer to a type without a size",
    ),
    (
        "count = {}",
        "q_pair = { a = \"slice n\", b = \"slice n\" }",
        "parameter `n` of `q_pair` has two roles",
    ),
    (
        "count = {}",
        "q_odd = { a = \"slice name\" }",
        "parameter `name` of `q_odd` is no number, so it cannot be a length",
    ),
    (
        "f = \"function data\" }",
        "f = \"function data\", return = \"false ST_LATER\" }",
        "`q_call` takes a function, so its result cannot be `false`",
    ),
    (
        "count = {}",
        "mem_share = { out = \"new memory\" }",
        "`mem_share` creates `memory` with several `dev`, and `mem_free` needs one of them",
    ),
    (
        "count = {}",
        "q_devices = { devices = \"slice count\" }",
        "parameter `devices` of `q_devices` has a handle in its value: a safe caller could invent one",
    ),
    (
        "count = {}",
        "q_with = { p = \"in\" }",
        "parameter `p` of `q_with` has a handle in its value (field `either.d`): a safe caller could invent one",
    ),
    (
        "count = {}",
        "q_hidden = { p = \"in\" }",
        "parameter `p` of `q_hidden` has a type in which no assignment sets the `size_field`",
    ),
    (
        "count = {}",
        "q_bits = { p = \"optional\" }",
        "parameter `p` of `q_bits` has a type in which no assignment sets the `size_field`",
    ),
];

#[test]
fn contract_that_does_not_fit_the_header_is_an_error() {
    for (line, replacement, part) in INVALID {
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

/// Types of values that a safe caller must not choose, each with the message's part about it.
const UNSAFE_VALUES: [(&str, &str); 16] = [
    ("q", "a handle in its value: a safe"),
    (
        "with_handles",
        "a handle in its value (field `either.queues`): a safe",
    ),
    ("lookup", "a function pointer in its value: a safe"),
    ("lookup_alias", "a function pointer in its value: a safe"),
    (
        "with_lookup",
        "a function pointer in its value (field `find`): a safe",
    ),
    (
        "with_unnamed",
        "a function pointer in its value (field `run`): a safe",
    ),
    (
        "with_array",
        "a function pointer in its value (field `hooks.find`): a safe",
    ),
    (
        "with_union",
        "a function pointer in its value (field `either.find`): a safe",
    ),
    (
        "long_value",
        "the type `long_value` in its value, whose fields are not bound",
    ),
    (
        "odd",
        "the type `odd` in its value, whose fields are not bound",
    ),
    (
        "with_odd",
        "the type `odd` in its value, whose fields are not bound and may be handles or function pointers (field `all`): a safe",
    ),
    (
        "with_vector",
        "the type `vector` in its value, whose fields are not bound",
    ),
    (
        "with_complex",
        "the type `with_complex` in its value, whose fields are not bound",
    ),
    (
        "realigned",
        "a function pointer in its value (field `find`): a safe",
    ),
    ("anonymous", "a function pointer in its value (field"),
    (
        "deep",
        "more than 64 nested types in its value, which are not searched for handles and function pointers: a safe",
    ),
];

/// Returns a header in which a function reads a value, another one reads or has several, and a third one writes one.
fn header_of_value(ty: &str) -> String {
    let nested = (0..70).map(|at| format!("typedef struct {{ d{at} inner; }} d{};\n", at + 1));
    let nested: String = nested.collect();
    format!(
        "#include <stddef.h>\n\
        typedef enum st {{ ST_OK, ST_BAD }} st;\n\
        typedef struct q_st* q;\n\
        typedef struct {{ int a; union {{ int b; q queues[2]; }} either; }} with_handles;\n\
        typedef int* (*lookup)(int key);\n\
        typedef lookup lookup_alias;\n\
        typedef struct {{ size_t tag; lookup find; }} with_lookup;\n\
        typedef struct {{ size_t tag; void (*run)(void); }} with_unnamed;\n\
        typedef struct {{ with_lookup hooks[2][2]; }} with_array;\n\
        typedef struct {{ union {{ size_t tag; lookup_alias find; }} either; }} with_union;\n\
        typedef struct {{ long double value; }} long_value;\n\
        typedef struct odd {{ q queue; long double scale; }} odd;\n\
        typedef struct {{ int a; odd all[2]; }} with_odd;\n\
        typedef float vector __attribute__((vector_size(16)));\n\
        typedef struct {{ vector value; }} with_vector;\n\
        typedef struct {{ double _Complex value; }} with_complex;\n\
        typedef struct {{ char a; lookup find __attribute__((aligned(64))); }} realigned;\n\
        typedef struct {{ int a; union {{ int b; lookup find; }}; }} anonymous;\n\
        typedef struct {{ int a; }} d0;\n{nested}\
        typedef d70 deep;\n\
        typedef struct {{ int a; double b[2]; union {{ char c; void* pointer; }} either; }} plain;\n\
        st v_read(const {ty}* value);\n\
        st v_read_all(const {ty}* values, size_t count);\n\
        st v_write({ty}* value);\n"
    )
}

#[test]
fn value_with_handle_function_pointer_or_unknown_field_is_no_input() {
    for (ty, part) in UNSAFE_VALUES {
        let header = header_of_value(ty);
        let roles = [
            ("v_read", "value = \"in\"", "value"),
            ("v_read", "value = \"optional\"", "value"),
            ("v_read_all", "values = \"slice count\"", "values"),
        ];
        for (function, role, param) in roles {
            let contract = format!("threads = \"any\"\n[functions]\n{function} = {{ {role} }}\n");
            let Some(result) = bind_text_with(&header, &contract) else {
                return;
            };
            let message = result.map(|_| ()).expect_err(ty).to_string();
            let expected = format!("parameter `{param}` of `{function}` has {part}");
            assert!(message.contains(&expected), "{ty}: {message}");
        }
        let output = "threads = \"any\"\n[functions]\nv_write = { value = \"out\" }\n";
        let output = bind_text_with(&header, output).unwrap();
        assert_eq!(output.expect(ty).safe_functions.len(), 1, "{ty}");
    }
}

#[test]
fn value_of_numbers_and_pointers_is_an_input() {
    let contract = "threads = \"any\"\n[functions]\nv_read = { value = \"in\" }\n\
        v_read_all = { values = \"slice count\" }\n";
    for ty in ["plain", "st", "d60", "double"] {
        let Some(result) = bind_text_with(&header_of_value(ty), contract) else {
            return;
        };
        assert_eq!(result.expect(ty).safe_functions.len(), 2, "{ty}");
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
    let Some(plain) = bind_text_with(&doubled_structs("other"), contract) else {
        return;
    };
    assert_eq!(plain.unwrap().safe_functions.len(), 1);
    let sized = bind_text_with(&doubled_structs("size"), contract).unwrap();
    let error = sized.unwrap_err().to_string();
    assert!(error.contains("more than 1,000 times"), "{error}");
}

/// A header whose memory has this C type, with a second typedef of it.
fn header_of_memory(ty: &str) -> String {
    format!(
        "#include <stddef.h>\n\
        #include <stdint.h>\n\
        typedef enum st {{ ST_OK, ST_BAD }} st;\n\
        typedef struct dev_st* dev;\n\
        typedef {ty};\n\
        typedef ptr ptr_alias;\n\
        typedef struct {{ size_t tag; ptr all[2]; }} with_ptr;\n\
        typedef struct {{ int a; }} info;\n\
        st dev_open(int ordinal, dev* out);\n\
        st dev_close(dev d);\n\
        st mem_alloc(dev d, size_t bytes, ptr* out);\n\
        st mem_free(dev d, ptr memory);\n\
        st mem_fill(ptr memory, uint64_t count);\n\
        st mem_alias(ptr_alias memory);\n\
        st mem_in(const ptr* memory);\n\
        st mem_in_alias(const ptr_alias* memory);\n\
        st mem_in_struct(const with_ptr* memory);\n\
        st mem_slice(const ptr* memory, size_t count);\n\
        st mem_put(dev d, const ptr* from, size_t bytes);\n\
        st mem_values(const int* values, ptr count);\n\
        st mem_read(ptr* out);\n\
        ptr mem_of(dev d);\n\
        st dev_call(dev d, void (*f)(void*), void* data);\n\
        st info_free(info it);\n"
    )
}

const MEMORY_CONTRACT: &str = r#"threads = "any"
host_function = "dev_call"
[owned]
dev = { destroy = "dev_close" }
OWNED
[functions]
dev_open = { out = "new" }
dev_call = { f = "function data" }
mem_alloc = { out = "new" }
"#;

/// Types of memory, the statement that owns it, and the name of the owned type.
const OWNED: [(&str, &str, &str); 11] = [
    ("uint64_t ptr", "ptr = { destroy = \"mem_free\" }", "ptr"),
    ("uint32_t ptr", "ptr = { destroy = \"mem_free\" }", "ptr"),
    ("int ptr", "ptr = { destroy = \"mem_free\" }", "ptr"),
    ("uintptr_t ptr", "ptr = { destroy = \"mem_free\" }", "ptr"),
    ("void* ptr", "ptr = { destroy = \"mem_free\" }", "ptr"),
    (
        "const float* ptr",
        "ptr = { destroy = \"mem_free\" }",
        "ptr",
    ),
    ("uint64_t ptr", "ptr = {}", "ptr"),
    (
        "uint64_t ptr",
        "memory = { type = \"ptr\", destroy = \"mem_free\" }",
        "memory",
    ),
    (
        "uint64_t ptr",
        "memory = { type = \"uint64_t\", destroy = \"mem_free\" }",
        "memory",
    ),
    (
        "void* ptr",
        "memory = { type = \"void*\", destroy = \"mem_free\" }",
        "memory",
    ),
    (
        "void* ptr",
        "memory = { type = \"ptr\", destroy = \"mem_free\" }",
        "memory",
    ),
];

#[test]
fn parameter_of_an_owned_typedef_takes_its_owner_and_no_number() {
    for (ty, owned, name) in OWNED {
        let contract = MEMORY_CONTRACT.replace("OWNED", owned)
            + "mem_fill = {}\nmem_alias = {}\nmem_read = { out = \"out\" }\n";
        let Some(bindings) = bind_text_with(&header_of_memory(ty), &contract) else {
            return;
        };
        let bindings = bindings.unwrap_or_else(|error| panic!("{ty}, {owned}: {error}"));
        let code = format!(
            "use driver::{{self as raw, safe}};
            fn uses(driver: safe::Driver) -> raw::Result<()> {{
                let device: safe::dev = driver.dev_open(0)?;
                let memory: safe::{name} = device.mem_alloc(4)?;
                memory.mem_fill(7)?;
                memory.mem_alias()?;
                let _: raw::ptr = driver.mem_read()?;
                Ok(())
            }}
            fn main() {{
                let _ = uses;
            }}"
        );
        compile(&bindings.text, &code);
    }
}

/// Entries of functions that a contract with an owned typedef must not have, and a part of the message.
const UNSAFE_OF_OWNED: [(&str, &str); 7] = [
    (
        "mem_in = { memory = \"in\" }",
        "parameter `memory` of `mem_in` has an owned `ptr` in its value: a safe caller",
    ),
    (
        "mem_in = { memory = \"optional\" }",
        "parameter `memory` of `mem_in` has an owned `ptr` in its value: a safe caller",
    ),
    (
        "mem_in_alias = { memory = \"in\" }",
        "parameter `memory` of `mem_in_alias` has an owned `ptr` in its value: a safe caller",
    ),
    (
        "mem_in_struct = { memory = \"in\" }",
        "has an owned `ptr` in its value (field `all`): a safe caller",
    ),
    (
        "mem_slice = { memory = \"slice count\" }",
        "parameter `memory` of `mem_slice` has an owned `ptr` in its value: a safe caller",
    ),
    (
        "mem_put = { from = \"source bytes\" }",
        "parameter `from` of `mem_put` has an owned `ptr` in its value: a safe caller",
    ),
    (
        "mem_values = { values = \"slice count\" }",
        "parameter `count` of `mem_values` is an owned value, so it is neither a length nor data",
    ),
];

#[test]
fn safe_caller_cannot_invent_a_value_of_an_owned_typedef() {
    for (ty, owned, _) in OWNED {
        for (entry, part) in UNSAFE_OF_OWNED {
            let contract = MEMORY_CONTRACT.replace("OWNED", owned) + entry;
            let Some(result) = bind_text_with(&header_of_memory(ty), &contract) else {
                return;
            };
            let message = result.map(|_| ()).expect_err(entry).to_string();
            assert!(message.contains(part), "{ty}, {owned}, {entry}: {message}");
        }
    }
}

#[test]
fn bit_field_of_an_owned_typedef_is_no_input() {
    let header = header_of_memory("uint32_t ptr")
        + "typedef struct { ptr bits : 20; } packed;\nst mem_bits(const packed* p);\n";
    let contract = MEMORY_CONTRACT.replace("OWNED", "ptr = { destroy = \"mem_free\" }");
    let contract = contract + "mem_bits = { p = \"in\" }\n";
    let Some(result) = bind_text_with(&header, &contract) else {
        return;
    };
    let message = result.unwrap_err().to_string();
    let part = "has an owned `ptr` in its value (field `bits`)";
    assert!(message.contains(part), "{message}");
}

/// A type of memory, the statement that owns it, an entry, and a part of the message.
const INVALID_OWNED: [(&str, &str, &str, &str); 9] = [
    (
        "uint32_t ptr",
        "memory = { type = \"ptr\", destroy = \"mem_free\" }",
        "",
        "the type of `memory` is `ptr`, which is no address",
    ),
    (
        "uint64_t ptr",
        "memory = { type = \"uint32_t\", destroy = \"mem_free\" }",
        "",
        "`mem_free` takes no `uint32_t`, the type of `memory`",
    ),
    (
        "uint64_t ptr",
        "memory = { type = \"uint64_t\", destroy = \"mem_fill\" }",
        "",
        "`mem_fill` takes several values of the type `uint64_t` of `memory`",
    ),
    (
        "uint64_t ptr",
        "ptr = { destroy = \"dev_close\" }",
        "",
        "`dev_close` takes no `ptr`",
    ),
    (
        "uint64_t ptr",
        "info = { destroy = \"info_free\" }",
        "",
        "`info` is no handle, and no typedef of an integer or pointer",
    ),
    (
        "float ptr",
        "ptr = { destroy = \"mem_free\" }",
        "",
        "`ptr` is no handle, and no typedef of an integer or pointer",
    ),
    (
        "uint32_t ptr",
        "ptr = { destroy = \"mem_free\" }",
        "mem_fill = { memory = \"address\" }",
        "parameter `memory` of `mem_fill` is no pointer, and no integer as wide as one",
    ),
    (
        "uint64_t ptr",
        "ptr = { destroy = \"mem_free\" }",
        "mem_read = { out = \"new dev\" }",
        "parameter `out` of `mem_read` is a pointer to `ptr`, which is no `dev`",
    ),
    (
        "uint64_t ptr",
        "a = { type = \"ptr\", destroy = \"mem_free\" }\nb = { type = \"ptr\", destroy = \"mem_free\" }",
        "mem_alias = {}",
        "parameter `memory` of `mem_alias` is a value of several owned types: a, b",
    ),
];

#[test]
fn owned_type_without_absent_value_or_of_another_type_is_an_error() {
    for (ty, owned, entry, part) in INVALID_OWNED {
        let contract = MEMORY_CONTRACT.replace("OWNED", owned);
        let contract = contract.replace("mem_alloc = { out = \"new\" }\n", "") + entry;
        let Some(result) = bind_text_with(&header_of_memory(ty), &contract) else {
            return;
        };
        let error = result.map(|_| ()).expect_err(part);
        assert!(matches!(error, DriverError::Contract { .. }), "{error}");
        assert!(error.to_string().contains(part), "{ty}, {owned}: {error}");
    }
}

#[test]
fn address_without_typedef_leaves_numbers_of_its_type_as_they_are() {
    let header = "#include <stdint.h>\n\
        typedef enum st { ST_OK, ST_BAD } st;\n\
        st mem_alloc(uint64_t bytes, uint64_t* out);\n\
        st mem_alloc_const(uint64_t bytes, const void** out);\n\
        st mem_free(uint64_t memory);\n\
        st mem_fill(uint64_t memory, uint64_t memory_);\n";
    let contract = "threads = \"any\"\n\
        [owned]\nmemory = { type = \"uint64_t\", destroy = \"mem_free\" }\n\
        [functions]\nmem_alloc = { out = \"new memory\" }\n\
        mem_alloc_const = { out = \"new memory\" }\nmem_fill = { memory = \"address\" }\n";
    let Some(bindings) = bind_text_with(header, contract) else {
        return;
    };
    let code = "use driver::{self as raw, safe};
        fn uses(driver: safe::Driver) -> raw::Result<()> {
            let memory: safe::memory = driver.mem_alloc(4_u64)?;
            let other: safe::memory = driver.mem_alloc_const(4_u64)?;
            driver.mem_fill(memory.address(), 7_u64)?;
            driver.mem_fill(other.address(), 7_u64)
        }
        fn main() {
            let _ = uses;
        }";
    compile(&bindings.unwrap().text, code);
}

#[test]
fn owned_typedef_can_be_stated_as_an_address_of_the_device() {
    let contract = MEMORY_CONTRACT.replace("OWNED", "ptr = { destroy = \"mem_free\" }");
    let contract = contract + "mem_fill = { memory = \"address\" }\nmem_of = {}\n";
    let Some(bindings) = bind_text_with(&header_of_memory("uint64_t ptr"), &contract) else {
        return;
    };
    let code = "use driver::{self as raw, safe};
        fn uses(driver: safe::Driver, device: safe::dev) -> raw::Result<raw::ptr> {
            let memory = device.mem_alloc(4)?;
            driver.mem_fill(memory.handle() as usize + 1, 7)?;
            device.mem_of()
        }
        fn main() {
            let _ = uses;
        }";
    compile(&bindings.unwrap().text, code);
}

/// A line of the contract, its replacement, and a part of the help.
const HELPS: [(&str, &str, &str); 13] = [
    ("count = {}", "coutn = {}", "did you mean `count`?"),
    (
        "count = {}",
        "zzz = {}",
        "the functions are those of the header",
    ),
    (
        "count = {}",
        "q_print = {}",
        "`q_print` is left out: it takes a variable number of arguments",
    ),
    (
        "host_function = \"q_call\"",
        "host_function = \"q_cal\"",
        "did you mean `q_call`?",
    ),
    (
        "destroy = \"q_destroy\"",
        "destroy = \"q_destory\"",
        "did you mean `q_destroy`?",
    ),
    (
        "destroy = \"q_destroy\"",
        "destroy = \"dev_close\"",
        "the declaration is `st dev_close(dev d)`; an owned type is a handle or a typedef",
    ),
    (
        "kernel = {}",
        "info = {}",
        "an owned type is a handle or a typedef",
    ),
    (
        "name = \"text size\"",
        "nam = \"text size\"",
        "did you mean `name`?\nthe declaration is `st q_name(q queue, char* name, size_t size)`",
    ),
    (
        "name = \"text size\"",
        "name = \"txt size\"",
        "did you mean `text`?\nthe roles of a parameter are",
    ),
    (
        "return = \"false ST_LATER\"",
        "return = \"false ST_LATR\"",
        "did you mean `ST_LATER`?",
    ),
    (
        "count = {}",
        "count = { return = \"false ST_LATER\" }",
        "the roles of a result are `return = \"string\"` and `return = \"false VALUE\"`; `count` returns `int`",
    ),
    (
        "host_function = \"q_call\"",
        "",
        "`host_function = \"FUNCTION\"` names the function that enqueues a host function",
    ),
    (
        "count = {}",
        "put_two = { from = \"source bytes\" }",
        "the first parameter of `q_call` is the queue",
    ),
];

#[test]
fn help_is_that_of_the_error() {
    let header = HEADER.to_owned() + "st q_print(q queue, const char* format, ...);\n";
    for (line, replacement, part) in HELPS {
        let contract = CONTRACT.replacen(line, replacement, 1);
        let Some(result) = bind_text_with(&header, &contract) else {
            return;
        };
        let help = help(&result.unwrap_err());
        assert!(help.contains(part), "{replacement}: {help}");
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
