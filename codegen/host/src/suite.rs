//! The `main` of a plugin's tests: all checks, then the author's tests, each in a child process.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;

use crate::check::{CHECKS, CheckSession};
use crate::child::{self, Task};
use crate::contract_watch;
use crate::hung_calls::HungCalls;
use crate::objects::ObjectReport;
use crate::outcome::{CheckResult, FailureCauses, Stop, exit_code, summary};
use crate::release::EmulatedRelease;
use crate::verification;
use crate::{CheckOutcome, Error, Host};

/// In a child of [`run_all_checks`](crate::run_all_checks), runs the check of its task and ends the process;
/// otherwise does nothing.
///
/// `release` must be that of the parent; [`child_release`](crate::child_release) returns it.
pub fn child_main<'a>(release: impl Into<EmulatedRelease<'a>>) {
    if let Some(task) = child::task() {
        child::perform(|| run_check(release.into(), &task));
    }
}

fn run_check(release: EmulatedRelease<'_>, task: &Task) -> CheckResult {
    let found = CHECKS.iter().find(|check| check.id == task.check);
    let (ours, parents) = (release.name(), &task.release);
    if ours != parents {
        let text = format!("the child emulates TensorFlow {ours} and its parent {parents}");
        return Err(Stop::Fail(text));
    }
    let check = found.ok_or_else(|| Stop::Fail(format!("there is no check {}", task.check)))?;
    let session = CheckSession {
        release,
        plugin: &task.plugin,
    };
    contract_watch::send_breaches();
    let seen = (check.run)(&session).map_err(unless_missing)?;
    let faults = ObjectReport::now().faults;
    match faults.is_empty() {
        true => Ok(seen),
        false => Err(Stop::Fail(faults.join("; "))),
    }
}

/// Skips a check that failed after a call of a function that the host does not implement.
fn unless_missing(stop: Stop) -> Stop {
    let missing = ObjectReport::now().missing;
    match stop {
        Stop::Fail(text) if !missing.is_empty() => Stop::Skip(format!(
            "{}; then {text}",
            child::missing_functions(&missing)
        )),
        other => other,
    }
}

/// Returns the path of the plugin that `cargo test` built beside this executable: `lib<name>.so`.
///
/// # Errors
/// Returns an error if the file does not exist.
pub fn plugin_beside_exe(name: &str) -> Result<PathBuf, Error> {
    let program = std::env::current_exe().map_err(|error| Error::Load(error.to_string()))?;
    let file = format!("lib{}.so", name.replace('-', "_"));
    let path = program.with_file_name(file);
    match path.is_file() {
        true => Ok(path),
        false => Err(Error::Load(format!(
            "{} does not exist; the package's library needs crate-type [\"cdylib\", \"rlib\"]: without the rlib `cargo test` does not build it",
            path.display()
        ))),
    }
}

type Body<'a> = Box<dyn Fn(&Host) + 'a>;

/// The tests of one plugin.
pub struct Suite<'a> {
    release: EmulatedRelease<'a>,
    plugin: PathBuf,
    tests: Vec<(String, Body<'a>)>,
}

impl<'a> Suite<'a> {
    /// The checks of [`run_all_checks`](crate::run_all_checks), on `plugin`.
    pub fn new(release: impl Into<EmulatedRelease<'a>>, plugin: impl Into<PathBuf>) -> Self {
        Self {
            release: release.into(),
            plugin: plugin.into(),
            tests: vec![],
        }
    }

    /// Adds a test. It fails if `body` panics, or if the plugin does not delete its objects or misuses them.
    pub fn test(mut self, name: &str, body: impl Fn(&Host) + 'a) -> Self {
        self.tests.push((name.to_owned(), Box::new(body)));
        self
    }

    /// Runs the checks and tests whose names contain an argument, as `cargo test` does. Prints a row for each and
    /// a summary.
    pub fn run(self) -> ExitCode {
        self.run_child();
        let (options, parts): (Vec<String>, Vec<String>) = std::env::args()
            .skip(1)
            .partition(|argument| argument.starts_with('-'));
        let exact = options.iter().any(|option| option == "--exact");
        let names = self.names(&parts, exact);
        if options.iter().any(|option| option == "--list") {
            names.iter().for_each(|name| println!("{name}: test"));
            return ExitCode::SUCCESS;
        }
        let mut causes = FailureCauses::default();
        let rows = self.outcomes(&names).map(|outcome| {
            match CHECKS.iter().any(|check| check.id == outcome.check) {
                true => causes.attribute(outcome),
                false => outcome,
            }
        });
        let outcomes: Vec<CheckOutcome> = rows.inspect(|row| println!("{row}")).collect();
        println!("{}", summary(&outcomes));
        exit_code(&outcomes)
    }

    /// Runs the author's tests only, and prints nothing.
    pub fn own_tests(self) -> Vec<CheckOutcome> {
        self.run_child();
        let names: Vec<String> = self.tests.iter().map(|(name, _)| name.clone()).collect();
        self.outcomes(&names).collect()
    }

    /// Runs these checks and tests in order. If the plugin cannot be loaded, the others are skipped, since a hang
    /// would take the time limit of each. So is a check that calls a function which hung.
    fn outcomes(&self, names: &[String]) -> impl Iterator<Item = CheckOutcome> {
        let mut stopped: Option<CheckOutcome> = None;
        let hung_calls = HungCalls::default();
        names.iter().map(move |name| {
            if let Some(loading) = &stopped {
                return verification::skipped_answer(name, loading).outcome;
            }
            let release = self.release.name();
            let answer =
                child::run_in_child(name, &self.plugin, release, child::limit(), &hung_calls);
            if !answer.is_loaded {
                stopped = Some(answer.outcome.clone());
            }
            answer.outcome
        })
    }

    /// In a child, runs the test of its task and ends the process.
    fn run_child(&self) {
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

    fn perform(&self, task: &Task) -> CheckResult {
        match self.tests.iter().find(|(name, _)| *name == task.check) {
            Some((_, body)) => self.run_test(body, task),
            None => run_check(self.release, task),
        }
    }

    fn run_test(&self, body: &Body<'_>, task: &Task) -> CheckResult {
        let host = Host::open(self.release, &task.plugin)?;
        record_panic_locations();
        let ran = catch_unwind(AssertUnwindSafe(|| body(&host)));
        ran.map_err(|panic| {
            let location = PANIC_LOCATION.take().unwrap_or_default();
            Stop::Fail(format!("{location}{}", panic_text(&*panic)))
        })?;
        let tally = host.close()?;
        match tally.is_clean() {
            true => Ok(String::new()),
            false => Err(Stop::Fail(tally.to_string())),
        }
    }
}

thread_local! {
    /// The location of this thread's last panic, as `FILE:LINE: `.
    static PANIC_LOCATION: Cell<Option<String>> = const { Cell::new(None) };
}

/// Installs a panic hook that stores the location in [`PANIC_LOCATION`], and then calls the hook before it.
fn record_panic_locations() {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let location = info.location();
        PANIC_LOCATION.set(location.map(|it| format!("{}:{}: ", it.file(), it.line())));
        hook(info);
    }));
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("panicked")
        .to_owned()
}
