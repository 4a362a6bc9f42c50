//! `sp-gen update [DIR]`: replaces a plugin's vendored crates by those of this sp-gen, and updates its Cargo.lock. Of a plugin in C it
//! replaces the headers.

use super::{diff, generate};
use crate::console::{print, warning};
use crate::diagnostic::{CommandOutcome, Result, show};
use crate::listing;
use crate::scaffold::C_HEADERS;
use crate::scaffold::update::{Mention, UpdatePlan};
use sp_system::replacement::{LISTING, recover};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const NOTES: &str = "\
update replaces the files that sp-gen wrote under vendor/, and in Cargo.lock the packages of these crates and \
their dependencies. It changes no other file. A file under vendor/ that differs from what sp-gen wrote is \
reported and not replaced, unless --force is given. vendor/.sp-gen.json lists the hashes of what sp-gen wrote. A \
plugin of an older sp-gen does not have it: update it with --force. Of a plugin in C, which has no vendor/, it replaces the headers \
in spgen/ in the same way.

Examples:
  sp-gen update                  update the plugin in this folder
  sp-gen update myaccel --check  exit with 1 if it is outdated

Exit status: 0 up to date, 1 a file was not replaced or, with --check, the plugin is outdated, 2 not updated.";

/// Maximum number of listed files. A plugin without a listing may have hundreds.
const MAX_LISTED: usize = 20;

/// Arguments of `update`.
#[derive(clap::Args)]
#[command(after_help = NOTES)]
pub struct Args {
    /// The plugin's folder
    #[arg(default_value = ".", value_name = "DIR")]
    folder: PathBuf,
    /// Write nothing; exit with 1 if the plugin is outdated
    #[arg(long)]
    check: bool,
    /// Also replace files under vendor/ or spgen/ that differ from what sp-gen wrote
    #[arg(long)]
    force: bool,
}

/// Updates the plugin and prints the changes.
pub fn run(args: Args) -> Result {
    let headers = args.folder.join(C_HEADERS);
    if headers.join(LISTING).is_file() && !args.folder.join("vendor").exists() {
        return generate::run(generate::Args::for_c_headers(
            headers, args.check, args.force,
        ));
    }
    if !args.check {
        recover(&args.folder)?;
    }
    let plan = UpdatePlan::new(&args.folder, args.force)?;
    if !args.check {
        plan.apply()?;
    }
    let reported = report(&args, &plan);
    report_left_alone(&plan);
    match reported {
        Err(error) if args.check => return Err(error),
        // The files are replaced: exit status 2 would mean that they are not.
        Err(error) => show(&error),
        Ok(()) => {}
    }
    let is_outdated = args.check && plan.changes().next().is_some();
    Ok(match plan.left_alone.is_empty() && !is_outdated {
        true => CommandOutcome::Done,
        false => CommandOutcome::Found,
    })
}

/// Prints the changes.
fn report(args: &Args, plan: &UpdatePlan) -> Result<()> {
    print(&crate_changes(plan, args.check))?;
    print(&author_changes(plan))?;
    match plan.changes().next() {
        Some(_) => print_release_diff(&args.folder, plan),
        None => Ok(()),
    }
}

/// Formats the changes of the lock and of each crate, one line each. The listing is reported if nothing else changes.
fn crate_changes(plan: &UpdatePlan, is_check: bool) -> String {
    let verb = if is_check { "would update" } else { "updated" };
    let mut crates: BTreeMap<&str, [usize; 2]> = BTreeMap::new();
    for (path, is_written) in plan.changes().filter(|(path, _)| *path != listing::PATH) {
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
    if text.is_empty() && plan.changes().next().is_some() {
        return format!("{verb} {}\n", listing::PATH);
    }
    match text.is_empty() && plan.left_alone.is_empty() {
        true => format!(
            "vendor/ and Cargo.lock are up to date with sp-gen {}\n",
            env!("CARGO_PKG_VERSION")
        ),
        false => text,
    }
}

/// Formats the changes that affect the plugin's own files and packages.
fn author_changes(plan: &UpdatePlan) -> String {
    let mut text = String::new();
    for (names, verb) in plan.crates.iter().zip(["new crate", "removed crate"]) {
        text.extend(names.iter().map(|name| format!("{verb}: {name}\n")));
    }
    match &plan.lock {
        Ok(packages) if packages.is_empty() => {}
        Ok(packages) => text += &format!("packages in Cargo.lock: {}\n", packages.join(", ")),
        Err(reason) => {
            text += &format!(
                "Cargo.lock is not updated: {reason}; the next build with cargo updates it\n"
            );
        }
    }
    text.extend(plan.mentions.iter().map(format_mention));
    text
}

fn format_mention(mention: &Mention) -> String {
    let Mention {
        file,
        line,
        item,
        of_crate,
        renamed,
    } = mention;
    let rest = match renamed {
        Some(new) => format!("was renamed to `{new}`"),
        None => "was removed".to_owned(),
    };
    format!("{file}:{line}: `{item}` of {of_crate} {rest}\n")
}

/// Prints to stderr the files that were left alone, and what to do.
fn report_left_alone(plan: &UpdatePlan) {
    if plan.left_alone.is_empty() {
        return;
    }
    let reason = match plan.has_listing {
        true => "differ from what sp-gen wrote, and were not replaced",
        false => {
            "were not replaced, since vendor/.sp-gen.json, which lists the hashes of what sp-gen wrote, is absent"
        }
    };
    warning!("{} files {reason}:", plan.left_alone.len());
    for path in plan.left_alone.iter().take(MAX_LISTED) {
        warning!("  {}", path.escape_debug());
    }
    if let Some(more) = plan
        .left_alone
        .len()
        .checked_sub(MAX_LISTED)
        .filter(|more| *more > 0)
    {
        warning!("  ... and {more} more");
    }
    warning!(
        "The vendored crates may not build together. If nobody edited these files, `sp-gen update --force` replaces them; \
         otherwise commit, use --force, and apply your changes again."
    );
    if plan
        .left_alone
        .iter()
        .any(|path| path.starts_with("vendor/sp-abi/src/"))
    {
        warning!("To update a vendor/sp-abi that `sp-gen generate` wrote, run that command again.");
    }
}

/// Prints the diff between the releases of the old and the new crates, limited to what the built plugin uses.
fn print_release_diff(folder: &Path, plan: &UpdatePlan) -> Result<()> {
    let [Some(old), Some(new)] = &plan.releases else {
        return Ok(());
    };
    if old == new {
        return print(&format!("the crates are for TensorFlow {new}, as before\n"));
    }
    let libraries = built_libraries(folder);
    if libraries.is_empty() {
        return print(&format!(
            "the crates are for TensorFlow {new}, before for {old}; the changes for the plugin, once it is built:\n  \
             sp-gen diff {old} {new} --plugin target/release/lib*.so\n"
        ));
    }
    let config = folder.join("sp-gen.toml");
    for library in libraries {
        let config = config.is_file().then(|| config.clone());
        // A release without snapshots must not prevent the report on the next library.
        if let Err(report) = diff::run(diff::Args::for_plugin([old, new], library, config)) {
            show(&report);
        }
    }
    Ok(())
}

/// Returns the plugin's libraries that `cargo build --release` wrote.
fn built_libraries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder.join("target/release"))
        .into_iter()
        .flatten();
    let is_library = |path: &PathBuf| {
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| name.starts_with("lib") && name.ends_with(".so"))
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut found: Vec<PathBuf> = paths.filter(is_library).collect();
    found.sort();
    found
}
