//! The mapping rules, each on a small API made for it.

use sp_ir::{
    Alias, Api, Callback, Constant, Direction, Discriminator, Enum, Evidence, Field, Function,
    Handle, Item, Items, Layout, Loc, Param, Presence, Receiver, SCHEMA, Side, Signature, Stated,
    Struct, StructSize, Transfer, Type, Value, Variant,
};

use super::{Files, Refused};
use sp_data::symbols::Symbols;

mod exports;
mod releases;

/// The crate where nobody knows who exports what.
fn emit(apis: &[Api]) -> Result<Files, Refused> {
    super::emit(apis, &Symbols::default())
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

/// A struct that opens with `struct_size`; every field has eight bytes.
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

/// A table whose callbacks find the author's object in `SP_Device.device_handle`.
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

/// The status behind an alias in an API of its own, as it is from 2.12 on.
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

/// A file of the crate with all white space as one blank, so that line breaks do not matter.
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

fn has(text: &str, part: &str) {
    assert!(text.contains(part), "no `{part}` in:\n{text}");
}

#[test]
fn the_owner_becomes_self_and_a_status_a_result() {
    let run = || vec![slot("run", vec![device(), stream(), status()], Type::Void)];
    has(&traits(run()), "type Stream: Send + Sync + 'static;");
    has(
        &traits(run()),
        "fn run(&self, stream: &Self::Stream) -> Result<()>;",
    );
    let text = shims(run());
    has(&text, ".get(SP_Device::device_handle)");
    has(&text, "receiver::<T>(device)");
    has(&text, "handle::borrow::<T::Stream>(stream.0)");
    has(
        &text,
        "guard::run_with_status(\"SP_Table.run\", status, body)",
    );
}

#[test]
fn a_handle_that_goes_out_is_the_result() {
    let mut out = param("stream", pointer(named("SP_Stream"), true));
    out.direction = stated(Direction::Out);
    let create = || {
        vec![slot(
            "create",
            vec![device(), out.clone(), status()],
            Type::Void,
        )]
    };
    has(
        &traits(create()),
        "fn create(&self) -> Result<Self::Stream>;",
    );
    has(
        &shims(create()),
        "stream.write(SP_Stream(handle::into_raw_with_owner(this, made)))",
    );
}

#[test]
fn a_handle_given_back_comes_by_value() {
    let mut given = stream();
    given.transfer = stated(Transfer::Full);
    let destroy = || vec![slot("destroy", vec![device(), given.clone()], Type::Void)];
    has(
        &traits(destroy()),
        "fn destroy(&self, stream: Self::Stream);",
    );
    has(&shims(destroy()), "handle::from_raw::<T::Stream>(stream.0)");
    has(
        &shims(destroy()),
        "guard::run_with_default(\"SP_Table.destroy\", ()",
    );
}

#[test]
fn a_method_is_unsafe_where_it_must_trust_a_pointer() {
    let mut stats = param("stats", pointer(named("SP_Stats"), true));
    stats.direction = stated(Direction::InOut);
    let memory = param("memory", pointer(named("SP_Memory"), false));
    let bytes = param("bytes", pointer(Type::Void, true));
    let text = traits(vec![
        slot("count", vec![device(), stats], Type::Void),
        slot("look", vec![device(), memory], Type::Void),
        slot("copy", vec![device(), bytes], Type::Void),
    ]);
    has(&text, " fn count(&self, stats: PrefixMut<'_, SP_Stats>);");
    has(
        &text,
        " unsafe fn look(&self, memory: Prefix<'_, SP_Memory>);",
    );
    has(&text, " unsafe fn copy(&self, bytes: *mut c_void);");
    assert!(!text.contains("unsafe fn count"), "{text}");
}

#[test]
fn a_struct_is_writable_only_if_the_parameter_is_out_or_inout() {
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
fn without_a_receiver_there_is_no_self() {
    let mut demo = demo_api(vec![slot("run", vec![stream(), status()], Type::Void)]);
    if let Some(Item::Struct(item)) = demo.items.get_mut("SP_Table") {
        item.receiver = None;
    }
    let files = emit(&[status_api(), demo]).unwrap();
    has(
        &flat(&files, "src/demo/traits.rs"),
        "fn run(stream: &Self::Stream) -> Result<()>;",
    );
    has(&flat(&files, "src/demo/shims.rs"), "T::run(stream)");
}

#[test]
fn an_optional_slot_is_absent_unless_written() {
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
    has(&text, "const HAS_FLUSH: bool = false;");
    has(&text, "Err(Error::absent(\"SP_Table.flush\"))");
    has(&text, "fn depth(&self) -> i32 { -1 }");
    has(&macros(slots()), "#[optional] fn depth(&self) -> i32;");
}

#[test]
fn the_slots_macro_names_everything_from_the_root() {
    let memory = param("memory", pointer(named("SP_Memory"), false));
    let bytes = param("bytes", pointer(Type::Void, true));
    let text = macros(vec![slot(
        "run",
        vec![device(), memory, bytes, status()],
        Type::Void,
    )]);
    has(&text, "macro_rules! __Table");
    has(
        &text,
        "memory: $crate::__rt::Prefix<'_, $crate::demo::SP_Memory>",
    );
    has(&text, "::core::ffi::c_void");
    has(&text, "pub use __Table as Table;");
}

#[test]
fn a_value_without_a_neutral_is_refused() {
    let demo = demo_api(vec![slot("depth", vec![device()], Type::Size)]);
    let refused = emit(&[status_api(), demo]).unwrap_err();
    has(&refused.to_string(), "SP_Table.depth: it returns a value");
}

#[test]
fn a_name_that_nobody_declares_is_refused() {
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
    let refused = emit(&[api("demo", vec![("TF_Lose", Item::Function(function))])]).unwrap_err();
    has(&refused.to_string(), "`TF_Lose` uses `TF_Lost`");
}

#[test]
fn a_member_without_a_name_is_refused() {
    let item = Item::Struct(versioned(vec![field("", Type::Bool, 0)]));
    let refused = emit(&[api("demo", vec![("SP_Table", item)])]).unwrap_err();
    has(&refused.to_string(), "a member of `SP_Table` has no name");
}

#[test]
fn a_name_declared_twice_is_refused() {
    let twice = emit(&[
        api("one", vec![("H", handle(true, None))]),
        api("two", vec![("H", handle(true, None))]),
    ]);
    has(
        &twice.unwrap_err().to_string(),
        "`H` is declared by one and by two",
    );
}

#[test]
fn functions_of_core_are_looked_up_and_the_plugins_are_types() {
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
    has(
        &text,
        "pub static TF_Ask: Function<unsafe extern \"C\" fn(n: usize) -> bool>",
    );
    has(
        &text,
        "// SAFETY: the signature is the header's. pub static TF_Ask",
    );
    has(&text, "Function::new(c\"TF_Ask\")");
    has(
        &text,
        "pub type SE_Init = unsafe extern \"C\" fn(n: usize) -> bool;",
    );
}

#[test]
fn enumerations_are_open_and_constants_follow_them() {
    let files = emit(&[status_api()]).unwrap();
    let text = flat(&files, "src/status/enums.rs");
    has(&text, "pub struct TSL_Code(pub u32);");
    has(&text, "pub const TSL_FINE: Self = Self(0);");
    assert_eq!(
        text.matches("0 => Some(").count(),
        1,
        "one name tells a value: {text}"
    );
    let constants = flat(&files, "src/status/constants.rs");
    has(&constants, "pub const TF_OK: TSL_Code = TSL_Code::TSL_OK;");
    has(
        &flat(&files, "src/status/handles.rs"),
        "pub use sp_runtime::RawStatus as TSL_Status;",
    );
}

#[test]
fn texts_keep_their_value_in_rust_and_c() {
    let text = Item::Constant(Constant {
        doc: None,
        value: Value::Text("a\n\"\u{1b}1".into()),
        loc: loc(),
    });
    let apis = [api("demo", vec![("TEXT", text)])];
    let files = emit(&apis).unwrap();
    has(
        &flat(&files, "src/demo/constants.rs"),
        r#"pub const TEXT: &str = "a\n\"\u{1b}1";"#,
    );
    let headers = super::header::emit(&apis, &Symbols::default()).unwrap();
    has(&headers["sp_demo.h"], r#"#define TEXT "a\n\"\0331""#);
}

#[test]
fn layouts_are_asserted() {
    let text = flat(&files(vec![]), "src/demo/layout.rs");
    has(&text, "(size_of::<SP_Stats>(), align_of::<SP_Stats>());");
    has(&text, "assert!(size == 16 && align == 8);");
    has(&text, "assert!(offset_of!(SP_Stats, count) == 8);");
    has(&text, "assert!(SP_Stats::STRUCT_SIZE == 16);");
}

#[test]
fn only_files_with_something_in_them_are_written() {
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
fn a_second_owner_is_an_argument() {
    let mut peer = device();
    peer.name = "peer".into();
    let text = traits(vec![slot("join", vec![device(), peer], Type::Void)]);
    has(&text, "unsafe fn join(&self, peer: Prefix<'_, SP_Device>);");
}

#[test]
fn names_of_other_apis_are_imported_and_no_more() {
    let files = files(vec![slot("run", vec![device(), status()], Type::Void)]);
    let text = flat(&files, "src/demo/mod.rs");
    has(&text, "use crate::status::TF_Status;");
    assert!(!text.contains("TSL_"), "{text}");
    assert!(
        !files["src/status/mod.rs"].contains("use crate::"),
        "{files:?}"
    );
}

#[test]
fn two_handles_of_one_name_are_refused() {
    let mut other = stream();
    other.ty = named("SE_Stream");
    let mut demo = demo_api(vec![slot(
        "join",
        vec![device(), stream(), other],
        Type::Void,
    )]);
    demo.items.insert("SE_Stream".into(), handle(true, None));
    let refused = emit(&[status_api(), demo]).unwrap_err();
    has(&refused.to_string(), "would both be its type `Stream`");
}

#[test]
fn a_slot_of_a_named_type_is_refused() {
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
    let refused = emit(&[status_api(), demo]).unwrap_err();
    has(&refused.to_string(), "SP_Table.run: its type is `SP_Run`");
}
