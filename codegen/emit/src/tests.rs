//! The mapping rules, each with a small API of its own.

use sp_ir::{
    Alias, Api, Callback, Constant, Direction, Discriminator, Enum, Evidence, Field, Function,
    Handle, Item, Layout, Loc, Param, Presence, Receiver, Side, Signature, Stated, Struct,
    StructSize, Transfer, Type, Value, Variant,
};

use super::{EmitError, Files};
use sp_data::symbols::Symbols;

mod decline_messages;
mod exports;
mod releases;
mod slots;

/// Emits the crate without any known exports.
fn emit(apis: &[Api]) -> Result<Files, EmitError> {
    super::emit_rust(apis, &Symbols::default())
}

fn loc() -> Loc {
    Loc::new("demo.h", 7)
}

fn stated<T>(value: T) -> Option<Stated<T>> {
    Some(Stated::new(value, Evidence::Prefix))
}

fn named(name: &str) -> Type {
    Type::Named(name.into())
}

fn device() -> Param {
    Param::new("device", Type::pointer(named("SP_Device"), false))
}

fn status() -> Param {
    Param::new("status", Type::pointer(named("TF_Status"), true))
}

fn stream() -> Param {
    Param::new("stream", named("SP_Stream"))
}

fn field(name: &str, ty: Type, offset: u64) -> Field {
    Field::new(name, ty, offset, 8, loc())
}

fn slot(name: &str, params: Vec<Param>, ret: Type) -> Field {
    field(
        name,
        Type::Function(Box::new(Signature::new(params, ret))),
        0,
    )
}

/// Returns a struct that begins with `struct_size`; every field has eight bytes.
fn versioned(fields: Vec<Field>) -> Struct {
    let mut fields: Vec<_> = [field("struct_size", Type::Size, 0)]
        .into_iter()
        .chain(fields)
        .collect();
    for (index, field) in fields.iter_mut().enumerate() {
        field.offset = index as u64 * 8;
    }
    let size = fields.len() as u64 * 8;
    let last_field = fields.last().map(|it| it.name.clone()).unwrap_or_default();
    let mut item = Struct::new(fields, Layout { size, align: 8 }, loc());
    item.filled_by = stated(Side::Plugin);
    item.struct_size = Some(StructSize {
        symbol: "SIZE".into(),
        last_field,
        value: size,
    });
    item
}

/// Returns a table whose callbacks find the author's object in `SP_Device.device_handle`.
fn table(slots: Vec<Field>) -> Item {
    let mut item = versioned(slots);
    item.author_trait = stated("Table".into());
    let (owner, field) = ("SP_Device".into(), "device_handle".into());
    item.receiver = stated(Receiver { owner, field });
    Item::Struct(item)
}

fn handle(pointer: bool, rust: Option<&str>) -> Item {
    let mut item = Handle::new(pointer, loc());
    item.rust = rust.map(Into::into);
    Item::Handle(item)
}

fn api(name: &str, items: Vec<(&str, Item)>) -> Api {
    let items = items.into_iter().map(|(name, item)| (name.into(), item));
    Api::new(name, "2.21", items.collect())
}

/// Returns an API with the status behind an alias, as TensorFlow declares it from 2.12 on.
fn status_api() -> Api {
    let code = |name: &str, value| Variant {
        name: name.into(),
        value,
    };
    let codes = Enum {
        doc: None,
        repr: Type::int(32, false),
        variants: vec![code("TSL_OK", 0), code("TSL_FINE", 0), code("TSL_LOST", 15)],
        loc: loc(),
    };
    let alias = Alias::new(named("TSL_Status"), loc());
    let ok = Constant::new(Value::Name("TSL_OK".into()), loc());
    api(
        "status",
        vec![
            ("TSL_Code", Item::Enum(codes)),
            ("TSL_Status", handle(false, Some("sp_runtime::RawStatus"))),
            ("TF_Status", Item::Alias(alias)),
            ("TF_OK", Item::Constant(ok)),
        ],
    )
}

fn demo_api(slots: Vec<Field>) -> Api {
    let void = Type::pointer(Type::Void, true);
    let device = versioned(vec![
        field("ext", void.clone(), 0),
        field("device_handle", void.clone(), 0),
    ]);
    let memory = versioned(vec![
        field("ext", void.clone(), 0),
        field("opaque", void, 0),
    ]);
    let count = Type::int(64, true);
    api(
        "demo",
        vec![
            ("SP_Stream", handle(true, None)),
            ("SP_Device", Item::Struct(device)),
            ("SP_Memory", Item::Struct(memory)),
            (
                "SP_Stats",
                Item::Struct(versioned(vec![field("count", count, 0)])),
            ),
            ("SP_Table", table(slots)),
        ],
    )
}

fn files(slots: Vec<Field>) -> Files {
    emit(&[status_api(), demo_api(slots)]).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns a file of the crate with single spaces in place of all white space.
fn flat(files: &Files, path: &str) -> String {
    files[path]
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ")
        .replace("( ", "(")
        .replace(", )", ")")
}

fn assert_contains(text: &str, part: &str) {
    assert!(text.contains(part), "no `{part}` in:\n{text}");
}

#[test]
fn rejects_undeclared_name() {
    let params = vec![Param::new("it", Type::pointer(named("TF_Lost"), true))];
    let signature = Signature::new(params, Type::Void);
    let function = Function::new(signature, "TF_Lose", loc());
    let error = emit(&[api("demo", vec![("TF_Lose", Item::Function(function))])]).unwrap_err();
    assert_contains(&error.to_string(), "TF_Lose: the API `demo` uses `TF_Lost`");
}

#[test]
fn rejects_member_without_name() {
    let item = Item::Struct(versioned(vec![field("", Type::Bool, 0)]));
    let error = emit(&[api("demo", vec![("SP_Table", item)])]).unwrap_err();
    assert_contains(&error.to_string(), "SP_Table: a member has no name");
}

#[test]
fn rejects_name_declared_twice() {
    let result = emit(&[
        api("one", vec![("H", handle(true, None))]),
        api("two", vec![("H", handle(true, None))]),
    ]);
    let part = "H: declared by the APIs `one` and `two`";
    assert_contains(&result.unwrap_err().to_string(), part);
}

#[test]
fn functions_of_core_are_statics_and_entry_points_are_types() {
    let function = |side, symbol: &str| {
        let signature = Signature::new(vec![Param::new("n", Type::Size)], Type::Bool);
        let mut function = Function::new(signature, symbol, loc());
        function.exported_by = stated(side);
        Item::Function(function)
    };
    let items = vec![
        ("TF_Ask", function(Side::Core, "TF_Ask")),
        ("SE_Init", function(Side::Plugin, "SE_Init")),
    ];
    let files = emit(&[api("demo", items)]).unwrap();
    let text = flat(&files, "src/demo/functions.rs");
    let part = "pub static TF_Ask: Function<unsafe extern \"C-unwind\" fn(n: usize) -> bool>";
    assert_contains(&text, part);
    let part = "// SAFETY: the signature is that of the header. pub static TF_Ask";
    assert_contains(&text, part);
    assert_contains(&text, "Function::new(c\"TF_Ask\")");
    let part = "pub type SE_Init = unsafe extern \"C\" fn(n: usize) -> bool;";
    assert_contains(&text, part);
}

#[test]
fn enumerations_are_integer_types() {
    let files = emit(&[status_api()]).unwrap();
    let text = flat(&files, "src/status/enums.rs");
    assert_contains(&text, "pub struct TSL_Code(pub u32);");
    assert_contains(&text, "pub const TSL_FINE: Self = Self(0);");
    assert_eq!(
        text.matches("0 => Some(").count(),
        1,
        "a value has one name: {text}"
    );
    let constants = flat(&files, "src/status/constants.rs");
    assert_contains(&constants, "pub const TF_OK: TSL_Code = TSL_Code::TSL_OK;");
    let part = "pub use sp_runtime::RawStatus as TSL_Status;";
    assert_contains(&flat(&files, "src/status/handles.rs"), part);
}

#[test]
fn text_constants_are_escaped_in_rust_and_c() {
    let text = Item::Constant(Constant::new(Value::Text("a\n\"\u{1b}1".into()), loc()));
    let apis = [api("demo", vec![("TEXT", text)])];
    let files = emit(&apis).unwrap();
    let part = r#"pub const TEXT: &str = "a\n\"\u{1b}1";"#;
    assert_contains(&flat(&files, "src/demo/constants.rs"), part);
    let headers = super::emit_c(&apis, &Symbols::default()).unwrap();
    assert_contains(&headers["spgen_demo.h"], r#"#define TEXT "a\n\"\0331""#);
}

#[test]
fn c_fill_stores_only_fields_of_the_plugin() {
    let void = || Type::pointer(Type::Void, true);
    let mut reserved = field("ext", void(), 0);
    reserved.presence = stated(Presence::Optional);
    let mut ordinal = field("ordinal", Type::Size, 0);
    ordinal.filled_by = stated(Side::Core);
    let handle = field("device_handle", void(), 0);
    let item = Item::Struct(versioned(vec![reserved, ordinal, handle]));
    let headers = super::emit_c(
        &[api("demo", vec![("SP_Device", item)])],
        &Symbols::default(),
    );
    let text = &headers.unwrap()["spgen_demo.h"];
    let part = "spgen_set_SP_Device_device_handle(object, values->device_handle);";
    assert_contains(text, part);
    assert!(!text.contains("values->ext"), "{text}");
    assert!(!text.contains("values->ordinal"), "{text}");
}

#[test]
fn asserts_layouts() {
    let text = flat(&files(vec![]), "src/demo/layout.rs");
    assert_contains(&text, "(size_of::<SP_Stats>(), align_of::<SP_Stats>());");
    assert_contains(&text, "assert!(size == 16 && align == 8);");
    assert_contains(&text, "assert!(offset_of!(SP_Stats, count) == 8);");
    assert_contains(&text, "assert!(SP_Stats::STRUCT_SIZE == 16);");
}

#[test]
fn omits_files_without_items() {
    let files = emit(&[status_api()]).unwrap();
    assert!(!files.contains_key("src/status/structs.rs"));
    assert!(!files["src/status/mod.rs"].contains("structs"));
    assert!(
        files
            .values()
            .all(|text| text.contains("sp-gen generate") && !text.contains("__comment"))
    );
}

#[test]
fn imports_only_used_names_of_other_apis() {
    let files = files(vec![slot("run", vec![device(), status()], Type::Void)]);
    let text = flat(&files, "src/demo/mod.rs");
    assert_contains(&text, "use crate::status::TF_Status;");
    assert!(!text.contains("TSL_"), "{text}");
    assert!(
        !files["src/status/mod.rs"].contains("use crate::"),
        "{files:?}"
    );
}
