//! The documents: the workflow is YAML with existing commands, and the page has every key and option.

use std::fs;
use std::process::Command;

use super::plugin::{SOURCE, built};
use super::scene::Scene;
use sp_tests::root;

fn document(name: &str) -> String {
    fs::read_to_string(root().join("codegen/docs").join(name)).unwrap()
}

#[test]
fn workflow_is_yaml() {
    let path = root().join("codegen/docs/abi-diff.yml");
    let read = "import sys, yaml; jobs = yaml.safe_load(open(sys.argv[1]))['jobs']; print({name: len(job['steps']) for name, job in jobs.items()})";
    let python = Command::new("python3")
        .args(["-c", read])
        .arg(path)
        .output();
    let Ok(output) = python.map(|output| (output.status.success(), output)) else {
        return eprintln!("skipped: no python3 to read YAML with");
    };
    match output {
        (true, output) => {
            let steps = String::from_utf8(output.stdout).unwrap();
            assert_eq!(steps.trim(), "{'diff': 7, 'nightly': 6}");
        }
        (false, output) => {
            let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(stderr.contains("No module named 'yaml'"), "{stderr}");
            eprintln!("skipped: python3 has no yaml");
        }
    }
}

#[test]
fn workflow_runs_existing_commands() {
    let text = document("abi-diff.yml");
    let commands: Vec<Vec<&str>> = text
        .lines()
        .filter_map(|line| {
            line.trim()
                .trim_start_matches("run: ")
                .strip_prefix("sp-gen ")
        })
        .map(|line| {
            line.split(" >")
                .next()
                .unwrap()
                .split_whitespace()
                .collect()
        })
        .collect();
    assert_eq!(commands.len(), 10);
    let scene = Scene::new();
    if !built(&scene, SOURCE, &[]) {
        return;
    }
    for command in commands {
        let command: Vec<&str> = command
            .into_iter()
            .map(|word| match word {
                "\"$BUILT_FOR\"" => "2.20",
                "\"$NEWEST\"" | "\"$LAST\"" => "2.21",
                "nightly" => "2.22",
                "\"$PLUGIN\"" => "plugin.so",
                word => word,
            })
            .collect();
        match command[0] {
            "diff" => assert_ne!(scene.run(&command).status, 2, "{command:?}"),
            _ => assert_eq!(scene.run(&[&command[..], &["--help"]].concat()).status, 0),
        }
    }
}

#[test]
fn page_has_every_key_and_option() {
    let page = document("diff.md");
    let json = Scene::new().json(&["2.12", "2.13"]);
    let finding = json["findings"][0].as_object().unwrap();
    for key in json.as_object().unwrap().keys().chain(finding.keys()) {
        assert!(page.contains(key), "{key}");
    }
    let help = Scene::new().run(&["diff", "--help"]).stdout;
    let options = help
        .split_whitespace()
        .filter(|word| word.starts_with("--"));
    for option in options.filter(|option| *option != "--help") {
        let option = option.trim_end_matches(',');
        assert!(page.contains(option), "{option}");
    }
}
