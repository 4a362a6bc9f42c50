//! The page.

use std::collections::BTreeSet;

use sp_data::features::{FEATURES, Feature, Need};
use sp_data::release::Release;

use crate::Facts;

const HEADING: &str = "\
# What can a kernel use in which release?

Written from `generated/symbols` and `generated/ir` by `SP_BLESS=1 cargo test -p sp-gen --test features`; the table is
`codegen/data/src/features.rs`. `tests/tensorflow/test_features.py` compares each cell with the running TensorFlow.

A kernel states the functions that it cannot do without, `#[kernel(AssignVariableOp, .., needs = [TF_AssignVariable])]`. In a
release without one of them the kernel is not registered: TensorFlow runs its own kernel, if it has one. `sp-gen doctor`, `sp-gen
verify --kernels` and, with `SP_LOG=debug`, the plugin list these ops with the reason, such as `TF_AssignVariable is not exported`.
There is no way around a missing function of resource variables, reference variables and variants in 2.19 to 2.21: an op that has no kernel
on the CPU for tensors of the device, as `tf.gather(variable, ..)`, is an error there.

`x`: the release has it. Releases are those of the wheel `tensorflow-cpu` for Linux x86-64.

";

/// Returns the page.
pub fn page(facts: &Facts) -> String {
    let rows: Vec<(&Feature, BTreeSet<Release>)> = FEATURES
        .iter()
        .map(|it| (it, facts.releases_with(it)))
        .collect();
    [HEADING, &table(facts, &rows), &details(facts, &rows)].concat()
}

fn table(facts: &Facts, rows: &[(&Feature, BTreeSet<Release>)]) -> String {
    let heads = facts.releases.iter().map(|it| format!(" {it} |"));
    let line = "---|".repeat(facts.releases.len() + 1);
    let mut text = format!("| |{}\n|{line}\n", heads.collect::<String>());
    for (feature, releases) in rows {
        let mark = |it: &Release| if releases.contains(it) { " x |" } else { "  |" };
        let marks: String = facts.releases.iter().map(mark).collect();
        text += &format!("| {} |{marks}\n", feature.title);
    }
    text
}

fn details(facts: &Facts, rows: &[(&Feature, BTreeSet<Release>)]) -> String {
    let mut text =
        "\n## What each row needs\n\n| row | releases | needs |\n|---|---|---|\n".to_owned();
    for (feature, releases) in rows {
        let needs: Vec<String> = feature.needs.iter().map(format_need).collect();
        let observed = feature
            .observed
            .map(|(first, reason)| format!("; releases before {first} {reason} (observed)"));
        let (title, needs) = (feature.title, needs.join(", "));
        let runs = runs(releases, &facts.releases);
        let observed = observed.unwrap_or_default();
        text += &format!("| {title} | {runs} | {needs}{observed} |\n");
    }
    text
}

fn format_need(need: &Need) -> String {
    match need {
        Need::Function(name) => format!("`{name}`"),
        Need::Field(record, field) => format!("`{record}.{field}`"),
    }
}

/// Returns releases as `2.6 to 2.18, 2.22 on`.
pub fn runs(some: &BTreeSet<Release>, all: &[Release]) -> String {
    let known: BTreeSet<Release> = all.iter().copied().collect();
    let newest = known.last();
    let runs = sp_data::symbols::runs::from_set(some, &known);
    let runs = runs.iter().map(
        |(first, last)| match (first == last, Some(last) == newest) {
            (_, true) => format!("{first} on"),
            (true, false) => first.to_string(),
            (false, false) => format!("{first} to {last}"),
        },
    );
    runs.collect::<Vec<_>>().join(", ")
}
