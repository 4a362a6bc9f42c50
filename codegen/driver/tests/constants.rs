//! Macros and constants of C headers: their values are compared with those that the C compiler computes.

mod compilers;

use compilers::{bind, bind_with_status, compile, reasons, same_output};
use sp_tests::assert_contains;

/// Returns the code that prints the integers in C and in Rust.
fn show(names: &str) -> (String, String) {
    let names = names.split_whitespace();
    let c = names.clone().map(|name| format!("SHOW({name})"));
    let rust = names.map(|name| format!("show!({name});"));
    let rust = rust.collect::<Vec<_>>().concat();
    (c.collect(), format!("fn main() {{ {rust} }}"))
}

#[test]
fn integers_have_the_values_of_c() {
    let header = "#include <stdint.h>\n#include <limits.h>\n\
        #define V_BIT(n) (1u << (n))\n#define V_FEATURE V_BIT(3)\n#define V_HIGH V_BIT(31)\n\
        #define B_ALL 0xFFFFFFFF\n#define B_HALF 0x80000000\n#define B_64 0x80000000ull\n\
        #define B_MOST 0xFFFFFFFFFFFFFFFFull\n#define B_ALSO B_MOST\n#define B_TOP (1ull << 63)\n\
        #define V_MAX UINT64_MAX\n#define V_MIN INT_MIN\n#define V_LETTER 'a'\n#define V_SIZE sizeof(int)\n\
        #define V_CAST ((unsigned char)300)\n#define V_LOW (-2)\n#define V_LOWEST (-9223372036854775807ll - 1)\n\
        #define V_SUM (V_PLAIN | 4)\n#define V_CONDITION (sizeof(long) == 8 ? 1 : 2)\n#define V_BINARY 0b101\n\
        enum { V_PLAIN = 3, V_LARGE = 0x80000000ull, V_LARGER = 0xFFFFFFFFFFFFFFFFull };\n\
        static const int V_CONST = -7;\nstatic const unsigned V_UNSIGNED = 0xFFFFFFF0;\nint f(void);\n";
    let names = "
        V_FEATURE V_HIGH B_ALL B_HALF B_64 B_MOST B_ALSO B_TOP V_MAX V_MIN V_LETTER V_SIZE
        V_CAST V_LOW V_LOWEST V_SUM V_CONDITION V_BINARY V_PLAIN V_LARGE V_LARGER V_CONST
        V_UNSIGNED";
    let (c, rust) = show(names);
    let Some(bindings) = same_output(header, &c, &rust) else {
        return;
    };
    let expected = [("V_BIT", "is a macro with parameters")];
    assert_eq!(reasons(&bindings), expected);
    assert!(bindings.text.contains("pub const V_LOW: i32 = -2;"));
    assert!(bindings.text.contains("pub const V_LETTER: u32 = 97;"));
}

#[test]
fn enumerators_have_the_values_of_c() {
    let header = "typedef enum { FLAG_HIGH = 1u << 31, FLAG_LOW = 1 } v_flags;\n\
        #ifdef __clang__\n#define SMALL(type) enum : type\n#else\n#define SMALL(type) enum __attribute__((packed))\n#endif\n\
        typedef SMALL(unsigned char) { S_A, S_B = 255 } v_small;\n\
        typedef SMALL(signed char) { T_A = -128 } v_tiny;\n\
        enum v_long { L_64 = 0x80000000ull, L_MOST = 0xFFFFFFFFFFFFFFFFull };\n\
        enum v_signed { N_LOW = -1, N_HIGH = 0x7FFFFFFF };\n\
        #define N_ALSO N_LOW\n#define N_CAST ((enum v_signed)3)\n#define name 5\n\
        enum v_named { V_NAME };\n\
        v_flags f(v_small a, v_tiny b, enum v_long c, enum v_signed d);\n";
    let c = "SHOW(FLAG_HIGH) SHOW(FLAG_LOW) SHOW(S_B) SHOW(T_A) SHOW(L_64) SHOW(L_MOST) SHOW(N_LOW) SHOW(N_HIGH) \
        SHOW(N_ALSO) SHOW(N_CAST) SHOW(sizeof(v_flags)) SHOW(sizeof(v_small)) SHOW(sizeof(enum v_long))";
    let code = "macro_rules! of { ($e:ident, $x:ident) => { println!(\"{}={}\", stringify!($x), $e::$x.0 as i128) } }
        fn main() {
            of!(v_flags, FLAG_HIGH); of!(v_flags, FLAG_LOW); of!(v_small, S_B); of!(v_tiny, T_A);
            of!(v_long, L_64); of!(v_long, L_MOST); of!(v_signed, N_LOW); of!(v_signed, N_HIGH);
            println!(\"N_ALSO={}\", N_ALSO.0);
            let cast: v_signed = N_CAST;
            println!(\"N_CAST={}\", cast.0);
            println!(\"sizeof(v_flags)={}\", size_of::<v_flags>());
            println!(\"sizeof(v_small)={}\", size_of::<v_small>());
            println!(\"sizeof(enum v_long)={}\", size_of::<v_long>());
        }";
    same_output(header, c, code);
}

#[test]
fn floats_texts_and_handles_have_the_values_of_c() {
    let header = "typedef struct CUstream_st* CUstream;\ntypedef CUstream v_stream;\ntypedef void (*v_done)(void*);\n\
        typedef unsigned long v_address;\ntypedef _Bool v_bool;\n\
        #define V_HALF 0.5f\n#define V_TENTH 0.1\n#define V_SMALL (-1e-300)\n#define V_ENDLESS (1.0f / 0.0f)\n\
        #define V_LEGACY ((CUstream)0x1)\n#define V_OTHER ((v_stream)0x2)\n#define V_NONE ((void*)0)\n\
        #define V_ANY ((const char*)-1)\n#define V_NO_CALLBACK ((v_done)0)\n#define V_CALLBACK ((v_done)-1)\n\
        #define V_ADDRESS ((v_address)-1)\n#define V_TRUE ((v_bool)1)\n\
        #define V_NUL \"a\\0b\"\n#define V_LATIN \"\\xFF\\x41\"\n#define STR(x) #x\n#define V_VERSION \"1.\" STR(2)\n\
        #define V_WIDE L\"a\"\n#define V_LONG 1.0L\nint f(CUstream s, v_done done, v_bool b);\n";
    let c = "printf(\"%a %a %a %a\\n\", V_HALF, V_TENTH, V_SMALL, V_ENDLESS); SHOW((long)V_LEGACY) SHOW((long)V_OTHER) \
        SHOW((long)V_NONE) SHOW((unsigned long)V_ANY) SHOW(V_ADDRESS) SHOW(V_TRUE) SHOW(sizeof(V_NUL)) SHOW(sizeof(V_LATIN)) \
        printf(\"%s\\n\", V_VERSION);";
    let c = c.replace(
        "printf(\"%a %a %a %a\\n\", V_HALF, V_TENTH, V_SMALL, V_ENDLESS);",
        "float fs[] = {V_HALF, V_ENDLESS}; double ds[] = {V_TENTH, V_SMALL}; unsigned a[2]; unsigned long b[2]; \
        memcpy(a, fs, 8); memcpy(b, ds, 16); printf(\"%x %x %lx %lx\\n\", a[0], a[1], b[0], b[1]);",
    );
    let code = "fn main() {
        println!(\"{:x} {:x} {:x} {:x}\", V_HALF.to_bits(), V_ENDLESS.to_bits(), V_TENTH.to_bits(), V_SMALL.to_bits());
        let (legacy, other): (CUstream, v_stream) = (V_LEGACY, V_OTHER);
        println!(\"(long)V_LEGACY={}\\n(long)V_OTHER={}\\n(long)V_NONE={}\", legacy.0 as i64, other.0 as i64, V_NONE as i64);
        println!(\"(unsigned long)V_ANY={}\", V_ANY as u64);
        assert!(V_NO_CALLBACK.is_none());
        show!(V_ADDRESS);
        show!(V_TRUE);
        println!(\"sizeof(V_NUL)={}\\nsizeof(V_LATIN)={}\", V_NUL.len(), V_LATIN.to_bytes_with_nul().len());
        assert_eq!((V_NUL, V_LATIN.to_bytes()), (b\"a\\0b\\0\", &b\"\\xFFA\"[..]));
        println!(\"{}\", V_VERSION.to_str().unwrap());
    }";
    let Some(bindings) = same_output(header, &c, code) else {
        return;
    };
    let expected = [
        (
            "V_CALLBACK",
            "is a function pointer with the value 0xffffffffffffffff, which is no function",
        ),
        ("STR", "is a macro with parameters"),
        ("V_WIDE", "is a text of wide characters"),
        ("V_LONG", "is a value of the type `long double`"),
    ];
    assert_eq!(reasons(&bindings), expected);
}

#[test]
fn macros_that_name_a_function_are_methods() {
    let header = "int vAlloc_v2(int size);\n#define vAlloc vAlloc_v2\n#define vAllocate (vAlloc)\n\
        int vFree(int x);\n#define vFree vFree\n#define VERSION(f) f##_v2\n#define vMacro VERSION(vAlloc)\nint vLog(const char* format, ...);\n#define vPrint vLog\n\
        int vOld(int x);\n#define vOld vAlloc_v2\nint vSet(int x);\n#define vSet(x) vSet(x)\n";
    let Some(bindings) = bind(header) else { return };
    let expected = [
        "vAlloc_v2",
        "vAlloc",
        "vAllocate",
        "vFree",
        "vMacro",
        "vOld",
        "vSet",
    ];
    assert_eq!(bindings.functions, expected);
    let expected = [
        ("VERSION", "is a macro with parameters"),
        ("vLog", "takes a variable number of arguments"),
        ("vPrint", "is a macro for `vLog`, which is left out"),
        (
            "vOld",
            "is a macro for `vAlloc_v2`, and a function has the same name",
        ),
    ];
    assert_eq!(reasons(&bindings), expected);
    let head = "//! 4 functions are bound, and 3 macros that name one of them.";
    assert!(bindings.text.contains(head));
    let folder = tempfile::tempdir().unwrap();
    let library = compilers::library_of_c(
        "int vAlloc_v2(int size) { return size + 1; }",
        folder.path(),
    );
    let code = format!(
        "fn main() {{
            // SAFETY: the library has the function of its header.
            let driver = unsafe {{ driver::Driver::load_from({library:?}) }}.unwrap();
            driver.require(&[\"vAlloc\"]).unwrap();
            // SAFETY: the function takes a number.
            assert_eq!(unsafe {{ (driver.vAlloc(1), driver.vAllocate(2)) }}, (Ok(2), Ok(3)));
        }}"
    );
    compilers::run(&bindings.text, &code);
}

#[test]
fn macro_that_is_no_expression_costs_no_other_constant() {
    let header = "#define OPEN (\n#define BRACE {\n#define FINE 3\n#define QUOTE \"\n#define SHIFT (1 << 4)\n#define NESTED OPEN 1\n\
        #define COMMA 1, 2\n#define TYPE unsigned int\n#define KEYWORD return\n#define END ; int spoiled\n#define LAST 5\n\
        #define EMPTY\n#define GONE 7\n#undef GONE\n#define PARAMETER(x) x\n#undef PARAMETER\n#define inline\n#define const\nint f(void);\n";
    let Some(bindings) = bind(header) else { return };
    compile(
        &bindings.text,
        "fn main() { assert_eq!((driver::FINE, driver::SHIFT, driver::LAST), (3, 16, 5)); }",
    );
    let names: Vec<&str> = reasons(&bindings).iter().map(|it| it.0).collect();
    for name in ["OPEN", "BRACE", "QUOTE", "NESTED", "TYPE", "KEYWORD", "END"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    for name in ["EMPTY", "GONE", "PARAMETER"] {
        assert!(
            !names.contains(&name) && !bindings.text.contains(name),
            "{name}"
        );
    }
}

#[test]
fn macros_and_variables_without_a_value_are_named_with_reason() {
    let header = "#define EXPORT __attribute__((visibility(\"default\")))\n#define UNKNOWN vendor_unknown\n\
        #define CALL(x) (x + 1)\nextern int v_count;\nstruct v_s { int x; };\n#define STRUCT ((struct v_s){1})\n\
        #define INIT { 0, { 1 } }\n#define INIT_ALIAS INIT\n#define API EXPORT\n#define BLOCK { f(); }\n\
        #define COUNT v_count\n#define ADDRESS (&v_count)\n#define V_S v_t\ntypedef int v_t;\nint f(V_S x);\n";
    let Some(bindings) = bind(header) else { return };
    let reasons = reasons(&bindings);
    let reason = |name: &str| reasons.iter().find(|it| it.0 == name).map(|it| it.1);
    let without = "is a macro without a value: ";
    for (name, part) in [
        ("EXPORT", "attributes"),
        ("API", "attributes"),
        ("INIT", "an initializer"),
        ("INIT_ALIAS", "an initializer"),
        ("UNKNOWN", "use of undeclared identifier 'vendor_unknown'"),
        (
            "COUNT",
            "initializer element is not a compile-time constant",
        ),
    ] {
        assert_eq!(reason(name), Some(&*format!("{without}{part}")));
    }
    let block = reason("BLOCK").unwrap();
    assert!(
        block.starts_with(without) && !block.ends_with("initializer"),
        "{block}"
    );
    assert_eq!(reason("CALL"), Some("is a macro with parameters"));
    assert_eq!(reason("v_count"), Some("is a variable"));
    assert_eq!(
        reason("STRUCT"),
        Some("is a value of the type `struct v_s`")
    );
    let address = "is the address of an object or a function";
    assert_eq!(reason("ADDRESS"), Some(address));
    assert_contains(&bindings.text, &format!("`ADDRESS` (demo.h:12) {address}"));
    compile(&bindings.text, "fn main() { let _: driver::V_S = 1i32; }");
}

#[test]
fn macros_that_stand_for_each_other_have_the_values_of_c() {
    let header =
        "enum e { A, B, C };\n#define A B\n#define B A\n#define C A\nint f(void);\nint g(void);\n";
    let code = "fn main() { println!(\"A={}\\nB={}\\nC={}\", A.0, B.0, C.0); }";
    if same_output(header, "SHOW(A) SHOW(B) SHOW(C)", code).is_none() {
        return;
    }
    let status = bind_with_status(header, Some("int=B")).unwrap().unwrap();
    assert!(status.text.contains("pub const SUCCESS: i32 = 1;"));
    let header = "#define A B\n#define B A\nint f(void);\n";
    let unknown = bind_with_status(header, Some("int=A"))
        .unwrap()
        .unwrap_err();
    assert!(unknown.to_string().contains("no constant `A`"), "{unknown}");
}
