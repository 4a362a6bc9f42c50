//! Values that a safe caller must not choose.

use super::*;

/// Types of values that a safe caller must not choose, each with the message's part about it.
const UNSAFE_VALUES: &str = "
q | a handle in its value: a safe
with_handles | a handle in its value (field `either.queues`): a safe
lookup | a function pointer in its value: a safe
lookup_alias | a function pointer in its value: a safe
with_lookup | a function pointer in its value (field `find`): a safe
with_unnamed | a function pointer in its value (field `run`): a safe
with_array | a function pointer in its value (field `hooks.find`): a safe
with_union | a function pointer in its value (field `either.find`): a safe
long_value | the type `long_value` in its value, whose fields are not bound
odd | the type `odd` in its value, whose fields are not bound
with_odd
    the type `odd` in its value, whose fields are not bound and may be handles or function pointers (field `all`): a safe
with_vector | the type `vector` in its value, whose fields are not bound
with_complex | the type `with_complex` in its value, whose fields are not bound
realigned | a function pointer in its value (field `find`): a safe
anonymous | a function pointer in its value (field
deep
    more than 64 nested types in its value, which are not searched for handles and function pointers: a safe
";

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
    for [ty, part] in rows(UNSAFE_VALUES) {
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
