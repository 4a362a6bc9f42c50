use super::{PluginFacts, RULES, diff, diff_for_plugin};
use crate::finding::{Diff, Finding, Outcome, Verdict};
use sp_data::demand::{self, Demand, PluginTable, RunOutcome};
use std::collections::BTreeSet;

const TARGET: &str = "x86_64-unknown-linux-gnu";

fn jaxlib(release: &str) -> Demand {
    demand::find("jaxlib", release).unwrap()
}

/// Returns the ids of the rules of all findings.
fn rules(diff: &Diff) -> Vec<&str> {
    diff.findings.iter().map(|finding| finding.rule).collect()
}

/// Returns the findings of a rule about an item, by the committed data of two releases of jaxlib.
fn findings(old: &str, new: &str, rule: &str, item: &str) -> Vec<Finding> {
    let mut found = diff(&jaxlib(old), &jaxlib(new), TARGET).findings;
    found.retain(|finding| finding.rule == rule && finding.item == item);
    found
}

/// Returns the finding of a rule about an item in the first pair of releases. The second pair has none.
#[track_caller]
fn finding([[old, new], [next, last]]: [[&str; 2]; 2], rule: &str, item: &str) -> Finding {
    assert_eq!(findings(next, last, rule, item), [], "{next} to {last}");
    let found = findings(old, new, rule, item).into_iter().next();
    found.unwrap_or_else(|| panic!("{old} to {new} has no {rule} of {item}"))
}

fn failed(outcome: &str) -> RunOutcome {
    RunOutcome {
        outcome: outcome.into(),
        message: "SIGSEGV".into(),
        program: "devices".into(),
    }
}

/// A change of a demand, and the only rule of its findings.
type Case = (fn(&mut Demand), &'static str);

const CASES: &[Case] = &[
    (
        |demand| {
            demand
                .slots
                .get_mut("PJRT_Plugin_Attributes")
                .unwrap()
                .struct_size = Some(40)
        },
        "pjrt_arguments_resized",
    ),
    (
        |demand| {
            demand
                .extensions
                .get_mut("Layouts")
                .unwrap()
                .functions
                .push("New".into())
        },
        "pjrt_extension_called",
    ),
    (
        |demand| demand.extensions.get_mut("Layouts").unwrap().required = true,
        "pjrt_extension_required",
    ),
    (
        |demand| demand.function_tables.push("PJRT_Error.message".into()),
        "pjrt_function_table_called",
    ),
    (
        |demand| {
            demand.table.headers.insert("90".into(), failed("error"));
        },
        "pjrt_header_declined",
    ),
    (
        |demand| {
            demand.programs.insert("devices".into(), failed("crash"));
        },
        "pjrt_program_fails",
    ),
    (
        |demand| set_use(demand, demand::SlotDemand::Optional),
        "pjrt_slot_called",
    ),
    (
        |demand| set_use(demand, demand::SlotDemand::Required),
        "pjrt_slot_required",
    ),
    (
        |demand| {
            demand
                .slots
                .get_mut("PJRT_Device_DefaultMemory")
                .unwrap()
                .error = Some(failed("crash"))
        },
        "pjrt_slot_error_worse",
    ),
    (
        |demand| {
            demand.stablehlo.insert("none".into(), "mlir 9.0.0".into());
        },
        "pjrt_stablehlo_default_changed",
    ),
];

/// Sets the use of a slot that 0.10.2 does not call.
fn set_use(demand: &mut Demand, used: demand::SlotDemand) {
    let slot = demand.slots.get_mut("PJRT_Client_ProcessIndex").unwrap();
    assert_eq!(slot.demand, demand::SlotDemand::Unused);
    slot.demand = used;
    slot.null = Some(failed("crash"));
}

#[test]
fn each_change_has_one_finding_of_its_rule() {
    let old = jaxlib("0.10.2");
    for (change, rule) in CASES {
        let mut new = old.clone();
        change(&mut new);
        assert_eq!(rules(&diff(&old, &new, TARGET)), [*rule]);
    }
}

#[test]
fn every_rule_has_a_case_or_is_the_reverse_of_one() {
    let old = jaxlib("0.10.2");
    let mut seen = BTreeSet::new();
    for (change, rule) in CASES {
        let mut new = old.clone();
        change(&mut new);
        seen.insert(*rule);
        seen.extend(
            diff(&new, &old, TARGET)
                .findings
                .iter()
                .map(|finding| finding.rule),
        );
    }
    // Only a plugin has it.
    assert!(seen.insert("pjrt_size_rejected"));
    let all: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
    assert_eq!(seen, all);
}

#[test]
fn release_is_identical_to_itself() {
    for release in demand::releases("jaxlib") {
        let demand = jaxlib(release);
        assert_eq!(diff(&demand, &demand, TARGET).verdict, Verdict::Identical);
    }
}

#[test]
fn finds_slot_of_error_payloads_that_became_required() {
    let releases = [["0.9.0", "0.9.2"], ["0.10.0", "0.10.2"]];
    let found = finding(releases, "pjrt_slot_required", "PJRT_Error_ForEachPayload");
    assert_eq!(found.directions.old_on_new.outcome, Outcome::EndsProcess);
}

#[test]
fn finds_slot_of_plugin_attributes_that_became_required() {
    let releases = [["0.4.25", "0.4.28"], ["0.4.28", "0.4.30"]];
    let found = finding(releases, "pjrt_slot_required", "PJRT_Plugin_Attributes");
    assert_eq!(found.directions.old_on_new.outcome, Outcome::EndsProcess);
}

#[test]
fn finds_size_of_plugin_attributes_that_was_too_short() {
    let releases = [["0.6.2", "0.7.2"], ["0.7.2", "0.8.3"]];
    let found = finding(releases, "pjrt_arguments_resized", "PJRT_Plugin_Attributes");
    assert!(
        found.message.contains("of 32 bytes, and passed one of 24"),
        "{}",
        found.message
    );
}

#[test]
fn finds_comparison_of_minor_versions_for_equality() {
    let found = diff(&jaxlib("0.4.36"), &jaxlib("0.4.30"), TARGET);
    let declined = found
        .findings
        .iter()
        .filter(|finding| finding.rule == "pjrt_header_declined");
    assert!(declined.clone().count() >= 3);
    let rejected = |finding: &&Finding| finding.directions.old_on_new.outcome == Outcome::Rejected;
    assert!(declined.clone().all(|finding| rejected(&finding)));
    assert_eq!(
        findings(
            "0.9.2",
            "0.10.2",
            "pjrt_header_declined",
            "PJRT_API_MINOR.90"
        ),
        []
    );
}

#[test]
fn finds_tables_of_memories_that_are_called() {
    let releases = [["0.10.0", "0.10.1"], ["0.10.1", "0.10.2"]];
    finding(
        releases,
        "pjrt_function_table_called",
        "PJRT_Memory.get_user_data",
    );
}

#[test]
fn finds_error_of_default_memory_that_is_no_longer_ignored() {
    let releases = [["0.10.2", "0.11.2"], ["0.11.2", "0.12.0.1"]];
    finding(
        releases,
        "pjrt_slot_error_worse",
        "PJRT_Device_DefaultMemory",
    );
}

#[test]
fn finds_trace_that_no_longer_ends_the_process() {
    assert_eq!(
        findings("0.10.0", "0.10.1", "pjrt_program_runs", "profile").len(),
        1
    );
}

/// Returns a plugin of this minor version that has all slots of its table but these.
fn plugin(minor: i64, slots: usize, null: &[&str]) -> PluginFacts {
    let names = demand::slot_names().into_iter().take(slots);
    let table = PluginTable {
        major: 0,
        minor,
        size: 40 + 8 * slots as u64,
        slots: names.map(|name| !null.contains(&name.as_str())).collect(),
    };
    PluginFacts {
        table,
        rejected_size: None,
        has_memory_tables: false,
    }
}

/// Returns the rules and items of the breaking findings for a plugin.
fn breaking(old: &str, new: &str, facts: &PluginFacts) -> Vec<(&'static str, String)> {
    let found = diff_for_plugin(&jaxlib(old), &jaxlib(new), facts, TARGET).findings;
    let found = found.into_iter();
    let breaking = found.filter(|it| it.impact == crate::finding::Impact::Breaking);
    breaking.map(|it| (it.rule, it.item)).collect()
}

#[test]
fn plugin_with_null_slot_has_a_finding_and_a_filled_one_has_none() {
    for (old, new, slot) in [
        ("0.9.0", "0.9.2", "PJRT_Error_ForEachPayload"),
        ("0.4.36", "0.10.2", "PJRT_Plugin_Attributes"),
        ("0.5.0", "0.5.1", "PJRT_Memory_Kind"),
    ] {
        let all = demand::slot_names().len();
        let lacking = breaking(old, new, &plugin(100, all, &[slot]));
        assert_eq!(lacking, [("pjrt_slot_required", slot.to_owned())]);
        assert_eq!(breaking(old, new, &plugin(100, all, &[])), []);
    }
}

#[test]
fn plugin_of_an_older_header_needs_no_later_slot() {
    let names = demand::slot_names();
    let payload = names
        .iter()
        .position(|it| it == "PJRT_Error_ForEachPayload");
    let older = plugin(90, payload.unwrap(), &[]);
    assert_eq!(breaking("0.9.0", "0.9.2", &older), []);
}

#[test]
fn plugin_is_declined_by_its_own_minor_version() {
    let all = demand::slot_names().len();
    let found = breaking("0.4.31", "0.4.30", &plugin(90, all, &[]));
    assert_eq!(
        found,
        [("pjrt_header_declined", "PJRT_API_MINOR.90".to_owned())]
    );
    assert_eq!(breaking("0.4.31", "0.4.30", &plugin(54, all, &[])), []);
}

#[test]
fn tables_of_memories_concern_plugins_of_later_minors() {
    let all = demand::slot_names().len();
    let later = breaking("0.10.0", "0.10.1", &plugin(107, all, &[]));
    let is_table = |it: &(&str, String)| it.0 == "pjrt_function_table_called";
    assert!(later.iter().any(is_table), "{later:?}");
    let mut corrected = plugin(107, all, &[]);
    corrected.has_memory_tables = true;
    assert_eq!(breaking("0.10.0", "0.10.1", &corrected), []);
    assert_eq!(breaking("0.10.0", "0.10.1", &plugin(106, all, &[])), []);
}

#[test]
fn plugin_that_rejects_other_sizes_has_a_finding() {
    let mut facts = plugin(100, demand::slot_names().len(), &[]);
    facts.rejected_size = Some("struct_size is 32".into());
    let found = breaking("0.6.2", "0.7.2", &facts);
    assert_eq!(found, [("pjrt_size_rejected", "struct_size".to_owned())]);
}
