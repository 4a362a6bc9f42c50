//! Sides that are hosts of PJRT plugins: `jaxlib:0.9`.

use super::scene::Scene;

#[test]
fn compares_demands_of_two_releases() {
    let scene = Scene::new();
    let run = scene.diff(&["jaxlib:0.9.0", "jaxlib:0.9"]);
    assert_eq!(run.status, 1, "{}", run.stderr);
    let json = scene.json(&["jaxlib:0.9.0", "jaxlib:0.9"]);
    assert_eq!(json["verdict"], "breaking");
    assert_eq!(
        (&json["old"], &json["new"]),
        (&"jaxlib:0.9.0".into(), &"jaxlib:0.9.2".into())
    );
    let findings = json["findings"].as_array().unwrap();
    let payload = findings
        .iter()
        .find(|finding| finding["item"] == "PJRT_Error_ForEachPayload");
    let payload = payload.unwrap();
    assert_eq!(payload["rule"], "pjrt_slot_required");
    assert_eq!(
        payload["directions"]["old_on_new"]["outcome"],
        "ends the process"
    );
}

#[test]
fn release_that_demands_the_same_exits_with_0() {
    let scene = Scene::new();
    for (old, new) in [
        ("jaxlib:0.10.2", "jaxlib:0.10"),
        ("jaxlib:0.10.1", "jaxlib:0.10.2"),
    ] {
        let run = scene.diff(&[old, new]);
        assert_eq!(run.status, 0, "{old} {new}: {}", run.stdout);
    }
}

#[test]
fn finding_of_a_demand_can_be_accepted() {
    let scene = Scene::new();
    let entry = "[[suppress]]\nrule = \"pjrt_slot_required\"\nitem = \"PJRT_Error_ForEachPayload\"\nreason = \"filled\"\n";
    let rest = "[[suppress]]\nrule = \"pjrt_slot_required\"\nitem = \"PJRT_Executable_Name\"\nreason = \"filled\"\n";
    scene.write("sp-gen.toml", format!("{entry}{rest}"));
    let run = scene.diff(&["jaxlib:0.9.0", "jaxlib:0.9.2"]);
    assert_eq!(run.status, 0, "{}{}", run.stdout, run.stderr);
}

#[test]
fn rejects_unknown_host_release_and_options_of_headers() {
    let scene = Scene::new();
    let run = scene.diff(&["jaxlb:0.9", "jaxlib:0.10"]);
    run.assert_rejected(&["no host of PJRT plugins is named `jaxlb`", "jaxlib"]);
    let run = scene.diff(&["jaxlib:0.3", "jaxlib:0.10"]);
    run.assert_rejected(&[
        "jaxlib 0.3 was not measured",
        "tests/pjrt-demand jaxlib 0.3",
    ]);
    for arguments in [
        ["jaxlib:0.9", "2.21", "--fail-on", "any"],
        ["2.21", "jaxlib:0.9", "--fail-on", "any"],
        ["jaxlib:0.9", "jaxlib:0.10", "--api", "pjrt"],
        ["jaxlib:0.9", "jaxlib:0.10", "--plugin", "lib.so"],
    ] {
        let run = scene.diff(&arguments);
        run.assert_rejected(&["cannot be compared with the demands of a host"]);
    }
}
