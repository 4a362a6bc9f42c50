//! `sp-gen import tensorflow <RELEASE>...`: headers into the store, and what was fetched to stderr.

mod changes;
mod snapshot;

use crate::console::{note, shows_progress, warning};
use crate::diagnostic::{Outcome, Result, show};
use changes::Change;
use clap::ValueEnum;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use miette::{IntoDiagnostic, Report};
use snapshot::{SnapshotError, Written};
use sp_data::folders::DataFolders;
use sp_data::release::{Release, RequestedRelease};
use sp_data::symbols::Symbols;
use sp_fetch::error::FetchError;
use sp_fetch::index::{Index, PACKAGE};
use sp_fetch::lock::Lock;
use sp_fetch::store::Store;
use sp_fetch::symbols::{self, Task};
use sp_fetch::{Fetched, Imported, Request, Watch, fetch, newest_nightly};
use sp_parse::extract::Extracted;
use sp_parse::source::Traffic;
use sp_system::parallel;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Wheels read at a time: one while the other's answer is under way.
const AT_ONCE: usize = 2;

const EXAMPLES: &str = "\
Examples:
  sp-gen import tensorflow 2.21                       the newest patch of 2.21
  sp-gen import tensorflow 2.20.0 2.21.0 --locked     exactly these, if the lock has them
  sp-gen import tensorflow 2.21 --from file.whl       from a wheel at hand
  sp-gen import tensorflow nightly --symbols          what the newest nightly build exports";

/// Arguments of `import`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// What to import
    what: What,
    /// Releases: 2.21 for the newest patch, 2.21.0 or 2.22.0rc0 for exactly that version, nightly for the
    /// newest nightly build, all for every minor from 2.4
    #[arg(required = true, value_name = "RELEASE")]
    releases: Vec<Wanted>,
    /// Take the headers from a wheel or an installed TensorFlow instead of the index
    #[arg(long, value_name = "WHEEL|DIR")]
    from: Option<PathBuf>,
    /// Keep the headers in this folder
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Refuse a release that headers/sources.toml does not have
    #[arg(long)]
    locked: bool,
    /// Fetch the whole wheel, some hundred MB, and compare its sha256 with the index's
    #[arg(long, conflicts_with = "from")]
    whole: bool,
    /// Also fetch over plain http, where anyone on the way can change what is imported
    #[arg(long)]
    allow_http: bool,
    /// Read which library exports which function, instead of headers; moves 20 to 300 MB a release
    #[arg(long, conflicts_with = "store")]
    symbols: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    Tensorflow,
}

#[derive(Clone, Copy)]
enum Wanted {
    All,
    One(RequestedRelease),
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            text => text.parse().map(Self::One),
        }
    }
}

/// Imports the releases, two at a time; one that fails does not keep the others.
pub fn run(args: Args) -> Result {
    let What::Tensorflow = args.what;
    let here = std::env::current_dir().into_diagnostic()?;
    let (place, index) = (DataFolders::find(&here)?, Index::new(args.allow_http));
    let requests = requests(&args, &place, &index)?;
    if args.symbols {
        return symbols_of(&requests, &index).and_then(|done| {
            restate(&requests)?;
            Ok(done)
        });
    }
    let mut fetched = fetch_each(&requests, &index);
    fetched.retain(|one| !is_withdrawn(one, &args.releases));
    let (fetched, failures): (Vec<_>, Vec<_>) = fetched.into_iter().partition(|one| one.is_ok());
    let fetched: Vec<(Fetched, Duration)> = fetched.into_iter().flatten().collect();
    let read = parallel::map(&fetched, |(one, _)| {
        snapshot::read(one.include(), one.done.release, &one.place)
    });
    let finished = fetched.iter().zip(read);
    let finished = finished.map(|((one, took), apis)| finish(one, *took, apis));
    let unfinished = finished.filter_map(Result::err);
    let failures = failures.into_iter().filter_map(|one| one.err());
    end(failures.map(Report::from).chain(unfinished).collect())
}

/// Writes what was parsed, and last the lock. A release of which an API cannot be parsed leaves the lock
/// unchanged; snapshots of its other APIs are written.
fn finish(
    fetched: &Fetched,
    took: Duration,
    extracted: std::result::Result<Extracted, SnapshotError>,
) -> Result<()> {
    let (release, place) = (fetched.done.release, &fetched.place);
    let is_new = fetched.done.appended;
    let extracted = extracted.inspect_err(|_| match is_new {
        true => warning!("TensorFlow {release}: not imported, nothing was written:"),
        false => report(&fetched.done, took),
    })?;
    let write = || -> Result<Written> { Ok(snapshot::write(&extracted, release, place)?) };
    let written = match is_new && !extracted.unreadable.is_empty() {
        true => write().inspect(|_| {
            warning!("TensorFlow {release}: not stored, since some APIs cannot be read:")
        }),
        false => fetched
            .commit(write)
            .inspect(|_| report(&fetched.done, took)),
    };
    describe(release, &written?, extracted, place)
}

/// Returns true, and says so, for a locked pre-release that the index no longer has and that was not
/// asked for by name.
fn is_withdrawn(done: &Attempt, asked: &[Wanted]) -> bool {
    let Err(FetchError::UnknownRelease { release, .. }) = done else {
        return false;
    };
    let by_name = asked.iter().any(|one| matches!(one, Wanted::One(_)));
    let is_withdrawn = release.is_preview() && !by_name;
    if is_withdrawn {
        note!("TensorFlow {release} is skipped: the index no longer has this pre-release");
    }
    is_withdrawn
}

/// Reads the symbols of every wheel that counts for the releases.
fn symbols_of(requests: &[Request], index: &Index) -> Result {
    let tasks = requests
        .iter()
        .map(|request| symbols::tasks(request, index));
    let tasks: Vec<Task> = tasks.collect::<std::result::Result<Vec<_>, _>>()?.concat();
    let bars = progress();
    let work = |task: &Task| {
        let (start, mut bar) = (Instant::now(), Bar::new(&bars));
        let found = symbols::import(task, index, &mut bar);
        bar.0.finish_and_clear();
        // One at a time: the bars are locked meanwhile.
        found.inspect(|found| bars.suspend(|| report_symbols(found, start.elapsed())))
    };
    let found = parallel::map_on(AT_ONCE, &tasks, work);
    end(found
        .into_iter()
        .filter_map(std::result::Result::err)
        .map(Report::from)
        .collect())
}

/// Writes the snapshots of stored releases again: what libraries demand is evidence in them.
fn restate(requests: &[Request]) -> Result<()> {
    let stored = requests.iter().filter_map(|one| {
        let store = Store::at(one.place.store.clone());
        let release = store.resolve(one.release)?;
        Some((release, store.include(release), &one.place))
    });
    let stored: Vec<_> = stored.collect();
    let read = parallel::map(&stored, |(release, include, place)| {
        snapshot::read(include, *release, place)
    });
    for ((release, _, place), apis) in stored.iter().zip(read) {
        note!("TensorFlow {release}:");
        let extracted = apis?;
        let written = snapshot::write(&extracted, *release, place)?;
        describe(*release, &written, extracted, place)?;
    }
    Ok(())
}

fn report_symbols(found: &symbols::Found, took: Duration) {
    let libraries: Vec<String> = found
        .libraries
        .iter()
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    let demands = match found.demands {
        0 => String::new(),
        count => format!("; core demands {count} fields"),
    };
    note!(
        "{} {} on {}: {} functions ({}){demands}{}",
        found.package,
        found.release,
        found.platform,
        found.functions,
        libraries.join(", "),
        cost(found.moved, took)
    );
}

/// Every failure is shown; the last one by whoever ends the program.
fn end(mut failures: Vec<Report>) -> Result {
    let Some(last) = failures.pop() else {
        return Ok(Outcome::Done);
    };
    failures.iter().for_each(show);
    Err(last)
}

type Attempt = std::result::Result<(Fetched, Duration), FetchError>;

fn fetch_each(requests: &[Request], index: &Index) -> Vec<Attempt> {
    let (bars, start) = (progress(), Instant::now());
    let work = |request: &Request| {
        let (start, mut bar) = (Instant::now(), Bar::new(&bars));
        let fetched = fetch(request, index, &mut bar);
        bar.0.finish_and_clear();
        fetched.map(|fetched| (fetched, start.elapsed()))
    };
    let fetched = parallel::map_on(AT_ONCE, requests, work);
    if requests.len() > 1 {
        let done = fetched.iter().flatten();
        total(done.map(|(one, _)| &one.done), start.elapsed());
    }
    fetched
}

fn total<'a>(imported: impl Iterator<Item = &'a Imported>, took: Duration) {
    let (mut count, mut bytes) = (0, 0);
    for done in imported {
        count += 1;
        bytes += done.moved.bytes;
    }
    note!(
        "{count} releases: {:.1} MB, {:.1} s",
        bytes as f64 / 1e6,
        took.as_secs_f64()
    );
}

fn requests(args: &Args, place: &DataFolders, index: &Index) -> Result<Vec<Request>> {
    let mut releases = BTreeSet::new();
    for wanted in &args.releases {
        match wanted {
            Wanted::One(RequestedRelease::Version(release)) => drop(releases.insert(*release)),
            Wanted::One(RequestedRelease::Nightly) => {
                releases.insert(newest_nightly(args.from.as_deref(), index)?);
            }
            Wanted::All => releases.extend(every(args.locked, place, index)?),
        }
    }
    let request = |release| {
        let mut place = place.clone().for_release(release)?;
        if let Some(store) = &args.store {
            place.store.clone_from(store);
        }
        Ok(Request {
            release,
            from: args.from.clone(),
            locked: args.locked,
            whole: args.whole,
            place,
        })
    };
    releases.into_iter().map(request).collect()
}

/// Returns the minors that the lock has and, unless `locked`, those that the index has. A minor without a
/// final release is its locked pre-release.
fn every(locked: bool, place: &DataFolders, index: &Index) -> Result<BTreeSet<Release>> {
    let lock = Lock::read(&place.lock, place.extends_embedded)?;
    let (finals, previews): (Vec<Release>, Vec<Release>) =
        lock.release.keys().partition(|exact| exact.is_final());
    let mut all: BTreeSet<Release> = finals.into_iter().map(Release::minor).collect();
    if !locked {
        all.extend(index.page(PACKAGE)?.minors());
    }
    let open = previews
        .into_iter()
        .filter(|one| !all.contains(&one.minor()));
    let open: Vec<Release> = open.collect();
    all.extend(open);
    Ok(all)
}

fn report(done: &Imported, took: Duration) {
    let Imported {
        release,
        headers,
        include,
        ..
    } = done;
    match &done.origin {
        None => note!(
            "TensorFlow {release}: {headers} headers are stored already and are the locked ones"
        ),
        Some(origin) => note!(
            "TensorFlow {release}: {headers} headers from {origin}{}",
            cost(done.moved, took)
        ),
    }
    if done.is_unverified {
        note!("  the index states no sha256 of the wheel: only the lock tells whether it changes");
    }
    note!("  in {}", include.display());
    if done.appended && !release.is_nightly() {
        note!("  new in the lock: look at the change of headers/sources.toml before you commit it");
    }
}

fn describe(
    release: Release,
    written: &Written,
    extracted: Extracted,
    place: &DataFolders,
) -> Result<()> {
    let folder = place.snapshots.display();
    match written.files.len() {
        0 => note!("  snapshots in {folder} are up to date"),
        count => note!("  {count} snapshots written in {folder}"),
    }
    for path in &written.removed {
        note!("  removed {}: the release has no such API", path.display());
    }
    if let Some(line) = extracted.format_unassigned() {
        note!("  {line}; list them in headers/apis");
    }
    if let Some((last, changes)) = &written.changes {
        tell(*last, changes);
    }
    if written.changes.is_some() && !has_symbols(release, place)? {
        note!(
            "  what its libraries export is not known: `sp-gen import tensorflow {release} --symbols` reads it"
        );
    }
    let unread = extracted.unreadable.into_iter().map(Report::from);
    end(unread.collect()).map(drop)
}

/// Returns true if the exported symbols of some wheel of the release were read.
fn has_symbols(release: Release, place: &DataFolders) -> Result<bool> {
    let symbols = Symbols::load(place)?;
    Ok(symbols
        .wheels()
        .iter()
        .any(|cell| cell.release == release.key()))
}

/// What a reader of the new snapshots should look at.
fn tell(last: Release, changes: &[Change]) {
    if changes.is_empty() {
        return note!("  nothing differs from {last}");
    }
    note!("  beside {last}:");
    for change in changes {
        note!("    {change}");
    }
}

fn cost(moved: Traffic, took: Duration) -> String {
    if moved.requests == 0 {
        return String::new();
    }
    let megabytes = moved.bytes as f64 / 1e6;
    let seconds = took.as_secs_f64();
    format!(
        ": {megabytes:.1} MB in {} requests, {seconds:.1} s",
        moved.requests
    )
}

/// Returns the bars, which are not drawn where there is no progress to show.
fn progress() -> MultiProgress {
    match shows_progress() {
        true => MultiProgress::new(),
        false => MultiProgress::with_draw_target(ProgressDrawTarget::hidden()),
    }
}

/// A bar on stderr, drawn only on a terminal.
struct Bar(ProgressBar);

impl Bar {
    fn new(bars: &MultiProgress) -> Self {
        let bar = if shows_progress() {
            bars.add(ProgressBar::new_spinner())
        } else {
            ProgressBar::hidden()
        };
        bar.enable_steady_tick(Duration::from_millis(120));
        Self(bar)
    }
}

impl Watch for Bar {
    fn stage(&mut self, what: &str, steps: Option<usize>) {
        if let Some(steps) = steps {
            self.0.set_style(measured());
            self.0.set_length(steps as u64);
            self.0.set_position(0);
        }
        self.0.set_message(what.to_owned());
    }

    fn step(&mut self, what: &str) {
        // What a root includes is not counted beforehand.
        if Some(self.0.position()) == self.0.length() {
            self.0.inc_length(1);
        }
        self.0.inc(1);
        self.0.set_message(what.to_owned());
    }
}

fn measured() -> ProgressStyle {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}");
    style.unwrap_or_else(|_| ProgressStyle::default_bar())
}
