//! No edit passes unseen: each kind of edit, made to a release's snapshot at random places, is reported
//! by its rule with its verdict; and what is no edit to a binary or a compiler is reported not at all.

mod calls;
mod contract;
mod exports;
mod names;
mod nothing;
mod records;
mod scene;
mod values;

use crate::releases;
use scene::{Edit, Random, Scene};
use sp_diff::{Verdict, diff};

/// Places that each edit is tried at.
const ROUNDS: usize = 3;

#[test]
fn every_edit_is_seen_by_its_rule() {
    let releases = releases::all();
    let edits: Vec<&Edit> = [
        records::EDITS,
        calls::EDITS,
        values::EDITS,
        names::EDITS,
        contract::EDITS,
    ]
    .into_iter()
    .flatten()
    .collect();
    assert!(edits.len() >= 40, "{} kinds of edit", edits.len());
    let mut random = Random(0x5eed_2025);
    for edit in edits {
        for _ in 0..ROUNDS {
            let mut scene = Scene::made(&releases, &mut random, edit);
            if edit.backwards {
                scene.turn();
            }
            let found = diff(&scene.old, &scene.new, releases::TARGET);
            let rules: Vec<(&str, &str)> = found
                .findings
                .iter()
                .map(|one| (one.rule, &*one.item))
                .collect();
            let place = format!(
                "{} at {} of {}: {rules:?}",
                edit.name, scene.place, scene.old.label
            );
            assert!(rules.iter().any(|(rule, _)| *rule == edit.rule), "{place}");
            assert_eq!(found.verdict, edit.verdict, "{place}");
        }
    }
}

#[test]
fn what_is_no_edit_is_not_reported() {
    let releases = releases::all();
    let mut random = Random(0x0ddba11);
    for edit in nothing::EDITS {
        for _ in 0..ROUNDS {
            let scene = Scene::made(&releases, &mut random, edit);
            assert!(
                scene.old.apis != scene.new.apis,
                "{} does nothing",
                edit.name
            );
            for (old, new) in [(&scene.old, &scene.new), (&scene.new, &scene.old)] {
                let found = diff(old, new, releases::TARGET);
                let place = format!("{} at {} of {}", edit.name, scene.place, old.label);
                assert_eq!(
                    found.verdict,
                    Verdict::Identical,
                    "{place}: {:#?}",
                    found.findings
                );
            }
        }
    }
}
