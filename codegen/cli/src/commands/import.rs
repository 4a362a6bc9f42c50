//! `sp-gen import tensorflow <RELEASE>...`: headers into the store, and what was fetched to stderr.

use crate::diagnostic::{Outcome, Result, interactive};
use crate::import::place::Place;
use crate::import::release::Release;
use crate::import::{Imported, Request, Watch, import, snapshot};
use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use miette::IntoDiagnostic;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// Arguments of `import`.
#[derive(clap::Args)]
pub struct Args {
    /// What to import
    what: What,
    /// Releases: 2.21 for the newest patch, 2.21.0 for exactly that one
    #[arg(required = true, value_name = "RELEASE")]
    releases: Vec<Release>,
    /// Take the headers from a wheel or an installed TensorFlow instead of the index
    #[arg(long, value_name = "WHEEL|DIR")]
    from: Option<PathBuf>,
    /// Keep the headers in this folder
    #[arg(long, value_name = "DIR")]
    store: Option<PathBuf>,
    /// Refuse a release that headers/sources.toml does not have
    #[arg(long)]
    locked: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    Tensorflow,
}

/// Imports each release in turn.
pub fn run(args: Args) -> Result {
    let What::Tensorflow = args.what;
    let place = place(&args)?;
    for &release in &args.releases {
        let request = Request {
            release,
            from: args.from.clone(),
            locked: args.locked,
            place: place.clone(),
        };
        let (start, mut bar) = (Instant::now(), Bar::new());
        let imported = import(&request, &mut bar);
        bar.0.finish_and_clear();
        let imported = imported?;
        report(&imported, start.elapsed());
        snapshots(&imported, &place)?;
    }
    Ok(Outcome::Done)
}

fn place(args: &Args) -> Result<Place> {
    let mut place = Place::find(&std::env::current_dir().into_diagnostic()?)?;
    if let Some(store) = &args.store {
        place.store = store.clone();
    }
    Ok(place)
}

fn report(done: &Imported, took: Duration) {
    let Imported {
        release,
        headers,
        include,
        ..
    } = done;
    match &done.origin {
        None => eprintln!(
            "TensorFlow {release}: {headers} headers are stored already and are the locked ones"
        ),
        Some(origin) => eprintln!(
            "TensorFlow {release}: {headers} headers from {origin}{}",
            cost(done, took)
        ),
    }
    eprintln!("  in {}", include.display());
    if done.appended {
        eprintln!(
            "  new in the lock: look at the change of headers/sources.toml before you commit it"
        );
    }
}

/// The headers stay stored where this fails, for instance for want of a libclang.
fn snapshots(done: &Imported, place: &Place) -> Result<()> {
    let written = snapshot::write(&done.include, done.release, &place.snapshots);
    let written = written
        .inspect_err(|_| eprintln!("  the headers are stored; snapshots were not written:"))?;
    match written.len() {
        0 => eprintln!(
            "  snapshots in {} are up to date",
            place.snapshots.display()
        ),
        count => eprintln!(
            "  {count} snapshots written in {}",
            place.snapshots.display()
        ),
    }
    Ok(())
}

fn cost(done: &Imported, took: Duration) -> String {
    if done.moved.requests == 0 {
        return String::new();
    }
    let megabytes = done.moved.bytes as f64 / 1e6;
    let seconds = took.as_secs_f64();
    format!(
        ": {megabytes:.1} MB in {} requests, {seconds:.1} s",
        done.moved.requests
    )
}

/// A bar on stderr, drawn only on a terminal.
struct Bar(ProgressBar);

impl Bar {
    fn new() -> Self {
        let bar = if interactive() {
            ProgressBar::new_spinner()
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
