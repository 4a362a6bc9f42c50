//! `sp-gen new <NAME>`: writes a plugin, and prints the commands that build and use it.

use super::generate;
use crate::console::{self, note, warning};
use crate::diagnostic::{CommandOutcome, Result};
use crate::scaffold::repository::{self, Repository};
use crate::scaffold::{
    ExtraPart, Part, Parts, Plugin, PluginNames, SpSource, check_target, create, create_c,
};
use driver::DriverArgs;
use miette::{IntoDiagnostic, miette};
use std::path::{Path, PathBuf};

mod driver;

const EXAMPLES: &str = "\
Examples:
  sp-gen new myaccel                                    write a plugin to ./myaccel
  sp-gen new myaccel --device-type NPU --path plugin    use another device type and folder
  sp-gen new myaccel --without optimizer,profiler       write only device and kernels
  sp-gen new myaccel --with ops                         add an op of the plugin, with its Python function
  sp-gen new myaccel --driver /opt/vendor/accel.h       bind the C API of the device's driver
  sp-gen new myaccel --backend opencl                   compute with OpenCL: needs opencl-headers
  sp-gen new myaccel --lang c                           write a plugin in C and C++, built by CMake";

/// Arguments of `new`.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The name of the plugin and its crate, such as myaccel
    name: String,
    /// The language of the plugin
    #[arg(long, value_enum, default_value_t = Language::Rust, value_name = "LANG")]
    lang: Language,
    /// The folder to write to [default: ./NAME]
    #[arg(long, value_name = "DIR")]
    path: Option<PathBuf>,
    /// The device type that TensorFlow lists [default: NAME in capitals, without digits]
    #[arg(long, value_name = "TYPE")]
    device_type: Option<String>,
    /// The name of the device's platform [default: NAME in capitals, with digits as words]
    #[arg(long, value_name = "NAME")]
    platform_name: Option<String>,
    /// Parts to leave out
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    without: Vec<Part>,
    /// Parts to add
    #[arg(long, value_name = "PART", value_delimiter = ',')]
    with: Vec<ExtraPart>,
    /// The source of the sp-* crates: `vendor` writes them to vendor/, `path=DIR` uses a checkout of sp-gen
    #[arg(long, value_name = "vendor|path=DIR", default_value = "vendor", value_parser = parse_sp_source)]
    sp_source: SpSource,
    #[command(flatten)]
    driver: DriverArgs,
    /// The version control to initialize, unless the folder is in a repository
    #[arg(long, value_enum, default_value_t = Vcs::Git)]
    vcs: Vcs,
}

/// The language of a plugin.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Language {
    /// Rust: the reference device and its kernels do what the plugin does not
    Rust,
    /// C and C++, with CMake: a device in host memory, two kernels, an op, a graph optimizer and a profiler
    C,
}

/// A version control system.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Vcs {
    Git,
    None,
}

fn parse_sp_source(text: &str) -> std::result::Result<SpSource, String> {
    match text.split_once('=') {
        None if text == "vendor" => Ok(SpSource::Vendor),
        Some(("path", folder)) if !folder.is_empty() => Ok(SpSource::Checkout(folder.into())),
        _ => Err("expected `vendor` or `path=DIR`".to_owned()),
    }
}

/// Writes the plugin and prints the next commands.
pub fn run(args: Args) -> Result {
    let names = PluginNames::new(
        &args.name,
        args.device_type.as_deref(),
        args.platform_name.as_deref(),
    )?;
    let target = args
        .path
        .clone()
        .unwrap_or_else(|| PathBuf::from(&args.name));
    // Before the header is read, which prints lines about the bindings.
    check_target(&target)?;
    if args.lang == Language::C {
        return write_c(&args, &names, &target);
    }
    let source = match args.sp_source {
        SpSource::Vendor => SpSource::Vendor,
        SpSource::Checkout(folder) => {
            SpSource::Checkout(std::path::absolute(folder).into_diagnostic()?)
        }
    };
    let parts = Parts::without(&args.without).with(&args.with);
    let bindings = args.driver.bindings(&args.name)?;
    let plugin = Plugin {
        names: &names,
        parts,
        source: &source,
        driver: bindings.as_ref().map(|bindings| bindings.text.as_str()),
        backend: args.driver.backend,
    };
    let has_backend = plugin.backend.is_some();
    let written = create(&target, &plugin)?;
    init_repository(args.vcs, &target);
    note!(
        "{}: wrote {} files of the plugin and {} files of vendored crates",
        target.display(),
        written.author_files,
        written.vendored_files
    );
    for line in describe_parts(parts, bindings.is_some(), has_backend) {
        note!("  {line}");
    }
    print_next(&names, &target)
}

/// Writes a plugin in C.
fn write_c(args: &Args, names: &PluginNames, target: &Path) -> Result {
    args.check_options_of_c()?;
    let written = create_c(target, names, generate::c_headers()?)?;
    init_repository(args.vcs, target);
    note!(
        "{}: wrote {} files of the plugin and {} files of generated headers",
        target.display(),
        written.author_files,
        written.vendored_files
    );
    for line in [
        "src/device.c: the device",
        "src/kernels.c, src/mat_mul.cc: kernels in C and in C++",
        "src/op.c, python/: an op of the plugin, and its function in Python",
        "src/optimizer.c: changes graphs before they run",
        "src/profiler.c: reports the run times of kernels to TensorBoard",
        "other ops run on the CPU",
    ] {
        note!("  {line}");
    }
    print_next(names, target)
}

impl Args {
    /// Rejects the options that only plugins in Rust have.
    fn check_options_of_c(&self) -> Result<()> {
        let options = [
            ("--without", !self.without.is_empty()),
            ("--with", !self.with.is_empty()),
            ("--sp-source", self.sp_source != SpSource::Vendor),
            ("--driver", self.driver.has_driver()),
            ("--backend", self.driver.backend.is_some()),
        ];
        match options.into_iter().find(|(_, is_given)| *is_given) {
            None => Ok(()),
            Some((option, _)) => Err(miette!(
                code = "sp_gen::new::option_of_rust",
                help = "a plugin in C has all parts, and calls its driver itself",
                "{option} is an option of plugins in Rust, not of --lang c"
            )),
        }
    }
}

fn init_repository(vcs: Vcs, target: &Path) {
    if vcs == Vcs::Git && repository::init(target) == Repository::Unavailable {
        warning!(
            "{}: git repository not created: `git init` failed or git is not installed",
            target.display()
        );
    }
}

/// Prints the commands that install the plugin and list its device.
fn print_next(names: &PluginNames, target: &Path) -> Result {
    note!("  TensorFlow lists the device as {}", names.device_type());
    note!("\nNext commands:");
    console::print(&format!(
        "cd {}\npip install .\npython -c 'import tensorflow as tf; print(tf.config.list_physical_devices(\"{}\"))'\n",
        shell_quote(&target.display().to_string()),
        names.device_type()
    ))?;
    Ok(CommandOutcome::Done)
}

/// Returns a line about each part of the plugin.
fn describe_parts(
    parts: Parts,
    has_driver: bool,
    has_backend: bool,
) -> impl Iterator<Item = &'static str> {
    let lines = [
        (true, "src/device.rs: the device"),
        (has_driver, "src/driver.rs: bindings of the device's driver"),
        (parts.kernels, "src/kernels/: the plugin's own kernels"),
        (
            parts.ops,
            "src/ops.rs, python/: an op of the plugin, and its function in Python",
        ),
        (
            parts.optimizer,
            "src/optimizer.rs: changes graphs before they run",
        ),
        (
            parts.profiler,
            "src/profiler.rs: reports the run times of kernels to TensorBoard",
        ),
        (
            has_backend,
            "src/opencl/: contexts, queues and kernels of OpenCL; the kernels of sp-cpu compute the other ops on the host, with copies",
        ),
        (
            !has_backend,
            "the reference device and kernels of sp-cpu do everything else",
        ),
    ];
    lines
        .into_iter()
        .filter_map(|(is_present, line)| is_present.then_some(line))
}

/// Quotes a folder's name for a shell, if it must be quoted.
fn shell_quote(folder: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    match folder.chars().all(is_plain) && !folder.starts_with('-') {
        true => folder.to_owned(),
        false => format!("'{}'", folder.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_folders_that_a_shell_would_split() {
        assert_eq!(shell_quote("a/b-c_1.x"), "a/b-c_1.x");
        assert_eq!(shell_quote("my dir"), "'my dir'");
        assert_eq!(shell_quote("it's"), r"'it'\''s'");
    }

    #[test]
    fn parses_vendor_or_path_as_source() {
        assert_eq!(parse_sp_source("vendor"), Ok(SpSource::Vendor));
        let expected = Ok(SpSource::Checkout("../x".into()));
        assert_eq!(parse_sp_source("path=../x"), expected);
        assert!(parse_sp_source("path=").is_err() && parse_sp_source("git").is_err());
    }
}
