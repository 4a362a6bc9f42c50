//! Every failure has the format `error: MESSAGE [CODE]`, followed by help.

use crate::scene::Scene;
use crate::{run, sp_gen};
use sp_tests::assert_contains;

/// Arguments, the code at the end of the first line, and a part of the help.
const FAILURES: &str = "
diff 2.6 | sp_gen::usage::missing_required_argument | Usage: sp-gen diff
dif 2.6 2.7 | sp_gen::usage::invalid_subcommand | 'diff'
diff 2.6 2.7 --formt json | sp_gen::usage::unknown_argument | '--format'
diff 2.6 2.7 --format x | sp_gen::usage::invalid_value | possible values: text, json
diff 2.6 2.7x | sp_gen::diff::missing | did you mean `2.7`
diff 2.6 2.211 | sp_gen::diff::unknown_release | `2.21`
diff 2.6 2.7 --api kernals | sp_gen::diff::unknown_api | did you mean `kernels`?
history SP_Devise | sp_gen::history::unknown_name | did you mean `SP_Device`
history --release 2.211 | sp_gen::generate::no_snapshot | `2.21`
explain fild_inserted | sp_gen::explain::unknown | did you mean `field_inserted`
port nothing.cc | sp_gen::port::unreadable_source | regular files
port x.cc --device A<B> | sp_gen::usage::value_validation | crate::device::Myaccel
ir kernals | sp_gen::ir::unknown_api | did you mean `kernels`?
";

#[test]
fn first_line_has_message_and_code() {
    let scene = Scene::new();
    for [arguments, code, help] in sp_tests::rows(FAILURES) {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let (status, stdout, stderr) = run(&mut sp_gen(&scene, &arguments));
        assert_eq!((status, &*stdout), (2, ""), "{arguments:?}");
        let first = stderr.lines().next().unwrap();
        assert!(first.starts_with("error: "), "{stderr}");
        assert!(first.ends_with(&format!(" [{code}]")), "{stderr}");
        assert!(stderr.contains("\n  help: "), "{stderr}");
        assert!(stderr.contains(help), "{help}: {stderr}");
    }
}

#[test]
fn failure_in_a_file_shows_line_with_caret() {
    let scene = Scene::new();
    scene.write("sp-gen.toml", "[[suppress]]\nrule = 3\n");
    let (status, _, stderr) = run(&mut sp_gen(&scene, &["diff", "2.6", "2.7"]));
    assert_eq!(status, 2);
    assert!(stderr.starts_with("error: "), "{stderr}");
    let lines: Vec<&str> = stderr.lines().collect();
    let line = lines.iter().position(|line| line.contains("| rule = 3"));
    let line = line.unwrap_or_else(|| panic!("{stderr}"));
    assert!(lines[line - 2].starts_with("  --> "), "{stderr}");
    assert!(lines[line - 2].contains("sp-gen.toml:2:"), "{stderr}");
    assert!(lines[line + 1].contains('^'), "{stderr}");
}

#[test]
fn unknown_release_is_named_for_an_api() {
    let scene = Scene::new();
    let (status, _, stderr) = run(&mut sp_gen(&scene, &["ir", "kernels", "--release", "2.99"]));
    assert_eq!(status, 2);
    assert_contains(&stderr, "TensorFlow 2.99 has no snapshots");
}

#[cfg(unix)]
#[test]
fn removed_current_folder_is_named() {
    let scene = Scene::new();
    for arguments in [
        &["diff", "2.20", "2.21"][..],
        &["history", "kernels"],
        &["ir", "kernels"],
        &["ops", "MatMul"],
        &["generate", "--out", "x"],
        &["import", "tensorflow", "2.21"],
    ] {
        let command = sp_gen(&scene, arguments);
        let mut shell = std::process::Command::new("sh");
        let script = "mkdir gone && cd gone && rmdir ../gone && exec \"$@\"";
        shell.args(["-c", script, "sh"]).arg(command.get_program());
        shell.args(command.get_args());
        let folder = tempfile::tempdir().unwrap();
        shell.current_dir(folder.path());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        let (status, stdout, stderr) = run(&mut shell);
        assert_eq!((status, &*stdout), (2, ""), "{arguments:?}");
        assert!(
            stderr.starts_with("error: cannot determine the current folder"),
            "{stderr}"
        );
        assert!(stderr.contains("change to another folder"), "{stderr}");
    }
}
