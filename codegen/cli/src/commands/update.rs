//! `sp-gen update [DIR]`: a plugin's vendored crates and lock, brought to this sp-gen's.

use super::diff;
use crate::console::{print, warning};
use crate::diagnostic::{Outcome, Result};
use crate::scaffold::update::{Mention, Plan};
use clap::Parser;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const NOTES: &str = "\
Replaces what sp-gen wrote under vendor/, and in Cargo.lock the packages of these crates and what they need. \
Nothing else is touched. A file under vendor/ that is not as sp-gen wrote it stays and is named, unless --force. \
vendor/.sp-gen.json shows what sp-gen wrote; a plugin without it, of an older sp-gen, is updated with --force.

Examples:
  sp-gen update                  the plugin in this folder
  sp-gen update myaccel --check  would it change something?

Exit status: 0 all is this sp-gen's, 1 a file stayed or, with --check, something would change, 2 not updated.";

/// The names of files that are shown of one kind; a plugin without a listing may have hundreds.
const SHOWN: usize = 20;

/// Arguments of `update`.
#[derive(clap::Args)]
#[command(after_help = NOTES)]
pub struct Args {
    /// The plugin's folder
    #[arg(default_value = ".", value_name = "DIR")]
    folder: PathBuf,
    /// Write nothing; exit 1 if something would change
    #[arg(long)]
    check: bool,
    /// Replace files under vendor/ that are not as sp-gen wrote them, too
    #[arg(long)]
    force: bool,
}

/// A command line of `diff`, for its arguments.
#[derive(Parser)]
struct DiffLine {
    #[command(flatten)]
    args: diff::Args,
}

/// Updates the plugin and prints what changed for its author.
pub fn run(args: Args) -> Result {
    let plan = Plan::new(&args.folder, args.force)?;
    if !args.check {
        plan.apply()?;
    }
    print(&changes(&plan, args.check))?;
    print(&for_the_author(&plan))?;
    let changed = plan.changes().next().is_some();
    if changed {
        diff_of_use(&args.folder, &plan)?;
    }
    report_left_alone(&plan);
    Ok(
        match plan.left_alone.is_empty() && !(args.check && changed) {
            true => Outcome::Done,
            false => Outcome::Found,
        },
    )
}

/// Returns a line for each crate that changes, and for the lock.
fn changes(plan: &Plan, is_check: bool) -> String {
    let verb = if is_check { "would update" } else { "updated" };
    let mut crates: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for (path, is_written) in plan.changes().filter(|(path, _)| !is_of_sp_gen(path)) {
        let folder = path.splitn(3, '/').take(2).collect::<Vec<_>>().join("/");
        let key = path.get(..folder.len()).unwrap_or(path);
        crates.entry(key).or_default()[usize::from(!is_written)] += 1;
    }
    let mut text = String::new();
    for (name, [written, removed]) in &crates {
        text += &match (*name, removed) {
            ("Cargo.lock" | "vendor/Cargo.toml", _) => format!("{verb} {name}\n"),
            (_, 0) => format!("{verb} {name}: {written} files written\n"),
            _ => format!("{verb} {name}: {written} files written, {removed} removed\n"),
        };
    }
    match text.is_empty() && plan.left_alone.is_empty() {
        true => format!(
            "vendor/ and Cargo.lock are those of sp-gen {}\n",
            env!("CARGO_PKG_VERSION")
        ),
        false => text,
    }
}

/// Returns true for the listing, which is no news.
fn is_of_sp_gen(path: &str) -> bool {
    path == crate::scaffold::listing::PATH
}

/// Returns what changes for the plugin's own files and packages.
fn for_the_author(plan: &Plan) -> String {
    let mut text = String::new();
    for (names, verb) in plan.crates.iter().zip(["new crate", "removed crate"]) {
        text.extend(names.iter().map(|name| format!("{verb}: {name}\n")));
    }
    match &plan.lock {
        Ok(packages) if packages.is_empty() => {}
        Ok(packages) => text += &format!("packages in Cargo.lock: {}\n", packages.join(", ")),
        Err(reason) => {
            text +=
                &format!("Cargo.lock is not updated, {reason}: the next build by cargo does it\n");
        }
    }
    text.extend(plan.mentions.iter().map(mention));
    text
}

fn mention(mention: &Mention) -> String {
    let Mention {
        file,
        line,
        item,
        of_crate,
        renamed,
    } = mention;
    let rest = match renamed {
        Some(new) => format!("is `{new}` now"),
        None => "is gone".to_owned(),
    };
    format!("{file}:{line}: `{item}` of {of_crate} {rest}\n")
}

/// Names on stderr what stays, and what to do about it.
fn report_left_alone(plan: &Plan) {
    if plan.left_alone.is_empty() {
        return;
    }
    let why = match plan.has_listing {
        true => "not as sp-gen wrote them, and left as they are",
        false => {
            "left as they are, since vendor/.sp-gen.json, which shows what sp-gen wrote, is absent"
        }
    };
    warning!("{} files are {why}:", plan.left_alone.len());
    for path in plan.left_alone.iter().take(SHOWN) {
        warning!("  {}", path.escape_debug());
    }
    if let Some(more) = plan
        .left_alone
        .len()
        .checked_sub(SHOWN)
        .filter(|more| *more > 0)
    {
        warning!("  ... and {more} more");
    }
    warning!(
        "The crates may not build together. If nobody changed them by hand, `sp-gen update --force` replaces them; \
         otherwise commit first, and apply your changes again."
    );
    if plan
        .left_alone
        .iter()
        .any(|path| path.starts_with("vendor/sp-abi/src/"))
    {
        warning!(
            "A vendor/sp-abi that `sp-gen generate` wrote is written again by the same command."
        );
    }
}

/// Prints what the release step from the old crates to the new ones changes for the built plugin.
fn diff_of_use(folder: &Path, plan: &Plan) -> Result<()> {
    let [Some(old), Some(new)] = &plan.releases else {
        return Ok(());
    };
    if old == new {
        return print(&format!(
            "the contract is that of TensorFlow {new}, as before\n"
        ));
    }
    let built = built(folder);
    if built.is_empty() {
        return print(&format!(
            "the contract is that of TensorFlow {new}, before {old}; what of it concerns the plugin, once it is built:\n  \
             sp-gen diff {old} {new} --plugin target/release/lib*.so\n"
        ));
    }
    let config = folder.join("sp-gen.toml");
    for library in built {
        let mut line = vec!["diff".into(), old.into(), new.into()];
        line.extend(["--fail-on".into(), "never".into(), "--plugin".into()]);
        line.push(library.into_os_string());
        if config.is_file() {
            line.extend(["--config".into(), config.clone().into_os_string()]);
        }
        let parsed = DiffLine::try_parse_from(line).map_err(miette::Report::msg)?;
        // A release that this sp-gen has no snapshot of must not hide that the update is done.
        if let Err(report) = diff::run(parsed.args) {
            crate::diagnostic::show(&report);
        }
    }
    Ok(())
}

/// Returns the libraries that `cargo build --release` made.
fn built(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("target/release"))
        .into_iter()
        .flatten();
    let is_library = |path: &PathBuf| {
        let name = path.file_name().map(|it| it.to_string_lossy().into_owned());
        name.is_some_and(|it| it.starts_with("lib") && it.ends_with(".so"))
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = paths.filter(is_library).collect();
    found.sort();
    found
}
