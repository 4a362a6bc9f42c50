//! Constructs of C headers, one at a time.

mod compilers;

use compilers::{bind, bind_with_status, compile, reasons, try_bind, virtaccel};
use sp_driver::DriverError;
use sp_tests::assert_contains;

#[test]
fn functions_that_cannot_be_bound_are_named_with_reason() {
    let header = "#include <stdarg.h>\n#include <stdio.h>\n\
        int ok(void);\n\
        int forwarded(int x);\n\
        int log_line(const char* format, ...);\n\
        int vlog_line(const char* format, va_list list);\n\
        static inline int twice(int x) { return 2 * x; }\n\
        static int hidden(int x) { return x; }\n\
        static inline int also_ok(int x) { return forwarded(x); }\n\
        struct flags { long double a; int b; };\n\
        void set(struct flags flags);\n\
        struct outer { struct flags inner[1]; };\n\
        void set_outer(struct outer outer);\n\
        void set_by_pointer(struct flags* flags);\n\
        long double precise(void);\n\
        __attribute__((ms_abi)) void other_convention(int x);\n";
    let Some(bindings) = bind(header) else { return };
    assert_eq!(bindings.functions, ["ok", "forwarded", "set_by_pointer"]);
    let expected = [
        ("log_line", "takes a variable number of arguments"),
        ("vlog_line", "takes a `va_list`"),
        ("twice", "is inline: the library does not export it"),
        ("hidden", "is inline: the library does not export it"),
        (
            "also_ok",
            "is inline: the library does not export it; it only calls `forwarded`",
        ),
        ("flags", "has the type `long double` (`flags.a`)"),
        ("set", "passes `flags` by value, whose fields are not bound"),
        (
            "set_outer",
            "passes `outer` by value, whose fields are not bound",
        ),
        ("precise", "uses the type `long double ()`"),
        (
            "other_convention",
            "uses the type `void (int) __attribute__((ms_abi))`",
        ),
    ];
    let found = reasons(&bindings);
    assert_eq!(found[..8], expected[..8]);
    assert_eq!(found[8].0, "precise");
    assert!(found[8].1.contains("long double"), "{found:?}");
    assert_eq!(found[9..], expected[9..]);
    for (name, reason) in expected.iter().take(8) {
        let head = bindings.text.lines();
        let head = head.take_while(|line| line.starts_with("//!"));
        let is_listed =
            |line: &str| line.contains(&format!("`{name}` (demo.h:")) && line.contains(reason);
        assert!(head.clone().any(is_listed), "{name}");
    }
    compile(
        &bindings.text,
        "fn main() { assert_eq!(size_of::<driver::flags>(), 32); }",
    );
}

#[test]
fn layouts_that_need_an_attribute_compile() {
    let header = "#include <stdint.h>\n\
        struct packed { uint8_t a; uint32_t b; } __attribute__((packed));\n\
        #pragma pack(push, 2)\n\
        struct packed2 { uint8_t a; uint64_t b; };\n\
        #pragma pack(pop)\n\
        struct aligned { uint8_t a; } __attribute__((aligned(32)));\n\
        struct odd { uint8_t a; uint32_t b __attribute__((aligned(16))); };\n\
        struct flexible { uint32_t count; uint64_t values[]; };\n\
        typedef float vector[4];\n\
        union either { uint8_t bytes[6]; struct { uint16_t x; double y; } pair; };\n\
        typedef struct __attribute__((packed)) { char c; int i; struct __attribute__((packed)) /* four */ { int x; } in; } attributed;\n\
        struct commented { struct /* no tag */ { int a : 3; } bits; union // none\n{ int x; } value; };\n\
        int g(attributed* a, struct commented* c);\n\
        struct outer { struct packed p; struct odd o; union either e; vector v; struct { int z; } inner[2]; };\n\
        int f(struct outer* o, vector v, union either by_value, struct packed2 p, struct flexible* x, struct aligned* a);\n";
    let Some(bindings) = bind(header) else { return };
    assert_eq!(bindings.functions, ["g", "f"]);
    let expected = [("odd", "has a layout that Rust cannot express")];
    assert_eq!(reasons(&bindings), expected);
    assert!(
        bindings.text.contains("v: *mut f32"),
        "an array parameter is a pointer"
    );
    let code = "fn main() {
        assert_eq!(size_of::<driver::packed>(), 5);
        assert_eq!(size_of::<driver::packed2>(), 10);
        assert_eq!(align_of::<driver::aligned>(), 32);
        assert_eq!(size_of::<driver::attributed>(), 9);
        assert_eq!(driver::commented::default().bits.a(), 0);
        assert_eq!(size_of::<driver::odd>(), 32);
        let flexible = driver::flexible::default();
        assert_eq!((flexible.count, size_of_val(&flexible)), (0, 8));
    }";
    compile(&bindings.text, code);
}

#[test]
fn handles_callbacks_enums_and_constants_have_their_types() {
    let header = "typedef struct dev_st* dev;\n\
        typedef struct stream stream;\n\
        typedef void (*notify)(dev device, void* data);\n\
        typedef enum mode { MODE_A = -1, MODE_B = 7, MODE_ALSO_B = 7 } mode;\n\
        enum { LIMIT = 16 };\n\
        #define BIG 0x100000000\n\
        #define TEXT \"a\\\"b\"\n\
        #define SAME MODE_B\n\
        #define LIMIT_BASE 3\n\
        #define SUM (LIMIT_BASE + 2)\n\
        #define RENAMED open_dev\n\
        dev open_dev(mode m, stream* s, notify n, void (*other)(int), const char* type);\n";
    let Some(bindings) = bind(header) else { return };
    let code = "use driver::*;
        unsafe extern \"C\" fn called(_: dev, _: *mut std::ffi::c_void) {}
        fn main() {
            let _: notify = Some(called);
            assert!(size_of::<dev>() == size_of::<usize>() && dev::NULL.0.is_null());
            assert_eq!((mode::MODE_A.0, mode::MODE_ALSO_B, SAME), (-1i32, mode::MODE_B, mode::MODE_B));
            assert_eq!(format!(\"{:?} {:?}\", mode::MODE_ALSO_B, mode(3)), \"MODE_B mode(3)\");
            assert_eq!((LIMIT, BIG, TEXT, SUM), (16u32, 1u64 << 32, c\"a\\\"b\", 5u32));
            let _ = |driver: &Driver, s: *mut stream| unsafe {
                // SAFETY: the closure is compiled only.
                driver.RENAMED(mode::MODE_A, s, None, None, c\"x\".as_ptr())
            };
        }";
    assert_eq!(reasons(&bindings), []);
    compile(&bindings.text, code);
}

#[test]
fn names_that_rust_or_the_file_uses_do_not_collide() {
    let header = "typedef unsigned int u32;\ntypedef int Result;\nstruct Driver { int self; int crate; };\n\
        enum Option { Some, None };\n\
        int load(u32 type, Result Self, struct Driver* function, enum Option fn);\nint get(int, int);\nvoid dlsym(void);\n";
    let Some(bindings) = bind(header) else { return };
    assert_eq!(bindings.functions, ["load", "get", "dlsym"]);
    compile(
        &bindings.text,
        "fn main() { let _ = driver::Driver::load_; }",
    );
}

#[test]
fn status_is_the_common_result_type_and_flag_overrides_it() {
    let header = "typedef enum st { ST_BAD = 1, ST_OK = 0, ST_FINE = 5 } st;\ntypedef unsigned my_bool;\n\
        st a(void); st b(void); int c(void); my_bool d(void); void e(void); void f(void);\n";
    let Some(bindings) = bind(header) else { return };
    assert_eq!(bindings.status.as_deref(), Some("st"));
    assert_contains(&bindings.text, "pub unsafe fn a(&self) -> Result<()>");
    assert_contains(&bindings.text, "pub unsafe fn c(&self) -> Result<i32>");
    let overridden = bind_with_status(header, Some("st=ST_FINE"))
        .unwrap()
        .unwrap();
    assert!(overridden.text.contains("pub const SUCCESS: st = st(5);"));
    let int = bind_with_status(header, Some("int")).unwrap().unwrap();
    assert!(int.text.contains("pub unsafe fn c(&self) -> Result<()>"));
    compile(&int.text, "fn main() {}");
    let unknown = bind_with_status(header, Some("sst")).unwrap().unwrap_err();
    assert!(matches!(unknown, DriverError::Status { .. }), "{unknown}");
}

#[test]
fn plain_int_is_not_taken_for_a_status() {
    let Some(bindings) = bind("int a(void); int b(void); int c(void);") else {
        return;
    };
    assert_eq!(bindings.status, None);
    compile(&bindings.text, "fn main() {}");
}

#[test]
fn error_shows_the_headers_line_and_tells_cpp_from_c() {
    let Some(result) = try_bind("int ok(void);\nint broken(missing_t x);\n") else {
        return;
    };
    let DriverError::Invalid(error) = result.unwrap_err() else {
        panic!("not a header error");
    };
    assert!(!error.is_cpp && error.at == "demo.h:2:12", "{}", error.at);
    assert!(error.message.contains("missing_t"), "{}", error.message);
    let cpp = try_bind("namespace vendor { class Device { virtual int open() = 0; }; }\n").unwrap();
    assert!(matches!(cpp.unwrap_err(), DriverError::Invalid(error) if error.is_cpp));
    let std = try_bind("#include <vector>\nint f(std::vector<int> x);\n").unwrap();
    assert!(matches!(std.unwrap_err(), DriverError::Invalid(error) if error.is_cpp));
    let none = try_bind("#define X 1\nstatic inline int f(void) { return 1; }\n").unwrap();
    let message = none.unwrap_err().to_string();
    assert!(message.contains("`f` is inline"), "{message}");
    let empty = try_bind("").unwrap().unwrap_err();
    assert!(matches!(
        empty,
        DriverError::NoFunctions { reason: None, .. }
    ));
}

#[test]
fn missing_header_is_an_error() {
    let mut options = virtaccel();
    options.header.path = "nowhere/no.h".into();
    let error = sp_driver::bindings(&options).unwrap_err();
    assert!(matches!(error, DriverError::Missing(..)));
}

#[test]
fn hostile_names_of_library_and_header_stay_texts() {
    let Some(_) = bind("int f(void);") else {
        return;
    };
    let mut options = virtaccel();
    options.library = "a\"; compile_error!(\"x\"); \"\n*/".into();
    let bindings = sp_driver::bindings(&options).unwrap();
    compile(
        &bindings.text,
        "fn main() { assert!(driver::LIBRARY.starts_with(\"a\\\"\")); }",
    );
}

#[test]
fn function_with_thousands_of_stars_is_left_out() {
    for count in [1_000, 199_000] {
        let header = format!("int {}f(void);\nint g(void);\n", "*".repeat(count));
        let Some(bindings) = bind(&header) else {
            return;
        };
        let reason = reasons(&bindings)[0].1;
        assert!(reason.contains("more than 64 pointers"), "{reason}");
    }
}

#[test]
fn nested_packed_structs_are_bound_in_linear_time() {
    // libclang itself is exponential in the depth, but not in the number of passes.
    let structs: String = (1..16)
        .map(|number| {
            format!(
                "struct s{number} {{ char c; struct s{} a, b; }};\n",
                number - 1
            )
        })
        .collect();
    let header = format!(
        "#pragma pack(1)\nstruct s0 {{ char c; int i; }};\n{structs}int f(struct s15* value);\n"
    );
    let Some(bindings) = bind(&header) else {
        return;
    };
    assert!(bindings.text.contains("pub struct s15"));
}

#[test]
fn const_of_arrays_and_typedefs_is_kept() {
    let header = "typedef int v_vec[3];\ntypedef const int v_const;\ntypedef v_const v_constants[2];\n\
        int vNorm(const v_vec v);\nint vScale(v_vec v);\nint vSum(const int v[3], int n, const int m[n]);\n\
        int vRows(const v_vec rows[2], v_const* one, v_constants some, const int (*last)[3]);\n\
        int vEach(int (*each)(const v_vec v));\n";
    let Some(bindings) = bind(header) else { return };
    assert_eq!(bindings.left_out, []);
    let code = "use driver::*;
        type Ints = *const i32;
        fn main() {
            let _: unsafe fn(&Driver, Ints) -> Result<i32> = Driver::vNorm;
            let _: unsafe fn(&Driver, *mut i32) -> Result<i32> = Driver::vScale;
            let _: unsafe fn(&Driver, Ints, i32, Ints) -> Result<i32> = Driver::vSum;
            let _: unsafe fn(&Driver, *const v_vec, Ints, Ints, *const [i32; 3]) -> Result<i32> = Driver::vRows;
            let _: unsafe fn(&Driver, Option<unsafe extern \"C\" fn(Ints) -> i32>) -> Result<i32> = Driver::vEach;
        }";
    compile(&bindings.text, code);
}

#[test]
fn empty_structs_are_passed_by_value_without_a_warning() {
    let header = "typedef struct {} v_empty;\ntypedef struct { v_empty e; } v_outer;\n\
        int vEmpty(v_empty e);\nint vAfter(int a, v_empty e, int b, v_outer o, int c);\nv_empty vNone(v_empty* e);\n";
    let Some(bindings) = bind(header) else { return };
    assert_eq!(bindings.left_out, []);
    let folder = tempfile::tempdir().unwrap();
    let c_code = format!(
        "{header}int vEmpty(v_empty e) {{ return 5; }}\n\
        int vAfter(int a, v_empty e, int b, v_outer o, int c) {{ return a * 100 + b * 10 + c; }}\n\
        v_empty vNone(v_empty* e) {{ return *e; }}\n"
    );
    let library = compilers::library_of_c(&c_code, folder.path());
    let code = format!(
        "fn main() {{
            // SAFETY: the library has the functions of its header.
            unsafe {{
                let driver = driver::Driver::load_from({library:?}).unwrap();
                let mut none = driver::v_empty::default();
                assert_eq!(driver.vEmpty(none), Ok(5));
                assert_eq!(driver.vAfter(1, none, 2, driver::v_outer::default(), 3), Ok(123));
                assert!(driver.vNone(&mut none).is_ok());
            }}
        }}"
    );
    compilers::run(&bindings.text, &code);
}

#[test]
fn header_of_an_installed_compiler_is_found() {
    let header = "#include <stdatomic.h>\nint ok(memory_order order);\n";
    match try_bind(header) {
        Some(Err(DriverError::Invalid(error))) if error.message.contains("file not found") => {
            println!("skipped: this machine has neither the headers of clang nor of gcc");
        }
        Some(result) => assert!(result.unwrap().symbols.contains("ok")),
        None => {}
    }
}

#[test]
fn error_of_a_header_that_ends_too_early_names_the_header() {
    let cases = [
        ("int ok(void);\nstruct s {\n  int x;\n", "demo.h:2:10"),
        ("int ok(void);\nint f(int x", "demo.h:2:"),
        ("int ok(void);\nint broken(void)", "demo.h:2:"),
        ("int ok(void);\nextern int x\n", "demo.h:2:"),
        ("#ifdef A\nint ok(void);\n", "demo.h:1:2"),
        ("int ok(void);\n/* no end\n", "demo.h:2:1"),
        ("int ok(void);\ntypedef\n", "demo.h:2:8"),
    ];
    for (header, at) in cases {
        let Some(result) = try_bind(header) else {
            return;
        };
        let error = result.unwrap_err();
        let DriverError::Invalid(error) = error else {
            panic!("{header}: {error}");
        };
        assert!(
            error.at.starts_with(at),
            "{header}: {} at {}",
            error.message,
            error.at
        );
    }
}
