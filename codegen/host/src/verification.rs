//! All checks of some releases, in children that run at the same time.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::check::{self, CHECKS, DEVICES, LOADING};
use crate::child::channel::Breaches;
use crate::child::{self, Answer};
use crate::contract::Contract;
use crate::outcome::{Causes, Stop};
use crate::release::Release;
use crate::{Outcome, Verdict};

/// Settings of [`judge`].
#[derive(Debug, Clone, Copy, Default)]
pub struct JudgeOptions<'a> {
    /// The time that a check may take, rounded up to seconds; by default `SP_HOST_SECONDS`, or 30 seconds.
    pub timeout: Option<Duration>,
    /// Number of children that run at a time; by default two for each core, since children wait much of
    /// their time.
    pub jobs: Option<NonZero<usize>>,
    /// True if a release without a device of the plugin's is a failure.
    pub require_device: bool,
    /// The other releases, for the check `release_contract`; without them it is skipped.
    pub contract: Option<Contract<'a>>,
}

impl JudgeOptions<'_> {
    fn limit(&self) -> Duration {
        let limit = self.timeout.unwrap_or_else(child::limit);
        Duration::from_secs(limit.as_secs() + u64::from(limit.subsec_nanos() > 0))
    }

    fn jobs(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, Into::into);
        self.jobs.map_or_else(|| 2 * cores(), Into::into)
    }
}

/// Runs every check on `plugin`, each in a child process: this executable again, which must call
/// [`child_main`](crate::child_main) first thing in its `main`.
pub fn conformance<'a>(release: impl Into<Release<'a>>, plugin: &Path) -> Vec<Outcome> {
    let release = release.into().name().to_owned();
    let rows = judge(&[release], plugin, &JudgeOptions::default(), |_, _| ());
    rows.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Runs one check on `plugin`, in a child as of [`conformance`].
pub fn ask<'a>(check: &str, release: impl Into<Release<'a>>, plugin: &Path) -> Outcome {
    child::spawn(check, plugin, release.into().name())
}

/// Runs every check on `plugin` in every one of `releases`, each as of [`conformance`]. `seen` is
/// called with each outcome as it comes; what is returned is in order.
///
/// The first check of a release loads the plugin. If it does not get that far, as with a plugin that
/// hangs in a constructor, the others of that release are skipped.
pub fn judge(
    releases: &[String],
    plugin: &Path,
    options: &JudgeOptions<'_>,
    seen: impl Fn(&str, &Outcome) + Sync,
) -> Vec<(String, Outcome)> {
    let run = |release: &str, check: &str| {
        let answer = child::spawn_watched(check, plugin, release, options.limit());
        seen(release, &answer.outcome);
        answer
    };
    let loaded = spread(releases, options.jobs(), |release| run(release, LOADING));
    let pairs: Vec<(&String, &Answer, &str)> = releases
        .iter()
        .zip(&loaded)
        .flat_map(|(release, loaded)| others().map(move |check| (release, loaded, check)))
        .collect();
    let rest = spread(&pairs, options.jobs(), |(release, loaded, check)| {
        if loaded.is_loaded {
            return run(release, check);
        }
        let answer = unloaded(check, &loaded.outcome);
        seen(release, &answer.outcome);
        answer
    });
    let mut rest = rest.into_iter();
    let rows = releases.iter().zip(loaded).flat_map(|(release, loaded)| {
        let rest = rest.by_ref().take(CHECKS.len() - 1);
        let rows = attributed(release, [loaded].into_iter().chain(rest).collect(), options);
        rows.into_iter().map(|row| (release.clone(), row))
    });
    rows.collect()
}

/// The checks behind the one that loads the plugin.
fn others() -> impl Iterator<Item = &'static str> {
    let checks = CHECKS.iter().map(|check| check.id);
    checks.filter(|check| *check != LOADING)
}

/// The answer to a check that is not run.
pub(crate) fn unloaded(check: &str, loading: &Outcome) -> Answer {
    let text = format!("not run: the plugin is not loaded: {}", loading.detail);
    Answer::new(Outcome::new(check, Err(Stop::Skip(text))))
}

/// The outcomes of one release: what all checks have seen of the fields' writers is one check's failure,
/// and one cause is one failure.
fn attributed(release: &str, answers: Vec<Answer>, options: &JudgeOptions<'_>) -> Vec<Outcome> {
    let found = answers.iter().flat_map(|answer| answer.breaches.clone());
    let found: Breaches = found.collect();
    let is_loaded = answers.first().is_some_and(|answer| answer.is_loaded);
    let mut causes = Causes::default();
    let outcomes = answers.iter().map(|answer| {
        let outcome = match answer.outcome.check.as_str() {
            check::OWNERS if !found.is_empty() => {
                Outcome::new(check::OWNERS, Err(check::broken(&found)))
            }
            DEVICES if options.require_device && is_loaded => required_device(answer),
            check::CONTRACT => compared(release, answer, options.contract.as_ref()),
            _ => answer.outcome.clone(),
        };
        Outcome {
            dropped_bytes: answer.outcome.dropped_bytes,
            ..outcome
        }
    });
    outcomes.map(|outcome| causes.attribute(outcome)).collect()
}

/// The check of devices where one is required.
fn required_device(answer: &Answer) -> Outcome {
    let Outcome { check, detail, .. } = &answer.outcome;
    let text = match (answer.outcome.status, answer.devices) {
        (Verdict::Fail, _) | (Verdict::Pass, Some(1..)) => return answer.outcome.clone(),
        (Verdict::Skip, _) => format!("no device, and one is required: {detail}"),
        _ => "the plugin reports 0 devices, and one is required".into(),
    };
    Outcome::new(check, Err(Stop::Fail(text)))
}

/// The check of the release's contract: the child has reported what the plugin fills.
fn compared(release: &str, answer: &Answer, contract: Option<&Contract<'_>>) -> Outcome {
    let Some(contract) = contract.filter(|_| answer.is_loaded) else {
        return answer.outcome.clone();
    };
    let found = contract.compare(release, &answer.written);
    let seen = match answer.outcome.status {
        _ if !found.differences.is_empty() => Err(Stop::Fail(found.differences.join("; "))),
        Verdict::Fail => return answer.outcome.clone(),
        _ if answer.written.is_empty() => Err(Stop::Skip("the plugin fills no struct".into())),
        _ => Ok(found.summary()),
    };
    Outcome::new(check::CONTRACT, seen)
}

/// `work` on each piece, `jobs` at a time; what comes out is in the order of what went in.
fn spread<P: Sync, R: Send>(pieces: &[P], jobs: usize, work: impl Fn(&P) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let serve = || {
        while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed))
            && let Some(piece) = pieces.get(at)
        {
            let result = work(piece);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.insert(at, result);
        }
    };
    std::thread::scope(|scope| {
        (0..jobs.min(pieces.len())).for_each(|_| drop(scope.spawn(serve)));
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(check: &str, status: Verdict, devices: Option<i32>) -> Answer {
        let seen = match status {
            Verdict::Pass => Ok(String::new()),
            Verdict::Fail => Err(Stop::Fail("reason".into())),
            Verdict::Skip => Err(Stop::Skip("reason".into())),
        };
        let answer = Answer::new(Outcome::new(check, seen));
        Answer {
            devices,
            is_loaded: true,
            ..answer
        }
    }

    #[test]
    fn a_required_device_that_is_absent_is_a_failure() {
        let required = JudgeOptions {
            require_device: true,
            ..JudgeOptions::default()
        };
        let status = |status, devices| {
            let loaded = answer(LOADING, Verdict::Pass, None);
            let asked = answer(DEVICES, status, devices);
            attributed("2.21", vec![loaded, asked], &required)[1].status
        };
        assert_eq!(status(Verdict::Pass, Some(1)), Verdict::Pass);
        assert_eq!(status(Verdict::Pass, Some(0)), Verdict::Fail);
        assert_eq!(status(Verdict::Skip, None), Verdict::Fail);
        let optional = vec![
            answer(LOADING, Verdict::Pass, None),
            answer(DEVICES, Verdict::Pass, Some(0)),
        ];
        assert_eq!(
            attributed("2.21", optional, &JudgeOptions::default())[1].status,
            Verdict::Pass
        );
    }

    #[test]
    fn results_are_in_order_whatever_the_number_of_jobs() {
        let pieces: Vec<usize> = (0..100).collect();
        for jobs in [1, 3, 200] {
            let squares = spread(&pieces, jobs, |piece| piece * piece);
            assert_eq!(squares, pieces.iter().map(|it| it * it).collect::<Vec<_>>());
        }
    }
}
