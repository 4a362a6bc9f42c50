//! `sp-gen.toml`: suppressed findings, and errors in the file.

use super::scene::Scene;
use sp_tests::assert_contains;

fn scene() -> Scene {
    let scene = Scene::new();
    scene.snapshot("old/one.json", "one", "2.5", "");
    scene.snapshot("old/two.json", "two", "2.5", "");
    scene.snapshot("new/one.json", "one", "2.6", "");
    scene
}

const ENTRY: &str =
    "[[suppress]]\nrule = \"api_removed\"\nitem = \"two\"\nreason = \"nobody here uses it\"\n";

#[test]
fn suppressed_finding_does_not_affect_verdict() {
    let scene = scene();
    scene.write("sp-gen.toml", ENTRY);
    let run = scene.diff(&["old", "new"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_contains(&run.stdout, "api_removed two: nobody here uses it");
    let last = run.stdout.lines().last();
    let expected = Some("1 suppressed: identical; no new version required");
    assert_eq!(last, expected);
    let json = scene.json(&["old", "new"]);
    assert_eq!(json["suppressed"][0]["reason"], "nobody here uses it");
    assert_eq!(json["findings"].as_array().unwrap().len(), 0);
}

#[test]
fn rejects_entry_without_finding_and_shows_its_location() {
    let scene = scene();
    scene.write(
        "sp-gen.toml",
        format!("{ENTRY}\n{}", ENTRY.replace("two", "three")),
    );
    let run = scene.diff(&["old", "new"]);
    run.assert_rejected(&[
        "1 entry matches no finding",
        "sp-gen.toml:6:1",
        "remove the entry",
    ]);
    // The entry is for other releases, so this diff ignores it.
    let entry = ENTRY.replace("two", "three") + "releases = \"2.7..2.8\"\n";
    scene.write("sp-gen.toml", entry);
    assert_eq!(scene.diff(&["old", "new"]).status, 1);
}

#[test]
fn config_option_takes_precedence_over_nearest_file() {
    let scene = scene();
    scene.write("sp-gen.toml", ENTRY);
    scene.write("none.toml", "");
    assert_eq!(
        scene.diff(&["old", "new", "--config", "none.toml"]).status,
        1
    );
    scene
        .diff(&["old", "new", "--config", "no.toml"])
        .assert_rejected(&["no.toml cannot be read"]);
    scene.write("bad.toml", ENTRY.replace("reason", "why"));
    let run = scene.diff(&["old", "new", "--config", "bad.toml"]);
    run.assert_rejected(&[
        "bad.toml cannot be parsed",
        "unknown field `why`",
        "bad.toml:4:1",
    ]);
}

#[test]
fn accepts_entry_for_api_that_is_not_requested() {
    let scene = scene();
    scene.write("sp-gen.toml", ENTRY);
    let json = scene.json(&["old", "new", "--api", "one"]);
    assert_eq!(json["suppressed"].as_array().unwrap().len(), 0);
}
