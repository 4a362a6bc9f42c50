//! Rules over several releases of an API.

use super::*;

/// The demo API in an older release, whose table `change` has made another.
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
fn a_broken_layout_keeps_a_module() {
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
    has(&text, "pub mod v2_5 {");
    has(&text, "Source: `demo.h:7`, 2.5 to 2.6.");
    has(&text, "pub stop: Option");
    has(&text, "author_trait = \"Table\"");
    assert!(!text.contains("SP_Stats"), "{text}");
}

#[test]
fn the_newest_form_says_where_older_layouts_have_its_fields() {
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
    has(&text, "epochs = \"2.5..2.6 = 16, 2.21.. = 24\"");
    has(&text, "offsets = \"24 = 8\")] pub begin");
    has(&text, "offsets = \"16 = 8, 24 = 16\")] pub run");
    assert!(!text.contains("offsets = \"16 = 0"), "{text}");
}

#[test]
fn two_layouts_of_one_size_are_refused() {
    let slots = |names: [&str; 2]| {
        names
            .map(|it| slot(it, vec![device()], Type::Void))
            .to_vec()
    };
    let problems = emit(&[
        status_of("2.5"),
        older("2.5", slots(["run", "begin"])),
        status_api(),
        demo_api(slots(["begin", "run"])),
    ]);
    let refused = problems.unwrap_err().to_string();
    has(&refused, "item.SP_Table.discriminator must say what does");
    has(
        &refused,
        "SP_Table.begin lies in two places in structs of 24 bytes",
    );
}

/// The demo API, whose table's layouts only the running release tells apart.
fn told_by_release(slots: Vec<Field>) -> Api {
    let mut newest = demo_api(slots);
    if let Some(Item::Struct(table)) = newest.items.get_mut("SP_Table") {
        table.discriminator = stated(Discriminator::Release);
    }
    newest
}

#[test]
fn a_slot_with_another_signature_is_nobodys_to_fill() {
    let old = slot("run", vec![device()], Type::Void);
    let new = slot("run", vec![device(), param("n", Type::Size)], Type::Void);
    let (status, demo) = (status_of("2.5"), older("2.5", vec![old]));
    let files = emit(&[status, demo, status_api(), told_by_release(vec![new])]).unwrap();
    let text = flat(&files, "src/demo/epochs.rs");
    has(&text, "pub struct SP_Table");
    assert!(!text.contains("author_trait"), "{text}");
}

#[test]
fn a_slot_that_gained_a_pointer_is_stored_by_the_running_release() {
    let bytes = || param("", pointer(Type::Char, true));
    let item = || param("item", pointer(named("SP_Device"), false));
    let old = slot("run", vec![device(), bytes(), status()], Type::Void);
    let new = slot("run", vec![device(), bytes(), item(), status()], Type::Void);
    let (status, demo) = (status_of("2.5"), older("2.5", vec![old]));
    let files = emit(&[status, demo, status_api(), told_by_release(vec![new])]);
    let text = flat(&files.unwrap(), "src/demo/retyped.rs");
    has(&text, "pub trait SP_Table__run: 'static");
    has(&text, "T::call(device, arg1, core::ptr::null(), status)");
    has(&text, "pub fn set_run<T: SP_Table__run>(");
}

#[test]
fn what_only_an_older_release_has_is_kept_with_its_dates() {
    let mut old = status_of("2.5");
    old.items.insert("TF_Gone".into(), handle(true, None));
    let mut new = status_api();
    new.items.insert("TF_Come".into(), handle(true, None));
    let files = emit(&[old, new]).unwrap();
    let text = flat(&files, "src/status/handles.rs");
    has(&text, "`demo.h:7`, 2.21 on. #[derive");
    has(&text, "`demo.h:7`, 2.5. #[derive");
    has(&text, "pub struct TF_Gone");
}

#[test]
fn each_api_is_a_feature_and_a_ring_is_cut_where_fewest_need_it() {
    let function = |ty: &str| {
        let signature = Signature {
            params: vec![param("it", named(ty))],
            ret: Type::Void,
            ret_transfer: None,
        };
        Item::Function(Function {
            doc: None,
            signature,
            exported_by: None,
            instead: None,
            inline: false,
            symbol: "TF_Use".into(),
            loc: loc(),
        })
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
    has(
        &files["Cargo.toml"],
        "default = [\"kernels\"]\nkernels = []\nother = [\"kernels\"]\n",
    );
    has(
        &flat(&files, "src/kernels/functions.rs"),
        "#[cfg(feature = \"other\")]",
    );
    has(
        &flat(&files, "src/kernels/mod.rs"),
        "#[cfg(feature = \"other\")] use crate::other::B;",
    );
    has(&flat(&files, "src/other/mod.rs"), "use crate::kernels::A;");
    has(&flat(&files, "src/lib.rs"), "#[cfg(feature = \"kernels\")]");
}

#[test]
fn what_a_release_refuses_to_see_empty_is_required() {
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
    // 2.4 loads no such plugins, so what it would refuse does not count.
    has(&emitted("2.4"), "const HAS_FLUSH: bool = false;");
}

/// What is emitted of a function whose older form has `old` and the newest `new` as parameters.
fn with_older_form(old: Vec<Param>, new: Vec<Param>) -> String {
    let put = |params: Vec<Param>| {
        Item::Function(Function {
            doc: None,
            signature: Signature {
                params,
                ret: Type::Void,
                ret_transfer: None,
            },
            exported_by: None,
            instead: None,
            inline: false,
            symbol: "TF_Put".into(),
            loc: loc(),
        })
    };
    let mut older = api("demo", vec![("TF_Put", put(old))]);
    older.release = "2.9".into();
    let files = emit(&[older, api("demo", vec![("TF_Put", put(new))])]).unwrap();
    flat(&files, "src/demo/functions.rs")
}

#[test]
fn a_flag_that_came_later_is_left_out_where_it_is_not_known() {
    let n = || param("n", Type::Size);
    let text = with_older_form(vec![n()], vec![n(), param("check", Type::Bool)]);
    has(
        &text,
        "unsafe extern \"C\" fn TF_Put_v2_9(n: usize, check: bool) {",
    );
    has(&text, "unsafe { older(n) }");
    has(&text, "adapter: Some(TF_Put_v2_9)");
    has(&text, "In 2.9 `check` is not looked at.");
}

#[test]
fn a_length_that_came_later_has_no_adapter() {
    let text = |ty| pointer(ty, false);
    let key = || param("key", text(Type::Char));
    let found = with_older_form(vec![key()], vec![key(), param("size", Type::Size)]);
    has(&found, "adapter: None");
    assert!(!found.contains("TF_Put_v2_9"), "{found}");
}

#[test]
fn layouts_of_one_size_need_a_discriminator() {
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
    let refused = emit(&[old(), release("2.6", new.clone())]).unwrap_err();
    has(
        &refused.to_string(),
        "item.SP_Plain.discriminator must say what does",
    );
    let said = Struct {
        discriminator: stated(Discriminator::Release),
        ..new
    };
    let files = emit(&[old(), release("2.6", said)]).unwrap();
    let text = flat(&files, "src/demo/structs.rs");
    has(&text, "only the running release identifies it.");
}
