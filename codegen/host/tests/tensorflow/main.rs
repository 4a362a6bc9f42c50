//! Compares sp-host with TensorFlow: the same plugins, good and defective, have the same outcome and messages.
//!
//! The folder `seen` has the recorded outcomes in TensorFlow. `SP_TENSORFLOW_2_21=PYTHON` runs TensorFlow again, and
//! `SP_BLESS=1` records the outcomes and writes the page.

#[path = "../c/mod.rs"]
mod c;
mod compared;
mod page;
#[path = "../../../../tests/src/rows.rs"]
mod rows;
mod seen;
mod table;
mod uses;

use std::path::PathBuf;

use c::Compiler;
use compared::Compared;
use seen::Seen;
use table::Row;

/// The oldest and the newest release that one Python can have.
const RELEASES: [&str; 2] = ["2.12", "2.21"];

fn main() {
    if let Some(release) = uses::release() {
        uses::run_steps(&c::apis_of(&release));
    }
    if Compiler::find(&c::apis()).is_none() {
        println!("skipped: this machine has no C compiler (cc)");
        return;
    }
    let bless = std::env::var_os("SP_BLESS").is_some();
    let built = RELEASES.map(|release| (release, build(release)));
    let asked: Vec<String> = built
        .iter()
        .flat_map(|(release, plugins)| ask(release, plugins, bless))
        .collect();
    let columns = built.map(|(release, plugins)| (release, compare(release, plugins)));
    let differ = columns.iter().flat_map(|(release, rows)| {
        let wrong = rows.iter().filter(|(_, compared)| !compared.agrees());
        wrong.map(move |(_, compared)| format!("{release}: {compared:?}"))
    });
    let wrong: Vec<String> = asked.into_iter().chain(differ).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
    page::check(&columns, bless);
    let rows: usize = columns.iter().map(|(_, rows)| rows.len()).sum();
    println!("{rows} runs have the same outcome in sp-host and in TensorFlow");
}

/// Builds every plugin for a release.
fn build(release: &str) -> Vec<(Row, PathBuf)> {
    let apis = c::apis_of(release);
    let compiler = Compiler::find(&apis).expect("it was there");
    let rows = table::rows(&apis).into_iter();
    rows.map(|row| {
        let plugin = compiler.plugin(&row.macro_);
        (row, plugin)
    })
    .collect()
}

/// Runs TensorFlow if it is installed, and returns the outcomes that differ from the recorded ones.
fn ask(release: &str, plugins: &[(Row, PathBuf)], bless: bool) -> Vec<String> {
    let Some(python) = seen::python(release) else {
        println!(
            "TensorFlow {release}: recorded outcomes are used, since {} is not set",
            seen::variable(release)
        );
        return vec![];
    };
    let found = seen::ask(&python, plugins);
    if bless {
        seen::write(release, plugins, &found);
    }
    drifted(release, &seen::read(release), &found)
}

fn drifted(release: &str, written: &Seen, found: &Seen) -> Vec<String> {
    let new = found
        .iter()
        .filter(|(name, outcome)| written.get(*name) != Some(outcome));
    let line = |(name, outcome)| format!("TensorFlow {release}, {name}: {outcome}");
    new.map(line).collect()
}

fn compare(release: &str, plugins: Vec<(Row, PathBuf)>) -> Vec<(Row, Compared)> {
    let seen = seen::read(release);
    let compare = |(row, plugin): (Row, PathBuf)| {
        let compared = Compared {
            name: row.name(),
            host: uses::outcome(&plugin, row.steps, release),
            tensorflow: seen.get(&row.name()).cloned().unwrap_or_default(),
        };
        (row, compared)
    };
    plugins.into_iter().map(compare).collect()
}
