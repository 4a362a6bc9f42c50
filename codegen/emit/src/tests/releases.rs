//! Rules over several releases of an API.

use super::*;

/// Returns the demo API in an older release, with other slots in its table.
fn older(release: &str, slots: Vec<Field>) -> Api {
    let mut older = demo_api(slots);
    older.release = release.into();
    older
}

fn status_of(release: &str) -> Api {
    let mut status = status_api();
    status.release = release.into();
    status
}

#[test]
fn broken_layout_has_a_module() {
    let run = || slot("run", vec![device()], Type::Void);
    let stop = || slot("stop", vec![device()], Type::Void);
    let begin = || slot("begin", vec![device()], Type::Void);
    let apis = [
        status_of("2.5"),
        older("2.5", vec![run()]),
        status_of("2.6"),
        older("2.6", vec![run(), stop()]),
        status_api(),
        demo_api(vec![begin(), run(), stop()]),
    ];
    let files = emit(&apis).unwrap();
    let text = flat(&files, "src/demo/epochs.rs");
    // 2.6 appended to 2.5, so one module holds both; 2.21 inserted.
    assert_eq!(text.matches("pub mod ").count(), 1, "{text}");
    assert_contains(&text, "pub mod v2_5 {");
    assert_contains(&text, "Source: `demo.h:7`, 2.5 to 2.6.");
    assert_contains(&text, "pub stop: Option");
    assert_contains(&text, "author_trait = \"Table\"");
    assert!(!text.contains("SP_Stats"), "{text}");
}

#[test]
fn newest_struct_has_offsets_of_older_layouts() {
    let run = || slot("run", vec![device()], Type::Void);
    let begin = || slot("begin", vec![device()], Type::Void);
    let files = emit(&[
        status_of("2.4"),
        older("2.4", vec![begin()]),
        status_of("2.5"),
        older("2.5", vec![run()]),
        status_of("2.6"),
        older("2.6", vec![run()]),
        status_api(),
        demo_api(vec![begin(), run()]),
    ]);
    let text = flat(&files.unwrap(), "src/demo/structs.rs");
    assert_contains(&text, "epochs = \"2.5..2.6 = 16, 2.21.. = 24\"");
    assert_contains(&text, "offsets = \"24 = 8\")] pub begin");
    assert_contains(&text, "offsets = \"16 = 8, 24 = 16\")] pub run");
    assert!(!text.contains("offsets = \"16 = 0"), "{text}");
}

#[test]
fn rejects_layouts_of_equal_size_and_moved_fields() {
    let slots = |names: [&str; 2]| {
        names
            .map(|it| slot(it, vec![device()], Type::Void))
            .to_vec()
    };
    let result = emit(&[
        status_of("2.5"),
        older("2.5", slots(["run", "begin"])),
        status_api(),
        demo_api(slots(["begin", "run"])),
    ]);
    let error = result.unwrap_err().to_string();
    let part = "state in item.SP_Table.discriminator what distinguishes them";
    assert_contains(&error, part);
    let part = "SP_Table.begin: has two offsets in structs of 24 bytes";
    assert_contains(&error, part);
}

/// Returns the demo API with a table whose layouts only the running release distinguishes.
fn with_release_discriminator(slots: Vec<Field>) -> Api {
    let mut newest = demo_api(slots);
    if let Some(Item::Struct(table)) = newest.items.get_mut("SP_Table") {
        table.discriminator = stated(Discriminator::Release);
    }
    newest
}

#[test]
fn older_table_with_other_signature_has_no_author_trait() {
    let old = slot("run", vec![device()], Type::Void);
    let n = Param::new("n", Type::Size);
    let new = slot("run", vec![device(), n], Type::Void);
    let (status, demo) = (status_of("2.5"), older("2.5", vec![old]));
    let files = emit(&[
        status,
        demo,
        status_api(),
        with_release_discriminator(vec![new]),
    ])
    .unwrap();
    let text = flat(&files, "src/demo/epochs.rs");
    assert_contains(&text, "pub struct SP_Table");
    assert!(!text.contains("author_trait"), "{text}");
}

#[test]
fn slot_with_added_pointer_has_setter_by_release() {
    let bytes = || Param::new("", Type::pointer(Type::Char, true));
    let item = || Param::new("item", Type::pointer(named("SP_Device"), false));
    let old = slot("run", vec![device(), bytes(), status()], Type::Void);
    let new = slot("run", vec![device(), bytes(), item(), status()], Type::Void);
    let (status, demo) = (status_of("2.5"), older("2.5", vec![old]));
    let files = emit(&[
        status,
        demo,
        status_api(),
        with_release_discriminator(vec![new]),
    ]);
    let text = flat(&files.unwrap(), "src/demo/retyped.rs");
    assert_contains(&text, "pub trait SP_Table__run: 'static");
    assert_contains(&text, "T::call(device, arg1, core::ptr::null(), status)");
    assert_contains(&text, "pub fn set_run<T: SP_Table__run>(");
}

#[test]
fn emits_items_of_older_releases_with_release_text() {
    let mut old = status_of("2.5");
    old.items.insert("TF_Gone".into(), handle(true, None));
    let mut new = status_api();
    new.items.insert("TF_Come".into(), handle(true, None));
    let files = emit(&[old, new]).unwrap();
    let text = flat(&files, "src/status/handles.rs");
    assert_contains(&text, "`demo.h:7`, 2.21 on. #[derive");
    assert_contains(&text, "`demo.h:7`, 2.5. #[derive");
    assert_contains(&text, "pub struct TF_Gone");
}

#[test]
fn removes_smallest_reference_from_feature_cycle() {
    let function = |ty: &str| {
        let signature = Signature::new(vec![Param::new("it", named(ty))], Type::Void);
        Item::Function(Function::new(signature, "TF_Use", loc()))
    };
    let files = emit(&[
        api(
            "kernels",
            vec![("A", handle(true, None)), ("TF_UseB", function("B"))],
        ),
        api(
            "other",
            vec![
                ("B", handle(true, None)),
                ("TF_UseA", function("A")),
                ("TF_UseA2", function("A")),
            ],
        ),
    ]);
    let files = files.unwrap();
    let part = "default = [\"kernels\"]\nkernels = []\nother = [\"kernels\"]\n";
    assert_contains(&files["Cargo.toml"], part);
    let part = "#[cfg(feature = \"other\")]";
    assert_contains(&flat(&files, "src/kernels/functions.rs"), part);
    let part = "#[cfg(feature = \"other\")] use crate::other::B;";
    assert_contains(&flat(&files, "src/kernels/mod.rs"), part);
    assert_contains(&flat(&files, "src/other/mod.rs"), "use crate::kernels::A;");
    assert_contains(&flat(&files, "src/lib.rs"), "#[cfg(feature = \"kernels\")]");
}

#[test]
fn slot_required_by_any_release_is_required() {
    let flush = |presence| {
        let mut flush = slot("flush", vec![device(), status()], Type::Void);
        flush.presence = stated(presence);
        flush
    };
    let emitted = |old: &str| {
        let older = older(old, vec![flush(Presence::Required)]);
        let newest = demo_api(vec![flush(Presence::Optional)]);
        let files = emit(&[status_of(old), older, status_api(), newest]).unwrap();
        flat(&files, "src/demo/traits.rs")
    };
    assert!(!emitted("2.13").contains("HAS_FLUSH"));
    // 2.4 loads no plugins, so its requirements do not apply.
    assert_contains(&emitted("2.4"), "const HAS_FLUSH: bool = false;");
}

/// Emits a function whose parameters were `old` and are `new`.
fn emit_with_older(old: Vec<Param>, new: Vec<Param>) -> String {
    let put = |params: Vec<Param>| {
        let signature = Signature::new(params, Type::Void);
        Item::Function(Function::new(signature, "TF_Put", loc()))
    };
    let mut older = api("demo", vec![("TF_Put", put(old))]);
    older.release = "2.9".into();
    let files = emit(&[older, api("demo", vec![("TF_Put", put(new))])]).unwrap();
    flat(&files, "src/demo/functions.rs")
}

#[test]
fn adapter_omits_added_flag() {
    let n = || Param::new("n", Type::Size);
    let text = emit_with_older(vec![n()], vec![n(), Param::new("check", Type::Bool)]);
    let part = "unsafe extern \"C-unwind\" fn TF_Put_v2_9(n: usize, check: bool) {";
    assert_contains(&text, part);
    assert_contains(&text, "unsafe { older(n) }");
    assert_contains(&text, "adapter: Some(TF_Put_v2_9)");
    assert_contains(&text, "In 2.9 `check` is ignored.");
}

#[test]
fn added_length_has_no_adapter() {
    let text = |ty| Type::pointer(ty, false);
    let key = || Param::new("key", text(Type::Char));
    let found = emit_with_older(vec![key()], vec![key(), Param::new("size", Type::Size)]);
    assert_contains(&found, "adapter: None");
    assert!(!found.contains("TF_Put_v2_9"), "{found}");
}

#[test]
fn layouts_of_equal_size_need_a_discriminator() {
    let plain = |name: &str, ty: Type| {
        let mut item = versioned(vec![field(name, ty, 0)]);
        item.struct_size = None;
        item
    };
    let release = |release: &str, item: Struct| {
        let mut api = api("demo", vec![("SP_Plain", Item::Struct(item))]);
        api.release = release.into();
        api
    };
    let old = || release("2.5", plain("a", Type::Size));
    let new = plain("a", Type::Float { bits: 64 });
    let error = emit(&[old(), release("2.6", new.clone())]).unwrap_err();
    let part = "state in item.SP_Plain.discriminator what distinguishes them";
    assert_contains(&error.to_string(), part);
    let with_discriminator = Struct {
        discriminator: stated(Discriminator::Release),
        ..new
    };
    let files = emit(&[old(), release("2.6", with_discriminator)]).unwrap();
    let text = flat(&files, "src/demo/structs.rs");
    assert_contains(&text, "only the running release identifies it.");
}
