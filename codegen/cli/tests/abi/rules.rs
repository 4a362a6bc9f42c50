//! Every rule has a pair of headers under `tests/abi` that shows what it is about, and speaks on no
//! other's unless `tests/abi/pairs.txt` says so. `SP_BLESS=1` writes that table anew.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::releases::{TARGET, blessed, root};
use sp_diff::{Diff, RULES, Surface, Verdict, diff};
use sp_parse::clang::Library;
use sp_parse::contract::ExcludedHeaders;
use sp_parse::contract::{KnownNames, Notes};
use sp_parse::extract::{Extracted, Job, extract_all_targets_with};

fn folder() -> PathBuf {
    root().join("tests/abi")
}

fn ids(folder: &Path, suffix: &str) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let names = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().unwrap();
        let is_one = entry.path().is_dir() == suffix.is_empty();
        let stem = name.strip_suffix(suffix)?;
        (is_one && stem != "mod").then(|| stem.to_string())
    });
    names.collect()
}

/// One side of a pair, read as a release's headers are; nothing where there is no libclang.
fn side(rule: &str, side: &str) -> Option<Surface> {
    Library::load().ok()?;
    let pair = folder().join(rule);
    let read = |path: PathBuf| fs::read_to_string(path).unwrap_or_default();
    let notes = read(folder().join("notes.toml")) + &read(pair.join(format!("{side}.toml")));
    let header = fs::read_to_string(pair.join(format!("{side}.h"))).unwrap();
    let include = tempfile::tempdir().unwrap();
    let place = include.path().join("tensorflow/c");
    fs::create_dir_all(&place).unwrap();
    let text = read(folder().join("frame.h")) + &header + "}\n";
    fs::write(place.join("pair.h"), text).unwrap();
    let notes = [Notes::parse("pair", &notes).unwrap()];
    let (excluded, known) = (ExcludedHeaders::default(), KnownNames::default());
    let apis = extract_all_targets_with(&Job {
        notes: &notes,
        excluded: &excluded,
        known: &known,
        include_root: include.path(),
        release: "2.21",
        only: &[],
    });
    let apis = apis.and_then(Extracted::into_apis);
    let exports = fs::read_to_string(pair.join(format!("{side}.json"))).ok();
    Some(Surface {
        label: side.into(),
        apis: apis.unwrap_or_else(|error| panic!("{rule}/{side}.h: {error:?}")),
        exports: exports.map(|text| serde_json::from_str(&text).unwrap()),
        target: None,
    })
}

fn rows(rule: &str, diff: &Diff) -> String {
    let mut text = format!("{rule}: {:?}, {:?}\n", diff.verdict, diff.bump);
    for one in &diff.findings {
        let both = [&one.directions.old_on_new, &one.directions.new_on_old];
        let both = both.map(|effect| format!("{:?}/{:?}", effect.outcome, effect.guarded));
        let target = one.target.as_deref().unwrap_or("every target");
        text += &format!(
            "  {} {} {:?} {} {} {target}\n",
            one.rule, one.item, one.impact, both[0], both[1]
        );
    }
    text
}

#[test]
fn rules_files_and_pairs_are_one_to_one() {
    let listed: Vec<&str> = RULES.iter().map(|rule| rule.id).collect();
    assert!(listed.is_sorted(), "{listed:?}");
    let listed: BTreeSet<String> = listed.into_iter().map(String::from).collect();
    let files = Path::new(env!("CARGO_MANIFEST_DIR")).join("../diff/src/rules");
    assert_eq!(listed, ids(&files, ".rs"));
    assert_eq!(listed, ids(&folder(), ""));
    assert_eq!(listed.len(), RULES.len());
}

#[test]
fn every_rule_runs_on_every_pair() {
    let mut table = String::new();
    for rule in RULES {
        let (Some(old), Some(new)) = (side(rule.id, "old"), side(rule.id, "new")) else {
            return eprintln!("skipped: no libclang");
        };
        let found = diff(&old, &new, TARGET);
        let own = found.findings.iter().any(|one| one.rule == rule.id);
        assert!(
            own,
            "{} does not speak on its pair: {}",
            rule.id,
            rows(rule.id, &found)
        );
        for same in [&old, &new] {
            let same = diff(same, same, TARGET);
            assert_eq!(same.verdict, Verdict::Identical, "{}", rows(rule.id, &same));
        }
        table += &rows(rule.id, &found);
    }
    let blessed = blessed("tests/abi/pairs.txt", &table);
    for (line, (found, expected)) in table.lines().zip(blessed.lines()).enumerate() {
        assert_eq!(found, expected, "line {} of tests/abi/pairs.txt", line + 1);
    }
    assert_eq!(table, blessed);
}

#[test]
fn a_finding_weighs_at_most_what_its_rule_says() {
    for rule in RULES {
        let (Some(old), Some(new)) = (side(rule.id, "old"), side(rule.id, "new")) else {
            return eprintln!("skipped: no libclang");
        };
        for one in diff(&old, &new, TARGET).findings {
            let rule = RULES.iter().find(|rule| rule.id == one.rule).unwrap();
            assert!(one.impact <= rule.impact, "{} {}", one.rule, one.item);
            assert!(one.bump <= rule.bump, "{} {}", one.rule, one.item);
        }
    }
}
