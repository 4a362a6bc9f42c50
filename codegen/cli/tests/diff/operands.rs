//! Each kind of OLD and NEW, and each error of an operand.

use std::fs::File;
use std::io::Write;

use zip::write::SimpleFileOptions;

use super::scene::{Scene, clang_scene};
use sp_tests::{assert_contains, root};

const BUFFER: &str = "typedef struct TF_Buffer { const void* data; size_t length; } TF_Buffer;";

/// Creates OLD and NEW, where NEW does not have one of OLD's APIs.
fn two_folders() -> Scene {
    let scene = Scene::new();
    scene.snapshot("old/one.json", "one", "2.5", "");
    scene.snapshot("old/two.json", "two", "2.5", "");
    scene.snapshot("new/one.json", "one", "2.6", "");
    scene
}

#[test]
fn exit_status_depends_on_verdict_and_fail_on() {
    let scene = two_folders();
    for (old, new, fail_on, status) in [
        ("old", "old", "any", 0),
        ("old", "new", "breaking", 1),
        ("old", "new", "any", 1),
        ("old", "new", "never", 0),
        ("new", "old", "breaking", 0),
        ("new", "old", "any", 1),
    ] {
        let run = scene.diff(&[old, new, "--fail-on", fail_on]);
        assert_eq!(run.status, status, "{old} {new} {fail_on}: {}", run.stderr);
    }
}

#[test]
fn reports_api_of_one_side_rejects_unknown_api() {
    let scene = two_folders();
    assert_eq!(scene.diff(&["old", "new", "--api", "two"]).status, 1);
    assert_eq!(scene.diff(&["old", "new", "--api", "one"]).status, 0);
    let run = scene.diff(&["old", "new", "--api", "one,three"]);
    run.assert_rejected(&["neither old nor new has the API `three`", "known: one, two"]);
}

#[test]
fn release_is_identical_to_itself() {
    let scene = Scene::new();
    for release in ["2.4", "2.21", "2.12.0"] {
        let json = scene.json(&[release, release]);
        let expected = (&"identical".into(), &"none".into());
        assert_eq!((&json["verdict"], &json["bump"]), expected);
        assert_eq!(json["old"], release);
    }
}

#[test]
fn compares_release_without_the_api() {
    let json = Scene::new().json(&["2.12", "2.13", "--api", "pjrt"]);
    let rules: Vec<&str> = json["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["rule"].as_str().unwrap())
        .collect();
    assert_eq!(rules, ["api_added"]);
}

#[test]
fn reads_snapshot_files_rejects_duplicate_apis() {
    let scene = Scene::new();
    let file = |release: &str| {
        let path = root().join(format!("generated/ir/stream_executor/{release}.json"));
        path.to_str().unwrap().to_owned()
    };
    assert_eq!(scene.diff(&[&file("2.6"), &file("2.6")]).status, 0);
    let folder = root().join("generated/ir/stream_executor");
    let run = scene.diff(&[folder.to_str().unwrap(), "2.6"]);
    run.assert_rejected(&[
        "are both snapshots of stream_executor",
        "a side may have one snapshot of each API",
    ]);
}

#[test]
fn parses_include_roots() {
    let Some(scene) = clang_scene() else { return };
    scene.headers("old", BUFFER);
    scene.headers("new", BUFFER);
    let run = scene.diff(&["old", "new"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("old does not state its release"));
    scene.headers(
        "new",
        &BUFFER.replace("size_t length", "void* more; size_t length"),
    );
    scene.write(
        "new/tensorflow/c/unheard_of.h",
        "extern \"C\" { int TF_Unheard(void); }\n",
    );
    let run = scene.diff(&["old", "new", "--fail-on", "any"]);
    assert!(
        run.stderr
            .contains("new: headers that match no API are not read (1): tensorflow/c/unheard_of.h"),
        "{}",
        run.stderr
    );
}

/// A side that was read for one target has no layouts of others, which must not be findings.
#[test]
fn release_is_identical_to_its_own_headers() {
    let store = root().join("headers/store");
    let stored = std::fs::read_dir(&store).into_iter().flatten().flatten();
    let oldest = stored.map(|entry| entry.path().join("include")).min();
    let Some(include) = oldest else {
        return eprintln!("skipped: no headers in the store");
    };
    let Some(scene) = clang_scene() else { return };
    let folder = include.parent().unwrap().file_name().unwrap();
    for target in ["x86_64-unknown-linux-gnu", "i686-unknown-linux-gnu"] {
        let sides = [folder.to_str().unwrap(), include.to_str().unwrap()];
        let run = scene.diff(&[&sides[..], &["--target", target, "--fail-on", "any"]].concat());
        assert_eq!((run.status, &*run.stderr), (0, ""), "{}", run.stdout);
    }
}

#[test]
fn missing_header_is_shown_with_its_location() {
    let Some(scene) = clang_scene() else { return };
    scene.headers("old", BUFFER);
    scene.headers(
        "new",
        &format!("#include \"tensorflow/c/gone.h\"\n{BUFFER}"),
    );
    let run = scene.diff(&["old", "new"]);
    run.assert_rejected(&[
        "'tensorflow/c/gone.h' file not found",
        "tensorflow/c/tf_buffer.h:3",
    ]);
}

/// Creates two sides with the same `TF_Buffer`. NEW's header of `tf_status` cannot be read. `None` without libclang.
fn bad_header() -> Option<Scene> {
    let scene = clang_scene()?;
    scene.headers("old", BUFFER);
    scene.headers("new", BUFFER);
    let status = "extern \"C\" { typedef struct TF_Status TF_Status; }\n";
    scene.write("old/tensorflow/c/tf_status.h", status);
    let bad = format!("#include \"tensorflow/c/gone.h\"\n{status}");
    scene.write("new/tensorflow/c/tf_status.h", bad);
    Some(scene)
}

#[test]
fn compares_other_apis_if_one_is_unreadable() {
    let Some(scene) = bad_header() else { return };
    let run = scene.diff(&["old", "new"]);
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert_eq!(
        run.stderr.matches("cannot be read").count(),
        1,
        "{}",
        run.stderr
    );
    assert_contains(&run.stderr, "API `tf_status` cannot be read");
    assert!(run.stdout.contains("incomplete"), "{}", run.stdout);
    let run = scene.diff(&["old", "new", "--api", "tf_status"]);
    run.assert_rejected(&[
        "API `tf_status` cannot be read",
        "'tensorflow/c/gone.h' file not found",
    ]);
}

#[test]
fn ignores_unreadable_api_that_is_not_requested() {
    let Some(scene) = bad_header() else { return };
    let run = scene.diff(&["old", "new", "--api", "tf_buffer"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(!run.stderr.contains("tf_status"), "{}", run.stderr);
}

#[test]
fn reads_include_root_of_one_api() {
    let Some(scene) = clang_scene() else { return };
    let client = "extern \"C\" { typedef struct PJRT_Client PJRT_Client; }\n";
    scene.write("old/xla/pjrt/c/pjrt_c_api.h", client);
    scene.write("new/xla/pjrt/c/pjrt_c_api.h", client);
    let run = scene.diff(&["old", "new", "--api", "pjrt"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let run = scene.run(&["ir", "pjrt", "--headers", "new"]);
    assert!(run.stdout.contains("PJRT_Client"), "{}", run.stderr);
}

#[test]
fn reports_api_without_headers_in_include_root() {
    let Some(scene) = bad_header() else { return };
    std::fs::remove_file(scene.path("new/tensorflow/c/tf_status.h")).unwrap();
    let json = scene.json(&["old", "new", "--api", "tf_status"]);
    assert_eq!(json["findings"][0]["rule"], "api_removed");
}

#[test]
fn nightly_without_an_import_names_the_command() {
    let run = Scene::new().diff(&["2.21", "nightly"]);
    run.assert_rejected(&[
        "no nightly build is imported",
        "sp-gen import tensorflow nightly",
    ]);
}

#[test]
fn rejects_headers_that_declare_no_api_on_either_side() {
    let Some(scene) = clang_scene() else { return };
    scene.headers("empty", "");
    scene.headers("full", BUFFER);
    for [old, new] in [["empty", "empty"], ["empty", "full"], ["full", "empty"]] {
        let run = scene.diff(&[old, new]);
        assert_eq!((run.status, &*run.stdout), (2, ""), "{}", run.stderr);
        let message = "the headers in empty declare no item of TensorFlow's C APIs";
        assert!(run.stderr.contains(message), "{}", run.stderr);
    }
}

#[test]
fn reads_headers_of_wheel_and_installed_tensorflow() {
    let Some(scene) = clang_scene() else { return };
    scene.headers(
        "venv/lib/python3.11/site-packages/tensorflow/include",
        BUFFER,
    );
    let metadata = "Name: tensorflow_cpu\nVersion: 2.21.0\n";
    scene.write(
        "venv/lib/python3.11/site-packages/tensorflow_cpu-2.21.0.dist-info/METADATA",
        metadata,
    );
    let path = scene.path("tensorflow_cpu-2.21.0-cp311-cp311-manylinux_2_17_x86_64.whl");
    let mut wheel = zip::ZipWriter::new(File::create(&path).unwrap());
    for (name, text) in [
        (
            "tensorflow/include/tensorflow/c/tf_buffer.h",
            format!("#include <stddef.h>\nextern \"C\" {{\n{BUFFER}\n}}\n"),
        ),
        ("tensorflow_cpu-2.21.0.dist-info/METADATA", metadata.into()),
    ] {
        wheel
            .start_file(name, SimpleFileOptions::default())
            .unwrap();
        wheel.write_all(text.as_bytes()).unwrap();
    }
    wheel.finish().unwrap();
    for installed in [
        "venv",
        "venv/lib/python3.11/site-packages",
        "venv/lib/python3.11/site-packages/tensorflow",
    ] {
        let run = scene.diff(&[installed, path.to_str().unwrap(), "--fail-on", "any"]);
        assert_eq!(
            (run.status, &*run.stderr),
            (0, ""),
            "{installed}: {}",
            run.stdout
        );
    }
}

#[test]
fn rejects_invalid_operand_on_either_side() {
    let scene = two_folders();
    scene.write("cut.json", "{\"schema\": 2, \"name\": \"one\", ");
    scene.write("newer.json", "{\"schema\": 99, \"things\": []}");
    scene.write("notes.txt", "");
    scene.write("empty/notes.txt", "");
    scene.write("bad.whl", "not a zip");
    for (old, words) in [
        (
            "2.99",
            &[
                "TensorFlow 2.99 has no snapshots",
                "known: 2.4, 2.5",
                "2.21",
            ][..],
        ),
        ("cut.json", &["cut.json: not an sp-gen snapshot", "line 1"]),
        (
            "newer.json",
            &["newer.json", "schema 99", "use a newer sp-gen"],
        ),
        (
            "nowhere",
            &["`nowhere` is neither a release nor", "an include root"],
        ),
        (
            "notes.txt",
            &["neither a snapshot (.json) nor a wheel (.whl)"],
        ),
        (
            "empty",
            &["empty contains neither headers of TensorFlow nor snapshots"],
        ),
        ("bad.whl", &["cannot read bad.whl"]),
    ] {
        scene.diff(&[old, "old"]).assert_rejected(words);
        scene.diff(&["old", old]).assert_rejected(words);
    }
    let run = scene.diff(&["old", "new", "--target", "riscv64gc-unknown-linux-gnu"]);
    run.assert_rejected(&[
        "has no layouts of the target riscv64gc",
        "known: x86_64-unknown-linux-gnu",
    ]);
}
