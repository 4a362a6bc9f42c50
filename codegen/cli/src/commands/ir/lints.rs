//! `sp-gen ir API --lints`: prints where headers contradict their own rules.

use serde::Serialize;
use sp_ir::{Api, History};

use crate::diagnostic::Result;
use crate::lint::{self, Lint};
use sp_data::folders::DataFolders;
use sp_data::release::Release;
use sp_data::snapshots;
use sp_data::symbols::Symbols;

/// Version of the JSON format. Keys are added; the meaning of a key does not change.
const SCHEMA: u32 = 1;

/// The lint findings of an API, and the exceptions that its notes state.
pub struct LintReport {
    api: String,
    release: String,
    found: Vec<Lint>,
    /// Findings that the notes accept, each with the reason.
    accepted: Vec<(Lint, String)>,
}

#[derive(Serialize)]
struct LintDocument<'a> {
    schema: u32,
    api: &'a str,
    release: &'a str,
    lints: Vec<LintRow<'a>>,
    accepted: Vec<LintRow<'a>>,
}

#[derive(Serialize)]
struct LintRow<'a> {
    rule: &'a str,
    item: &'a str,
    message: &'a str,
    file: &'a str,
    line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

impl LintReport {
    /// Checks an API, with its earlier releases and the symbols that the release's wheels export. `parsed` has the
    /// APIs of parsed headers, which replace the release's snapshots.
    ///
    /// # Errors
    /// Returns an error if a snapshot or a table of symbols cannot be read.
    pub fn new(
        api: &Api,
        parsed: Vec<Api>,
        release: Release,
        folders: &DataFolders,
    ) -> Result<Self> {
        let mut apis = snapshots::read_up_to(folders, release)?;
        if !parsed.is_empty() {
            apis.retain(|known| known.release != api.release);
            apis.extend(parsed);
        }
        let conventions = lint::conventions::for_api(&api.name);
        Ok(Self {
            api: api.name.clone(),
            release: api.release.clone(),
            found: lint::find_all(api, &History::from_apis(&apis), &Symbols::load(folders)?),
            accepted: conventions.map_or_else(Vec::new, |conventions| {
                lint::conventions::find_exceptions(api, conventions)
            }),
        })
    }

    /// Returns true if there are no findings.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Formats the findings as text, one line per finding.
    pub fn text(&self) -> String {
        let found = self.found.iter().map(|lint| line(lint, "", &lint.message));
        let accepted = self.accepted.iter();
        let accepted = accepted.map(|(lint, reason)| line(lint, "accepted: ", reason));
        found.chain(accepted).collect()
    }

    /// Formats the findings as JSON; the schema is `codegen/docs/lints.schema.json`.
    pub fn json(&self) -> String {
        let accepted = self.accepted.iter();
        let document = LintDocument {
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

fn row<'a>(lint: &'a Lint, reason: Option<&'a str>) -> LintRow<'a> {
    LintRow {
        rule: lint.id,
        item: &lint.item,
        message: &lint.message,
        file: &lint.loc.file,
        line: lint.loc.line,
        reason,
    }
}
