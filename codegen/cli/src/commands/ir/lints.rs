//! `sp-gen ir API --lints`: where headers contradict their own rules.

use serde::Serialize;
use sp_ir::{Api, History};

use crate::diagnostic::Result;
use crate::lint::{self, Lint};
use sp_data::folders::DataFolders;
use sp_data::release::Release;
use sp_data::snapshots;
use sp_data::symbols::Symbols;

/// The version of the JSON form; keys are added, never given another meaning.
const SCHEMA: u32 = 1;

/// The findings of an API, and those that its notes accept.
pub struct Lints {
    api: String,
    release: String,
    found: Vec<Lint>,
    /// With the reason.
    accepted: Vec<(Lint, String)>,
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    api: &'a str,
    release: &'a str,
    lints: Vec<Row<'a>>,
    accepted: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Row<'a> {
    rule: &'a str,
    item: &'a str,
    message: &'a str,
    file: &'a str,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

impl Lints {
    /// Finds them, also those that need the releases before, and what the release's wheels export. `parsed` are
    /// the APIs of headers at hand, in place of the release's snapshots.
    ///
    /// # Errors
    /// Returns an error if a snapshot or a table of symbols cannot be read.
    pub fn of(api: &Api, parsed: Vec<Api>, release: Release, place: &DataFolders) -> Result<Self> {
        let mut apis = snapshots::read_up_to(place, release)?;
        if !parsed.is_empty() {
            apis.retain(|known| known.release != api.release);
            apis.extend(parsed);
        }
        let stated = lint::conventions::of_api(&api.name);
        Ok(Self {
            api: api.name.clone(),
            release: api.release.clone(),
            found: lint::all(api, &History::from_apis(&apis), &Symbols::load(place)?),
            accepted: stated.map_or_else(Vec::new, |it| lint::conventions::excepted(api, it)),
        })
    }

    /// Returns true if nothing was found.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Returns a line for each.
    pub fn text(&self) -> String {
        let found = self.found.iter().map(|lint| line(lint, "", &lint.message));
        let accepted = self.accepted.iter();
        let accepted = accepted.map(|(lint, reason)| line(lint, "accepted: ", reason));
        found.chain(accepted).collect()
    }

    /// Returns them for programs; `codegen/docs/lints.schema.json` describes the form.
    pub fn json(&self) -> String {
        let accepted = self.accepted.iter();
        let document = Document {
            schema: SCHEMA,
            api: &self.api,
            release: &self.release,
            lints: self.found.iter().map(|lint| row(lint, None)).collect(),
            accepted: accepted
                .map(|(lint, reason)| row(lint, Some(reason)))
                .collect(),
        };
        serde_json::to_string_pretty(&document).expect("text and numbers only") + "\n"
    }
}

fn line(lint: &Lint, status: &str, text: &str) -> String {
    let Lint { id, item, loc, .. } = lint;
    format!("{}:{}: {status}{id}: {item}: {text}\n", loc.file, loc.line)
}

fn row<'a>(lint: &'a Lint, reason: Option<&'a str>) -> Row<'a> {
    Row {
        rule: lint.id,
        item: &lint.item,
        message: &lint.message,
        file: &lint.loc.file,
        line: lint.loc.line,
        reason,
    }
}
