//! `sp-gen new <NAME>`: a plugin's folder, and the commands to go on with.

use crate::console::{self, note, warning};
use crate::diagnostic::{Outcome, Result};
use crate::scaffold::repository::{self, Repository};
use crate::scaffold::{Names, Part, Parts, SpSource, create};
use miette::IntoDiagnostic;
use std::path::PathBuf;

const EXAMPLES: &str = "\
Examples:
  sp-gen new myaccel                                    a plugin in ./myaccel
  sp-gen new myaccel --device-type NPU --path plugin    another device type and folder
  sp-gen new myaccel --without optimizer,profiler       device and kernels alone";

/// Arguments of `new`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The plugin's name, which is a crate's: myaccel
    name: String,
    /// The folder to write; ./NAME if absent
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    /// The type TensorFlow lists the device by; NAME in capitals if absent
    #[arg(long, value_name = "TYPE")]
    device_type: Option<String>,
    /// The name of its platform; NAME in capitals if absent
    #[arg(long, value_name = "NAME")]
    platform_name: Option<String>,
    /// Parts to leave out
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    without: Vec<Part>,
    /// Where the sp-* crates come from: `vendor` lays them down under vendor/, `path=DIR` uses a checkout
    #[arg(long, value_name = "vendor|path=DIR", default_value = "vendor", value_parser = sp_source)]
    sp_source: SpSource,
    /// The version control that the folder gets, unless it is inside a repository
    #[arg(long, value_enum, default_value_t = Vcs::Git)]
    vcs: Vcs,
}

/// A version control system.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Vcs {
    Git,
    None,
}

fn sp_source(text: &str) -> std::result::Result<SpSource, String> {
    match text.split_once('=') {
        None if text == "vendor" => Ok(SpSource::Vendor),
        Some(("path", folder)) if !folder.is_empty() => Ok(SpSource::Checkout(folder.into())),
        _ => Err("write `vendor` or `path=DIR`".to_owned()),
    }
}

/// Writes the plugin and says how to go on.
pub fn run(args: Args) -> Result {
    let names = Names::new(
        &args.name,
        args.device_type.as_deref(),
        args.platform_name.as_deref(),
    )?;
    let target = args.path.unwrap_or_else(|| PathBuf::from(&args.name));
    let source = match args.sp_source {
        SpSource::Vendor => SpSource::Vendor,
        SpSource::Checkout(folder) => {
            SpSource::Checkout(std::path::absolute(folder).into_diagnostic()?)
        }
    };
    let parts = Parts::without(&args.without);
    let written = create(&target, &names, parts, &source)?;
    let folder = target.display().to_string();
    if args.vcs == Vcs::Git && repository::init(&target) == Repository::Unavailable {
        warning!("{folder}: no git repository: `git init` failed or git is not installed");
    }
    note!(
        "{folder}: {} files that are yours, {} that sp-gen carries",
        written.own,
        written.carried
    );
    for line in guide(parts) {
        note!("  {line}");
    }
    note!("  TensorFlow will list it as {}", names.device_type());
    note!("\nGo on with:");
    console::print(&format!(
        "cd {}\npip install .\npython -c 'import tensorflow as tf; print(tf.config.list_physical_devices(\"{}\"))'\n",
        quoted(&folder),
        names.device_type()
    ))?;
    Ok(Outcome::Done)
}

/// Where to begin to read.
fn guide(parts: Parts) -> impl Iterator<Item = &'static str> {
    let lines = [
        (true, "src/device.rs is the device"),
        (parts.kernels, "src/kernels/ are its own kernels"),
        (
            parts.optimizer,
            "src/optimizer.rs changes graphs before they run",
        ),
        (
            parts.profiler,
            "src/profiler.rs shows in TensorBoard when kernels ran",
        ),
        (
            true,
            "what is not written yet runs on the reference backend",
        ),
    ];
    lines
        .into_iter()
        .filter_map(|(there, line)| there.then_some(line))
}

/// For a shell, where the folder's name asks for it.
fn quoted(folder: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    match folder.chars().all(plain) && !folder.starts_with('-') {
        true => folder.to_owned(),
        false => format!("'{}'", folder.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_quoted_where_a_shell_would_split_them() {
        assert_eq!(quoted("a/b-c_1.x"), "a/b-c_1.x");
        assert_eq!(quoted("my dir"), "'my dir'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }

    #[test]
    fn a_source_is_vendor_or_a_path() {
        assert_eq!(sp_source("vendor"), Ok(SpSource::Vendor));
        assert_eq!(
            sp_source("path=../x"),
            Ok(SpSource::Checkout("../x".into()))
        );
        assert!(sp_source("path=").is_err() && sp_source("git").is_err());
    }
}
