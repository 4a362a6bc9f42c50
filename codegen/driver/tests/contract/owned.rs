//! Owned types that are integers and typedefs of pointers.

use super::*;

/// A header whose memory has this C type, with a second typedef of it.
pub fn header_of_memory(ty: &str) -> String {
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

pub const MEMORY_CONTRACT: &str = r#"threads = "any"
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
const OWNED: &str = r#"
uint64_t ptr | ptr = { destroy = "mem_free" } | ptr
uint32_t ptr | ptr = { destroy = "mem_free" } | ptr
int ptr | ptr = { destroy = "mem_free" } | ptr
uintptr_t ptr | ptr = { destroy = "mem_free" } | ptr
void* ptr | ptr = { destroy = "mem_free" } | ptr
const float* ptr | ptr = { destroy = "mem_free" } | ptr
uint64_t ptr | ptr = {} | ptr
uint64_t ptr | memory = { type = "ptr", destroy = "mem_free" } | memory
uint64_t ptr | memory = { type = "uint64_t", destroy = "mem_free" } | memory
void* ptr | memory = { type = "void*", destroy = "mem_free" } | memory
void* ptr | memory = { type = "ptr", destroy = "mem_free" } | memory
"#;

#[test]
fn parameter_of_an_owned_typedef_takes_its_owner_and_no_number() {
    for [ty, owned, name] in rows(OWNED) {
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
const UNSAFE_OF_OWNED: &str = r#"
mem_in = { memory = "in" }
    parameter `memory` of `mem_in` has an owned `ptr` in its value: a safe caller
mem_in = { memory = "optional" }
    parameter `memory` of `mem_in` has an owned `ptr` in its value: a safe caller
mem_in_alias = { memory = "in" }
    parameter `memory` of `mem_in_alias` has an owned `ptr` in its value: a safe caller
mem_in_struct = { memory = "in" } | has an owned `ptr` in its value (field `all`): a safe caller
mem_slice = { memory = "slice count" }
    parameter `memory` of `mem_slice` has an owned `ptr` in its value: a safe caller
mem_put = { from = "source bytes" }
    parameter `from` of `mem_put` has an owned `ptr` in its value: a safe caller
mem_values = { values = "slice count" }
    parameter `count` of `mem_values` is an owned value, so it is neither a length nor data
"#;

#[test]
fn safe_caller_cannot_invent_a_value_of_an_owned_typedef() {
    for [ty, owned, _] in rows(OWNED) {
        for [entry, part] in rows(UNSAFE_OF_OWNED) {
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
const INVALID_OWNED: &str = r#"
uint32_t ptr | memory = { type = "ptr", destroy = "mem_free" } |
    the type of `memory` is `ptr`, which is no address
uint64_t ptr | memory = { type = "uint32_t", destroy = "mem_free" } |
    `mem_free` takes no `uint32_t`, the type of `memory`
uint64_t ptr | memory = { type = "uint64_t", destroy = "mem_fill" } |
    `mem_fill` takes several values of the type `uint64_t` of `memory`
uint64_t ptr | ptr = { destroy = "dev_close" } | | `dev_close` takes no `ptr`
uint64_t ptr | info = { destroy = "info_free" } |
    `info` is no handle: `info_free` passes the struct by value
float ptr | ptr = { destroy = "mem_free" } |
    `ptr` is no handle, and no typedef of an integer or pointer
uint32_t ptr | ptr = { destroy = "mem_free" } | mem_fill = { memory = "address" }
    parameter `memory` of `mem_fill` is no pointer, and no integer as wide as one
uint64_t ptr | ptr = { destroy = "mem_free" } | mem_read = { out = "new dev" }
    parameter `out` of `mem_read` is a pointer to `ptr`, which is no `dev`
uint64_t ptr | a = { type = "ptr", destroy = "mem_free" }\nb = { type = "ptr", destroy = "mem_free" }
    mem_alias = {}
    parameter `memory` of `mem_alias` is a value of several owned types: a, b
"#;

#[test]
fn owned_type_without_absent_value_or_of_another_type_is_an_error() {
    for [ty, owned, entry, part] in rows(INVALID_OWNED) {
        let contract = MEMORY_CONTRACT.replace("OWNED", &owned.replace(r"\n", "\n"));
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
