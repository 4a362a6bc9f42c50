//! Who exports a function, and who owns what it returns, in the code and its docs.

use super::*;
use sp_data::platform::Platform;
use sp_data::symbols::table::{Table, WheelExports};

/// `TF_Make` hands something over; the notes know another function that does so.
fn maker() -> Api {
    let signature = Signature {
        params: vec![param("n", Type::Size)],
        ret: pointer(Type::Void, true),
        ret_transfer: stated(Transfer::Full),
    };
    let function = Function {
        doc: Some("Makes it.".into()),
        signature,
        exported_by: stated(Side::Core),
        instead: stated("TF_Other".into()),
        inline: false,
        symbol: "TF_Make".into(),
        loc: loc(),
    };
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

/// `tensorflow-cpu` lost the function after 2.5 and 2.6; of `tensorflow` one wheel was read.
fn symbols() -> Symbols {
    let mut cpu = Table::new("tensorflow-cpu", Platform::LinuxX86_64);
    for (release, functions) in [
        ("2.5", &["TF_Make"][..]),
        ("2.6", &["TF_Make"]),
        ("2.7", &[]),
    ] {
        cpu.insert(release.parse().unwrap(), column(functions));
    }
    let mut big = Table::new("tensorflow", Platform::MacosArm64);
    big.insert("2.7".parse().unwrap(), column(&["TF_Make"]));
    Symbols::from_tables(vec![big, cpu])
}

#[test]
fn a_function_says_who_exports_it() {
    let files = super::super::emit(&[maker()], &symbols()).unwrap();
    let text = flat(&files, "src/demo/functions.rs");
    has(
        &text,
        "/// Makes it. /// /// What it returns is the caller's to end. /// /// Exported by tensorflow-cpu 2.5 to 2.6, tensorflow in all that was read (2.7).",
    );
    has(
        &text,
        "Function::new(c\"TF_Make\") .with_availability(&crate::availability::LIKE_TF_Make) .with_replacement(\"TF_Other\")",
    );
    let text = flat(&files, "src/availability.rs");
    has(
        &text,
        "pub static TENSORFLOW_CPU_X86_64_UNKNOWN_LINUX_GNU: WheelSet",
    );
    has(&text, "releases: &[(2, 5), (2, 6), (2, 7)],");
    has(&text, "spans: &[((2, 5), (2, 6))],");
    has(&flat(&files, "src/lib.rs"), "pub mod availability;");
}

#[test]
fn where_nobody_was_asked_nothing_is_said() {
    let files = emit(&[maker()]).unwrap();
    assert!(!files.contains_key("src/availability.rs"));
    assert!(!flat(&files, "src/demo/functions.rs").contains("xported"));
}
