//! `sp-gen import tensorflow <RELEASE>...`: imports headers into the store and writes snapshots of their APIs; with
//! `--symbols` or `--ops`, imports exported symbols or op definitions.
//!
//! A snapshot of an API that a release does not have is removed only if the source has all headers of the release: it
//! is a wheel, or the lock has the hashes. No file is replaced or removed that somebody else has written or edited.

mod changes;
mod ops;
mod snapshot;

use crate::console::{note, shows_progress, warning};
use crate::diagnostic::{CommandOutcome, Result, show};
use crate::operand;
use changes::ApiChange;
use clap::ValueEnum;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use miette::Report;
use snapshot::{SnapshotError, WrittenSnapshots};
use sp_data::folders::{DataFolders, find_changed_notes, find_checkout};
use sp_data::release::{Release, RequestedRelease};
use sp_data::symbols::Symbols;
use sp_fetch::error::FetchError;
use sp_fetch::index::{CPU_PACKAGE, Index};
use sp_fetch::lock::Lock;
use sp_fetch::store::Store;
use sp_fetch::symbols::{self, SymbolTask};
use sp_fetch::{
    Fetched, ImportRequest, ImportSummary, Progress, fetch, locked_release, newest_nightly,
};
use sp_parse::extract::Extracted;
use sp_parse::source::Traffic;
use sp_system::parallel;
use sp_system::replacement::recover;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Number of wheels read in parallel: one is parsed while the other is transferred.
const PARALLEL_WHEELS: usize = 2;

const EXAMPLES: &str = "\
Examples:
  sp-gen import tensorflow 2.21                       import the newest patch of 2.21
  sp-gen import tensorflow 2.20.0 2.21.0 --locked     import these versions, if the lock has them
  sp-gen import tensorflow 2.21 --from file.whl       import from a local wheel
  sp-gen import tensorflow nightly --symbols          import the symbols of the newest nightly build
  sp-gen import tensorflow --ops                      import the op definitions of python3's TensorFlow
  sp-gen import tensorflow --ops --from venv          import those of the TensorFlow in an environment";

/// Arguments of `import`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The project whose releases are imported
    project: Project,
    /// The releases: 2.21 (its newest patch), 2.21.0 or 2.22.0rc0 (that version), nightly (the newest nightly
    /// build), all (every minor release from 2.4). With --ops: the release that must be installed
    #[arg(required_unless_present = "ops", value_name = "RELEASE")]
    releases: Vec<ReleaseChoice>,
    /// Read a wheel or an installed TensorFlow instead of the index; with --ops, the environment or its Python
    /// [default with --ops: python3]
    #[arg(long, value_name = "WHEEL|DIR|PYTHON")]
    from: Option<PathBuf>,
    /// Store the headers in this folder
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Reject releases that are not in headers/sources.toml
    #[arg(long)]
    locked: bool,
    /// Download whole wheels, some hundred MB each, and compare their sha256 with the index's
    #[arg(long, conflicts_with = "from")]
    whole: bool,
    /// Allow plain http, over which anyone on the network can change the wheel
    #[arg(long)]
    allow_http: bool,
    /// Import the exported symbols of libraries instead of headers; transfers 20 to 300 MB per release
    #[arg(long, conflicts_with = "store")]
    symbols: bool,
    /// Import the op definitions of an installed TensorFlow instead of headers; loads its libraries in a process of its
    /// own
    #[arg(long, conflicts_with_all = ["symbols", "store", "locked", "whole", "allow_http"])]
    ops: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Project {
    Tensorflow,
}

#[derive(Clone, Copy)]
enum ReleaseChoice {
    All,
    One(RequestedRelease),
}

impl FromStr for ReleaseChoice {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "all" => Ok(Self::All),
            text => text.parse().map(Self::One),
        }
    }
}

/// Imports the releases, two in parallel. The failure of a release does not stop the others.
pub fn run(args: Args) -> Result {
    let Project::Tensorflow = args.project;
    let current_dir = operand::current_folder()?;
    let folders = DataFolders::find_writable(&current_dir)?;
    if args.ops {
        return ops::run(args.from, &args.releases, folders);
    }
    warn_of_changed_notes(&current_dir);
    let index = Index::new(args.allow_http);
    let requests = requests(&args, &folders, &index)?;
    for request in &requests {
        recover(&request.folders.snapshots)?;
    }
    if args.symbols {
        return import_symbols(&requests, &index).and_then(|outcome| {
            rewrite_snapshots(&requests)?;
            Ok(outcome)
        });
    }
    let mut fetched = fetch_all(&requests, &index);
    fetched.retain(|result| !is_withdrawn(result, &args.releases));
    let (fetched, failures): (Vec<_>, Vec<_>) =
        fetched.into_iter().partition(|result| result.is_ok());
    let fetched: Vec<(Fetched, Duration)> = fetched.into_iter().flatten().collect();
    let read = parallel::map(&fetched, |(release, _)| {
        snapshot::read(release.include(), release.summary.release, &release.folders)
    });
    let results = fetched.iter().zip(read);
    let results = results.map(|((release, took), apis)| write_release(release, *took, apis));
    let write_failures = results.filter_map(Result::err);
    let failures = failures.into_iter().filter_map(|result| result.err());
    report_failures(failures.map(Report::from).chain(write_failures).collect())
}

/// Warns if the notes of the checkout are not those of this binary, which are in the snapshots that it writes.
fn warn_of_changed_notes(current_dir: &Path) {
    if let Some(file) = find_checkout(current_dir).and_then(|root| find_changed_notes(&root)) {
        warning!(
            "{} was changed after this sp-gen was built, which does not read it: use `cargo run -p sp-gen -- import ..`",
            file.display()
        );
    }
}

/// Writes the snapshots of a release, its headers and, last, the lock. If an API cannot be parsed, only the snapshots
/// of the other APIs are written.
fn write_release(
    fetched: &Fetched,
    took: Duration,
    extracted: std::result::Result<Extracted, SnapshotError>,
) -> Result<()> {
    let (release, folders) = (fetched.summary.release, &fetched.folders);
    let is_new = fetched.summary.is_new;
    let extracted = extracted.inspect_err(|_| match is_new {
        true => warning!("TensorFlow {release}: not imported; nothing was written:"),
        false => report(&fetched.summary, took),
    })?;
    let is_complete = fetched.summary.is_complete;
    let write = || -> Result<WrittenSnapshots> {
        Ok(snapshot::write(&extracted, release, folders, is_complete)?)
    };
    let written = match is_new && !extracted.unreadable.is_empty() {
        true => write().inspect(|_| {
            warning!("TensorFlow {release}: headers not stored, since some APIs cannot be read:")
        }),
        false => fetched
            .commit(write)
            .inspect(|_| report(&fetched.summary, took)),
    };
    let mut written = written?;
    written.commit()?;
    describe(release, &written, extracted, folders)
}

/// Returns true for a locked pre-release that the index no longer has and that was not requested by version; prints a
/// note about it.
fn is_withdrawn(result: &FetchResult, requested: &[ReleaseChoice]) -> bool {
    let Err(FetchError::UnknownRelease { release, .. }) = result else {
        return false;
    };
    let by_name = requested
        .iter()
        .any(|choice| matches!(choice, ReleaseChoice::One(_)));
    let is_withdrawn = release.is_preview() && !by_name;
    if is_withdrawn {
        note!("TensorFlow {release}: skipped, since the index no longer has this pre-release");
    }
    is_withdrawn
}

/// Imports the symbols of the releases' wheels.
fn import_symbols(requests: &[ImportRequest], index: &Index) -> Result {
    let tasks = requests
        .iter()
        .map(|request| symbols::tasks(request, index));
    let tasks: Vec<SymbolTask> = tasks.collect::<std::result::Result<Vec<_>, _>>()?.concat();
    let bars = new_progress_bars();
    let work = |task: &SymbolTask| {
        let (start, mut bar) = (Instant::now(), Bar::new(&bars));
        let found = symbols::import(task, index, &mut bar);
        bar.0.finish_and_clear();
        // `suspend` excludes other threads, so that lines do not mix.
        found.inspect(|found| bars.suspend(|| report_symbols(found, start.elapsed())))
    };
    let found = parallel::map_on(PARALLEL_WHEELS, &tasks, work);
    report_failures(
        found
            .into_iter()
            .filter_map(std::result::Result::err)
            .map(Report::from)
            .collect(),
    )
}

/// Writes the snapshots of stored releases again: they state the fields that the libraries require.
fn rewrite_snapshots(requests: &[ImportRequest]) -> Result<()> {
    let stored = requests.iter().filter_map(|request| {
        let store = Store::new(request.folders.store.clone());
        let release = store.resolve(request.release)?;
        Some((release, store.include_root(release), &request.folders))
    });
    let stored: Vec<_> = stored.collect();
    let read = parallel::map(&stored, |(release, include, folders)| {
        snapshot::read(include, *release, folders)
    });
    for ((release, _, folders), apis) in stored.iter().zip(read) {
        note!("TensorFlow {release}:");
        let extracted = apis?;
        let is_complete = is_locked(*release, folders)?;
        let mut written = snapshot::write(&extracted, *release, folders, is_complete)?;
        written.commit()?;
        describe(*release, &written, extracted, folders)?;
    }
    Ok(())
}

/// Returns true if the store has the locked headers of a release.
fn is_locked(release: Release, folders: &DataFolders) -> Result<bool> {
    let locked = Lock::read_release(&folders.lock, folders.extends_embedded, release)?;
    let store = Store::new(folders.store.clone());
    Ok(locked.is_some_and(|locked| store.read(release, &locked).is_some()))
}

fn report_symbols(found: &symbols::WheelSymbols, took: Duration) {
    let libraries = found.libraries.iter();
    let libraries = libraries.map(|(name, count)| format!("{name} {count}"));
    let libraries: Vec<String> = libraries.collect();
    let required = match found.required_fields {
        0 => String::new(),
        count => format!("; core requires {count} fields"),
    };
    note!(
        "{} {} on {}: {} functions ({}){required}{}",
        found.package,
        found.release,
        found.platform,
        found.functions,
        libraries.join(", "),
        format_transfer(found.transferred, took)
    );
}

/// Prints all failures but the last and returns the last as the command's error.
fn report_failures(mut failures: Vec<Report>) -> Result {
    let Some(last) = failures.pop() else {
        return Ok(CommandOutcome::Done);
    };
    failures.iter().for_each(show);
    Err(last)
}

type FetchResult = std::result::Result<(Fetched, Duration), FetchError>;

fn fetch_all(requests: &[ImportRequest], index: &Index) -> Vec<FetchResult> {
    let (bars, start) = (new_progress_bars(), Instant::now());
    let work = |request: &ImportRequest| {
        let (start, mut bar) = (Instant::now(), Bar::new(&bars));
        let fetched = fetch(request, index, &mut bar);
        bar.0.finish_and_clear();
        fetched.map(|fetched| (fetched, start.elapsed()))
    };
    let fetched = parallel::map_on(PARALLEL_WHEELS, requests, work);
    if requests.len() > 1 {
        let succeeded = fetched.iter().flatten();
        report_total(
            succeeded.map(|(release, _)| &release.summary),
            start.elapsed(),
        );
    }
    fetched
}

fn report_total<'a>(summaries: impl Iterator<Item = &'a ImportSummary>, took: Duration) {
    let (mut count, mut bytes) = (0, 0);
    for summary in summaries {
        count += 1;
        bytes += summary.transferred.bytes;
    }
    note!(
        "{count} releases: {:.1} MB, {:.1} s",
        bytes as f64 / 1e6,
        took.as_secs_f64()
    );
}

fn requests(args: &Args, folders: &DataFolders, index: &Index) -> Result<Vec<ImportRequest>> {
    let mut releases = BTreeSet::new();
    for wanted in &args.releases {
        match wanted {
            ReleaseChoice::One(RequestedRelease::Version(release)) => {
                releases.insert(*release);
            }
            ReleaseChoice::One(RequestedRelease::Nightly) => {
                releases.insert(newest_nightly(args.from.as_deref(), index)?);
            }
            ReleaseChoice::All => releases.extend(all_releases(args.locked, folders, index)?),
        }
    }
    let request = |release| {
        let mut folders = folders.clone().for_release(release)?;
        if let Some(store) = &args.store {
            folders.store.clone_from(store);
        }
        Ok(ImportRequest {
            release: match args.locked {
                true => locked_release(release, &folders)?,
                false => release,
            },
            from: args.from.clone(),
            require_locked: args.locked,
            fetch_whole: args.whole,
            folders,
        })
    };
    releases.into_iter().map(request).collect()
}

/// Returns the minor releases in the lock and, unless `locked`, those in the index. For a minor release without a final
/// release, returns its locked pre-release.
fn all_releases(locked: bool, folders: &DataFolders, index: &Index) -> Result<BTreeSet<Release>> {
    let lock = Lock::read(&folders.lock, folders.extends_embedded)?;
    let (finals, previews): (Vec<Release>, Vec<Release>) =
        lock.releases.keys().partition(|exact| exact.is_final());
    let mut all: BTreeSet<Release> = finals.into_iter().map(Release::minor).collect();
    if !locked {
        all.extend(index.page(CPU_PACKAGE)?.minors());
    }
    let unreleased = previews
        .into_iter()
        .filter(|preview| !all.contains(&preview.minor()));
    let unreleased: Vec<Release> = unreleased.collect();
    all.extend(unreleased);
    Ok(all)
}

fn report(summary: &ImportSummary, took: Duration) {
    let ImportSummary {
        release,
        headers,
        include,
        ..
    } = summary;
    match &summary.origin {
        None => note!(
            "TensorFlow {release}: {headers} headers are in the store already and agree with the lock"
        ),
        Some(origin) => note!(
            "TensorFlow {release}: {headers} headers from {origin}{}",
            format_transfer(summary.transferred, took)
        ),
    }
    note!("  headers are in {}", include.display());
    if summary.is_new && !release.is_nightly() {
        note!(
            "  added to the lock: review the change of headers/sources.toml before you commit it"
        );
    }
}

fn describe(
    release: Release,
    written: &WrittenSnapshots,
    extracted: Extracted,
    folders: &DataFolders,
) -> Result<()> {
    let folder = folders.snapshots.display();
    match written.files.len() {
        0 => note!("  snapshots in {folder} are up to date"),
        count => note!("  {count} snapshots written in {folder}"),
    }
    for path in &written.removed {
        note!("  removed {}: the release has no such API", path.display());
    }
    for path in &written.left_alone {
        warning!(
            "  {} was not removed: the folder has no header of this API, and may lack headers of the release; remove the \
             file if the release has no such API, or import its wheel",
            path.display()
        );
    }
    for path in &written.foreign {
        warning!(
            "  {} was not removed: the release has no such API, and the file is none that sp-gen wrote, or was edited; move \
             it to another folder",
            path.display()
        );
    }
    if let Some(line) = extracted.format_unassigned() {
        note!("  {line}; list them in headers/apis");
    }
    if let Some((last, changes)) = &written.changes {
        report_changes(*last, changes);
    }
    if written.changes.is_some() && !has_symbols(release, folders)? {
        note!(
            "  the exported symbols are not known: `sp-gen import tensorflow {release} --symbols` imports them"
        );
    }
    let unread = extracted.unreadable.into_iter().map(Report::from);
    report_failures(unread.collect()).map(drop)
}

/// Returns true if the exported symbols of a wheel of the release were imported.
fn has_symbols(release: Release, folders: &DataFolders) -> Result<bool> {
    let symbols = Symbols::load(folders)?;
    Ok(symbols
        .wheels()
        .iter()
        .any(|cell| cell.release == release.key()))
}

/// Prints the changes since the previous release.
fn report_changes(last: Release, changes: &[ApiChange]) {
    if changes.is_empty() {
        return note!("  no changes since {last}");
    }
    note!("  changes since {last}:");
    for change in changes {
        note!("    {change}");
    }
}

fn format_transfer(transferred: Traffic, took: Duration) -> String {
    if transferred.requests == 0 {
        return String::new();
    }
    let megabytes = transferred.bytes as f64 / 1e6;
    let seconds = took.as_secs_f64();
    format!(
        ": {megabytes:.1} MB in {} requests, {seconds:.1} s",
        transferred.requests
    )
}

/// Returns the progress bars, which are hidden if progress is not shown.
fn new_progress_bars() -> MultiProgress {
    match shows_progress() {
        true => MultiProgress::new(),
        false => MultiProgress::with_draw_target(ProgressDrawTarget::hidden()),
    }
}

/// A progress bar on stderr, drawn only on a terminal.
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

impl Progress for Bar {
    fn stage(&mut self, label: &str, steps: Option<usize>) {
        if let Some(steps) = steps {
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}");
            self.0
                .set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            self.0.set_length(steps as u64);
            self.0.set_position(0);
        }
        self.0.set_message(label.to_owned());
    }

    fn step(&mut self, label: &str) {
        // The number of steps does not count included headers.
        if Some(self.0.position()) == self.0.length() {
            self.0.inc_length(1);
        }
        self.0.inc(1);
        self.0.set_message(label.to_owned());
    }
}
