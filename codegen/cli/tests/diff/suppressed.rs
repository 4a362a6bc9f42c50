//! `sp-gen.toml`: what it takes out, and what is wrong with one.

use super::scene::Scene;

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
fn what_is_suppressed_is_shown_and_does_not_count() {
    let scene = scene();
    scene.write("sp-gen.toml", ENTRY);
    let run = scene.diff(&["old", "new"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(
        run.stdout.contains("api_removed two: nobody here uses it"),
        "{}",
        run.stdout
    );
    let last = run.stdout.lines().last();
    assert_eq!(last, Some("1 suppressed: identical; the version may stay"));
    let json = scene.json(&["old", "new"]);
    assert_eq!(json["suppressed"][0]["reason"], "nobody here uses it");
    assert_eq!(json["findings"].as_array().unwrap().len(), 0);
}

#[test]
fn an_entry_that_matches_nothing_is_an_error_that_points_at_it() {
    let scene = scene();
    scene.write(
        "sp-gen.toml",
        format!("{ENTRY}\n{}", ENTRY.replace("two", "three")),
    );
    let run = scene.diff(&["old", "new"]);
    run.refused(&[
        "an entry in",
        "matches no finding",
        "sp-gen.toml:6:1",
        "remove it",
    ]);
    // It is about other releases, so this diff does not tell.
    let entry = ENTRY.replace("two", "three") + "releases = \"2.7..2.8\"\n";
    scene.write("sp-gen.toml", entry);
    assert_eq!(scene.diff(&["old", "new"]).status, 1);
}

#[test]
fn a_named_file_is_read_in_place_of_the_nearest() {
    let scene = scene();
    scene.write("sp-gen.toml", ENTRY);
    scene.write("none.toml", "");
    assert_eq!(
        scene.diff(&["old", "new", "--config", "none.toml"]).status,
        1
    );
    scene
        .diff(&["old", "new", "--config", "no.toml"])
        .refused(&["no.toml cannot be read"]);
    scene.write("bad.toml", ENTRY.replace("reason", "why"));
    let run = scene.diff(&["old", "new", "--config", "bad.toml"]);
    run.refused(&[
        "bad.toml is not of this form",
        "unknown field `why`",
        "bad.toml:4:1",
    ]);
}

#[test]
fn an_entry_for_an_api_that_is_not_asked_for_is_no_mistake() {
    let scene = scene();
    scene.write("sp-gen.toml", ENTRY);
    let json = scene.json(&["old", "new", "--api", "one"]);
    assert_eq!(json["suppressed"].as_array().unwrap().len(), 0);
}
