//! Findings about whole APIs and their versions.

use super::{Rule, catalog};
use crate::change::{Change, OldNew};
use crate::effect;
use crate::finding::{Bump, Directions, Finding};
use crate::pair::SurfacePair;
use crate::version;

pub fn added(pair: &SurfacePair, change: &Change) -> Finding {
    let directions = presence(pair, change.api, pair.new.has_core_functions(change.api));
    let message = format!("the API {} was added", change.api);
    let remedy = "look its functions up at run time, and work without them on older releases";
    catalog::API_ADDED.finding(change, message, directions, remedy)
}

pub fn removed(pair: &SurfacePair, change: &Change) -> Finding {
    let directions = presence(pair, change.api, pair.old.has_core_functions(change.api));
    let message = format!("the API {} was removed", change.api);
    let remedy =
        "look its functions up at run time, and have an alternative for releases without them";
    catalog::API_REMOVED.finding(change, message, directions, remedy)
}

fn presence(pair: &SurfacePair, api: &str, has_functions: bool) -> Directions {
    effect::in_both_directions(pair, |case| effect::missing_api(case, api, has_functions))
}

/// Returns the finding about the version macros, which depends on the bump that the API's other findings require.
pub fn version(change: &Change, versions: OldNew<Option<&str>>, required: Bump) -> Finding {
    let texts = versions.map(|version| version.unwrap_or("none"));
    match version::bump(versions) >= required {
        true => sufficient(change, texts),
        false => insufficient(change, texts, required),
    }
}

fn sufficient(change: &Change, OldNew { old, new }: OldNew<&str>) -> Finding {
    let rule: &Rule = &catalog::VERSION_CHANGED;
    let message = format!("the version changed from {old} to {new}");
    rule.harmless(
        change,
        message,
        "the version matches the changes",
        "nothing to do",
    )
}

fn insufficient(change: &Change, OldNew { old, new }: OldNew<&str>, required: Bump) -> Finding {
    let actual = match old == new {
        true => format!("the version is still {old}"),
        false => format!("the version changed from {old} to {new}"),
    };
    let message = format!(
        "{actual}, but the changes require a new {} version",
        version::component(required)
    );
    let why = "a version check passes although the API changed more than its version";
    let remedy = "choose the layout by struct_size and the running release";
    catalog::VERSION_UNBUMPED.harmless(change, message, why, remedy)
}
