//! `sp-gen explain <RULE>`: the description of a rule, and what to do about its findings.

use crate::console;
use crate::diagnostic::{CommandOutcome, Result};
use crate::explain;

const EXAMPLES: &str = "\
Examples:
  sp-gen explain field_inserted
  sp-gen explain --list";

/// Arguments of `explain`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The name of a rule or a check, such as field_inserted
    #[arg(required_unless_present = "list")]
    rule: Option<String>,
    /// List all rules and checks
    #[arg(long, conflicts_with = "rule")]
    list: bool,
}

/// Prints the description of a rule, or the list of rules.
pub fn run(args: Args) -> Result {
    let text = match args.rule {
        Some(rule) => explain::page(&rule)?.text(console::width()),
        None => explain::list(),
    };
    console::print(&text)?;
    Ok(CommandOutcome::Done)
}
