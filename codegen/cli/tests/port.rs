//! `sp-gen port`: its output, its status, and files that it does not replace.

#[path = "temporary_folder/mod.rs"]
mod temporary_folder;

use sp_tests::{assert_contains, assert_contains_all, root};
use std::fs;
use temporary_folder::{Run, TemporaryFolder};

const RELU: &str = "REGISTER_KERNEL_BUILDER(Name(\"Relu\").Device(DEVICE_GPU).TypeConstraint<float>(\"T\"), ReluOp);\n";

fn port(folder: &TemporaryFolder, arguments: &[&str]) -> Run {
    folder.run("", &[&["port"], arguments].concat())
}

fn folder(source: impl AsRef<[u8]>) -> TemporaryFolder {
    let folder = TemporaryFolder::new();
    folder.write("relu.cc", source);
    folder
}

#[test]
fn prints_skeletons_and_states_their_number() {
    let run = port(
        &folder(RELU),
        &["relu.cc", "--device", "crate::device::Demo"],
    );
    assert_eq!(run.status, 0, "{}", run.stderr);
    let parts = [
        "//! Skeletons of the kernels and ops of relu.cc, by `sp-gen port`.",
        "use crate::device::Demo;",
        "#[kernel(Relu, T = [f32], device = Demo)]",
        "Err(Error::unimplemented(\"Relu is not ported\"))",
    ];
    assert_contains_all(&run.stdout, &parts);
    let expected = "kernels: 1 registrations, 0 without a skeleton, 1 functions\nops: 0 definitions, 0 functions\n";
    assert_eq!(run.stderr, expected);
}

#[test]
fn headers_define_macros_of_sources() {
    let sources = root().join("codegen/port/tests/sources");
    let paths = ["arrays.h", "arrays.cc"].map(|it| sources.join(it));
    let paths: Vec<&str> = paths.iter().map(|it| it.to_str().unwrap()).collect();
    let run = port(&TemporaryFolder::new(), &paths);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_contains(&run.stdout, "#[kernel(Sign, T = [f32, Complex64, F16])]");
    let run = port(&TemporaryFolder::new(), &paths[1..]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert_contains(&run.stdout, "`REGISTER_UNARY3(GPU, \"Sign\"");
    assert_contains(&run.stderr, "not read: 2, which the output lists");
}

#[test]
fn writes_a_new_file_and_replaces_none() {
    let folder = folder(RELU);
    let write = || port(&folder, &["relu.cc", "-o", "relu.rs"]);
    let run = write();
    assert_eq!((run.status, &*run.stdout), (0, ""), "{}", run.stderr);
    let text = fs::read_to_string(folder.path("relu.rs")).unwrap();
    assert_eq!(text, port(&folder, &["relu.cc"]).stdout);
    folder.write("relu.rs", "own");
    let run = write();
    assert_eq!((run.status, &*run.stdout), (2, ""));
    assert_contains(
        &run.stderr,
        "error: relu.rs exists [sp_gen::port::existing_file]",
    );
    assert_eq!(fs::read_to_string(folder.path("relu.rs")).unwrap(), "own");
    let run = port(&folder, &["relu.cc", "-o", "none/relu.rs"]);
    assert_eq!(run.status, 2);
    assert_contains(&run.stderr, "[sp_gen::port::unwritable_file]");
}

#[test]
fn sources_that_register_nothing_are_an_error() {
    let run = port(&folder("int main() { return 0; }\n"), &["relu.cc"]);
    assert_eq!((run.status, &*run.stdout), (2, ""));
    assert_contains(
        &run.stderr,
        "error: no registration in relu.cc [sp_gen::port::no_registration]",
    );
}

#[test]
fn folders_and_absent_files_are_errors() {
    for path in [".", "absent.cc"] {
        let run = port(&folder(RELU), &["relu.cc", path]);
        assert_eq!((run.status, &*run.stdout), (2, ""), "{path}");
        assert_contains(&run.stderr, "[sp_gen::port::unreadable_source]");
    }
}

#[test]
fn characters_that_are_not_utf_8_are_replaced() {
    let source = [
        &b"// \xff\xfe\n"[..],
        RELU.as_bytes(),
        b"#define \xff\r\n\"\x80",
    ]
    .concat();
    let run = port(&folder(source), &["relu.cc"]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    assert_contains_all(&run.stdout, &["#[kernel(Relu, T = [f32])]", "relu.cc:4"]);
    assert!(run.stdout.is_ascii());
}

#[test]
fn rules_of_findings_have_pages() {
    for (rule, _) in sp_port::rules::RULES {
        let run = TemporaryFolder::new().run("", &["explain", rule]);
        assert_eq!(run.status, 0, "{}", run.stderr);
        assert_contains(&run.stdout, &format!("{rule} (sp-gen port)"));
    }
}
