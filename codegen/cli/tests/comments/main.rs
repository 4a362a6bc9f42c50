//! Comments of real headers, edited in a copy of 2.21's include root: an edit that changes what a
//! comment states is found by its rule, a rewording breaks nothing.

mod edits;
mod rewordings;
mod scene;

use edits::{CHANGES, Change};
use rewordings::REWORDINGS;
use scene::Scene;
use sp_diff::Verdict;

#[test]
fn reports_each_changed_comment_by_its_rule() {
    let Some(scene) = Scene::new() else { return };
    assert!(CHANGES.len() >= 10);
    for Change {
        name,
        edit,
        rule,
        item,
    } in CHANGES
    {
        let found = scene.diff(edit);
        let rules: Vec<(&str, &str)> = found
            .findings
            .iter()
            .map(|one| (one.rule, &*one.item))
            .collect();
        assert!(rules.contains(&(rule, item)), "{name}: {rules:?}");
    }
}

#[test]
fn reports_nothing_breaking_for_reworded_comments() {
    let Some(scene) = Scene::new() else { return };
    for (name, edit) in REWORDINGS {
        let found = scene.diff(edit);
        assert_ne!(
            found.verdict,
            Verdict::Breaking,
            "{name}: {:#?}",
            found.findings
        );
    }
}

#[test]
fn reports_nothing_for_unedited_headers() {
    let Some(scene) = Scene::new() else { return };
    let found = scene.diff(&[]);
    assert_eq!(found.verdict, Verdict::Identical, "{:#?}", found.findings);
}

#[test]
fn changed_comments_change_ir_and_generated_code() {
    let Some(scene) = Scene::new() else { return };
    scene.edit(CHANGES[0].edit);
    let tree = scene.run(&["ir", "stream_executor", "--headers", "2.21.0/include"]);
    let row = tree
        .lines()
        .find(|line| line.contains("block_host_until_done:"));
    assert!(
        row.is_some_and(|row| row.contains("[required: line")),
        "{row:?}"
    );
    let arguments = ["generate", "--headers", "2.21.0/include", "--out", "out"];
    scene.run(&arguments);
    let traits = scene.text("out/src/stream_executor/traits.rs");
    let plain = include_str!("../../../../generated/src/stream_executor/traits.rs");
    let defaults = |text: &str| text.matches("block_host_until_done").count();
    assert_ne!(defaults(&traits), 0);
    assert_ne!(traits, plain);
}

#[test]
fn cached_import_prefers_changed_comment_over_note() {
    for release in ["2.22.0", "2.24.0.dev20261101"] {
        let Some(scene) = Scene::new() else { return };
        let optional = CHANGES.iter().find(|one| one.rule == "presence_relaxed");
        scene.edit(optional.unwrap().edit);
        scene.install(release);
        scene.run(&["import", "tensorflow", release, "--from", "site"]);
        let tree = scene.run(&["ir", "stream_executor", "--release", release]);
        let presence = |name: &str| {
            let mut lines = tree.lines();
            let row = lines.find(|line| line.contains(&format!(" {name}:")))?;
            Some(row.rsplit_once('[')?.1.to_string())
        };
        let (mem_zero, memset) = (presence("mem_zero"), presence("memset"));
        assert!(
            mem_zero.is_some_and(|it| it.starts_with("optional: line")),
            "{tree}"
        );
        assert!(
            memset.is_some_and(|it| it.starts_with("required: ")),
            "{tree}"
        );
    }
}
