//! `sp-gen port <FILE>...`: skeletons in Rust of the kernels and ops that C++ sources register.

use sp_system::errors;
use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use miette::Diagnostic;
use sp_port::{Options, Plan, Registrations, Source};
use thiserror::Error;

use super::TextOrJson;
use crate::console::{self, note};
use crate::diagnostic::{CommandOutcome, Result};
use crate::port::json;
use sp_system::input;

const EXAMPLES: &str = "\
Examples:
  sp-gen port bias_op.cc                                     print skeletons that compute on the host
  sp-gen port bias_op.cc --device crate::device::Myaccel     print skeletons for the memory of a device
  sp-gen port cwise_ops_common.h cwise_op_abs.cc -o abs.rs   read the macros of a header, and write a file
  sp-gen port ops.cc kernels.cc --format json                print the registrations for a program";

/// The most bytes of a source.
const MAX_SOURCE_BYTES: u64 = 4 << 20;

/// Arguments of `port`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// C++ sources with REGISTER_KERNEL_BUILDER and REGISTER_OP, and the headers whose macros they call
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The path of the device's type in Rust, for kernels in its memory [default: kernels that compute on the host]
    #[arg(long, value_name = "PATH", value_parser = parse_device)]
    device: Option<String>,
    /// The device type in C++ whose kernels are ported, such as CPU [default: that of an accelerator, if there is one]
    #[arg(long, value_name = "T")]
    device_type: Option<String>,
    /// The file to write to, which must not exist [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The output format
    #[arg(long, value_enum, default_value_t = TextOrJson::Text)]
    format: TextOrJson,
}

errors! {
    /// A failure of the command.
    #[derive(Debug, Error, Diagnostic)]
    enum PortError in port {
        /// A source cannot be read.
        UnreadableSource { path: String, reason: io::Error } = unreadable_source: ("{path}: {reason}"),
            help("name regular files of at most 4 MiB");

        /// The sources register nothing.
        NoRegistration { paths: String } = no_registration: ("no registration in {paths}"),
            help("name sources with `REGISTER_KERNEL_BUILDER` or `REGISTER_OP`");

        /// The file exists.
        ExistingFile { path: String } = existing_file: ("{path} exists"),
            help("nothing was written: name another file, or remove this one");

        /// The file cannot be written.
        UnwritableFile { path: String, reason: io::Error } = unwritable_file: ("cannot write {path}: {reason}"),
            help("name a file in an existing folder");
    }
}

/// Returns the text if it is a path such as `crate::device::Myaccel`.
fn parse_device(text: &str) -> std::result::Result<String, String> {
    let path: std::result::Result<syn::Path, _> = syn::parse_str(text);
    let is_plain = |path: &syn::Path| path.segments.iter().all(|it| it.arguments.is_none());
    match path {
        Ok(path) if is_plain(&path) => Ok(text.to_owned()),
        _ => Err("expected the path of a type, such as crate::device::Myaccel".to_owned()),
    }
}

/// Prints or writes the skeletons.
pub fn run(args: Args) -> Result {
    let sources = read(&args.files)?;
    let found = sp_port::scan(&sources);
    if found.is_empty() {
        let paths: Vec<String> = args.files.iter().map(|it| display(it)).collect();
        let paths = paths.join(", ");
        return Err(PortError::NoRegistration { paths }.into());
    }
    let options = Options {
        device: args
            .device
            .as_deref()
            .and_then(|it| syn::parse_str(it).ok()),
        device_type: args.device_type,
    };
    let plan = Plan::new(&found, &options);
    let rust = sp_port::print(&sources, &found, &plan, &options);
    let text = match args.format {
        TextOrJson::Text => rust,
        TextOrJson::Json => json::format(&sources, &found, &plan, &rust),
    };
    match &args.output {
        Some(path) => write_new(path, &text)?,
        None => console::print(&text)?,
    }
    report(&found, &plan);
    Ok(match found.unread.is_empty() {
        true => CommandOutcome::Done,
        false => CommandOutcome::Found,
    })
}

/// Reads the sources. A character that is not UTF-8 is replaced: names have none.
fn read(files: &[PathBuf]) -> Result<Vec<Source>> {
    let read = |path: &PathBuf| {
        let bytes = input::read(path, MAX_SOURCE_BYTES).map_err(|reason| {
            let path = display(path);
            PortError::UnreadableSource { path, reason }
        })?;
        Ok(Source {
            path: display(path),
            text: String::from_utf8_lossy(&bytes).into_owned(),
        })
    };
    files.iter().map(read).collect()
}

fn display(path: &Path) -> String {
    sp_host::escape_control(&path.to_string_lossy())
}

/// Writes a file that does not exist yet.
fn write_new(path: &Path, text: &str) -> Result<()> {
    let written = File::create_new(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.map_err(|reason| {
        let path = display(path);
        let error = match reason.kind() {
            ErrorKind::AlreadyExists => PortError::ExistingFile { path },
            _ => PortError::UnwritableFile { path, reason },
        };
        error.into()
    })
}

/// Prints how many registrations have a skeleton, and how many were not read.
fn report(found: &Registrations, plan: &Plan) {
    let ops = plan.ops.iter().filter(|it| it.function.is_ok()).count();
    note!(
        "kernels: {} registrations, {} without a skeleton, {} functions",
        found.kernels.len(),
        plan.omitted.len(),
        plan.kernels.len()
    );
    note!("ops: {} definitions, {ops} functions", found.ops.len());
    if !found.unread.is_empty() {
        note!("not read: {}, which the output lists", found.unread.len());
    }
}
