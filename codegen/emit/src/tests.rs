//! The mapping rules, each with a small API of its own.

use sp_ir::{
    Alias, Api, Callback, Constant, Direction, Discriminator, Enum, Evidence, Field, Function,
    Handle, Item, Items, Layout, Loc, Param, Presence, Receiver, SCHEMA, Side, Signature, Stated,
    Struct, StructSize, Transfer, Type, Value, Variant,
};

use super::{EmitError, Files};
use sp_data::symbols::Symbols;

mod decline_messages;
mod exports;
mod releases;

/// Emits the crate without any known exports.
fn emit(apis: &[Api]) -> Result<Files, EmitError> {
    super::emit_rust(apis, &Symbols::default())
}

fn loc() -> Loc {
    Loc {
        file: "demo.h".into(),
        line: 7,
    }
}

fn stated<T>(value: T) -> Option<Stated<T>> {
    Some(Stated::new(value, Evidence::Prefix))
}

fn named(name: &str) -> Type {
    Type::Named(name.into())
}

fn pointer(pointee: Type, mutable: bool) -> Type {
    Type::Pointer {
        pointee: Box::new(pointee),
        mutable,
    }
}

fn param(name: &str, ty: Type) -> Param {
    Param {
        name: name.into(),
        ty,
        direction: None,
        transfer: None,
        scope: None,
    }
}

fn device() -> Param {
    param("device", pointer(named("SP_Device"), false))
}

fn status() -> Param {
    param("status", pointer(named("TF_Status"), true))
}

fn stream() -> Param {
    param("stream", named("SP_Stream"))
}

fn field(name: &str, ty: Type, offset: u64) -> Field {
    Field {
        name: name.into(),
        doc: None,
        ty,
        offset,
        size: 8,
        filled_by: None,
        direction: None,
        presence: None,
        neutral: None,
        section: None,
        loc: loc(),
    }
}

fn slot(name: &str, params: Vec<Param>, ret: Type) -> Field {
    field(
        name,
        Type::Function(Box::new(Signature {
            params,
            ret,
            ret_transfer: None,
        })),
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
    Struct {
        doc: None,
        filled_by: stated(Side::Plugin),
        receiver: None,
        author_trait: None,
        discriminator: None,
        fields,
        layout: Layout { size, align: 8 },
        struct_size: Some(StructSize {
            symbol: "SIZE".into(),
            last_field,
            value: size,
        }),
        loc: loc(),
    }
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
    Item::Handle(Handle {
        doc: None,
        pointer,
        rust: rust.map(Into::into),
        loc: loc(),
    })
}

fn api(name: &str, items: Vec<(&str, Item)>) -> Api {
    Api {
        schema: SCHEMA,
        name: name.into(),
        release: "2.21".into(),
        preview: None,
        version: None,
        items: items
            .into_iter()
            .map(|(name, item)| (name.to_owned(), item))
            .collect::<Items>(),
        imports: Default::default(),
        targets: Default::default(),
    }
}

/// Returns an API with the status behind an alias, as TensorFlow declares it from 2.12 on.
fn status_api() -> Api {
    let code = |name: &str, value| Variant {
        name: name.into(),
        value,
    };
    let codes = Enum {
        doc: None,
        repr: Type::Int {
            bits: 32,
            signed: false,
        },
        variants: vec![code("TSL_OK", 0), code("TSL_FINE", 0), code("TSL_LOST", 15)],
        loc: loc(),
    };
    let alias = Alias {
        doc: None,
        ty: named("TSL_Status"),
        loc: loc(),
    };
    let ok = Constant {
        doc: None,
        value: Value::Name("TSL_OK".into()),
        loc: loc(),
    };
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
    let void = pointer(Type::Void, true);
    let device = versioned(vec![
        field("ext", void.clone(), 0),
        field("device_handle", void.clone(), 0),
    ]);
    let memory = versioned(vec![
        field("ext", void.clone(), 0),
        field("opaque", void, 0),
    ]);
    let count = Type::Int {
        bits: 64,
        signed: true,
    };
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

fn traits(slots: Vec<Field>) -> String {
    flat(&files(slots), "src/demo/traits.rs")
}

fn macros(slots: Vec<Field>) -> String {
    flat(&files(slots), "src/demo/macros.rs")
}

fn shims(slots: Vec<Field>) -> String {
    flat(&files(slots), "src/demo/shims.rs")
}

fn assert_contains(text: &str, part: &str) {
    assert!(text.contains(part), "no `{part}` in:\n{text}");
}

#[test]
fn maps_owner_to_self_and_status_to_result() {
    let run = || vec![slot("run", vec![device(), stream(), status()], Type::Void)];
    assert_contains(&traits(run()), "type Stream: Send + Sync + 'static;");
    assert_contains(
        &traits(run()),
        "fn run(&self, stream: &Self::Stream) -> Result<()>;",
    );
    let text = shims(run());
    assert_contains(&text, ".get(SP_Device::device_handle)");
    assert_contains(&text, "receiver::<T>(device)");
    assert_contains(&text, "handle::borrow::<T::Stream>(stream.0)");
    assert_contains(
        &text,
        "guard::run_with_status(\"SP_Table.run\", status, body)",
    );
}

#[test]
fn returns_object_of_created_handle() {
    let mut out = param("stream", pointer(named("SP_Stream"), true));
    out.direction = stated(Direction::Out);
    let create = || {
        vec![slot(
            "create",
            vec![device(), out.clone(), status()],
            Type::Void,
        )]
    };
    assert_contains(
        &traits(create()),
        "fn create(&self) -> Result<Self::Stream>;",
    );
    assert_contains(
        &shims(create()),
        "stream.write(SP_Stream(handle::into_raw_with_owner(this, object)))",
    );
}

#[test]
fn passes_object_of_owned_handle_by_value() {
    let mut given = stream();
    given.transfer = stated(Transfer::Full);
    let destroy = || vec![slot("destroy", vec![device(), given.clone()], Type::Void)];
    assert_contains(
        &traits(destroy()),
        "fn destroy(&self, stream: Self::Stream);",
    );
    assert_contains(&shims(destroy()), "handle::from_raw::<T::Stream>(stream.0)");
    assert_contains(
        &shims(destroy()),
        "guard::run_with_default(\"SP_Table.destroy\", ()",
    );
}

#[test]
fn method_with_pointer_is_unsafe() {
    let mut stats = param("stats", pointer(named("SP_Stats"), true));
    stats.direction = stated(Direction::InOut);
    let memory = param("memory", pointer(named("SP_Memory"), false));
    let bytes = param("bytes", pointer(Type::Void, true));
    let text = traits(vec![
        slot("count", vec![device(), stats], Type::Void),
        slot("look", vec![device(), memory], Type::Void),
        slot("copy", vec![device(), bytes], Type::Void),
    ]);
    assert_contains(&text, " fn count(&self, stats: PrefixMut<'_, SP_Stats>);");
    assert_contains(
        &text,
        " unsafe fn look(&self, memory: Prefix<'_, SP_Memory>);",
    );
    assert_contains(&text, " unsafe fn copy(&self, bytes: *mut c_void);");
    assert!(!text.contains("unsafe fn count"), "{text}");
}

#[test]
fn struct_is_mutable_only_for_out_and_inout() {
    let is_mutable = |direction: Option<Direction>| {
        let mut memory = param("memory", pointer(named("SP_Memory"), true));
        memory.direction = direction.and_then(stated);
        let text = traits(vec![slot("fill", vec![device(), memory], Type::Void)]);
        text.contains("memory: PrefixMut<'_, SP_Memory>")
    };
    assert!(is_mutable(Some(Direction::Out)) && is_mutable(Some(Direction::InOut)));
    assert!(!is_mutable(Some(Direction::In)) && !is_mutable(None));
}

#[test]
fn table_without_receiver_has_no_self() {
    let mut demo = demo_api(vec![slot("run", vec![stream(), status()], Type::Void)]);
    if let Some(Item::Struct(item)) = demo.items.get_mut("SP_Table") {
        item.receiver = None;
    }
    let files = emit(&[status_api(), demo]).unwrap();
    assert_contains(
        &flat(&files, "src/demo/traits.rs"),
        "fn run(stream: &Self::Stream) -> Result<()>;",
    );
    assert_contains(&flat(&files, "src/demo/shims.rs"), "T::run(stream)");
}

#[test]
fn optional_slot_is_absent_by_default() {
    let mut flush = slot("flush", vec![device(), status()], Type::Void);
    flush.presence = stated(Presence::Optional);
    let mut depth = slot(
        "depth",
        vec![device()],
        Type::Int {
            bits: 32,
            signed: true,
        },
    );
    depth.presence = stated(Presence::Optional);
    depth.neutral = stated("-1".into());
    let slots = || vec![flush.clone(), depth.clone()];
    let text = traits(slots());
    assert_contains(&text, "const HAS_FLUSH: bool = false;");
    assert_contains(&text, "Err(Error::absent(\"SP_Table.flush\"))");
    assert_contains(&text, "fn depth(&self) -> i32 { -1 }");
    assert_contains(&macros(slots()), "#[optional] fn depth(&self) -> i32;");
}

#[test]
fn slots_macro_uses_absolute_paths() {
    let memory = param("memory", pointer(named("SP_Memory"), false));
    let bytes = param("bytes", pointer(Type::Void, true));
    let text = macros(vec![slot(
        "run",
        vec![device(), memory, bytes, status()],
        Type::Void,
    )]);
    assert_contains(&text, "macro_rules! __Table");
    assert_contains(
        &text,
        "memory: $crate::__rt::Prefix<'_, $crate::demo::SP_Memory>",
    );
    assert_contains(&text, "::core::ffi::c_void");
    assert_contains(&text, "pub use __Table as Table;");
}

#[test]
fn rejects_return_value_without_default() {
    let demo = demo_api(vec![slot("depth", vec![device()], Type::Size)]);
    let error = emit(&[status_api(), demo]).unwrap_err();
    assert_contains(&error.to_string(), "SP_Table.depth: it returns a value");
}

#[test]
fn rejects_optional_slot_that_creates_handle_without_status() {
    let mut out = param("stream", pointer(named("SP_Stream"), true));
    out.direction = stated(Direction::Out);
    let mut create = slot("create", vec![device(), out], Type::Void);
    create.presence = stated(Presence::Optional);
    let error = emit(&[status_api(), demo_api(vec![create])]).unwrap_err();
    assert_contains(
        &error.to_string(),
        "SP_Table.create: it is optional and creates a `SP_Stream`",
    );
}

#[test]
fn rejects_undeclared_name() {
    let signature = Signature {
        params: vec![param("it", pointer(named("TF_Lost"), true))],
        ret: Type::Void,
        ret_transfer: None,
    };
    let function = Function {
        doc: None,
        signature,
        exported_by: None,
        instead: None,
        inline: false,
        symbol: "TF_Lose".into(),
        loc: loc(),
    };
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
    assert_contains(
        &result.unwrap_err().to_string(),
        "H: declared by the APIs `one` and `two`",
    );
}

#[test]
fn functions_of_core_are_statics_and_entry_points_are_types() {
    let function = |side, symbol: &str| {
        let signature = Signature {
            params: vec![param("n", Type::Size)],
            ret: Type::Bool,
            ret_transfer: None,
        };
        let (exported_by, symbol) = (stated(side), symbol.to_owned());
        Item::Function(Function {
            doc: None,
            signature,
            exported_by,
            instead: None,
            inline: false,
            symbol,
            loc: loc(),
        })
    };
    let items = vec![
        ("TF_Ask", function(Side::Core, "TF_Ask")),
        ("SE_Init", function(Side::Plugin, "SE_Init")),
    ];
    let files = emit(&[api("demo", items)]).unwrap();
    let text = flat(&files, "src/demo/functions.rs");
    assert_contains(
        &text,
        "pub static TF_Ask: Function<unsafe extern \"C\" fn(n: usize) -> bool>",
    );
    assert_contains(
        &text,
        "// SAFETY: the signature is that of the header. pub static TF_Ask",
    );
    assert_contains(&text, "Function::new(c\"TF_Ask\")");
    assert_contains(
        &text,
        "pub type SE_Init = unsafe extern \"C\" fn(n: usize) -> bool;",
    );
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
    assert_contains(
        &flat(&files, "src/status/handles.rs"),
        "pub use sp_runtime::RawStatus as TSL_Status;",
    );
}

#[test]
fn text_constants_are_escaped_in_rust_and_c() {
    let text = Item::Constant(Constant {
        doc: None,
        value: Value::Text("a\n\"\u{1b}1".into()),
        loc: loc(),
    });
    let apis = [api("demo", vec![("TEXT", text)])];
    let files = emit(&apis).unwrap();
    assert_contains(
        &flat(&files, "src/demo/constants.rs"),
        r#"pub const TEXT: &str = "a\n\"\u{1b}1";"#,
    );
    let headers = super::emit_c(&apis, &Symbols::default()).unwrap();
    assert_contains(&headers["spgen_demo.h"], r#"#define TEXT "a\n\"\0331""#);
}

#[test]
fn c_fill_stores_only_fields_of_the_plugin() {
    let void = || pointer(Type::Void, true);
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
    assert_contains(
        text,
        "spgen_set_SP_Device_device_handle(object, values->device_handle);",
    );
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
fn second_owner_is_an_argument() {
    let mut peer = device();
    peer.name = "peer".into();
    let text = traits(vec![slot("join", vec![device(), peer], Type::Void)]);
    assert_contains(&text, "unsafe fn join(&self, peer: Prefix<'_, SP_Device>);");
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

#[test]
fn rejects_handles_with_equal_associated_types() {
    let mut other = stream();
    other.ty = named("SE_Stream");
    let mut demo = demo_api(vec![slot(
        "join",
        vec![device(), stream(), other],
        Type::Void,
    )]);
    demo.items.insert("SE_Stream".into(), handle(true, None));
    let error = emit(&[status_api(), demo]).unwrap_err();
    assert_contains(&error.to_string(), "have the same associated type `Stream`");
}

#[test]
fn rejects_slot_of_named_callback_type() {
    let mut demo = demo_api(vec![field("run", named("SP_Run"), 0)]);
    let signature = Signature {
        params: vec![],
        ret: Type::Void,
        ret_transfer: None,
    };
    let callback = Callback {
        doc: None,
        signature,
        loc: loc(),
    };
    demo.items.insert("SP_Run".into(), Item::Callback(callback));
    let error = emit(&[status_api(), demo]).unwrap_err();
    assert_contains(
        &error.to_string(),
        "SP_Table.run: its type is the callback `SP_Run`",
    );
}
