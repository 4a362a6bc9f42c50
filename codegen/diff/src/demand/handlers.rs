//! The finding about each change of a demand.

use super::API;
use crate::change::OldNew;
use crate::effect::{harmless, uniform};
use crate::finding::{Directions, Finding, Outcome};
use crate::rules::Rule;
use sp_data::demand::RunOutcome;

const NOTHING: &str = "nothing to do";
const FILL: &str = "fill the slot: a function that the plugin does not offer returns UNIMPLEMENTED";

/// A change of a demand that a rule judges: the first argument of every handler.
pub struct JudgedDemand {
    /// The rule.
    pub rule: &'static Rule,
    /// The slot, the extension or the program.
    pub item: String,
}

impl JudgedDemand {
    /// Returns the rule's finding with the effect on a plugin that runs on OLD, on the host NEW.
    fn breaks(&self, message: String, outcome: &RunOutcome, remedy: &str) -> Finding {
        let directions = Directions {
            old_on_new: uniform(outcome_of(outcome), outcome.describe()),
            new_on_old: uniform(Outcome::Works, "the older host does not demand it"),
        };
        self.rule
            .finding(API, &self.item, message, directions, remedy)
    }

    fn harmless(&self, message: String, why: &str, remedy: &str) -> Finding {
        self.rule
            .finding(API, &self.item, message, harmless(why), remedy)
    }
}

/// Returns the effect on a plugin of what happened in a run.
fn outcome_of(run: &RunOutcome) -> Outcome {
    match run.outcome.as_str() {
        "ok" | "ignored" => Outcome::Works,
        "error" => Outcome::Rejected,
        _ => Outcome::EndsProcess,
    }
}

pub fn pjrt_slot_required(
    demand: &JudgedDemand,
    null: &Option<RunOutcome>,
    error: &Option<RunOutcome>,
) -> Finding {
    let ended = || RunOutcome {
        outcome: "crash".into(),
        message: String::new(),
        program: String::new(),
    };
    let null = null.clone().unwrap_or_else(ended);
    let remedy = match error {
        Some(error) if outcome_of(error) == Outcome::EndsProcess => {
            "fill the slot, and return no error: the host ends the process if it gets one"
        }
        _ => FILL,
    };
    let message = "the host calls the slot without a check for null".to_owned();
    demand.breaks(message, &null, remedy)
}

pub fn pjrt_slot_called(demand: &JudgedDemand) -> Finding {
    let message = "the host calls the slot if it is not null".to_owned();
    demand.harmless(message, "a null slot is not called", NOTHING)
}

pub fn pjrt_slot_error_worse(
    demand: &JudgedDemand,
    OldNew { old, new }: &OldNew<RunOutcome>,
) -> Finding {
    let message = format!(
        "an error of the slot gives: {}; it gave: {}",
        new.outcome, old.outcome
    );
    demand.breaks(message, new, "implement the slot")
}

pub fn pjrt_slot_unused(demand: &JudgedDemand) -> Finding {
    let message = "no program of the measurement calls the slot any more".to_owned();
    demand.harmless(
        message,
        "the slot is not called",
        "keep the slot for older releases",
    )
}

pub fn pjrt_arguments_resized(demand: &JudgedDemand, OldNew { old, new }: &OldNew<u64>) -> Finding {
    let message = format!("the host passes a struct of {new} bytes, and passed one of {old}");
    let remedy = "compare struct_size with what the plugin needs, never for equality";
    demand.harmless(message, "fields are only appended", remedy)
}

pub fn pjrt_header_declined(demand: &JudgedDemand, minor: &u32, outcome: &RunOutcome) -> Finding {
    let message =
        format!("a plugin that was built with the header of minor version {minor} does not run");
    demand.breaks(
        message,
        outcome,
        "build the plugin with a header that the host accepts",
    )
}

pub fn pjrt_header_accepted(demand: &JudgedDemand, minor: &u32, outcome: &RunOutcome) -> Finding {
    let message = format!("a plugin that was built with the header of minor version {minor} runs");
    let why = format!("the older host gives: {}", outcome.describe());
    let directions = Directions {
        old_on_new: uniform(Outcome::Works, "the host accepts more headers"),
        new_on_old: uniform(outcome_of(outcome), why),
    };
    demand
        .rule
        .finding(API, &demand.item, message, directions, NOTHING)
}

pub fn pjrt_size_rejected(demand: &JudgedDemand, detail: &str) -> Finding {
    let message = "the plugin fails if the host passes structs of other sizes".to_owned();
    let rejected = RunOutcome {
        outcome: "error".into(),
        message: detail.into(),
        program: String::new(),
    };
    let remedy = "compare struct_size with what the plugin needs, never for equality";
    demand.breaks(message, &rejected, remedy)
}

pub fn pjrt_extension_required(demand: &JudgedDemand) -> Finding {
    let message = "the host needs the extension".to_owned();
    let ended = RunOutcome {
        outcome: "crash".into(),
        message: "without the extension".into(),
        program: String::new(),
    };
    demand.breaks(message, &ended, "add the extension to the chain")
}

pub fn pjrt_extension_unneeded(demand: &JudgedDemand) -> Finding {
    let message = "the host no longer needs the extension".to_owned();
    demand.harmless(
        message,
        "the extension may stay",
        "keep the extension for older releases",
    )
}

pub fn pjrt_extension_called(demand: &JudgedDemand, functions: &[String]) -> Finding {
    let message = format!("the host calls {} of the extension", functions.join(", "));
    demand.harmless(
        message,
        "a plugin without the extension is not affected",
        NOTHING,
    )
}

pub fn pjrt_program_fails(demand: &JudgedDemand, outcome: &RunOutcome) -> Finding {
    let message = "the program fails with a plugin with which it ran".to_owned();
    demand.breaks(
        message,
        outcome,
        "compare the calls of both releases in generated/pjrt",
    )
}

pub fn pjrt_program_runs(demand: &JudgedDemand, outcome: &RunOutcome) -> Finding {
    let message = format!(
        "the program runs; the older release gives: {}",
        outcome.describe()
    );
    demand.harmless(message, "the program runs", NOTHING)
}

pub fn pjrt_function_table_called(demand: &JudgedDemand) -> Finding {
    let message = "the host calls the function of a table in the plugin's object".to_owned();
    let ended = RunOutcome {
        outcome: "crash".into(),
        message: "an object that begins with other data is read as a pointer to a table".into(),
        program: String::new(),
    };
    let remedy =
        "begin the object with a pointer to a filled table, or state an older minor version";
    demand.breaks(message, &ended, remedy)
}

pub fn pjrt_stablehlo_default_changed(
    demand: &JudgedDemand,
    OldNew { old, new }: &OldNew<String>,
) -> Finding {
    let message = format!(
        "programs arrive as `{new}`, and arrived as `{old}`, if the plugin states no version"
    );
    let why = "the plugin states the version that it reads";
    demand.harmless(message, why, "set the attribute stablehlo_current_version")
}
