//! Findings about whole APIs and their versions.

use super::JudgedChange;
use crate::change::OldNew;
use crate::effect;
use crate::finding::{Bump, Finding};

pub fn api_added(change: &JudgedChange) -> Finding {
    let message = format!("the API {} was added", change.api);
    let remedy = "look its functions up at run time, and work without them on older releases";
    let has_functions = change.pair.new.has_core_functions(change.api);
    change.evaluate(message, remedy, |case| {
        effect::missing_api(case, change.api, has_functions)
    })
}

pub fn api_removed(change: &JudgedChange) -> Finding {
    let message = format!("the API {} was removed", change.api);
    let remedy =
        "look its functions up at run time, and have an alternative for releases without them";
    let has_functions = change.pair.old.has_core_functions(change.api);
    change.evaluate(message, remedy, |case| {
        effect::missing_api(case, change.api, has_functions)
    })
}

pub fn version_changed(change: &JudgedChange, versions: &OldNew<&str>) -> Finding {
    let message = format!(
        "the version changed from {} to {}",
        versions.old, versions.new
    );
    change.harmless(message, "the version matches the changes", "nothing to do")
}

pub fn version_unbumped(
    change: &JudgedChange,
    versions: &OldNew<&str>,
    required: &Bump,
) -> Finding {
    let OldNew { old, new } = versions;
    let actual = match old == new {
        true => format!("the version is still {old}"),
        false => format!("the version changed from {old} to {new}"),
    };
    let message = format!(
        "{actual}, but the changes require a new {} version",
        component(*required)
    );
    let why = "a version check passes although the API changed more than its version";
    let remedy = "choose the layout by struct_size and the running release";
    change.harmless(message, why, remedy)
}

/// Returns the name of the version component that a bump increases.
fn component(bump: Bump) -> &'static str {
    match bump {
        Bump::None => "no",
        Bump::Patch => "patch",
        Bump::Minor => "minor",
        Bump::Major => "major",
    }
}
