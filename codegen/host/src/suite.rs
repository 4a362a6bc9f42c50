//! The `main` of a plugin's test: the checks that TensorFlow's contract asks for, then the author's
//! own tests, each in a child.

use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::check::{self, CHECKS, Session};
use crate::child::{self, Task};
use crate::ledger::Tally;
use crate::outcome::{Causes, Seen, Stop, exit_code, summary};
use crate::owners::{self, Breaches};
use crate::release::Release;
use crate::{Error, Host, Outcome};

/// Runs every check on `plugin`, each in a child process: this executable again, which must call
/// [`child_main`] first thing in its `main`.
pub fn conformance<'a>(release: impl Into<Release<'a>>, plugin: &Path) -> Vec<Outcome> {
    let release = release.into().name().to_owned();
    let rows = judge(&[release], plugin, |_, _| ());
    rows.into_iter().map(|(_, outcome)| outcome).collect()
}

/// Runs one check on `plugin`, in a child as of [`conformance`].
pub fn ask<'a>(check: &str, release: impl Into<Release<'a>>, plugin: &Path) -> Outcome {
    child::spawn(check, plugin, release.into().name())
}

/// Runs every check on `plugin` in every one of `releases`, several children at a time for each
/// core, each as of [`conformance`]. `seen` is told each outcome as it comes; what is returned is
/// in order.
pub fn judge(
    releases: &[String],
    plugin: &Path,
    seen: impl Fn(&str, &Outcome) + Sync,
) -> Vec<(String, Outcome)> {
    let asked = |release| CHECKS.iter().map(move |check| (release, check.id));
    let questions: Vec<(&String, &str)> = releases.iter().flat_map(asked).collect();
    let breaches: Mutex<BTreeMap<String, Breaches>> = Mutex::default();
    let mut rows = spread(&questions, |(release, check)| {
        let (outcome, found) = child::spawn_watched(check, plugin, release);
        seen(release, &outcome);
        let mut breaches = breaches.lock().unwrap_or_else(PoisonError::into_inner);
        breaches
            .entry((*release).clone())
            .or_default()
            .extend(found);
        ((*release).clone(), outcome)
    });
    let breaches = breaches
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    for (release, outcome) in &mut rows {
        let found = breaches.get(release).filter(|it| !it.is_empty());
        if let Some(found) = found.filter(|_| outcome.check == check::OWNERS) {
            *outcome = Outcome::new(check::OWNERS, Err(check::broken(found)));
        }
    }
    let mut causes: BTreeMap<String, Causes> = BTreeMap::new();
    let attribute = |(release, outcome): (String, Outcome)| {
        let causes = causes.entry(release.clone()).or_default();
        (release, causes.attribute(outcome))
    };
    rows.into_iter().map(attribute).collect()
}

/// `work` on each piece, on all cores; what comes out is in the order of what went in.
fn spread<P: Sync, R: Send>(pieces: &[P], work: impl Fn(&P) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let serve = || {
        while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed))
            && let Some(piece) = pieces.get(at)
        {
            let result = work(piece);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((at, result));
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, Into::into);
    // Children wait much of their time.
    let hands = 2 * cores;
    std::thread::scope(|scope| {
        (0..hands.min(pieces.len())).for_each(|_| drop(scope.spawn(serve)));
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

/// In a child of [`conformance`], runs the one check that the parent asked for and ends the process;
/// otherwise does nothing. `release` must be the one that the parent handed to [`conformance`]; where
/// that may be one of several, [`child_release`](crate::child_release) says which.
pub fn child_main<'a>(release: impl Into<Release<'a>>) {
    if let Some(task) = child::task() {
        child::perform(|| run_check(release.into(), &task));
    }
}

fn run_check(release: Release<'_>, task: &Task) -> Seen {
    let found = CHECKS.iter().find(|check| check.id == task.check);
    let (ours, parents) = (release.name(), &task.release);
    if ours != parents {
        let text = format!("the child has the API of {ours}, its parent that of {parents}");
        return Err(Stop::Fail(text));
    }
    let check = found.ok_or_else(|| Stop::Fail(format!("there is no check {}", task.check)))?;
    let session = Session {
        release,
        plugin: &task.plugin,
    };
    owners::print_breaches();
    let seen = (check.run)(&session).map_err(unless_missing)?;
    let faults = Tally::now().faults;
    match faults.is_empty() {
        true => Ok(seen),
        false => Err(Stop::Fail(faults.join("; "))),
    }
}

/// A failure behind a call of what this host does not have says nothing about the plugin.
fn unless_missing(stop: Stop) -> Stop {
    let missing = Tally::now().missing;
    match stop {
        Stop::Fail(text) if !missing.is_empty() => {
            Stop::Skip(format!("{}; then {text}", child::needs(&missing)))
        }
        other => other,
    }
}

/// The plugin that `cargo test` built beside this executable: `lib<name>.so`.
///
/// # Errors
/// Where there is none.
pub fn plugin_beside_exe(name: &str) -> Result<PathBuf, Error> {
    let program = std::env::current_exe().map_err(|error| Error::Load(error.to_string()))?;
    let file = format!("lib{}.so", name.replace('-', "_"));
    let path = program.with_file_name(file);
    match path.is_file() {
        true => Ok(path),
        false => Err(Error::Load(format!(
            "{} is not there; the package's library needs crate-type [\"cdylib\", \"rlib\"]: without the rlib `cargo test` does not build it",
            path.display()
        ))),
    }
}

type Body<'a> = Box<dyn Fn(&Host) + 'a>;

/// The tests of one plugin.
pub struct Suite<'a> {
    release: Release<'a>,
    plugin: PathBuf,
    tests: Vec<(String, Body<'a>)>,
}

impl<'a> Suite<'a> {
    /// The checks of [`conformance`], on `plugin`.
    pub fn new(release: impl Into<Release<'a>>, plugin: impl Into<PathBuf>) -> Self {
        Self {
            release: release.into(),
            plugin: plugin.into(),
            tests: vec![],
        }
    }

    /// Adds a test of the author's own. It fails where `body` panics, and where the plugin keeps
    /// objects of core's or misuses them.
    pub fn test(mut self, name: &str, body: impl Fn(&Host) + 'a) -> Self {
        self.tests.push((name.to_owned(), Box::new(body)));
        self
    }

    /// Runs what the command line asks for (parts of names, as of `cargo test`), prints a row each
    /// and a closing line.
    pub fn run(self) -> ExitCode {
        self.serve();
        let (options, parts): (Vec<String>, Vec<String>) = std::env::args()
            .skip(1)
            .partition(|argument| argument.starts_with('-'));
        let exact = options.iter().any(|option| option == "--exact");
        let names = self.names(&parts, exact);
        if options.iter().any(|option| option == "--list") {
            names.iter().for_each(|name| println!("{name}: test"));
            return ExitCode::SUCCESS;
        }
        let mut causes = Causes::default();
        let rows = names.iter().map(|name| {
            let outcome = child::spawn(name, &self.plugin, self.release.name());
            match CHECKS.iter().any(|check| check.id == outcome.check) {
                true => causes.attribute(outcome),
                false => outcome,
            }
        });
        let outcomes: Vec<Outcome> = rows.inspect(|row| println!("{row}")).collect();
        println!("{}", summary(&outcomes));
        exit_code(&outcomes)
    }

    /// Runs the author's own tests, without a word.
    pub fn own_tests(self) -> Vec<Outcome> {
        self.serve();
        self.tests
            .iter()
            .map(|(name, _)| child::spawn(name, &self.plugin, self.release.name()))
            .collect()
    }

    /// In a child, runs the one test that the parent asked for and ends the process.
    fn serve(&self) {
        if let Some(task) = child::task() {
            child::perform(|| self.perform(&task));
        }
    }

    fn names(&self, parts: &[String], exact: bool) -> Vec<String> {
        let checks = CHECKS.iter().map(|check| check.id.to_owned());
        let all = checks.chain(self.tests.iter().map(|(name, _)| name.clone()));
        let matches = |name: &String, part: &String| match exact {
            true => name == part,
            false => name.contains(part.as_str()),
        };
        all.filter(|name| parts.is_empty() || parts.iter().any(|part| matches(name, part)))
            .collect()
    }

    fn perform(&self, task: &Task) -> Seen {
        match self.tests.iter().find(|(name, _)| *name == task.check) {
            Some((_, body)) => self.run_test(body, task),
            None => run_check(self.release, task),
        }
    }

    fn run_test(&self, body: &Body<'_>, task: &Task) -> Seen {
        let host = Host::open(self.release, &task.plugin)?;
        let ran = catch_unwind(AssertUnwindSafe(|| body(&host)));
        ran.map_err(|panic| Stop::Fail(panic_text(&*panic)))?;
        let tally = host.close()?;
        match tally.is_clean() {
            true => Ok(String::new()),
            false => Err(Stop::Fail(tally.to_string())),
        }
    }
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("panicked")
        .to_owned()
}
