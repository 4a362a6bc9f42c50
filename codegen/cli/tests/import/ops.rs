//! `sp-gen import tensorflow --ops`, with an installed TensorFlow that is one small C library. Skipped without a C
//! compiler or python3.

use super::scene::{Scene, stderr};
use sp_tests::assert_contains;
use std::fs;
use std::process::{Command, Output};

const TABLE: &str = "work/generated/ops/ops.txt";
const CACHED: &str = "cache/sp-gen/ops/ops.txt";

/// The library of a TensorFlow that returns these bytes.
const LIBRARY: &str = r#"
#include <stddef.h>
#include <stdlib.h>
typedef struct { const void* data; size_t length; void (*deallocator)(void*, size_t); } TF_Buffer;
static const unsigned char bytes[] = {BYTES};
static TF_Buffer buffer = {bytes, LENGTH, NULL};
const char* TF_Version(void) { return "VERSION"; }
#ifndef NO_LIST
TF_Buffer* TF_GetAllOpList(void) { RESULT; }
#endif
"#;

/// Returns the encoded field `number` with a string, bytes or a message.
fn field(number: u8, value: impl AsRef<[u8]>) -> Vec<u8> {
    let value = value.as_ref();
    let len = u8::try_from(value.len()).unwrap();
    assert!(len < 0x80, "the length is one byte");
    [&[number << 3 | 2, len], value].concat()
}

/// Returns an op with an output `y: T` and an attribute `T: type`, serialized as an element of an op list.
fn op(name: &str) -> Vec<u8> {
    let output = [field(1, "y"), field(4, "T")].concat();
    let attribute = [field(1, "T"), field(2, "type")].concat();
    field(
        1,
        [field(1, name), field(3, output), field(4, attribute)].concat(),
    )
}

/// An installed TensorFlow: a Python package with a small C library that has its C API.
struct Installed<'a> {
    version: &'a str,
    list: Vec<u8>,
    length: &'a str,
    result: &'a str,
    options: &'a [&'a str],
}

impl Default for Installed<'_> {
    fn default() -> Self {
        Self {
            version: "2.12.1",
            list: [op("Zero"), op("_One")].concat(),
            length: "sizeof bytes",
            result: "return &buffer",
            options: &[],
        }
    }
}

impl Installed<'_> {
    fn install(&self, scene: &Scene, site: &str) {
        let bytes: Vec<String> = self.list.iter().map(ToString::to_string).collect();
        let source = LIBRARY
            .replace("BYTES", &bytes.join(","))
            .replace("LENGTH", self.length)
            .replace("VERSION", self.version)
            .replace("RESULT", self.result);
        scene.write(&format!("{site}/library.c"), source);
        scene.write(
            &format!("{site}/tensorflow/__init__.py"),
            "raise SystemExit('imported')",
        );
        let library = format!("{site}/tensorflow/python/_pywrap_tensorflow_internal.so");
        scene.write(&library, "");
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC"])
            .args(self.options)
            .arg("-o")
            .arg(scene.path(&library));
        let status = cc.arg(scene.path(&format!("{site}/library.c"))).status();
        let status = status.unwrap();
        assert!(status.success());
    }

    /// Installs it and imports its ops.
    fn import(&self, scene: &Scene, arguments: &[&str]) -> Output {
        self.install(scene, "site");
        import(scene, "site", arguments)
    }
}

fn import(scene: &Scene, site: &str, arguments: &[&str]) -> Output {
    let arguments = [&["import", "tensorflow", "--ops"], arguments].concat();
    let mut command = scene.command(&arguments);
    let command = command.env("PYTHONPATH", scene.path(site)).output();
    command.unwrap()
}

/// Returns a scene whose working directory is a checkout, or `None` if the tests cannot run here.
fn checkout() -> Option<Scene> {
    for program in ["python3", "cc"] {
        let found = Command::new(program).arg("--version").output();
        if !found.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: no {program}");
            return None;
        }
    }
    let scene = Scene::new();
    scene.write("work/codegen/cli/Cargo.toml", "");
    scene.write("work/headers/apis/none.toml", "");
    Some(scene)
}

/// Returns the lines of the table without its heading.
fn table(scene: &Scene, path: &str) -> String {
    let text = fs::read_to_string(scene.path(path)).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| format!("{line}\n")).collect()
}

#[track_caller]
fn assert_rejected(output: &Output, code: &str, words: &str) {
    let stderr = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(output.stdout.is_empty());
    let text = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains(&format!("[sp_gen::ops::{code}]")), "{stderr}");
    assert!(text.contains(words), "{words}: {stderr}");
}

#[test]
fn writes_ops_of_installed_tensorflow_without_importing_it() {
    let Some(scene) = checkout() else { return };
    let installed = Installed::default();
    let output = installed.import(&scene, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("TensorFlow 2.12.1: 2 ops, written to"));
    let text = table(&scene, TABLE);
    let op = |name| format!("op {name}\n  output y: T\n  attr T: type\n");
    let expected = format!("release 2.12 2.12.1\n\n{}{}", op("Zero"), op("_One"));
    assert_eq!(text, expected);
    let again = installed.import(&scene, &["2.12"]);
    assert!(again.status.success() && stderr(&again).contains("is up to date"));
    assert_eq!(table(&scene, TABLE), text);
}

#[test]
fn adds_a_release_to_the_table_and_prints_its_changes() {
    let Some(scene) = checkout() else { return };
    assert!(Installed::default().import(&scene, &[]).status.success());
    let newer = Installed {
        version: "2.13.0",
        list: [op("Zero"), op("Two")].concat(),
        ..Installed::default()
    };
    let output = newer.import(&scene, &[]);
    let stderr = stderr(&output);
    assert!(stderr.contains("added since 2.12.1: 1: Two"), "{stderr}");
    assert!(stderr.contains("removed since 2.12.1: 1: _One"), "{stderr}");
    let text = table(&scene, TABLE);
    assert!(
        text.starts_with("release 2.12 2.12.1\nrelease 2.13 2.13.0\n"),
        "{text}"
    );
    for line in ["op Zero", "op Two @ 2.13..", "op _One @ 2.12..2.12"] {
        assert!(text.lines().any(|found| found == line), "{line}: {text}");
    }
}

#[test]
fn newer_patch_replaces_its_release_and_older_one_is_rejected() {
    let Some(scene) = checkout() else { return };
    let version = |version| Installed {
        version,
        ..Installed::default()
    };
    assert!(version("2.12.0-rc1").import(&scene, &[]).status.success());
    assert!(version("2.12.1").import(&scene, &[]).status.success());
    let text = table(&scene, TABLE);
    assert!(text.starts_with("release 2.12 2.12.1\n\n"), "{text}");
    let older = version("2.12.0").import(&scene, &[]);
    assert_rejected(&older, "superseded", "2.12.1, which is newer than 2.12.0");
    assert_eq!(table(&scene, TABLE), text);
}

#[test]
fn nightly_build_is_stored_in_the_cache() {
    let Some(scene) = checkout() else { return };
    let nightly = Installed {
        version: "2.23.0-dev20261026",
        list: op("MatMulOfTomorrow"),
        ..Installed::default()
    };
    let output = nightly.import(&scene, &["nightly"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!scene.path(TABLE).exists());
    let printed = scene.command(&["ops", "--release", "nightly"]).output();
    let printed = printed.unwrap();
    assert_eq!(
        printed.stdout,
        b"MatMulOfTomorrow\n",
        "{}",
        stderr(&printed)
    );
}

#[test]
fn cache_extends_the_embedded_table() {
    let Some(scene) = checkout() else { return };
    fs::remove_dir_all(scene.path("work/headers")).unwrap();
    let newer = Installed {
        version: "2.99.0",
        ..Installed::default()
    };
    let output = newer.import(&scene, &[]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(scene.path(CACHED).is_file() && !scene.path(TABLE).exists());
    let print = |name| scene.command(&["ops", name]).output().unwrap().stdout;
    let expected = b"Zero, TensorFlow since 2.99\noutputs\n  y: T\nattributes\n  T: type\n";
    assert_eq!(print("Zero"), expected);
    let text = String::from_utf8(print("MatMul")).unwrap();
    assert!(
        text.starts_with("MatMul, TensorFlow 2.5 to 2.22\n"),
        "{text}"
    );
}

#[test]
fn parallel_imports_keep_all_releases() {
    let Some(scene) = checkout() else { return };
    let versions = ["2.12.1", "2.13.1", "2.14.1", "2.15.1"];
    for version in versions {
        Installed {
            version,
            ..Installed::default()
        }
        .install(&scene, version);
    }
    std::thread::scope(|scope| {
        for version in versions {
            let scene = &scene;
            scope.spawn(move || {
                let output = import(scene, version, &[]);
                assert!(output.status.success(), "{}", stderr(&output));
            });
        }
    });
    let text = table(&scene, TABLE);
    for version in versions {
        assert!(text.contains(&format!(" {version}\n")), "{version}: {text}");
    }
}

#[test]
fn rejects_what_the_c_api_must_not_return() {
    let Some(scene) = checkout() else { return };
    let (list, cut) = (Installed::default().list, op("Zero").len() - 1);
    let with_list = |list: Vec<u8>| Installed {
        list,
        ..Installed::default()
    };
    let unknown_type = field(
        1,
        [
            field(1, "X"),
            field(4, [field(1, "a"), field(2, "word")].concat()),
        ]
        .concat(),
    );
    let no_attribute = field(
        1,
        [
            field(1, "X"),
            field(2, [field(1, "x"), field(4, "T")].concat()),
        ]
        .concat(),
    );
    for (list, words) in [
        (list[..cut].to_vec(), "TensorFlow 2.12.1 are malformed"),
        (b"no message".to_vec(), "are malformed"),
        ([op("A"), op("A")].concat(), "op `A`: it is defined twice"),
        (op("a\nop B"), "is not a name"),
        (op("float = 3"), "is not a name"),
        (unknown_type, "attribute `a`: unknown type \"word\""),
        (no_attribute, "needs an attribute `T`"),
    ] {
        let output = with_list(list).import(&scene, &[]);
        assert_rejected(&output, "malformed_list", words);
        assert!(!scene.path(TABLE).exists(), "{words}");
    }
    type Change = fn(&mut Installed<'static>);
    let changes: [(Change, &str); 7] = [
        (|it| it.length = "0", "malformed_list: there are none"),
        (|it| it.length = "(size_t)-1", "not_listed: at most 4194304"),
        (|it| it.result = "return NULL", "not_listed: no buffer"),
        (
            |it| it.options = &["-DNO_LIST"],
            "not_listed: TF_GetAllOpList",
        ),
        (|it| it.result = "abort()", "no_answer: SIGABRT"),
        (
            |it| it.version = "2.4.4",
            "unsupported_release: TensorFlow 2.4.4",
        ),
        (
            |it| it.version = "\\x1b[2J",
            "unsupported_release: \\u{1b}[2J",
        ),
    ];
    for (change, message) in changes {
        let (code, words) = message.split_once(": ").unwrap();
        let mut installed = Installed::default();
        change(&mut installed);
        assert_rejected(&installed.import(&scene, &[]), code, words);
        assert!(!scene.path(TABLE).exists(), "{words}");
    }
}

#[test]
fn rejects_other_programs_and_releases() {
    let Some(scene) = checkout() else { return };
    let installed = Installed::default();
    let of = |arguments: &[&str]| installed.import(&scene, arguments);
    assert_rejected(
        &of(&["2.13"]),
        "other_release",
        "python3 has TensorFlow 2.12.1, not 2.13",
    );
    assert_rejected(&of(&["nightly"]), "other_release", "not nightly");
    assert_rejected(
        &of(&["2.12", "2.13"]),
        "several_releases",
        "one installed TensorFlow",
    );
    assert_rejected(&of(&["--from", "absent"]), "no_python", "cannot run absent");
    assert_rejected(&of(&["--from", "/bin/true"]), "no_answer", "exit status 0");
    fs::remove_dir_all(scene.path("site/tensorflow")).unwrap();
    assert_rejected(
        &import(&scene, "site", &[]),
        "no_tensorflow",
        "has no package `tensorflow`",
    );
    scene.write("site/tensorflow/__init__.py", "");
    assert_rejected(
        &import(&scene, "site", &[]),
        "not_listed",
        "cannot open shared object",
    );
    assert!(!scene.path(TABLE).exists());
}

#[test]
fn rejects_an_answer_that_is_longer_than_the_script_allows() {
    let Some(scene) = checkout() else { return };
    scene.write(
        "python",
        "#!/bin/sh\n{ echo tensorflow 2.12.1; head -c 9000000 /dev/zero; } > $3\n",
    );
    let mut permissions = fs::metadata(scene.path("python")).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o755);
    fs::set_permissions(scene.path("python"), permissions).unwrap();
    let python = scene.path("python").display().to_string();
    let output = import(&scene, "site", &["--from", &python]);
    assert_rejected(
        &output,
        "no_answer",
        "its answer cannot be read: file too large",
    );
}

#[test]
fn rejects_malformed_table_unchanged() {
    let Some(scene) = checkout() else { return };
    scene.write(TABLE, "release 2.12 2.12.1\nop A\n  x\n");
    let output = Installed::default().import(&scene, &[]);
    assert_rejected(&output, "malformed", "line 3: expected a flag, found `x`");
    let text = fs::read_to_string(scene.path(TABLE)).unwrap();
    assert_eq!(text, "release 2.12 2.12.1\nop A\n  x\n");
}

#[test]
fn rejects_edited_table_unchanged() {
    let Some(scene) = checkout() else { return };
    assert!(Installed::default().import(&scene, &[]).status.success());
    let edited = "# own\n".to_owned() + &fs::read_to_string(scene.path(TABLE)).unwrap();
    scene.write(TABLE, &edited);
    let newer = Installed {
        version: "2.13.0",
        ..Installed::default()
    };
    let output = newer.import(&scene, &[]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert_contains(&stderr(&output), "[sp_gen::files::edited]");
    assert_eq!(fs::read_to_string(scene.path(TABLE)).unwrap(), edited);
}
