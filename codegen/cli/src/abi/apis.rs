//! Whole APIs that one side has and the other lacks.

use std::collections::BTreeSet;

use super::Surface;
use super::finding::{Bump, Directions, Effect, Finding, Impact, Outcome};

/// One finding for each API that came or went.
pub fn findings(old: &Surface, new: &Surface) -> Vec<Finding> {
    let names = |side: &Surface| -> BTreeSet<String> {
        side.apis.iter().map(|api| api.name.clone()).collect()
    };
    let (was, is) = (names(old), names(new));
    let came = is.difference(&was).map(|name| finding(name, true));
    let went = was.difference(&is).map(|name| finding(name, false));
    came.chain(went).collect()
}

fn finding(name: &str, came: bool) -> Finding {
    let with = Effect {
        outcome: Outcome::FailsToLoad,
        guarded: Outcome::MissesFunction,
        why: format!("nothing there exports the functions of {name}"),
    };
    let without = Effect {
        outcome: Outcome::WorksWithout,
        guarded: Outcome::WorksWithout,
        why: format!("it knows nothing of {name}"),
    };
    let (impact, bump, word) = match came {
        true => (Impact::Compatible, Bump::Minor, "appeared"),
        false => (Impact::Breaking, Bump::Major, "went"),
    };
    let (old_on_new, new_on_old) = if came {
        (without, with)
    } else {
        (with, without)
    };
    Finding {
        rule: if came { "api_added" } else { "api_removed" },
        api: name.into(),
        item: name.into(),
        impact,
        bump,
        message: format!("the API {name} {word}"),
        directions: Directions {
            old_on_new,
            new_on_old,
        },
        bytes: Vec::new(),
        before: None,
        after: None,
        remedy: "look its functions up at run time".into(),
        target: None,
    }
}
