//! ABI differences between two sides, and their effect on a plugin that was built for one of them.
//!
//! Data flows one way: two surfaces give changes, exactly one rule judges each change, and the findings give the
//! verdict. This crate reads no headers: it depends on `sp_ir` and its spelling in C, not on clang.
//!
//! | module | step |
//! |---|---|
//! | `view` | indexes a side with the layouts of one target; `view::memory` derives which side allocates a struct from how pointers to it are passed |
//! | `pair` | finds the corresponding items |
//! | `changes` | lists the differences: one cause is one change, and a difference without a finding has a reason |
//! | `rules` | declares each kind of change with its rule, and makes the findings |
//! | `effect` | computes the effect on a plugin, once for each direction, so that a diff and its reverse have the same effects |
//! | `ops`, `demand` | compare op definitions, and the measured demands of PJRT hosts, by rules of their own |
//! | `plugin`, `suppress` | the findings that concern one plugin; accepted findings |

pub mod change;
pub mod changes;
pub mod demand;
mod effect;
pub mod finding;
mod name_map;
pub mod ops;
pub mod pair;
mod phrases;
pub mod plugin;
pub mod rules;
#[cfg(any(test, feature = "sample"))]
pub mod sample;
pub mod similarity;
pub mod suppress;
pub mod surface;
mod targets;
mod version;
pub mod view;

pub use finding::{Diff, Finding, Verdict};
pub use phrases::join_names;
pub use rules::{RULES, Rule};
pub use surface::Surface;

use pair::SurfacePair;
use rules::Change;

/// Compares `old` and `new` with the layouts of `target`, and adds what breaks on other targets only.
///
/// Pass whole surfaces, because names are followed from one API into another. To report less, filter the findings.
pub fn diff(old: &Surface, new: &Surface, target: &str) -> Diff {
    let pair = SurfacePair::new(old, new, target);
    let mut findings = judge_all(&pair, &changes::find(&pair));
    findings.extend(targets::findings(&pair, old, new, target, &findings));
    let versions = version::changes(&pair, &findings);
    findings.extend(judge_all(&pair, &versions));
    Diff::new(&old.label, &new.label, target, findings)
}

/// Returns the rules about declarations in headers, those about ops and those about hosts of PJRT.
pub fn all_rules() -> impl Iterator<Item = &'static Rule> {
    let others = ops::RULES.iter().chain(demand::RULES);
    RULES.iter().chain(others).copied()
}

fn judge_all(pair: &SurfacePair, changes: &[Change]) -> Vec<Finding> {
    let findings = changes
        .iter()
        .filter_map(|change| rules::judge(pair, change));
    findings.collect()
}
