//! The generated tables of `codegen/docs/host.md`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use crate::compared::{Compared, outcome};
use crate::table::Row;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/host.md");

/// The generated tables are between these lines.
const FROM: &str = "<!-- written by cargo test -p sp-host --test tensorflow -->\n";
const TO: &str = "<!-- end -->\n";

/// One release's rows.
pub type Column = (&'static str, Vec<(Row, Compared)>);

/// Writes the page, or fails if it is not up to date.
pub fn check(columns: &[Column], bless: bool) {
    let page = std::fs::read_to_string(PAGE).expect("the page is there");
    let (head, rest) = page.split_once(FROM).expect("the tables' place is marked");
    let (_, tail) = rest.split_once(TO).expect("and their end");
    let tables = [planted(columns), omitted(columns)].concat();
    let wanted = format!("{head}{FROM}{tables}{TO}{tail}");
    if bless {
        std::fs::write(PAGE, &wanted).expect("the page is written");
    }
    let page = Path::new(PAGE).display();
    assert!(
        bless || wanted == std::fs::read_to_string(PAGE).unwrap_or_default(),
        "{page} is out of date; SP_BLESS=1 writes it"
    );
}

const TO_STRING: &str = "a string takes all that is written";

fn planted(columns: &[Column]) -> String {
    let mut out =
        "\n## Planted defects\n\n| defect | release | TensorFlow | sp-host |\n|---|---|---|---|\n"
            .to_owned();
    let (_, first) = &columns[0];
    for (row, _) in first.iter().filter(|(row, _)| row.omitted().is_none()) {
        for (releases, compared) in alike(columns, row) {
            let (defect, host) = (&row.defect, host(&compared));
            let seen = shown(&compared.tensorflow);
            writeln!(out, "| {defect} | {releases} | {seen} | {host} |").expect(TO_STRING);
        }
    }
    out
}

/// Returns the rows of one plugin in all releases, equal ones merged.
fn alike(columns: &[Column], row: &Row) -> Vec<(String, Compared)> {
    let name = row.name();
    let mut found: Vec<(String, Compared)> = vec![];
    for (release, rows) in columns {
        let Some((_, compared)) = rows.iter().find(|(row, _)| row.name() == name) else {
            continue;
        };
        match found.iter_mut().find(|(_, known)| known == compared) {
            Some((releases, _)) => write!(releases, ", {release}").expect(TO_STRING),
            None => found.push(((*release).to_owned(), compared.clone())),
        }
    }
    found
}

/// Formats an outcome as a sentence.
fn shown(line: &str) -> String {
    let outcome = outcome(line);
    let (word, rest) = outcome.split_once(' ').unwrap_or((outcome, ""));
    let words = match word {
        "none" => "sees no device",
        "raises" => "raises",
        "ends" => "ends the process",
        other => other,
    };
    match rest {
        "" => words.to_owned(),
        _ if rest.contains('`') => format!("{words}: `` {rest} ``"),
        _ => format!("{words}: `{}`", rest.replace('|', "\\|")),
    }
}

fn host(compared: &Compared) -> String {
    let (host, tensorflow) = (outcome(&compared.host), outcome(&compared.tensorflow));
    match compared.stricter() {
        Some(why) => format!("{}; {why}", shown(host)),
        None if host == tensorflow => "the same".into(),
        None if host.starts_with(&format!("{tensorflow}; ")) => "the same, with the reason".into(),
        None => shown(host),
    }
}

/// Returns the table of omitted fields by struct, outcome and release.
fn omitted(columns: &[Column]) -> String {
    let mut out = "\n## Absent fields\n\n| struct | absent field | release | TensorFlow | sp-host |\n|---|---|---|---|---|\n"
        .to_owned();
    let mut groups: Vec<(Key, Vec<&str>)> = vec![];
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    let (_, newest) = columns.last().expect("there is one");
    for (row, _) in newest {
        let Some(member) = row.omitted() else {
            continue;
        };
        for (releases, compared) in alike(columns, row) {
            let blank = |text: String| text.replace(&format!("'{member}'"), "'...'");
            let key = Key {
                structure: row.defect.clone(),
                releases,
                tensorflow: blank(shown(&compared.tensorflow)),
                host: blank(host(&compared)),
            };
            let at = *places.entry(key.clone()).or_insert(groups.len());
            match groups.get_mut(at) {
                Some((_, members)) => members.push(member),
                None => groups.push((key, vec![member])),
            }
        }
    }
    for (key, members) in groups {
        let Key {
            structure,
            releases,
            tensorflow,
            host,
        } = key;
        let members = members.join(", ");
        writeln!(
            out,
            "| {structure} | {members} | {releases} | {tensorflow} | {host} |"
        )
        .expect(TO_STRING);
    }
    out
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    structure: String,
    releases: String,
    tensorflow: String,
    host: String,
}
