//! Runs all checks of some releases in parallel child processes.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::channel::Breaches;
use crate::check::{self, CHECKS, DEVICES_CHECK};
use crate::child::{self, Answer};
use crate::contract::Contract;
use crate::hung_calls::HungCalls;
use crate::outcome::{FailureCauses, PAST_RUN_LIMIT, Stop};
use crate::release::EmulatedRelease;
use crate::{CheckOutcome, CheckStatus};

/// Settings of [`verify`].
#[derive(Debug, Clone, Copy, Default)]
pub struct VerifyOptions<'a> {
    /// The time that a check may take, rounded up to seconds; by default `SP_HOST_SECONDS`, or 30 seconds.
    pub timeout: Option<Duration>,
    /// The time after which no check starts; without it there is no limit. A check that runs then ends as it would.
    pub run_timeout: Option<Duration>,
    /// Number of children that run at a time; by default two for each core, since children wait much of
    /// their time.
    pub jobs: Option<NonZero<usize>>,
    /// True if a release in which the plugin has no device is a failure.
    pub require_device: bool,
    /// The other releases, for the check `release_contract`; without them it is skipped.
    pub contract: Option<Contract<'a>>,
}

impl VerifyOptions<'_> {
    pub(crate) fn limit(&self) -> Duration {
        let limit = self.timeout.unwrap_or_else(child::limit);
        Duration::from_secs(limit.as_secs() + u64::from(limit.subsec_nanos() > 0))
    }

    pub(crate) fn jobs(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, Into::into);
        self.jobs.map_or_else(|| 2 * cores(), Into::into)
    }
}

/// The time after which no check of a run starts.
pub(crate) struct RunEnd {
    start: Instant,
    limit: Option<Duration>,
}

impl RunEnd {
    /// Returns the end of a run that starts now.
    pub fn new(options: &VerifyOptions<'_>) -> Self {
        Self {
            start: Instant::now(),
            limit: options.run_timeout,
        }
    }

    /// Returns the answer of a check if the time of the run has elapsed.
    pub fn skipped_answer(&self, check: &str) -> Option<Answer> {
        let limit = self.limit.filter(|limit| self.start.elapsed() >= *limit)?;
        let text = format!("{PAST_RUN_LIMIT}, {} s, has elapsed", limit.as_secs());
        Some(Answer::new(CheckOutcome::new(check, Err(Stop::Skip(text)))))
    }
}

/// Runs every check on `plugin`, each in a child process: this executable again, which must call
/// [`child_main`](crate::child_main) first thing in its `main`.
pub fn run_all_checks<'a>(
    release: impl Into<EmulatedRelease<'a>>,
    plugin: &Path,
) -> Vec<CheckOutcome> {
    let release = release.into().name().to_owned();
    let rows = verify(&[release], plugin, &VerifyOptions::default(), |_, _| ());
    rows.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Runs the check `check` on `plugin` in a child process, as [`run_all_checks`] does.
pub fn run_check<'a>(
    check: &str,
    release: impl Into<EmulatedRelease<'a>>,
    plugin: &Path,
) -> CheckOutcome {
    child::spawn(check, plugin, release.into().name())
}

/// Runs every check on `plugin` in each of `releases`, as [`run_all_checks`] does. Calls `on_outcome` with each
/// outcome as it arrives; the returned ones are in order.
///
/// The first check of a release loads the plugin. If it fails, as with a plugin that
/// hangs in a constructor, the others of that release are skipped. If a function hangs in a check, the checks of all releases
/// that start later and call it are skipped.
pub fn verify(
    releases: &[String],
    plugin: &Path,
    options: &VerifyOptions<'_>,
    on_outcome: impl Fn(&str, &CheckOutcome) + Sync,
) -> Vec<(String, CheckOutcome)> {
    let checks: Vec<&str> = CHECKS.iter().map(|check| check.id).collect();
    verify_checks(&checks, releases, plugin, options, on_outcome)
}

/// Runs `checks` on `plugin` in each of `releases`, as [`verify`] does. The first check is the one that loads the plugin.
pub fn verify_checks(
    checks: &[&str],
    releases: &[String],
    plugin: &Path,
    options: &VerifyOptions<'_>,
    on_outcome: impl Fn(&str, &CheckOutcome) + Sync,
) -> Vec<(String, CheckOutcome)> {
    let Some((load_check, remaining)) = checks.split_first() else {
        return vec![];
    };
    let (hung_calls, end) = (HungCalls::default(), RunEnd::new(options));
    let run = |release: &str, check: &str| {
        let answer = end.skipped_answer(check).unwrap_or_else(|| {
            child::run_in_child(check, plugin, release, options.limit(), &hung_calls)
        });
        on_outcome(release, &answer.outcome);
        answer
    };
    let loaded = map_parallel(releases, options.jobs(), |release| run(release, load_check));
    let pairs: Vec<(&String, &Answer, &str)> = releases
        .iter()
        .zip(&loaded)
        .flat_map(|(release, loaded)| remaining.iter().map(move |check| (release, loaded, *check)))
        .collect();
    let rest = map_parallel(&pairs, options.jobs(), |(release, loaded, check)| {
        if loaded.is_loaded {
            return run(release, check);
        }
        let skipped = end.skipped_answer(check);
        let answer = skipped.unwrap_or_else(|| skipped_answer(check, &loaded.outcome));
        on_outcome(release, &answer.outcome);
        answer
    });
    let mut rest = rest.into_iter();
    let rows = releases.iter().zip(loaded).flat_map(|(release, loaded)| {
        let rest = rest.by_ref().take(remaining.len());
        let rows = release_outcomes(release, [loaded].into_iter().chain(rest).collect(), options);
        rows.into_iter().map(|row| (release.clone(), row))
    });
    rows.collect()
}

/// Returns the answer of a check that was not run.
pub(crate) fn skipped_answer(check: &str, loading: &CheckOutcome) -> Answer {
    let text = format!(
        "not run, because the plugin is not loaded: {}",
        loading.detail
    );
    Answer::new(CheckOutcome::new(check, Err(Stop::Skip(text))))
}

/// Returns the outcomes of one release. Breaches of all checks are the failure of one check, and one cause is one
/// failure.
fn release_outcomes(
    release: &str,
    answers: Vec<Answer>,
    options: &VerifyOptions<'_>,
) -> Vec<CheckOutcome> {
    let found = answers.iter().flat_map(|answer| answer.breaches.clone());
    let found: Breaches = found.collect();
    let is_loaded = answers.first().is_some_and(|answer| answer.is_loaded);
    let mut causes = FailureCauses::default();
    let outcomes = answers.iter().map(|answer| {
        let outcome = match answer.outcome.check.as_str() {
            _ if answer.outcome.is_past_run_limit() => answer.outcome.clone(),
            check::FIELD_ACCESS if !found.is_empty() => {
                CheckOutcome::new(check::FIELD_ACCESS, Err(check::breaches_failure(&found)))
            }
            DEVICES_CHECK if options.require_device && is_loaded => required_device_outcome(answer),
            check::RELEASE_CONTRACT => contract_outcome(release, answer, options.contract.as_ref()),
            _ => answer.outcome.clone(),
        };
        CheckOutcome {
            dropped_bytes: answer.outcome.dropped_bytes,
            ..outcome
        }
    });
    outcomes.map(|outcome| causes.attribute(outcome)).collect()
}

/// Returns the outcome of the device check if a device is required.
fn required_device_outcome(answer: &Answer) -> CheckOutcome {
    let CheckOutcome { check, detail, .. } = &answer.outcome;
    let text = match (answer.outcome.status, answer.devices) {
        (CheckStatus::Fail, _) | (CheckStatus::Pass, Some(1..)) => return answer.outcome.clone(),
        (CheckStatus::Skip, _) => {
            format!("a device is required, but the plugin has none: {detail}")
        }
        _ => format!("a device is required, but {detail}"),
    };
    CheckOutcome::new(check, Err(Stop::Fail(text)))
}

/// Returns the outcome of the release contract for the structs that the child reported.
fn contract_outcome(
    release: &str,
    answer: &Answer,
    contract: Option<&Contract<'_>>,
) -> CheckOutcome {
    let Some(contract) = contract.filter(|_| answer.is_loaded) else {
        return answer.outcome.clone();
    };
    let found = contract.compare(release, &answer.written);
    let seen = match answer.outcome.status {
        _ if !found.differences.is_empty() => Err(Stop::Fail(found.differences.join("; "))),
        CheckStatus::Fail => return answer.outcome.clone(),
        _ if answer.written.is_empty() => Err(Stop::Skip("the plugin fills no struct".into())),
        _ => Ok(found.summary()),
    };
    CheckOutcome::new(check::RELEASE_CONTRACT, seen)
}

/// Applies `work` to each item, `jobs` at a time, and returns the results in order.
pub(crate) fn map_parallel<P: Sync, R: Send>(
    items: &[P],
    jobs: usize,
    work: impl Fn(&P) -> R + Sync,
) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let serve = || {
        while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed))
            && let Some(item) = items.get(at)
        {
            let result = work(item);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.insert(at, result);
        }
    };
    std::thread::scope(|scope| {
        (0..jobs.min(items.len())).for_each(|_| drop(scope.spawn(serve)));
    });
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::LOAD_CHECK;

    fn answer(check: &str, status: CheckStatus, devices: Option<i32>) -> Answer {
        let seen = match status {
            CheckStatus::Pass => Ok(String::new()),
            CheckStatus::Fail => Err(Stop::Fail("reason".into())),
            CheckStatus::Skip => Err(Stop::Skip("reason".into())),
        };
        let answer = Answer::new(CheckOutcome::new(check, seen));
        Answer {
            devices,
            is_loaded: true,
            ..answer
        }
    }

    #[test]
    fn missing_required_device_is_failure() {
        let required = VerifyOptions {
            require_device: true,
            ..VerifyOptions::default()
        };
        let status = |status, devices| {
            let loaded = answer(LOAD_CHECK, CheckStatus::Pass, None);
            let asked = answer(DEVICES_CHECK, status, devices);
            release_outcomes("2.21", vec![loaded, asked], &required)[1].status
        };
        assert_eq!(status(CheckStatus::Pass, Some(1)), CheckStatus::Pass);
        assert_eq!(status(CheckStatus::Pass, Some(0)), CheckStatus::Fail);
        assert_eq!(status(CheckStatus::Skip, None), CheckStatus::Fail);
        let optional = vec![
            answer(LOAD_CHECK, CheckStatus::Pass, None),
            answer(DEVICES_CHECK, CheckStatus::Pass, Some(0)),
        ];
        assert_eq!(
            release_outcomes("2.21", optional, &VerifyOptions::default())[1].status,
            CheckStatus::Pass
        );
    }

    #[test]
    fn result_order_is_independent_of_jobs() {
        let items: Vec<usize> = (0..100).collect();
        for jobs in [1, 3, 200] {
            let squares = map_parallel(&items, jobs, |item| item * item);
            assert_eq!(squares, items.iter().map(|it| it * it).collect::<Vec<_>>());
        }
    }
}
