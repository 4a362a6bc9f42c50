//! Members were put into a struct of their own, or taken out of one, and did not move.

use super::{Rule, Said};
use crate::change::{Change, Kind};
use crate::effect;
use crate::finding::{Bump, Finding, Impact};
use crate::pair::Pair;
use crate::words;

/// The rule.
pub const RULE: Rule = Rule {
    id: "fields_grouped",
    impact: Impact::SourceOnly,
    bump: Bump::Minor,
    summary: "Members were put into a struct of their own, or taken out of one, and did not move.",
    explanation: "The same bytes are called otherwise: ext.next became ext.base.next. Code must \
                  change, binaries need not. In 2.20 the PJRT extensions took up \
                  PJRT_Extension_Base so.",
    reference: "C11 6.7.2.1: members lie in the order of their declaration",
    judge,
};

fn judge(_: &Pair, change: &Change) -> Option<Finding> {
    let Kind::FieldsGrouped(names) = &change.kind else {
        return None;
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let way = if change.new.is_some() {
        "within"
    } else {
        "no more within"
    };
    Some(RULE.finding(
        change,
        Said {
            message: format!(
                "{} stand as before, {way} {}",
                words::list(&names),
                words::last(&change.item)
            ),
            directions: effect::works("every member is where it was"),
            bytes: Vec::new(),
            remedy: "name the members as the header at hand does".into(),
        },
    ))
}
