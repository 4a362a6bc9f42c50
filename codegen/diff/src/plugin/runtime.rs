//! The effect of a finding on a plugin with sp-gen's runtime. It accesses structs by the host's layout, looks functions up,
//! and declines a host whose headers declare something else than it knows.

use sp_ir::Release;

use super::PluginUsage;
use super::stated::Loss;
use crate::Finding;
use crate::finding::{Direction, Effect, Outcome};

/// The releases that the two sides state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostReleases {
    /// OLD's.
    pub old: Option<Release>,
    /// NEW's.
    pub new: Option<Release>,
}

impl HostReleases {
    fn of_direction(self, direction: Direction) -> Option<Release> {
        match direction {
            Direction::OldOnNew => self.new,
            Direction::NewOnOld => self.old,
        }
    }
}

impl PluginUsage {
    /// Returns the finding with its effects on the plugin's runtime.
    pub(super) fn judge_runtime(
        &self,
        runtime: &str,
        finding: Finding,
        hosts: HostReleases,
    ) -> Finding {
        if self.stated.is_required(finding.owner()) {
            return finding.as_lookup();
        }
        let loss = self.loss(&finding);
        let is_function = self.lookups.contains(finding.owner());
        // The runtime compares the signatures of experimental functions with the headers of a release that it does not know.
        let is_compared = is_function && is_experimental(&finding);
        finding.with_effects(|effect, direction| {
            let host = hosts
                .of_direction(direction)
                .filter(|it| self.stated.knows(Some(*it)));
            match (effect.guarded, host) {
                (Outcome::MissesFunction, _) => lose(effect, loss.as_ref()),
                (_, Some(release)) => {
                    let why = format!("{runtime} knows the layouts and signatures of {release}");
                    set(effect, Outcome::Works, why);
                }
                (Outcome::WrongArguments, None) if is_compared => lose(effect, loss.as_ref()),
                (guarded, None) if guarded >= Outcome::ReadsWrongMember && !is_function => {
                    let why = format!("{runtime} compares the host's headers: {}", effect.why);
                    set(effect, Outcome::Declined, why);
                }
                (guarded, None) => effect.outcome = guarded,
            }
        })
    }

    /// Returns what the plugin loses without the function, or the API, of a finding; `None` if it does not state that for
    /// each function.
    fn loss(&self, finding: &Finding) -> Option<Loss> {
        let item = finding.owner();
        if item != finding.api {
            return self.stated.loss(item).cloned();
        }
        let functions = self.lookups_by_api.get(item)?;
        let losses: Option<Vec<&Loss>> = functions.iter().map(|it| self.stated.loss(it)).collect();
        losses.map(|it| it.into_iter().collect())
    }
}

fn is_experimental(finding: &Finding) -> bool {
    let declarations = [&finding.before, &finding.after];
    let mut declarations = declarations.into_iter().flatten();
    declarations.any(|it| it.loc.file.contains("experimental"))
}

/// Sets the effect of a function that the host lacks.
fn lose(effect: &mut Effect, loss: Option<&Loss>) {
    match loss {
        Some(loss) => {
            let why = format!("the plugin {loss}: {}", effect.why);
            set(effect, Outcome::LosesKernels, why);
        }
        None => {
            let why = format!("a call is an error that names the function: {}", effect.why);
            set(effect, Outcome::MissesFunction, why);
        }
    }
}

fn set(effect: &mut Effect, outcome: Outcome, why: String) {
    (effect.outcome, effect.guarded, effect.why) = (outcome, outcome, why);
}
