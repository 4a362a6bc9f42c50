//! Every rule has a pair of headers in `tests/abi` that has a finding of the rule. `tests/abi/pairs.txt` lists all
//! findings of all pairs. Each attribute and adjustment of C's function types has a pair in `tests/abi/function_types`,
//! with the findings in `tests/abi/function_types.txt`. `SP_BLESS=1` writes both files.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::releases::TARGET;
use sp_diff::{Diff, RULES, Surface, Verdict, diff};
use sp_parse::clang::Library;
use sp_parse::contract::ExcludedHeaders;
use sp_parse::contract::{KnownNames, Notes};
use sp_parse::extract::{Job, extract_all_targets_with};
use sp_tests::{assert_golden, root};

/// The folder of the pairs that are not named after a rule.
const FUNCTION_TYPES: &str = "function_types";

fn folder() -> PathBuf {
    root().join("tests/abi")
}

/// Returns the names of the folders in `folder`.
fn subfolders(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let folders = entries.filter(|entry| entry.path().is_dir());
    let names = folders.map(|entry| entry.file_name().into_string().unwrap());
    names.collect()
}

/// Reads one side of a pair like the headers of a release. Returns `None` without libclang.
fn side(rule: &str, side: &str) -> Option<Surface> {
    Library::load().ok()?;
    let pair = folder().join(rule);
    let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
    let notes = read(folder().join("notes.toml")) + &read(pair.join(format!("{side}.toml")));
    let header = fs::read_to_string(pair.join(format!("{side}.h"))).unwrap();
    let include = tempfile::tempdir().unwrap();
    let header_folder = include.path().join("tensorflow/c");
    fs::create_dir_all(&header_folder).unwrap();
    let text = read(folder().join("frame.h")) + &header + "}\n";
    fs::write(header_folder.join("pair.h"), text).unwrap();
    let notes = [Notes::parse("pair", &notes).unwrap()];
    let (excluded, known) = (ExcludedHeaders::default(), KnownNames::default());
    // A side may lack a requested API.
    let only = ["pair".to_owned()];
    let extracted = extract_all_targets_with(&Job {
        notes: &notes,
        excluded: &excluded,
        known: &known,
        include_root: include.path(),
        release: "2.21",
        only: &only,
    });
    let extracted = extracted.unwrap_or_else(|error| panic!("{rule}/{side}.h: {error:?}"));
    let visibility = Some(extracted.visibility.clone());
    let apis = extracted.into_apis();
    let exports = fs::read_to_string(pair.join(format!("{side}.json"))).ok();
    Some(Surface {
        label: side.into(),
        apis: apis.unwrap_or_else(|error| panic!("{rule}/{side}.h: {error:?}")),
        exports: exports.map(|text| serde_json::from_str(&text).unwrap()),
        visibility,
        target: None,
    })
}

fn rows(rule: &str, diff: &Diff) -> String {
    let mut text = format!("{rule}: {:?}, {:?}\n", diff.verdict, diff.bump);
    for finding in &diff.findings {
        let directions = &finding.directions;
        let effects = [&directions.old_on_new, &directions.new_on_old];
        let effects = effects.map(|effect| format!("{:?}/{:?}", effect.outcome, effect.guarded));
        let target = finding.target.as_deref().unwrap_or("every target");
        text += &format!(
            "  {} {} {:?} {} {target}\n",
            finding.rule,
            finding.item,
            finding.impact,
            effects.join(" ")
        );
    }
    text
}

#[test]
fn rules_are_sorted_and_each_has_a_pair() {
    let listed: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    assert!(listed.is_sorted(), "{listed:?}");
    let listed: BTreeSet<String> = listed.into_iter().map(String::from).collect();
    let mut pairs = subfolders(&folder());
    assert!(pairs.remove(FUNCTION_TYPES));
    assert_eq!(listed, pairs);
    assert_eq!(listed.len(), RULES.len());
}

#[test]
fn rule_summaries_are_one_line() {
    for rule in RULES {
        let summary = rule.summary();
        assert!(
            summary.ends_with('.') && !summary.contains('\n'),
            "{}: {summary}",
            rule.id
        );
        assert!(!rule.explanation().is_empty(), "{}", rule.id);
    }
}

#[test]
fn findings_of_all_pairs_equal_golden_file() {
    let mut table = String::new();
    for rule in RULES {
        let (Some(old), Some(new)) = (side(rule.id, "old"), side(rule.id, "new")) else {
            return eprintln!("skipped: no libclang");
        };
        let found = diff(&old, &new, TARGET);
        let has_own = found.findings.iter().any(|finding| finding.rule == rule.id);
        assert!(
            has_own,
            "{} has no finding on its pair: {}",
            rule.id,
            rows(rule.id, &found)
        );
        for side in [&old, &new] {
            let same = diff(side, side, TARGET);
            assert_eq!(same.verdict, Verdict::Identical, "{}", rows(rule.id, &same));
        }
        table += &rows(rule.id, &found);
    }
    assert_golden("tests/abi/pairs.txt", &table);
}

#[test]
fn attributes_and_adjustments_of_function_types_have_expected_verdicts() {
    let mut table = String::new();
    for name in subfolders(&folder().join(FUNCTION_TYPES)) {
        let pair = format!("{FUNCTION_TYPES}/{name}");
        let (Some(old), Some(new)) = (side(&pair, "old"), side(&pair, "new")) else {
            return eprintln!("skipped: no libclang");
        };
        for side in [&old, &new] {
            let same = diff(side, side, TARGET);
            assert_eq!(same.verdict, Verdict::Identical, "{}", rows(&name, &same));
        }
        table += &rows(&name, &diff(&old, &new, TARGET));
    }
    assert_golden("tests/abi/function_types.txt", &table);
}

#[test]
fn findings_stay_within_impact_and_bump() {
    for rule in RULES {
        let (Some(old), Some(new)) = (side(rule.id, "old"), side(rule.id, "new")) else {
            return eprintln!("skipped: no libclang");
        };
        for finding in diff(&old, &new, TARGET).findings {
            let rule = RULES.iter().find(|rule| rule.id == finding.rule).unwrap();
            let name = format!("{} {}", finding.rule, finding.item);
            assert!(finding.impact <= rule.impact, "{name}");
            assert!(finding.bump <= rule.bump, "{name}");
        }
    }
}
