//! Comments of real headers, edited in a copy of 2.21's include root: an edit that changes what a
//! comment states is found by its rule, a rewording breaks nothing.

mod edits;
mod rewordings;
mod scene;

use edits::{Change, Edit, changes};
use rewordings::REWORDINGS;
use scene::Scene;
use sp_diff::Verdict;
use sp_tests::rows;

#[test]
fn reports_each_changed_comment_by_its_rule() {
    let Some(scene) = Scene::new() else { return };
    let changes = changes();
    assert!(changes.len() >= 10);
    for Change {
        name,
        edits,
        rule,
        item,
    } in changes
    {
        let found = scene.diff(&edits);
        let rules = found.findings.iter().map(|one| (one.rule, &*one.item));
        let rules: Vec<(&str, &str)> = rules.collect();
        assert!(rules.contains(&(rule, item)), "{name}: {rules:?}");
    }
}

#[test]
fn reports_nothing_breaking_for_reworded_comments() {
    let Some(scene) = Scene::new() else { return };
    for [name, place, at, mark, with] in rows(REWORDINGS) {
        let found = scene.diff(&[Edit::parse([place, at, mark, with])]);
        let findings = found.findings;
        assert_ne!(found.verdict, Verdict::Breaking, "{name}: {findings:#?}");
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
    scene.edit(&changes()[0].edits);
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
        let mut changes = changes().into_iter();
        let optional = changes.find(|one| one.rule == "presence_relaxed");
        scene.edit(&optional.unwrap().edits);
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
