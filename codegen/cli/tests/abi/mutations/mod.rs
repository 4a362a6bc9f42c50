//! Tests with edits of a release's snapshot at random locations. Each kind of edit has a finding of its rule, with its
//! verdict. An edit that affects neither binaries nor compilation has no finding.

#[macro_use]
mod scene;

mod calls;
mod contract;
mod exports;
mod harmless;
mod names;
mod records;
mod values;

use crate::releases;
use scene::{Edit, Random, Scene};
use sp_diff::{Verdict, diff};

/// The number of locations for each kind of edit.
const ROUNDS: usize = 3;

#[test]
fn every_edit_has_a_finding_of_its_rule() {
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
            let mut scene = Scene::new(&releases, &mut random, edit);
            if edit.is_reversed {
                scene.reverse();
            }
            let found = diff(&scene.old, &scene.new, releases::TARGET);
            let rules = found.findings.iter();
            let rules = rules.map(|finding| (finding.rule, &*finding.item));
            let rules: Vec<(&str, &str)> = rules.collect();
            let context = format!(
                "{} at {} of {}: {rules:?}",
                edit.name, scene.location, scene.old.label
            );
            assert!(
                rules.iter().any(|(rule, _)| *rule == edit.rule),
                "{context}"
            );
            assert_eq!(found.verdict, edit.verdict, "{context}");
        }
    }
}

#[test]
fn harmless_edits_have_no_finding() {
    let releases = releases::all();
    let mut random = Random(0x0ddba11);
    for edit in harmless::EDITS {
        for _ in 0..ROUNDS {
            let scene = Scene::new(&releases, &mut random, edit);
            assert!(
                scene.old.apis != scene.new.apis,
                "{} changes nothing",
                edit.name
            );
            for (old, new) in [(&scene.old, &scene.new), (&scene.new, &scene.old)] {
                let found = diff(old, new, releases::TARGET);
                let context = format!("{} at {} of {}", edit.name, scene.location, old.label);
                assert_eq!(
                    found.verdict,
                    Verdict::Identical,
                    "{context}: {:#?}",
                    found.findings
                );
            }
        }
    }
}
