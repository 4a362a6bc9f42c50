//! `sp-gen explain <RULE>`: what a rule is about, and what to do where it speaks.

use crate::console;
use crate::diagnostic::{Outcome, Result};
use crate::explain;

const EXAMPLES: &str = "\
Examples:
  sp-gen explain field_inserted
  sp-gen explain --list";

/// Arguments of `explain`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The rule, as reports name it: field_inserted
    #[arg(required_unless_present = "list")]
    rule: Option<String>,
    /// List all rules instead
    #[arg(long, conflicts_with = "rule")]
    list: bool,
}

/// Prints the page, or the list.
pub fn run(args: Args) -> Result {
    let text = match args.rule {
        Some(rule) => explain::page(&rule)?.text(console::width()),
        None => explain::list(),
    };
    console::print(&text)?;
    Ok(Outcome::Done)
}
