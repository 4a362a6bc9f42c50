//! `sp-gen verify PLUGIN.so`: checks a built plugin, and prints one row per check and release; with `--kernels`, lists its
//! kernels.

use super::{TextOrJson, next_pluggable_device};
use crate::console::{self, note, shows_progress};
use crate::diagnostic::{CommandOutcome, Result, show};
use crate::operand;
use crate::verify::{self, VerifyError, VerifyReport, json, kernels, pjrt, text, verify};
use indicatif::{ProgressBar, ProgressStyle};
use sp_data::release::{Release, RequestedRelease};
use sp_host::VerifyOptions;
use std::num::NonZero;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

/// Text of `--help` after the options: examples, safety and the exit status.
const NOTES: &str = "\
Examples:
  sp-gen verify libmyaccel.so                                   check it in every release
  sp-gen verify libmyaccel.so --release 2.21 --require-device   fail if it has no device in 2.21
  sp-gen verify libmyaccel.so --release 2.18,2.21               check it in two releases
  sp-gen verify libmyaccel.so --kernels                         list its kernels by release
  sp-gen verify libmyaccel.so --format json                     print JSON
  sp-gen verify libmypjrt.so --host jaxlib:0.10                 check a PJRT plugin as jaxlib 0.10 loads it

verify runs the plugin's code. Each check runs in a separate process with limited time and output, but that \
is not a sandbox: the plugin has all of your permissions, and could delete your files. Run an untrusted plugin \
in a container or a virtual machine.

Exit status: 0 no check failed, 1 a check failed, 2 nothing could be checked, or the time limit of the run elapsed. With --kernels: 0 every kernel can run, \
1 one cannot, 2 nothing could be listed.";

/// Arguments of `verify`.
#[derive(clap::Args)]
#[command(after_help = NOTES)]
pub struct Args {
    /// The plugin's shared library
    plugin: PathBuf,
    /// The releases that the test host emulates, or all
    #[arg(
        long,
        default_value = "all",
        value_name = "RELEASE|nightly|all",
        value_delimiter = ','
    )]
    release: Vec<ReleaseFilter>,
    /// The hosts of a PJRT plugin that are emulated, such as jaxlib:0.10 or tensorflow:2.21, or all [default: the newest of each]
    #[arg(long, value_name = "HOST|all", value_delimiter = ',', conflicts_with_all = ["release", "kernels"])]
    host: Vec<String>,
    /// List the kernels that it registers, and those that can never run, instead of checking it
    #[arg(long, conflicts_with = "require_device")]
    kernels: bool,
    /// Fail for each release in which the plugin has no device
    #[arg(long)]
    require_device: bool,
    /// Time limit of a check in seconds [default: 30]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: Option<u64>,
    /// Time limit of the whole run in seconds: no check starts after it
    #[arg(long, value_name = "SECONDS", default_value_t = 900, value_parser = clap::value_parser!(u64).range(1..=864_000))]
    run_timeout: u64,
    /// Number of checks that run in parallel [default: two per core]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// The output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
}

/// A release to check, or all if `None`.
#[derive(Clone, Copy)]
struct ReleaseFilter(Option<RequestedRelease>);

impl FromStr for ReleaseFilter {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        match text {
            "all" => Ok(Self(None)),
            _ => text.parse().map(|release| Self(Some(release))),
        }
    }
}

impl Args {
    /// Returns the requested releases; none if all are to be checked.
    fn releases(&self) -> Result<Vec<Release>> {
        let requested: Option<Vec<RequestedRelease>> =
            self.release.iter().map(|filter| filter.0).collect();
        let requested = requested.unwrap_or_default().into_iter();
        let resolved = requested.map(|requested| Ok(operand::resolve(requested)?));
        resolved.collect()
    }

    fn options(&self) -> VerifyOptions<'static> {
        VerifyOptions {
            timeout: self.timeout.map(Duration::from_secs),
            run_timeout: Some(Duration::from_secs(self.run_timeout)),
            jobs: self.jobs,
            require_device: self.require_device,
            contract: None,
        }
    }
}

/// Verifies the plugin and prints the report. The outcome is `Found` if a check failed.
pub fn run(args: Args) -> Result {
    if args.kernels {
        return list_kernels(&args);
    }
    let entry_points = pjrt::entry_points(&args.plugin);
    if !args.host.is_empty() || (entry_points.pjrt && !entry_points.tensorflow) {
        if args.release.iter().any(|it| it.0.is_some()) {
            return Err(verify::VerifyError::ReleasesOfPjrt.into());
        }
        return run_pjrt(&args);
    }
    if entry_points.pjrt {
        note!("the plugin also exports GetPjrtApi: `--host all` checks it as a PJRT plugin");
    }
    let chosen = args.releases()?;
    let bar = new_bar(&chosen, sp_host::CHECKS.len());
    let report = verify(&args.plugin, &chosen, &args.options(), |release, row| {
        bar.set_message(format!("{} in {release}", row.check));
        bar.inc(1);
    });
    bar.finish_and_clear();
    let report = report?;
    let page = match args.format {
        TextOrJson::Text => text::print(&report),
        TextOrJson::Json => json::print(&report),
    };
    console::print(&page)?;
    Ok(report_outcome(&report))
}

/// Verifies a PJRT plugin and prints the report. The outcome is `Found` if a check failed.
fn run_pjrt(args: &Args) -> Result {
    let hosts = pjrt::hosts(&args.host)?;
    let bar = new_bar_with_steps(hosts.len() * sp_pjrt_host::CHECKS.len());
    let report = pjrt::verify(&args.plugin, &hosts, &args.options(), |host, row| {
        bar.set_message(format!("{} in {host}", row.check));
        bar.inc(1);
    });
    bar.finish_and_clear();
    let report = report?;
    console::print(&match args.format {
        TextOrJson::Text => text::print_rows(&report),
        TextOrJson::Json => pjrt::json(&report),
    })?;
    Ok(report_outcome(&report))
}

/// Returns the outcome of a report, after a message about checks that were not run.
fn report_outcome(report: &VerifyReport) -> CommandOutcome {
    let incomplete = report.incomplete();
    if let Some(error) = incomplete.filter(|_| report.is_checked()) {
        show(&error.into());
        return match report.has_failures() {
            true => CommandOutcome::Found,
            false => CommandOutcome::Incomplete,
        };
    }
    outcome(report.nothing_checked(), report.has_failures())
}

/// Lists the kernels. The outcome is `Found` if one of them can never run.
fn list_kernels(args: &Args) -> Result {
    let chosen = args.releases()?;
    let bar = new_bar(&chosen, 1);
    let report = kernels::list(&args.plugin, &chosen, &args.options(), |release, _| {
        bar.set_message(format!("kernels in {release}"));
        bar.inc(1);
    });
    bar.finish_and_clear();
    let report = report?;
    if let Some(text) = next_pluggable_device::note(&args.plugin) {
        note!("{text}");
    }
    console::print(&match args.format {
        TextOrJson::Text => kernels::text::print(&report),
        TextOrJson::Json => kernels::json::print(&report),
    })?;
    match report.incomplete() {
        Some(error) if !report.has_findings() => {
            show(&error.into());
            Ok(CommandOutcome::Incomplete)
        }
        _ => Ok(outcome(report.nothing_checked(), report.has_findings())),
    }
}

fn outcome(nothing_checked: Option<VerifyError>, has_findings: bool) -> CommandOutcome {
    match (nothing_checked, has_findings) {
        (Some(error), _) => {
            show(&error.into());
            CommandOutcome::Incomplete
        }
        (None, true) => CommandOutcome::Found,
        (None, false) => CommandOutcome::Done,
    }
}

fn new_bar(chosen: &[Release], checks: usize) -> ProgressBar {
    let releases = match chosen.len() {
        0 => verify::RELEASES,
        count => count,
    };
    new_bar_with_steps(releases * checks)
}

fn new_bar_with_steps(steps: usize) -> ProgressBar {
    if !shows_progress() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}");
    ProgressBar::new(steps as u64)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
