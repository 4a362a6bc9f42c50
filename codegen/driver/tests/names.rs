//! Names that C and Rust treat differently: keywords, names of the generated file, tags and functions of one name.

mod compilers;

use compilers::{bind, compile, same_output};

/// The keywords of every edition that are no keywords of C, with those that Rust reserves, and names that the generated file uses.
const NAMES: &str = "
    as async await crate dyn fn gen impl in let loop match mod move mut pub ref self Self super
    trait type unsafe use where abstract become box final macro override priv try typeof_
    unsized virtual yield union_ raw safe macro_rules i32 str usize Option Some None Ok Err
    Result Box String Driver Error FUNCTIONS LIBRARY Functions Lookup runtime check status
    function f name value lookup driver missing library required bytes bits data default_ clone
    fmt set Status__ get load require load_from CStr";

/// Compiles the bindings of a header with a declaration for each name.
fn compiles_with_all_names(declare: impl Fn(&str) -> String) {
    let header: String = NAMES.split_whitespace().map(declare).collect();
    let Some(bindings) = bind(&format!("{header}\nint last(void);\n")) else {
        return;
    };
    assert_eq!(bindings.left_out, []);
    compile(&bindings.text, "fn main() {}");
}

#[test]
fn functions_and_parameters_may_have_any_name() {
    compiles_with_all_names(|name| format!("int {name}(int x);\n"));
    compiles_with_all_names(|name| format!("int with_{name}(int {name}, int {name}_);\n"));
    compiles_with_all_names(|name| {
        format!("int call_{name}(int (*{name})(int {name}), void* x);\n")
    });
}

#[test]
fn fields_and_bit_fields_may_have_any_name() {
    compiles_with_all_names(|name| format!("struct s_{name} {{ int {name}; int {name}_; }};\n"));
    compiles_with_all_names(|name| format!("union u_{name} {{ int {name}; float {name}_; }};\n"));
    compiles_with_all_names(|name| {
        format!("struct b_{name} {{ int {name} : 3, set_{name} : 4; }};\n")
    });
}

#[test]
fn types_may_have_any_name() {
    compiles_with_all_names(|name| {
        format!("struct {name} {{ int x; }}; int s_{name}(struct {name} x);\n")
    });
    compiles_with_all_names(|name| {
        format!("typedef struct st_{name}* {name}; int h_{name}({name} x);\n")
    });
    compiles_with_all_names(|name| format!("typedef int {name}; int t_{name}({name} {name}_);\n"));
    compiles_with_all_names(|name| {
        format!("typedef void (*{name})(int {name}); int c_{name}({name} x);\n")
    });
}

#[test]
fn enumerations_and_constants_may_have_any_name() {
    compiles_with_all_names(|name| {
        format!("enum {name} {{ V_{name} }}; enum {name} e_{name}(enum {name} {name});\n")
    });
    compiles_with_all_names(|name| format!("enum {{ {name} = 3 }};\n"));
    compiles_with_all_names(|name| format!("static const int {name} = 3;\n"));
    compiles_with_all_names(|name| {
        format!("enum e_{name} {{ {name} }};\n#define M_{name} {name}\nint g(int {name}_);\n")
    });
}

#[test]
fn macros_may_have_any_name() {
    let macros = NAMES
        .split_whitespace()
        .map(|name| format!("#define {name} 3\n"));
    let header: String = macros.collect();
    let Some(bindings) = bind(&format!(
        "int last(int, void*, const char* text);\n{header}"
    )) else {
        return;
    };
    compile(&bindings.text, "fn main() {}");
}

#[test]
fn status_may_be_a_typedef_of_an_enumeration() {
    let header = "typedef enum vendor_error_enum { V_OK = 0, V_BAD = 1 } V_Result;\ntypedef V_Result status;\n\
        V_Result vOpen(int *out);\nV_Result vClose(void);\n";
    let Some(bindings) = bind(header) else { return };
    assert_eq!(bindings.status.as_deref(), Some("V_Result"));
    let code = "use driver::*;
        fn main() {
            assert_eq!(SUCCESS, vendor_error_enum::V_OK);
            let _: unsafe fn(&Driver) -> Result<()> = Driver::vClose;
            assert_eq!(Error::Status { function: \"f\", status: V_Result::V_BAD }.to_string(), \"f: V_BAD\");
        }";
    compile(&bindings.text, code);
}

#[test]
fn tags_functions_and_typedefs_may_share_a_name() {
    let header = "int bar(void);\nstruct bar { int x; };\nint bar2(struct bar *b);\n\
        struct foo { char c[3]; };\ntypedef struct foo* foo;\nint take(foo a, struct foo* b, struct foo c);\n\
        struct opaque;\ntypedef struct opaque* opaque;\nint pass(opaque a, struct opaque** b);\n\
        enum kind { K_A = 7 };\ntypedef unsigned char kind;\nint kinds(enum kind a, kind b);\n\
        struct constant { int x; };\nenum { constant = 5 };\nint constants(struct constant* x);\n\
        typedef struct dev_st* dev;\nint open_dev(dev dev, enum kind enum_kind);\n#define dev 4\n";
    let c = "SHOW(sizeof(struct bar)) SHOW(sizeof(struct foo)) SHOW(sizeof(foo)) SHOW(sizeof(opaque)) SHOW(K_A) \
        SHOW(sizeof(kind)) SHOW(constant) SHOW(dev)";
    let code = "macro_rules! size { ($ty:ty, $text:literal) => { println!(\"sizeof({})={}\", $text, size_of::<$ty>()) } }
        fn main() {
            size!(bar, \"struct bar\");
            size!(struct_foo, \"struct foo\");
            size!(foo, \"foo\");
            size!(opaque, \"opaque\");
            println!(\"K_A={}\", enum_kind::K_A.0);
            size!(kind, \"kind\");
            println!(\"constant={}\\ndev={}\", constant, dev_);
            let _: unsafe fn(&Driver, *mut bar) -> Result<i32> = Driver::bar2;
            let _: unsafe fn(&Driver) -> Result<i32> = Driver::bar;
            let _: unsafe fn(&Driver, foo, *mut struct_foo, struct_foo) -> Result<i32> = Driver::take;
            let _: unsafe fn(&Driver, opaque, *mut *mut struct_opaque) -> Result<i32> = Driver::pass;
        }";
    same_output(header, c, code);
}

#[test]
fn characters_that_rust_rejects_in_names_are_numbers() {
    let Some(bindings) =
        bind("int a$b(int c$);\nstruct s$ { int f$; };\n#define M$ 3\nint g(struct s$* \u{e9});\n")
    else {
        return;
    };
    assert!(bindings.text.contains("c\"a$b\""), "the symbol is C's");
    compile(
        &bindings.text,
        "fn main() { assert_eq!(driver::M_u24_, 3); }",
    );
}

#[test]
fn declarations_of_one_macro_have_names_of_their_own() {
    let header = "#define STACK(T) struct stack_##T\n\
        #define DEFINE(T) STACK(T); typedef int (*compare_##T)(const STACK(T)*); \\\n\
            static inline int check_##T(STACK(T)* it) { return it != 0; } int push_##T(STACK(T)* it)\n\
        DEFINE(X);\ntypedef STACK(X) XS;\nint each(XS* all);\n\
        #define PAIR(a, b) typedef struct { char x[3]; } a; typedef struct { char x[5]; } b\nPAIR(first, second);\nint pair(first x, second y);\n";
    let c = "SHOW(sizeof(first)) SHOW(sizeof(second))";
    let code = "fn main() {
        println!(\"sizeof(first)={}\\nsizeof(second)={}\", size_of::<first>(), size_of::<second>());
        let _: unsafe fn(&Driver, *mut stack_X) -> Result<i32> = Driver::push_X;
    }";
    let Some(bindings) = same_output(header, c, code) else {
        return;
    };
    assert_eq!(bindings.functions, ["push_X", "each", "pair"]);
    assert!(bindings.left_out.iter().any(|it| it.name == "check_X"));
}
