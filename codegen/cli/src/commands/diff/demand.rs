//! `sp-gen diff jaxlib:0.9 jaxlib:0.10`: the differences between what two hosts demand of a PJRT plugin; with `--plugin`, what
//! prevents the plugin from running on the second one.

use std::path::Path;

use miette::Diagnostic;
use thiserror::Error;

use super::{Args, outcome, print, print_whole, separate_suppressed};
use crate::diagnostic::Result;
use crate::report::{DiffReport, SideHeaders};
use sp_data::demand::{self, Demand};
use sp_diff::demand::{PluginFacts, diff, diff_for_plugin};
use sp_diff::plugin::PluginUsage;
use sp_diff::suppress::Suppressions;
use sp_diff::{Diff, Finding};
use sp_host::{CheckStatus, escape_control};
use sp_pjrt_host::{ENTRY_POINT, PjrtHost, read_table, run_check};

/// An option or a side that a diff of hosts does not have.
#[derive(Debug, Error, Diagnostic)]
#[error("{what} cannot be compared with the demands of a host of PJRT plugins")]
#[diagnostic(
    code(sp_gen::diff::demand),
    help("both sides are hosts, such as `jaxlib:0.9 jaxlib:0.10`, without --api")
)]
struct NotComparable {
    what: String,
}

/// A plugin without a table.
#[derive(Debug, Error, Diagnostic)]
#[error("plugin {path} has no table of PJRT that can be read: {reason}")]
#[diagnostic(
    code(sp_gen::diff::plugin_table),
    help("`sp-gen verify` checks the library and its entry point")
)]
struct NoTable {
    path: String,
    reason: String,
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
    let [old, new] = [demand::find(old.0, old.1)?, demand::find(new.0, new.1)?];
    Ok(Some([old, new]))
}

fn named_host(text: &str) -> Option<(&str, &str)> {
    let (host, release) = text.split_once(':')?;
    let is_name = !host.contains(['/', '\\']) && host.len() > 1;
    (is_name && !Path::new(text).exists()).then_some((host, release))
}

fn not_comparable(what: &str) -> miette::Report {
    let what = format!("`{}`", escape_control(what));
    NotComparable { what }.into()
}

/// Prints the differences.
pub fn run(args: &Args, suppressions: &Suppressions, [old, new]: [Demand; 2]) -> Result {
    let all = diff(&old, &new, &args.target);
    let Some(path) = &args.plugin else {
        return print_whole(args, suppressions, None, all);
    };
    let facts = plugin_facts(path, &new)?;
    let own = diff_for_plugin(&old, &new, &facts, &args.target);
    // A suppression may name a finding that does not concern the plugin.
    let (mut diff, mut suppressed) =
        separate_suppressed(with_others(&own, all), suppressions, None)?;
    (diff, _) = diff.partition(|finding| is_of(&own, finding));
    suppressed.retain(|it| is_of(&own, &it.finding));
    let report = DiffReport {
        unread: Vec::new(),
        diff,
        suppressed,
        plugin: Some(PluginUsage::from_entry_point(path, ENTRY_POINT, "pjrt")),
    };
    print(&report, &SideHeaders::default(), args.format)?;
    Ok(outcome(report.diff.verdict, args.fail_on))
}

/// Reads the plugin's table, and runs the checks of NEW about sizes of structs and tables of memories, each in a child process.
fn plugin_facts(path: &Path, new: &Demand) -> Result<PluginFacts> {
    let no_table = |reason| NoTable {
        path: escape_control(&path.display().to_string()),
        reason,
    };
    // The loader searches its own folders for a name without a slash.
    let full = path.canonicalize();
    let full = full.map_err(|error| no_table(error.to_string()))?;
    let host = PjrtHost::of_release(&new.host, &new.release).map(ToString::to_string);
    let run = |check| host.as_ref().map(|host| run_check(check, host, &full));
    let sizes = ["pjrt_shorter_structs", "pjrt_longer_structs"];
    let mut sizes = sizes.into_iter().filter_map(run);
    let rejected = sizes.find(|outcome| outcome.status == CheckStatus::Fail);
    let tables = run("pjrt_memory_tables");
    Ok(PluginFacts {
        table: read_table(&full).map_err(no_table)?,
        rejected_size: rejected.map(|outcome| escape_control(&outcome.detail)),
        has_memory_tables: tables.is_some_and(|it| it.status == CheckStatus::Pass),
    })
}

/// Adds the findings that do not concern the plugin.
fn with_others(own: &Diff, all: Diff) -> Diff {
    let (_, others) = all.partition(|finding| is_of(own, finding));
    let findings = own.findings.iter().cloned().chain(others);
    Diff::new(&own.old, &own.new, &own.target, findings.collect())
}

fn is_of(own: &Diff, finding: &Finding) -> bool {
    let mut found = own.findings.iter();
    found.any(|it| it.rule == finding.rule && it.item == finding.item)
}
