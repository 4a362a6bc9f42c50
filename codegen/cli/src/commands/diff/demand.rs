//! `sp-gen diff jaxlib:0.9 jaxlib:0.10`: the differences between what two hosts demand of a PJRT plugin.

use std::path::Path;

use miette::Diagnostic;
use thiserror::Error;

use super::{Args, print_whole};
use crate::diagnostic::Result;
use sp_data::demand::{self, Demand};
use sp_diff::demand::diff;
use sp_diff::suppress::Suppressions;

/// An option or a side that a diff of hosts does not have.
#[derive(Debug, Error, Diagnostic)]
#[error("{what} cannot be compared with the demands of a host of PJRT plugins")]
#[diagnostic(
    code(sp_gen::diff::demand),
    help("both sides are hosts, such as `jaxlib:0.9 jaxlib:0.10`, without --api and --plugin")
)]
struct NotComparable {
    what: String,
}

/// Returns both hosts if a side is one: `HOST:RELEASE`, unless a file has that name.
pub fn hosts(args: &Args) -> Result<Option<[Demand; 2]>> {
    let sides = [&args.old, &args.new].map(|text| named_host(text));
    let [old, new] = match sides {
        [None, None] => return Ok(None),
        [Some(old), Some(new)] => [old, new],
        [None, Some((host, _))] | [Some((host, _)), None] if !demand::hosts().contains(&host) => {
            return Ok(None);
        }
        [None, Some(_)] => return Err(not_comparable(&args.old)),
        [Some(_), None] => return Err(not_comparable(&args.new)),
    };
    if !args.api.is_empty() {
        return Err(not_comparable("--api"));
    }
    if args.plugin.is_some() {
        return Err(not_comparable("--plugin"));
    }
    let [old, new] = [demand::find(old.0, old.1)?, demand::find(new.0, new.1)?];
    Ok(Some([old, new]))
}

fn named_host(text: &str) -> Option<(&str, &str)> {
    let (host, release) = text.split_once(':')?;
    let is_name = !host.contains(['/', '\\']) && host.len() > 1;
    (is_name && !Path::new(text).exists()).then_some((host, release))
}

fn not_comparable(what: &str) -> miette::Report {
    let what = format!("`{}`", sp_host::escape_control(what));
    NotComparable { what }.into()
}

/// Prints the differences.
pub fn run(args: &Args, suppressions: &Suppressions, [old, new]: [Demand; 2]) -> Result {
    let found = diff(&old, &new, &args.target);
    print_whole(args, suppressions, None, found)
}
