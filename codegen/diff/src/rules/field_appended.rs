//! Members came at the end, and the size macro covers them.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "field_appended",
    impact: Impact::Compatible,
    bump: Bump::Minor,
    summary: "Members came at the end, and the size macro covers them.",
    explanation: "This is how a struct grows under the struct_size protocol. All that was there \
                  stays; each side looks at struct_size before it touches the new members. Where \
                  the new member fits into tail padding, sizeof does not move and the size macro \
                  does.\n\n\
                  The protocol protects who keeps to it. A plugin that writes its whole, longer \
                  table into what an older host provides writes behind it.\n\n\
                  Read and write through the prefix views of sp-runtime, which stop at the \
                  host's struct_size.",
    reference: "stream_executor.h, conventions at its head: struct_size tells versions apart",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::FieldAppended(told) = &change.kind else {
        return None;
    };
    let message = words::placed(told, "appended at") + &words::size(told);
    let remedy = "touch it only where the host's struct_size reaches behind it";
    Some(RULE.finding(change, Said::of_layout(pair, told, message, remedy)))
}
