//! `sp-gen diff <OLD> <NEW> --ops`: the differences between the op definitions of two releases.

use super::{Args, outcome, print, separate_suppressed};
use crate::diagnostic::Result;
use crate::ops::{definitions, parse_release};
use crate::report::{DiffReport, SideHeaders};
use sp_data::folders::DataFolders;
use sp_diff::ops::{OpSide, diff};
use sp_diff::suppress::Suppressions;

/// Prints the differences.
pub fn run(args: &Args, suppressions: &Suppressions, folders: &DataFolders) -> Result {
    let table = sp_data::ops::load(folders)?;
    let (old_release, old) = definitions(parse_release(&args.old)?, &table)?;
    let (new_release, new) = definitions(parse_release(&args.new)?, &table)?;
    let side = |label, ops| OpSide { label, ops };
    let found = diff(side(&args.old, &old), side(&args.new, &new), &args.target);
    let releases = Some((old_release, new_release));
    let (diff, suppressed) = separate_suppressed(found, suppressions, releases)?;
    let report = DiffReport {
        unread: Vec::new(),
        diff,
        suppressed,
        plugin: None,
    };
    print(&report, &SideHeaders::default(), args.format)?;
    Ok(outcome(report.diff.verdict, args.fail_on))
}
