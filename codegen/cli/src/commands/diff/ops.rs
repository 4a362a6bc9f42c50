//! `sp-gen diff <OLD> <NEW> --ops`: the differences between the op definitions of two releases.

use super::{Args, print_whole};
use crate::diagnostic::Result;
use crate::ops::{definitions, parse_release};
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
    print_whole(args, suppressions, Some((old_release, new_release)), found)
}
