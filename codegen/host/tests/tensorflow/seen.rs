//! Outcomes of each plugin in TensorFlow: runs an installed TensorFlow, or reads the recorded outcomes.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::table::Row;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tensorflow");

/// Outcomes by the row's name.
pub type Seen = BTreeMap<String, String>;

/// Returns the Python with TensorFlow `release`, if the environment names one.
pub fn python(release: &str) -> Option<PathBuf> {
    std::env::var_os(variable(release)).map(PathBuf::from)
}

/// Returns the environment variable that names it.
pub fn variable(release: &str) -> String {
    format!("SP_TENSORFLOW_{}", release.replace('.', "_"))
}

/// Runs the plugins in TensorFlow.
pub fn ask(python: &Path, rows: &[(Row, PathBuf)]) -> Seen {
    let mut child = Command::new(python)
        .arg(format!("{FOLDER}/driver.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}", python.display()));
    let requests: String = rows
        .iter()
        .map(|(row, plugin)| format!("{} {}\n", plugin.display(), row.steps))
        .collect();
    let mut input = child.stdin.take().expect("it is piped");
    let writer = std::thread::spawn(move || input.write_all(requests.as_bytes()));
    let mut answers = String::new();
    let mut output = child.stdout.take().expect("it is piped");
    output.read_to_string(&mut answers).expect("it is text");
    writer.join().expect("no panic").expect("it reads");
    assert!(child.wait().expect("it is ours").success(), "{answers}");
    let answers = answers.split("== ").skip(1).map(first_trouble);
    let names = rows.iter().map(|(row, _)| row.name());
    names.zip(answers).collect()
}

/// Returns the first step that failed.
fn first_trouble(answer: &str) -> String {
    let mut steps = answer.lines().skip(1);
    let bad = |step: &&str| {
        let outcome = step.split_once(": ").map_or("", |(_, outcome)| outcome);
        let words = ["raises", "logs", "none", "ends", "crashes", "hangs"];
        words.iter().any(|word| outcome.starts_with(word))
    };
    steps.find(bad).unwrap_or("works").to_owned()
}

fn record(release: &str) -> PathBuf {
    Path::new(FOLDER)
        .join("seen")
        .join(format!("{release}.txt"))
}

/// Reads the recorded outcomes.
pub fn read(release: &str) -> Seen {
    let text = std::fs::read_to_string(record(release)).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(" | "));
    lines
        .map(|(name, outcome)| (name.to_owned(), outcome.to_owned()))
        .collect()
}

/// Records the outcomes in the order of the rows.
pub fn write(release: &str, rows: &[(Row, PathBuf)], seen: &Seen) {
    let line = |(row, _): &(Row, PathBuf)| {
        let name = row.name();
        format!("{name} | {}\n", seen[&name])
    };
    let text: String = rows.iter().map(line).collect();
    std::fs::create_dir_all(record(release).parent().expect("it has one")).expect("it is made");
    std::fs::write(record(release), text).expect("it is written");
}
