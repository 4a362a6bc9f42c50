//! Tests of the parser with small headers of our own.

use std::fs;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};
use sp_ir::{Field, Item, Layout, Signature, StructSize, Type, Value};

use super::*;

/// Parses `header`. Without libclang it reports the test as skipped and returns `None`.
fn parse(header: &str) -> Option<Declarations> {
    parse_for(header, DEFAULT_TARGET).map(Result::unwrap)
}

/// Parses a malformed `header` as [`parse`] does, and returns the error.
fn parse_error(header: &str) -> Option<ClangError> {
    parse_for(header, DEFAULT_TARGET).map(Result::unwrap_err)
}

fn parse_for(header: &str, target: &str) -> Option<Result<Declarations, ClangError>> {
    if let Err(missing) = Library::load() {
        eprintln!("skipped: no libclang: {missing}");
        return None;
    }
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("demo.h"), header).unwrap();
    let input = ParseInput {
        include_root: root.path().into(),
        headers: vec!["demo.h".into()],
        target: target.into(),
        dialect: Dialect::TensorFlow,
    };
    Some(declarations(&input, &|header| header == "demo.h", true))
}

fn structure<'d>(found: &'d Declarations, name: &str) -> &'d sp_ir::Struct {
    match &found.items[name] {
        Item::Struct(item) => item,
        other => panic!("{name} is {other:?}"),
    }
}

fn field<'d>(found: &'d Declarations, name: &str, field: &str) -> &'d Field {
    let fields = &structure(found, name).fields;
    fields.iter().find(|known| known.name == field).unwrap()
}

fn function(ty: &Type) -> &Signature {
    match ty {
        Type::Function(signature) => signature,
        other => panic!("{other:?} is not a function"),
    }
}

fn named(name: &str) -> Type {
    Type::Named(name.into())
}

const OFFSET_OF_END: &str = "
#include <stddef.h>
#include <stdint.h>
#define TF_OFFSET_OF_END(T, M) (offsetof(T, M) + sizeof(((T *)0)->M))
";

#[test]
fn names_anonymous_structs_by_typedef_or_field() {
    let header = "typedef struct { int a; struct { char b; double c; } inner; union { int x; float y; } either; } Outer;";
    let Some(found) = parse(header) else { return };
    let expected = Layout { size: 32, align: 8 };
    assert_eq!(structure(&found, "Outer").layout, expected);
    assert_eq!(field(&found, "Outer", "inner").ty, named("Outer__inner"));
    assert_eq!(field(&found, "Outer", "inner").offset, 8);
    assert_eq!(field(&found, "Outer__inner", "c").offset, 8);
    assert!(matches!(&found.items["Outer__either"], Item::Union(union) if union.layout.size == 4));
    assert_eq!(found.items.len(), 3, "{:?}", found.items.keys());
}

#[test]
fn callbacks_keep_names_and_types_of_parameters() {
    let header = "#include <stdint.h>
        typedef struct Host Host;
        typedef struct Queue_st* Queue;
        typedef void (*Done)(void* const arg, Host* const host);
        typedef struct Fns {
          int64_t (*start)(const Host* host, Queue* queue, uint64_t size, Done done);
          void (*visit)(void (*each)(int32_t index), bool all);
        } Fns;";
    let Some(found) = parse(header) else { return };
    let start = function(&field(&found, "Fns", "start").ty);
    let names = start.params.iter().map(|param| param.name.as_str());
    let names: Vec<&str> = names.collect();
    assert_eq!(names, ["host", "queue", "size", "done"]);
    let types: Vec<&Type> = start.params.iter().map(|param| &param.ty).collect();
    let expected = [
        &Type::pointer(named("Host"), false),
        &Type::pointer(named("Queue"), true),
        &Type::int(64, false),
        &named("Done"),
    ];
    assert_eq!(types, expected);
    assert_eq!(start.ret, Type::int(64, true));
    let visit = function(&field(&found, "Fns", "visit").ty);
    let called = function(&visit.params[0].ty);
    assert_eq!(called.params[0].ty, Type::int(32, true));
    assert_eq!(visit.params[1].ty, Type::Bool);
    assert!(matches!(&found.items["Queue"], Item::Handle(handle) if handle.pointer));
    assert!(matches!(&found.items["Host"], Item::Handle(handle) if !handle.pointer));
    assert!(matches!(&found.items["Done"], Item::Callback(_)));
    assert!(
        !found.items.contains_key("Queue_st"),
        "a struct that only a handle points to is not an item"
    );
}

#[test]
fn names_anonymous_members_in_order() {
    let header = "struct S { char a; union { const char* text; double number; };
          struct { char b; union { short c; int d; }; }; union { int e; } named; char f; };";
    let Some(found) = parse(header) else { return };
    let fields: Vec<_> = structure(&found, "S").fields.iter().collect();
    let rows: Vec<_> = fields
        .iter()
        .map(|field| (field.name.as_str(), field.offset, field.size))
        .collect();
    let expected = [
        ("a", 0, 1),
        ("anonymous", 8, 8),
        ("anonymous_2", 16, 8),
        ("named", 24, 4),
        ("f", 28, 1),
    ];
    assert_eq!(rows, expected);
    assert_eq!(fields[1].ty, named("S__anonymous"));
    let Item::Union(inner) = &found.items["S__anonymous"] else {
        panic!("{:?}", found.items["S__anonymous"])
    };
    assert_eq!(inner.fields[0].ty, Type::pointer(Type::Char, false));
    assert_eq!(field(&found, "S__anonymous_2", "anonymous").offset, 4);
    assert!(matches!(&found.items["S__named"], Item::Union(_)));
}

#[test]
fn typedef_of_function_is_a_callback() {
    let header = "typedef struct Error Error;
        struct Run_Args { int x; };
        typedef Error* Run(struct Run_Args* args);
        typedef void Stop();
        #define SLOT(fn_type) fn_type* fn_type
        typedef struct Table { Run** later; SLOT(Run); Stop* stop; } Table;
        #undef SLOT
        void Set(Run* run);";
    let Some(found) = parse(header) else { return };
    let Item::Callback(run) = &found.items["Run"] else {
        panic!("{:?}", found.items["Run"])
    };
    assert_eq!(run.signature.params[0].name, "args");
    assert_eq!(run.signature.ret, Type::pointer(named("Error"), true));
    assert!(
        matches!(&found.items["Stop"], Item::Callback(callback) if callback.signature.params.is_empty())
    );
    assert_eq!(field(&found, "Table", "Run").ty, named("Run"));
    assert_eq!(field(&found, "Table", "stop").ty, named("Stop"));
    let expected = Type::pointer(named("Run"), true);
    assert_eq!(field(&found, "Table", "later").ty, expected);
    let Item::Function(set) = &found.items["Set"] else {
        panic!()
    };
    assert_eq!(set.signature.params[0].ty, named("Run"));
}

#[test]
fn keeps_typedef_chains_and_gaps_of_enums() {
    let header =
        "typedef unsigned char Byte; typedef Byte Flag; typedef struct P_st* P; typedef P Q;
        typedef enum Gap { G_A = -2, G_B = 5, G_C } Gap;
        struct S { Flag a; Q b; Gap c; };";
    let Some(found) = parse(header) else { return };
    assert!(matches!(&found.items["Byte"], Item::Alias(alias) if alias.ty == Type::int(8, false)));
    assert!(matches!(&found.items["Flag"], Item::Alias(alias) if alias.ty == named("Byte")));
    assert!(matches!(&found.items["Q"], Item::Alias(alias) if alias.ty == named("P")));
    let Item::Enum(gap) = &found.items["Gap"] else {
        panic!()
    };
    let values: Vec<i64> = gap.variants.iter().map(|variant| variant.value).collect();
    assert_eq!((&gap.repr, values), (&Type::int(32, true), vec![-2, 5, 6]));
    let types: Vec<&Type> = structure(&found, "S")
        .fields
        .iter()
        .map(|field| &field.ty)
        .collect();
    assert_eq!(types, [&named("Flag"), &named("Q"), &named("Gap")]);
}

#[test]
fn reports_header_error_after_wrong_guess() {
    let header = "#define ODD 1\nstruct S { int a; };\n#define TOO_LONG 99999999999999999999999\n";
    let Some(error) = parse_error(header) else {
        return;
    };
    assert!(error.to_string().contains("too large"), "{error}");
}

#[test]
fn distinguishes_scalar_types() {
    let header = "#include <stddef.h>
        #include <stdint.h>
        struct All { bool a; char b; signed char c; unsigned char d; size_t e; long f; float g; double h;
                     const char* i; char* const j; void** k; int l[3][2]; int (*m)[2];
                     int (*n)[]; };";
    let Some(found) = parse(header) else { return };
    let types: Vec<Type> = structure(&found, "All")
        .fields
        .iter()
        .map(|field| field.ty.clone())
        .collect();
    let expected = [
        Type::Bool,
        Type::Char,
        Type::int(8, true),
        Type::int(8, false),
        Type::Size,
        Type::int(64, true),
        Type::Float { bits: 32 },
        Type::Float { bits: 64 },
        Type::pointer(Type::Char, false),
        Type::pointer(Type::Char, true),
        Type::pointer(Type::pointer(Type::Void, true), true),
        Type::array(Type::array(Type::int(32, true), 2), 3),
        Type::pointer(Type::array(Type::int(32, true), 2), true),
        Type::pointer(Type::array(Type::int(32, true), 0), true),
    ];
    assert_eq!(types, expected);
}

#[test]
fn keeps_order_and_synonyms_of_enumerators() {
    let header = "typedef enum Kind { K_ONE = 1, K_SAME = 1, K_NEXT } Kind; enum { PLAIN = 7 };";
    let Some(found) = parse(header) else { return };
    let Item::Enum(kind) = &found.items["Kind"] else {
        panic!("{:?}", found.items["Kind"])
    };
    let values = kind.variants.iter();
    let values = values.map(|variant| (variant.name.as_str(), variant.value));
    let values: Vec<_> = values.collect();
    assert_eq!(values, [("K_ONE", 1), ("K_SAME", 1), ("K_NEXT", 2)]);
    assert_eq!(kind.repr, Type::int(32, false));
    assert!(
        matches!(&found.items["PLAIN"], Item::Constant(constant) if constant.value == Value::Int(7))
    );
}

#[test]
fn assigns_sizes_to_structs_by_their_arguments() {
    let header = format!(
        "{OFFSET_OF_END}
        typedef struct A {{ size_t struct_size; char last;
        #define ODD_NAME TF_OFFSET_OF_END(A, last)
        }} A;
        typedef struct {{ size_t struct_size; int32_t last; }} B;
        const size_t B_STRUCT_SIZE = TF_OFFSET_OF_END(B, last);
        #define DEMO_DEFINE_STRUCT_TRAITS(S, last) enum {{ S##_STRUCT_SIZE = TF_OFFSET_OF_END(S, last) }}
        typedef struct C {{ size_t struct_size; int16_t last; }} C;
        DEMO_DEFINE_STRUCT_TRAITS(C, last);
        #define DEMO_STRUCT_SIZE(S, last) TF_OFFSET_OF_END(S, last)
        typedef struct D {{ size_t struct_size; bool last; }} D;
        enum {{ D_STRUCT_SIZE = DEMO_STRUCT_SIZE(D, last) }};
        #define GONE_DEFINE_STRUCT_TRAITS(S, last) const size_t S##_STRUCT_SIZE = DEMO_STRUCT_SIZE(S, last);
        typedef struct E {{ size_t struct_size; void* last; }} E;
        GONE_DEFINE_STRUCT_TRAITS(E, last)
        #undef GONE_DEFINE_STRUCT_TRAITS"
    );
    let Some(found) = parse(&header) else { return };
    let expected = [
        ("A", "ODD_NAME", 9),
        ("B", "B_STRUCT_SIZE", 12),
        ("C", "C_STRUCT_SIZE", 10),
        ("D", "D_STRUCT_SIZE", 9),
        ("E", "E_STRUCT_SIZE", 16),
    ];
    for (name, symbol, value) in expected {
        let size = structure(&found, name).struct_size.clone();
        let (symbol, last_field) = (symbol.to_owned(), "last".to_owned());
        assert!(!found.items.contains_key(&symbol), "{symbol}");
        let expected = StructSize {
            symbol,
            last_field,
            value,
        };
        assert_eq!(size, Some(expected));
    }
    assert_eq!(
        structure(&found, "A").layout.size,
        16,
        "struct_size is unpadded, sizeof is not"
    );
}

#[test]
fn converts_macros_to_numbers_names_and_aliases() {
    let header = "#define GUARD
        #define TWO 2
        #define FLAGS (TWO | 0x10)
        #define TEXT \"1.0\"
        #define LINES \"one\\n\" \"\\x32\"
        #define CALL(x) x
        #define UNRELATED __attribute__((unused))
        typedef enum Code { CODE_OK } Code;
        typedef void (*Visitor)(int);
        #define OK CODE_OK
        #define Walker Visitor
        const int kLimit = TWO + 3;";
    let Some(found) = parse(header) else { return };
    let value = |name: &str| match &found.items[name] {
        Item::Constant(constant) => constant.value.clone(),
        other => panic!("{name} is {other:?}"),
    };
    assert_eq!(value("TWO"), Value::Int(2));
    assert_eq!(value("FLAGS"), Value::Int(18));
    assert_eq!(value("TEXT"), Value::Text("1.0".into()));
    assert_eq!(value("LINES"), Value::Text("one\n2".into()));
    assert_eq!(value("OK"), Value::Name("CODE_OK".into()));
    assert_eq!(value("kLimit"), Value::Int(5));
    assert!(matches!(&found.items["Walker"], Item::Alias(alias) if alias.ty == named("Visitor")));
    for none in ["GUARD", "CALL", "UNRELATED"] {
        assert!(!found.items.contains_key(none), "{none}");
    }
}

#[test]
fn keeps_names_of_aliases() {
    let header = "extern \"C\" { typedef struct Raw Raw; typedef struct Raw Status; void Set(Status* status, const Raw* from); }";
    let Some(found) = parse(header) else { return };
    assert!(matches!(&found.items["Status"], Item::Alias(alias) if alias.ty == named("Raw")));
    let Item::Function(set) = &found.items["Set"] else {
        panic!()
    };
    assert_eq!(set.symbol, "Set");
    let params = &set.signature.params;
    assert_eq!(params[0].ty, Type::pointer(named("Status"), true));
    assert_eq!(params[1].ty, Type::pointer(named("Raw"), false));
}

#[test]
fn attaches_comments_by_position() {
    let header = "struct S {
          // [Optional]
          // Leading.
          int a;  // Trailing,
                  // which goes on.

          // Detached.

          /*** SOME CALLBACKS ***/
          int b;
          void (*c)(
              int x);  // out, set by plugin
          int d;
        };";
    let Some(found) = parse(header) else { return };
    let texts = |member: &str| -> Vec<String> {
        found
            .comments
            .get("S", member)
            .iter()
            .map(|comment| comment.text.clone())
            .collect()
    };
    let expected = ["[Optional]\nLeading.", "Trailing,\nwhich goes on."];
    assert_eq!(texts("a"), expected);
    assert_eq!(texts("b"), [""; 0]);
    assert_eq!(texts("c"), ["out, set by plugin"]);
    assert_eq!(texts("d"), [""; 0]);
    assert_eq!(field(&found, "S", "a").section, None);
    assert_eq!(
        field(&found, "S", "d").section.as_deref(),
        Some("SOME CALLBACKS")
    );
    assert_eq!(found.comments.get("S", "c")[0].loc.line, 12);
}

#[test]
fn layout_depends_on_target() {
    let header = "#include <stddef.h>\nstruct S { char a; double b; size_t c; };";
    let sizes = [
        ("x86_64-unknown-linux-gnu", 24),
        ("i686-unknown-linux-gnu", 16),
        ("wasm32-unknown-unknown", 24),
    ];
    for (target, size) in sizes {
        let Some(found) = parse_for(header, target) else {
            return;
        };
        assert_eq!(
            structure(&found.unwrap(), "S").layout.size,
            size,
            "{target}"
        );
    }
}

#[test]
fn builtin_headers_parse_for_every_target() {
    let all = sp_data::embedded::BUILTIN_HEADERS.iter();
    let includes: String = all
        .map(|(name, _)| format!("#include <{name}>\n"))
        .collect();
    for target in [
        "x86_64-unknown-linux-gnu",
        "aarch64-apple-darwin",
        "x86_64-pc-windows-msvc",
    ] {
        let uses =
            "int32_t a = INT32_MAX; size_t b = sizeof(NULL); void* c = malloc(strlen(\"\"));";
        let Some(found) = parse_for(&format!("{includes}{uses}"), target) else {
            return;
        };
        assert!(found.unwrap().items.is_empty());
    }
}

fn rendered(error: &dyn Diagnostic) -> String {
    let mut report = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
    handler.render_report(&mut report, error).unwrap();
    report
}

#[test]
fn error_shows_line_of_header_with_caret() {
    let header = "struct Fine { int a; };\nstruct Broken { Missing b; };\n";
    let Some(error) = parse_error(header) else {
        return;
    };
    let report = rendered(&error);
    for part in [
        "unknown type name 'Missing'",
        "demo.h:2:17",
        "struct Broken { Missing b; };",
        "┬",
        "sp_gen::clang::parse",
    ] {
        assert!(report.contains(part), "{part} is not in\n{report}");
    }
}

#[test]
fn rejects_missing_include() {
    let header = "#include \"nowhere.h\"\nstruct S { int a; };\n";
    let Some(error) = parse_error(header) else {
        return;
    };
    let report = rendered(&error);
    assert!(report.contains("'nowhere.h' file not found"), "{report}");
}

#[test]
fn size_error_is_at_the_macro() {
    let header = format!(
        "{OFFSET_OF_END}struct S {{ int a; }};\n#define S_SIZE TF_OFFSET_OF_END(S, gone)\n"
    );
    let Some(error) = parse_error(&header) else {
        return;
    };
    let report = rendered(&error);
    assert!(
        report.contains("no member named 'gone'") && report.contains("#define S_SIZE"),
        "{report}"
    );
}

#[test]
fn rejects_declarations_that_the_ir_cannot_describe() {
    for (header, what) in [
        ("struct S { int a : 3; };", "a bit-field"),
        ("struct S { long double a; };", "the type `long double`"),
        ("int Print(const char* format, ...);", "..."),
    ] {
        let Some(error) = parse_error(header) else {
            return;
        };
        let error = error.to_string();
        for part in ["demo.h:1", what] {
            assert!(error.contains(part), "{error}");
        }
    }
}
