use super::{OpSide, RULES, diff};
use crate::finding::{Diff, Verdict};
use sp_ops::{Release, Table};
use std::collections::BTreeSet;

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// The lines of an op that changed from 2.5 to 2.6, and the only rules of its findings.
const PAIRS: &[(&str, &[&str])] = &[
    ("op X @ 2.6..", &["op_added"]),
    ("op X @ 2.5..2.5", &["op_removed"]),
    (
        "op X\n  input a: int32\n  input b: float @ 2.6..",
        &["op_argument_added"],
    ),
    (
        "op X\n  output a: int32 @ 2.5..2.5",
        &["op_argument_removed"],
    ),
    (
        "op X\n  output a: int32 @ 2.5..2.5\n  output a: int64 @ 2.6..",
        &["op_argument_retyped"],
    ),
    (
        "op X\n  input b: int32 @ 2.6..\n  input a: int32\n  input b: int32 @ 2.5..2.5",
        &["op_argument_moved"],
    ),
    ("op X\n  attr a: int = 1 @ 2.6..", &["op_attribute_added"]),
    (
        "op X\n  attr a: int = 1 @ 2.5..2.5",
        &["op_attribute_removed"],
    ),
    ("op X\n  attr a: int @ 2.6..", &["op_attribute_required"]),
    (
        "op X\n  attr a: int = 1 @ 2.5..2.5\n  attr a: int @ 2.6..",
        &["op_attribute_required"],
    ),
    (
        "op X\n  attr a: int @ 2.5..2.5\n  attr a: list(int) @ 2.6..",
        &["op_attribute_retyped"],
    ),
    (
        "op X\n  attr a: int = 1 @ 2.5..2.5\n  attr a: int = 2 @ 2.6..",
        &["op_default_changed"],
    ),
    (
        "op X\n  attr a: int @ 2.5..2.5\n  attr a: int = 2 @ 2.6..",
        &["op_default_changed"],
    ),
    ("op X\n  stateful @ 2.6..", &["op_flag_changed"]),
    ("op X\n  deprecated 7 @ 2.5..2.5", &["op_flag_changed"]),
    (
        "op X\n  attr a: int >= 1 @ 2.5..2.5\n  attr a: int @ 2.6..",
        &["op_minimum_changed"],
    ),
    (
        "op X\n  attr T: type in half @ 2.5..2.5\n  attr T: type in half float @ 2.6..",
        &["op_values_added"],
    ),
    (
        "op X\n  attr T: type in half @ 2.5..2.5\n  attr T: type @ 2.6..",
        &["op_values_added"],
    ),
    (
        "op X\n  attr T: type @ 2.5..2.5\n  attr T: type in half @ 2.6..",
        &["op_values_removed"],
    ),
    (
        "op X\n  attr s: string in \"a\" \"b\" @ 2.5..2.5\n  attr s: string in \"b\" \"c\" @ 2.6..",
        &["op_values_added", "op_values_removed"],
    ),
    (
        "op X\n  attr s: string in \"a\" \"b\" @ 2.5..2.5\n  attr s: string in \"b\" \"a\" @ 2.6..",
        &[],
    ),
];

fn compare(table: &Table<'_>, old: &str, new: &str) -> Diff {
    let ops = |label: &str| table.in_release(label.parse().unwrap()).unwrap();
    let (old_ops, new_ops) = (ops(old), ops(new));
    let side = |label, ops| OpSide { label, ops };
    diff(side(old, &old_ops), side(new, &new_ops), TARGET)
}

fn pair(lines: &str) -> Table<'static> {
    let text = format!("release 2.5 2.5.3\nrelease 2.6 2.6.5\n\n{lines}\n");
    Table::parse(text).unwrap()
}

/// Returns the outcomes of the findings: by item, those of a plugin of OLD, then those of a plugin of NEW.
fn outcomes(diff: &Diff, is_reversed: bool) -> BTreeSet<String> {
    let outcomes = diff.findings.iter().map(|finding| {
        let both = &finding.directions;
        let [first, second] = match is_reversed {
            false => [&both.old_on_new, &both.new_on_old],
            true => [&both.new_on_old, &both.old_on_new],
        };
        format!("{}: {first:?}, {second:?}", finding.item)
    });
    outcomes.collect()
}

#[test]
fn each_rule_has_a_pair_with_only_its_findings() {
    let mut tested = BTreeSet::new();
    for (lines, rules) in PAIRS {
        let found = compare(&pair(lines), "2.5", "2.6");
        let ids: Vec<&str> = found.findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(&ids, rules, "{lines}");
        tested.extend(ids);
        for finding in &found.findings {
            let rule = RULES.iter().find(|rule| rule.id == finding.rule).unwrap();
            assert!(finding.impact <= rule.impact && finding.bump <= rule.bump);
        }
    }
    let all: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(tested, all);
}

#[test]
fn rules_are_sorted_and_have_a_summary_of_one_line() {
    assert!(RULES.iter().map(|rule| rule.id).is_sorted());
    for rule in RULES {
        let summary = rule.summary();
        assert!(
            summary.ends_with('.') && !summary.contains('\n'),
            "{}",
            rule.id
        );
        assert!(!rule.explanation().is_empty(), "{}", rule.id);
    }
}

#[test]
fn diff_and_its_reverse_have_the_same_effects() {
    let pairs = PAIRS
        .iter()
        .map(|(lines, _)| (pair(lines), "2.5".to_owned(), "2.6".to_owned()));
    let table = Table::embedded();
    let releases: Vec<Release> = table.releases().collect();
    let steps = releases.windows(2).map(|step| {
        let [old, new] = [step[0], step[1]].map(|release| release.to_string());
        (table.clone(), old, new)
    });
    for (table, old, new) in pairs.chain(steps) {
        let (found, reverse) = (compare(&table, &old, &new), compare(&table, &new, &old));
        assert_eq!(
            outcomes(&found, false),
            outcomes(&reverse, true),
            "{old} {new}"
        );
    }
}

#[test]
fn release_is_identical_to_itself() {
    for release in ["2.5", "2.12", "2.22"] {
        let found = compare(Table::embedded(), release, release);
        assert_eq!(
            (found.verdict, found.findings.len()),
            (Verdict::Identical, 0)
        );
    }
}

#[test]
fn output_that_got_a_type_attribute_is_breaking() {
    let found = compare(Table::embedded(), "2.12", "2.13");
    let breaking: Vec<String> = found
        .findings
        .iter()
        .filter(|finding| finding.is_breaking())
        .map(|finding| format!("{} {}: {}", finding.rule, finding.item, finding.message))
        .collect();
    let text = |kind, name, new| {
        format!(
            "op_argument_retyped TopKV2.{name}: the type of the {kind} {name} changed from int32 to {new}"
        )
    };
    let expected = [
        text("output", "indices", "index_type"),
        text("input", "k", "Tk"),
    ];
    assert_eq!(breaking, expected);
}
