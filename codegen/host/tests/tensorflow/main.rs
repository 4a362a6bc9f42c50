//! The host held against the real thing: the same plugins, good and defective, in sp-host and in
//! TensorFlow, come to the same end with the same words.
//!
//! What TensorFlow did is written down in `seen`, so that the host is held against it everywhere;
//! `SP_TENSORFLOW_2_21=PYTHON` asks TensorFlow again. `SP_BLESS=1` writes both down anew.

#[path = "../c/mod.rs"]
mod c;
mod compared;
mod page;
mod seen;
mod table;
mod uses;

use std::path::PathBuf;

use c::Compiler;
use compared::Compared;
use seen::Seen;
use table::Row;

/// The oldest and the newest that one Python can have.
const RELEASES: [&str; 2] = ["2.12", "2.21"];

fn main() {
    if let Some(release) = uses::release() {
        uses::live(&c::apis_of(&release));
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
    println!("{rows} runs come to the same end in sp-host and in TensorFlow");
}

/// Every plugin, built for a release.
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

/// Where TensorFlow is there and does something else than is written down.
fn ask(release: &str, plugins: &[(Row, PathBuf)], bless: bool) -> Vec<String> {
    let Some(python) = seen::python(release) else {
        println!(
            "TensorFlow {release} as it was written down; {} names none",
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
