//! `sp-gen history [<NAME>]`: the changes of an API, a struct or a function over the releases.

use clap::ValueEnum;
use miette::IntoDiagnostic;
use sp_ir::History;

use crate::console;
use crate::diagnostic::{CommandOutcome, Result};
use crate::history::{DemandHistory, FunctionExporters, Subject, json, page, text};
use crate::operand;
use sp_data::release::RequestedRelease;
use sp_data::snapshots;
use sp_data::symbols::Symbols;

const EXAMPLES: &str = "\
Examples:
  sp-gen history                                   print the changes of all APIs
  sp-gen history SP_StreamExecutor                 print the layouts of a struct
  sp-gen history kernels --format html > k.html    write an HTML page
  sp-gen history pjrt --host jaxlib                print what each release of a host demands of a PJRT plugin";

/// Arguments of `history`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// An API, a struct, a function, a callback or a field (`SP_Device.ordinal`) [default: all APIs]
    #[arg(value_name = "API|STRUCT|FUNCTION")]
    name: Option<String>,
    /// The newest release to print: 2.21, 2.22.0rc0, nightly [default: the newest with snapshots]
    #[arg(long, value_name = "R")]
    release: Option<RequestedRelease>,
    /// Print what the releases of this host demand of a PJRT plugin: jaxlib, tensorflow. The name is `pjrt` or a slot
    #[arg(long, value_name = "HOST", conflicts_with = "release")]
    host: Option<String>,
    /// The output format
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Output format of a history.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Text for a terminal
    Text,
    /// JSON for programs
    Json,
    /// An HTML page in one file
    Html,
}

/// Prints the history.
pub fn run(args: Args) -> Result {
    if let Some(host) = &args.host {
        return run_host(host, args.name.as_deref(), args.format);
    }
    let folders = operand::readable_folders(&operand::current_folder()?);
    let release = args.release.map(operand::resolve).transpose()?;
    let apis = snapshots::read_history(&folders, release)?;
    let history = History::from_apis(&apis);
    let exports = FunctionExporters::find(&apis, &Symbols::load(&folders)?);
    let subject = Subject::find(&history, args.name.as_deref())?;
    let printed = match args.format {
        Format::Text => text(&history, &exports, &subject, console::paint()),
        Format::Json => json(&history, &exports, &subject),
        Format::Html => page(&history, &exports, &subject).into_diagnostic()?,
    };
    console::print(&printed)?;
    Ok(CommandOutcome::Done)
}

/// Prints the history of a host's demands.
fn run_host(host: &str, name: Option<&str>, format: Format) -> Result {
    let history = DemandHistory::read(host, name)?;
    let printed = match format {
        Format::Text => history.text(),
        Format::Json => history.json(),
        Format::Html => {
            return Err(miette::miette!(
                code = "sp_gen::history::format",
                help = "choose text or json; generated/docs/pjrt-demand.md is a page of all hosts",
                "there is no HTML page of the demands of a host"
            ));
        }
    };
    console::print(&printed)?;
    Ok(CommandOutcome::Done)
}
