//! Help texts and manual pages.

use std::fs;

use crate::scene::Scene;
use crate::{run, sp_gen};

const COMMANDS: &str =
    "new import generate ir ops diff history explain verify port doctor update completions man";

#[test]
fn help_of_each_command_has_examples() {
    let scene = Scene::new();
    for command in COMMANDS.split_whitespace() {
        let (status, stdout, _) = run(&mut sp_gen(&scene, &[command, "--help"]));
        assert_eq!(status, 0);
        let (_, examples) = stdout.split_once("Examples:\n").expect(command);
        let prefix = format!("  sp-gen {command}");
        assert!(examples.starts_with(&prefix), "{command}: {examples}");
    }
}

#[test]
fn man_writes_a_page_for_each_command() {
    let scene = Scene::new();
    let (status, stdout, stderr) = run(&mut sp_gen(&scene, &["man", "share/man1"]));
    assert_eq!((status, &*stderr), (0, ""));
    for command in COMMANDS.split_whitespace() {
        let path = format!("share/man1/sp-gen-{command}.1");
        assert!(stdout.lines().any(|line| line == path), "{path}: {stdout}");
        let page = fs::read_to_string(scene.path(&path)).unwrap();
        assert!(page.contains(&format!(".TH sp-gen-{command} 1")), "{page}");
        assert!(page.contains("Examples:"), "{command}");
    }
    let page = fs::read_to_string(scene.path("share/man1/sp-gen.1")).unwrap();
    assert!(page.contains("sp\\-gen\\-diff(1)"), "{page}");
}

#[test]
fn man_rejects_folder_with_foreign_page() {
    let scene = Scene::new();
    scene.write("man1/sp-gen-diff.1", "own");
    let (status, _, stderr) = run(&mut sp_gen(&scene, &["man", "man1"]));
    assert_eq!(status, 2);
    assert!(stderr.contains("[sp_gen::man::foreign_page]"), "{stderr}");
    let page = fs::read_to_string(scene.path("man1/sp-gen-diff.1")).unwrap();
    assert_eq!(page, "own");
    assert!(!scene.path("man1/sp-gen.1").exists());
}

#[test]
fn man_leaves_edited_page_alone_and_accepts_its_own() {
    let scene = Scene::new();
    let man = || run(&mut sp_gen(&scene, &["man", "man1"]));
    assert_eq!((man().0, man().0), (0, 0));
    let path = scene.path("man1/sp-gen-diff.1");
    let edited = fs::read_to_string(&path).unwrap() + ".\\\" A note.\n";
    fs::write(&path, &edited).unwrap();
    let (status, _, stderr) = man();
    assert_eq!(status, 2);
    assert!(stderr.contains("[sp_gen::man::foreign_page]"), "{stderr}");
    assert_eq!(fs::read_to_string(&path).unwrap(), edited);
}

#[test]
fn ir_without_name_lists_apis() {
    let scene = Scene::new();
    let (status, stdout, stderr) = run(&mut sp_gen(&scene, &["ir", "--release", "2.12"]));
    assert_eq!((status, &*stderr), (0, ""));
    assert!(stdout.starts_with("TensorFlow 2.12\n"), "{stdout}");
    for api in ["kernels", "stream_executor", "pluggable_profiler"] {
        let is_line = |line: &str| line.starts_with(&format!("  {api} ")) && line.contains("items");
        assert!(stdout.lines().any(is_line), "{api}: {stdout}");
    }
}
