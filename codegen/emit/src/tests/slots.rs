//! Slots of tables: the author's methods, their shims, and the macros that list them.

use super::*;

fn traits(slots: Vec<Field>) -> String {
    flat(&files(slots), "src/demo/traits.rs")
}

fn macros(slots: Vec<Field>) -> String {
    flat(&files(slots), "src/demo/macros.rs")
}

fn shims(slots: Vec<Field>) -> String {
    flat(&files(slots), "src/demo/shims.rs")
}

#[test]
fn maps_owner_to_self_and_status_to_result() {
    let run = || vec![slot("run", vec![device(), stream(), status()], Type::Void)];
    assert_contains(&traits(run()), "type Stream: Send + Sync + 'static;");
    let part = "fn run(&self, stream: &Self::Stream) -> Result<()>;";
    assert_contains(&traits(run()), part);
    let text = shims(run());
    assert_contains(&text, ".get(SP_Device::device_handle)");
    assert_contains(&text, "receiver::<T>(device)");
    assert_contains(&text, "handle::borrow::<T::Stream>(stream.0)");
    let part = "guard::run_with_status(\"SP_Table.run\", status, body)";
    assert_contains(&text, part);
}

#[test]
fn returns_object_of_created_handle() {
    let mut out = Param::new("stream", Type::pointer(named("SP_Stream"), true));
    out.direction = stated(Direction::Out);
    let create = || {
        vec![slot(
            "create",
            vec![device(), out.clone(), status()],
            Type::Void,
        )]
    };
    let part = "fn create(&self) -> Result<Self::Stream>;";
    assert_contains(&traits(create()), part);
    let part = "stream.write(SP_Stream(handle::into_raw_with_owner(this, object)))";
    assert_contains(&shims(create()), part);
}

#[test]
fn passes_object_of_owned_handle_by_value() {
    let mut given = stream();
    given.transfer = stated(Transfer::Full);
    let destroy = || vec![slot("destroy", vec![device(), given.clone()], Type::Void)];
    let part = "fn destroy(&self, stream: Self::Stream);";
    assert_contains(&traits(destroy()), part);
    assert_contains(&shims(destroy()), "handle::from_raw::<T::Stream>(stream.0)");
    let part = "guard::run_with_default(\"SP_Table.destroy\", ()";
    assert_contains(&shims(destroy()), part);
}

#[test]
fn method_with_pointer_is_unsafe() {
    let mut stats = Param::new("stats", Type::pointer(named("SP_Stats"), true));
    stats.direction = stated(Direction::InOut);
    let memory = Param::new("memory", Type::pointer(named("SP_Memory"), false));
    let bytes = Param::new("bytes", Type::pointer(Type::Void, true));
    let text = traits(vec![
        slot("count", vec![device(), stats], Type::Void),
        slot("look", vec![device(), memory], Type::Void),
        slot("copy", vec![device(), bytes], Type::Void),
    ]);
    assert_contains(&text, " fn count(&self, stats: PrefixMut<'_, SP_Stats>);");
    let part = " unsafe fn look(&self, memory: Prefix<'_, SP_Memory>);";
    assert_contains(&text, part);
    assert_contains(&text, " unsafe fn copy(&self, bytes: *mut c_void);");
    assert!(!text.contains("unsafe fn count"), "{text}");
}

#[test]
fn struct_is_mutable_only_for_out_and_inout() {
    let is_mutable = |direction: Option<Direction>| {
        let mut memory = Param::new("memory", Type::pointer(named("SP_Memory"), true));
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
    let part = "fn run(stream: &Self::Stream) -> Result<()>;";
    assert_contains(&flat(&files, "src/demo/traits.rs"), part);
    assert_contains(&flat(&files, "src/demo/shims.rs"), "T::run(stream)");
}

#[test]
fn optional_slot_is_absent_by_default() {
    let mut flush = slot("flush", vec![device(), status()], Type::Void);
    flush.presence = stated(Presence::Optional);
    let mut depth = slot("depth", vec![device()], Type::int(32, true));
    depth.presence = stated(Presence::Optional);
    depth.default_return = stated("-1".into());
    let slots = || vec![flush.clone(), depth.clone()];
    let text = traits(slots());
    assert_contains(&text, "const HAS_FLUSH: bool = false;");
    assert_contains(&text, "Err(Error::absent(\"SP_Table.flush\"))");
    assert_contains(&text, "fn depth(&self) -> i32 { -1 }");
    assert_contains(&macros(slots()), "#[optional] fn depth(&self) -> i32;");
}

#[test]
fn slots_macro_uses_absolute_paths() {
    let memory = Param::new("memory", Type::pointer(named("SP_Memory"), false));
    let bytes = Param::new("bytes", Type::pointer(Type::Void, true));
    let text = macros(vec![slot(
        "run",
        vec![device(), memory, bytes, status()],
        Type::Void,
    )]);
    assert_contains(&text, "macro_rules! __Table");
    let part = "memory: $crate::__rt::Prefix<'_, $crate::demo::SP_Memory>";
    assert_contains(&text, part);
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
fn author_implements_optional_slot_that_cannot_report_its_absence() {
    let mut out = Param::new("stream", Type::pointer(named("SP_Stream"), true));
    out.direction = stated(Direction::Out);
    let mut create = slot("create", vec![device(), out], Type::Void);
    create.presence = stated(Presence::Optional);
    let files = files(vec![create]);
    let text = flat(&files, "src/demo/traits.rs");
    assert_contains(&text, "fn create(&self) -> Self::Stream;");
    assert!(!text.contains("HAS_CREATE"), "{text}");
    // `fill` reads `HAS_CREATE` of a slot that is optional here.
    let structs = flat(&files, "src/demo/structs.rs");
    assert!(!structs.contains("optional\")] pub create"), "{structs}");
}

#[test]
fn second_owner_is_an_argument() {
    let mut peer = device();
    peer.name = "peer".into();
    let text = traits(vec![slot("join", vec![device(), peer], Type::Void)]);
    assert_contains(&text, "unsafe fn join(&self, peer: Prefix<'_, SP_Device>);");
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
    let callback = Callback::new(Signature::new(vec![], Type::Void), loc());
    demo.items.insert("SP_Run".into(), Item::Callback(callback));
    let error = emit(&[status_api(), demo]).unwrap_err();
    let part = "SP_Table.run: its type is the callback `SP_Run`";
    assert_contains(&error.to_string(), part);
}

#[test]
fn exception_may_leave_function_of_host_but_not_that_of_plugin() {
    let callback = || Item::Callback(Callback::new(Signature::new(vec![], Type::Void), loc()));
    let run = Param::new("run", named("SP_Run"));
    let mut demo = demo_api(vec![slot("start", vec![device(), run], Type::Void)]);
    demo.items.insert("SP_Run".into(), callback());
    demo.items.insert("SP_Other".into(), callback());
    let files = emit(&[status_api(), demo]).unwrap();
    let callbacks = flat(&files, "src/demo/callbacks.rs");
    let part = "SP_Run = Option<unsafe extern \"C-unwind\" fn()>";
    assert_contains(&callbacks, part);
    assert_contains(&callbacks, "SP_Other = Option<unsafe extern \"C\" fn()>");
    let shims = flat(&files, "src/demo/shims.rs");
    assert_contains(&shims, "pub unsafe extern \"C\" fn start");
}
