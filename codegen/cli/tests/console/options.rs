//! Options of every command, options with several values, and environment variables.

use crate::scene::Scene;
use crate::{run, sp_gen};

fn stdout(scene: &Scene, arguments: &[&str]) -> String {
    let (status, stdout, stderr) = run(&mut sp_gen(scene, arguments));
    assert!(status < 2, "{arguments:?}: {stderr}");
    stdout
}

#[test]
fn option_with_several_values_takes_no_positional() {
    let scene = Scene::new();
    let before = stdout(&scene, &["diff", "--api", "kernels,ops", "2.6", "2.7"]);
    let after = stdout(&scene, &["diff", "2.6", "2.7", "--api", "kernels,ops"]);
    let repeated = stdout(
        &scene,
        &["diff", "--api", "kernels", "2.6", "--api", "ops", "2.7"],
    );
    assert!(before.starts_with("2.6 → 2.7"), "{before}");
    assert_eq!((&before, &before), (&after, &repeated));
}

#[test]
fn color_option_overrides_terminal_and_environment() {
    let scene = Scene::new();
    let history = ["history", "SP_Device"];
    let always = |name: &str, value: &str| {
        let arguments = [&history[..], &["--color", "always"]].concat();
        run(sp_gen(&scene, &arguments).env(name, value)).1
    };
    assert!(always("NO_COLOR", "1").contains("\x1b["));
    assert!(always("TERM", "dumb").contains("\x1b["));
    for choice in ["auto", "never"] {
        let text = stdout(&scene, &["--color", choice, "history", "SP_Device"]);
        assert!(!text.contains('\x1b'), "{choice}");
    }
}

#[test]
fn color_option_colors_failures() {
    let scene = Scene::new();
    for arguments in [&["diff", "2.6"][..], &["diff", "2.6", "nothing"]] {
        let color = |choice| {
            let arguments = [arguments, &["--color", choice]].concat();
            run(&mut sp_gen(&scene, &arguments)).2
        };
        assert!(
            color("always").starts_with("\x1b[1;31merror:"),
            "{arguments:?}"
        );
        assert!(color("never").starts_with("error:"), "{arguments:?}");
        assert!(!color("auto").contains('\x1b'), "{arguments:?}");
    }
}

#[test]
fn quiet_prints_results_and_errors_only() {
    let scene = Scene::new();
    let (status, stdout, stderr) = run(&mut sp_gen(&scene, &["new", "myaccel", "--quiet"]));
    assert_eq!((status, &*stderr), (0, ""));
    assert!(stdout.starts_with("cd myaccel\n"), "{stdout}");
    let (status, _, stderr) = run(&mut sp_gen(&scene, &["-q", "new", "myaccel"]));
    assert_eq!(status, 2);
    assert!(stderr.starts_with("error: "), "{stderr}");
}

#[test]
fn works_without_home() {
    let scene = Scene::new();
    for arguments in [
        &["diff", "2.6", "2.7", "--fail-on", "never"][..],
        &["history", "kernels"],
        &["ir", "kernels"],
    ] {
        let mut command = sp_gen(&scene, arguments);
        command.env_remove("HOME").env_remove("XDG_CACHE_HOME");
        let (status, stdout, stderr) = run(&mut command);
        assert_eq!(status, 0, "{stderr}");
        assert!(!stdout.is_empty());
        assert!(stderr.lines().count() <= 1, "{stderr}");
    }
}
