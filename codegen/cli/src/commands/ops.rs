//! `sp-gen ops [<NAME>]`: an op's inputs, outputs and attributes by release, or the names of all ops.

use super::TextOrJson;
use crate::console::{self, note};
use crate::diagnostic::{CommandOutcome, Result};
use crate::operand;
use crate::ops::{self, json, text};
use sp_data::release::{Release, RequestedRelease};
use sp_ops::Table;

const EXAMPLES: &str = "\
Examples:
  sp-gen ops MatMul                   print an op, and the releases in which it changed
  sp-gen ops TopKV2 --release 2.12    print an op as one release has it
  sp-gen ops --search conv            list the ops whose name contains a text
  sp-gen ops MatMul --format json     print an op for a program";

/// Arguments of `ops`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The op, such as MatMul [default: list the ops]
    name: Option<String>,
    /// Print what this release has: 2.21, 2.22.0rc0, nightly [default: all releases]
    #[arg(long, value_name = "R")]
    release: Option<RequestedRelease>,
    /// List the ops whose name contains this text, regardless of case
    #[arg(long, value_name = "TEXT", conflicts_with = "name")]
    search: Option<String>,
    /// The output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
}

/// Prints the op, or the list of ops.
pub fn run(args: Args) -> Result {
    let folders = operand::readable_folders(&operand::current_folder()?);
    let table = sp_data::ops::load(&folders)?;
    let release = args
        .release
        .map(|it| ops::resolve(it, &table))
        .transpose()?;
    console::print(&match &args.name {
        Some(name) => print_op(name, release, args.format, &table)?,
        None => print_names(&args, release, &table),
    })?;
    Ok(CommandOutcome::Done)
}

fn print_op(
    name: &str,
    release: Option<Release>,
    format: TextOrJson,
    table: &Table<'_>,
) -> Result<String> {
    let op = ops::find(name, release, table)?;
    Ok(match format {
        TextOrJson::Text => text::format_op(&op, release, console::width()),
        TextOrJson::Json => json::format_op(&op, release),
    })
}

fn print_names(args: &Args, release: Option<Release>, table: &Table<'_>) -> String {
    let text = args.search.as_deref().unwrap_or_default();
    let found = ops::search(text, release, table);
    if found.is_empty() {
        note!("no op's name contains `{text}`");
    }
    match args.format {
        TextOrJson::Text => text::format_names(&found, table),
        TextOrJson::Json => json::format_names(&found, release),
    }
}
