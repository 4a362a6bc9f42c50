//! Members came at the end, and the size macro does not cover them.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "struct_size_outdated",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "Members came at the end, and the size macro does not cover them.",
    explanation: "The constant that both sides write into struct_size still ends before the new \
                  members. Who looks at it, as the protocol asks, never sees them; who does not \
                  look reaches behind what an older side provides, and nothing warns it.\n\n\
                  In 2.16 PJRT_Api grew to 816 bytes with a constant of 808; in 2.17 to 840, \
                  with 808 still.\n\n\
                  A member that the size leaves out can be used only where the release is known \
                  by other means.",
    reference: "stream_executor.h, conventions at its head: struct_size tells versions apart",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::SizeOutdated(told) = &change.kind else {
        return None;
    };
    let message = format!(
        "{}, and the size macro ends at {}",
        words::placed(told, "appended at"),
        words::announced(told)
    );
    let remedy = "do not trust struct_size for it: ask for the running release";
    Some(RULE.finding(change, Said::of_layout(pair, told, message, remedy)))
}
