//! The wheels that export a function, and the ownership of its return value, in the code and its docs.

use super::*;
use sp_data::platform::WheelPlatform;
use sp_data::symbols::table::{Table, WheelExports};

/// Returns an API whose function `TF_Make` transfers ownership and has a replacement.
fn api_with_function() -> Api {
    let params = vec![Param::new("n", Type::Size)];
    let mut signature = Signature::new(params, Type::pointer(Type::Void, true));
    signature.ret_transfer = stated(Transfer::Full);
    let mut function = Function::new(signature, "TF_Make", loc());
    function.doc = Some("Creates it.".into());
    function.exported_by = stated(Side::Core);
    function.instead = stated("TF_Other".into());
    api("demo", vec![("TF_Make", Item::Function(function))])
}

fn column(functions: &[&str]) -> WheelExports {
    let library = || std::collections::BTreeSet::from(["cc".to_owned()]);
    WheelExports {
        wheel: "x.whl".into(),
        functions: functions
            .iter()
            .map(|it| ((*it).to_owned(), library()))
            .collect(),
        ..WheelExports::default()
    }
}

/// `tensorflow-cpu` exports the function in 2.5 and 2.6 only; one wheel of `tensorflow` is known.
fn symbols() -> Symbols {
    let mut cpu = Table::new("tensorflow-cpu", WheelPlatform::LinuxX86_64);
    for (release, functions) in [
        ("2.5", &["TF_Make"][..]),
        ("2.6", &["TF_Make"]),
        ("2.7", &[]),
    ] {
        cpu.insert(release.parse().unwrap(), column(functions));
    }
    let mut full = Table::new("tensorflow", WheelPlatform::MacosArm64);
    full.insert("2.7".parse().unwrap(), column(&["TF_Make"]));
    Symbols::from_tables(vec![full, cpu])
}

#[test]
fn doc_states_wheels_that_export_function() {
    let files = crate::emit_rust(&[api_with_function()], &symbols()).unwrap();
    let text = flat(&files, "src/demo/functions.rs");
    assert_contains(
        &text,
        "/// Creates it. /// /// The caller owns the return value. /// /// Exported by tensorflow-cpu from 2.5 to 2.6, tensorflow in all known releases (2.7).",
    );
    assert_contains(
        &text,
        "Function::new(c\"TF_Make\") .with_availability(&crate::availability::LIKE_TF_Make) .with_replacement(\"TF_Other\")",
    );
    let text = flat(&files, "src/availability.rs");
    let part = "pub static TENSORFLOW_CPU_X86_64_UNKNOWN_LINUX_GNU: WheelSet";
    assert_contains(&text, part);
    assert_contains(&text, "releases: &[(2, 5), (2, 6), (2, 7)],");
    assert_contains(&text, "spans: &[((2, 5), (2, 6))],");
    assert_contains(&flat(&files, "src/lib.rs"), "pub mod availability;");
}

#[test]
fn omits_availability_without_symbols() {
    let files = emit(&[api_with_function()]).unwrap();
    assert!(!files.contains_key("src/availability.rs"));
    assert!(!flat(&files, "src/demo/functions.rs").contains("xported"));
}
