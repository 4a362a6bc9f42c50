//! The steps of what a plugin states about itself by `sp_plugin_settings`: its settings and the ops without a kernel.

use super::answer::{SessionResult, SessionStage};
use super::{Step, StepKind};
use std::collections::{BTreeMap, BTreeSet};

/// Returns the step of the settings, and one for each reason for which ops have no kernel.
pub fn steps(session: &SessionResult) -> Vec<Step> {
    let kind = StepKind::Settings;
    if let Some(reason) = session.failure(SessionStage::Settings) {
        let detail = format!("they cannot be read: {reason}");
        return vec![Step::unknown(kind, &detail, "")];
    }
    if session.counts.stage < SessionStage::Done {
        return vec![Step::unknown(
            kind,
            "not reached: an earlier step failed",
            "",
        )];
    }
    let Some(text) = &session.counts.settings else {
        let detail =
            "it exports no `sp_plugin_settings`: it is not of sp-gen, or of an earlier version";
        return vec![Step::unknown(kind, detail, "")];
    };
    let (lacking, settings): (Vec<&str>, _) =
        text.lines().partition(|line| line.starts_with(LACKING));
    let detail = match settings.is_empty() {
        true => "it states none".to_owned(),
        false => settings.join(", "),
    };
    [Step::ok(kind, &detail)]
        .into_iter()
        .chain(lacking_steps(&lacking))
        .collect()
}

/// The beginning of a line `lacking=OP: REASON`.
const LACKING: &str = "lacking=";

/// The number of ops that a step names.
const MAX_OPS: usize = 6;

/// Returns a step for each reason. It is no failure: some releases lack functions that kernels need.
fn lacking_steps(lines: &[&str]) -> Vec<Step> {
    let mut ops: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let values = lines.iter().filter_map(|line| line.strip_prefix(LACKING));
    for (op, reason) in values.filter_map(|value| value.split_once(": ")) {
        ops.entry(reason).or_default().insert(op);
    }
    let steps = ops.into_iter().map(|(reason, ops)| {
        let subject = if ops.len() == 1 { "op has" } else { "ops have" };
        let names: Vec<&str> = ops.iter().copied().take(MAX_OPS).collect();
        let more = match ops.len().saturating_sub(MAX_OPS) {
            0 => String::new(),
            more => format!(" and {more} more: `sp-gen verify --kernels` lists them"),
        };
        let detail = format!(
            "{} {subject} no kernel here, since {reason}: {}{more}",
            ops.len(),
            names.join(", ")
        );
        Step::ok(StepKind::Lacking, &detail)
    });
    steps.collect()
}
