//! The facts about APIs that are emitted together, and the reasons why no code can be emitted for them.

use std::collections::BTreeSet;

use miette::Diagnostic;
use sp_data::symbols::Symbols;
use sp_ir::Api;
use thiserror::Error;

use crate::model::catalog::Catalog;
use crate::model::context::Context;
use crate::model::exports::Exports;
use crate::model::features::Features;
use crate::model::timeline::{self, Timeline};
use crate::model::{epochs, offsets};
use crate::rust;

/// The reasons why no code can be emitted for some APIs.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
#[error("no code can be generated from these snapshots:\n  {}", problems.join("\n  "))]
#[diagnostic(
    code(sp_gen::generate::rejected),
    help(
        "state the missing facts in headers/apis/<api>.toml, then import the release again with `sp-gen import`"
    )
)]
pub struct EmitError {
    /// One line for each reason.
    pub problems: Vec<String>,
}

/// Calls `print` with the context of each API.
///
/// # Errors
/// Returns an error if no Rust code can be emitted for the APIs. C headers are emitted for the same APIs only.
pub fn with_contexts<R>(
    apis: &[Api],
    symbols: &Symbols,
    print: impl FnOnce(&[Context<'_>]) -> R,
) -> Result<R, EmitError> {
    let (newest, timeline) = (timeline::merge_newest(apis), Timeline::new(apis));
    let (catalog, mut problems) = Catalog::collect(&newest);
    let features = Features::new(&newest, &catalog);
    let all_older = epochs::collect_older(apis, &catalog, &timeline);
    let exports = Exports::collect(&newest, symbols);
    problems.extend(unnamed_members(apis));
    problems.extend(offsets::ambiguities(&timeline.history));
    let contexts: Vec<Context<'_>> = newest
        .iter()
        .map(|api| Context {
            api,
            catalog: &catalog,
            timeline: &timeline,
            features: &features,
            exports: &exports,
            all_older: &all_older,
            older: all_older.get(api.name.as_str()),
        })
        .collect();
    problems.extend(contexts.iter().flat_map(rust::problems));
    match problems.is_empty() {
        true => Ok(print(&contexts)),
        false => Err(EmitError { problems }),
    }
}

/// Returns a message for each struct and union with a member that has no name.
fn unnamed_members(apis: &[Api]) -> Vec<String> {
    let items = apis.iter().flat_map(|api| &api.items);
    let unnamed = items.filter(|(_, item)| {
        let mut fields = item.fields().into_iter().flatten();
        fields.any(|field| field.name.is_empty())
    });
    let message = |(name, _): (&String, _)| format!("{name}: a member has no name");
    let messages: BTreeSet<String> = unnamed.map(message).collect();
    messages.into_iter().collect()
}
