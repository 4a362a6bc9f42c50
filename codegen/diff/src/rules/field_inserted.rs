//! Members came in between: what follows them moved.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "field_inserted",
    impact: Impact::Breaking,
    bump: Bump::Major,
    summary: "Members came in between: what follows them moved.",
    explanation: "Who was built before finds every later member at its old offset, where another \
                  is now. Slots of a table then hold other functions than the caller thinks; \
                  numbers and pointers are other numbers and pointers.\n\n\
                  In 2.7 mem_zero, memset and memset32 went in before host_callback of \
                  SP_StreamExecutor, 264 to 288 bytes: a plugin built for 2.6 puts host_callback \
                  where 2.7 has mem_zero. A plugin built for 2.7 writes 24 bytes behind the \
                  table that 2.6 provides.\n\n\
                  A check of struct_size alone does not help, since the members that exist on \
                  both sides moved. Choose the layout by the struct_size that the host wrote; \
                  sp-abi keeps one for each epoch.",
    reference: "stream_executor.h, conventions at its head: struct_size tells versions apart",
    judge,
};

fn judge(pair: &Pair, change: &Change) -> Option<Finding> {
    let Kind::FieldInserted(told) = &change.kind else {
        return None;
    };
    let message = words::placed(told, "inserted at") + &words::moves(told);
    let remedy = "choose the layout by the struct_size that the host wrote";
    Some(RULE.finding(change, Said::of_layout(pair, told, message, remedy)))
}
