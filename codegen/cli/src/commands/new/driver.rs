//! The driver of a new plugin: `--driver` and the options that belong to it.

use crate::console::{note, warning};
use crate::scaffold::{Backend, driver_variable, library_file_name};
use clap::ArgGroup;
use clap::builder::NonEmptyStringValueParser;
use miette::Diagnostic;
use sp_driver::{Bindings, Compilation, Contract, DriverHeader, Options, StatusOption, compile};
use sp_library::binary::LibraryError;
use sp_library::names::LibraryNames;
use sp_system::input::{self, MAX_LIBRARY_BYTES};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Options of `new` for a plugin over a vendor's driver.
#[derive(clap::Args)]
#[command(group(ArgGroup::new("bindings").args(["driver", "backend"]).multiple(true)))]
pub struct DriverArgs {
    /// The API that the device computes with: its device and kernels replace those of the reference device
    #[arg(long, value_name = "API")]
    pub backend: Option<Backend>,
    /// The C header of the device's driver: writes src/driver.rs, bindings that are looked up at run time. With
    /// `--backend opencl`: CL/cl.h, if it is in no folder of --include or of the system
    #[arg(long, value_name = "HEADER")]
    driver: Option<PathBuf>,
    /// The driver's library: a name for the loader, or a file, whose exports are then checked [default: libNAME.so for NAME.h]
    #[arg(long, value_name = "NAME|FILE", requires = "bindings", value_parser = NonEmptyStringValueParser::new())]
    driver_library: Option<String>,
    /// The type of the driver's status codes, and the value that means success; `int>=0` if negative values are errors and
    /// others results [default: inferred, 0]
    #[arg(long, value_name = "TYPE[=VALUE]", requires = "bindings")]
    driver_status: Option<StatusOption>,
    /// TOML file of what the driver's documentation states about pointers, handles and threads: adds safe methods
    #[arg(long, value_name = "FILE", requires = "bindings")]
    driver_contract: Option<PathBuf>,
    /// A folder of headers that the driver's header includes
    #[arg(long, short = 'I', value_name = "DIR", requires = "bindings")]
    include: Vec<PathBuf>,
    /// A macro that is defined for the driver's header
    #[arg(long, short = 'D', value_name = "NAME[=VALUE]", requires = "bindings")]
    define: Vec<String>,
}

/// The driver's library cannot be used.
#[derive(Debug, Error, Diagnostic)]
pub enum DriverLibraryError {
    /// The header is not the library's.
    #[error("{} exports no function of {header}", path.display())]
    #[diagnostic(
        code(sp_gen::new::other_library),
        help(
            "name the library that the header belongs to, or only its name, such as `libNAME.so`"
        )
    )]
    Foreign {
        /// The library.
        path: PathBuf,
        /// The header.
        header: String,
    },
    /// It has the file name of the plugin.
    #[error(
        "{library} is the file name of the driver's library and of the plugin: the loader would find the plugin"
    )]
    #[diagnostic(
        code(sp_gen::new::library_is_plugin),
        help(
            "name the plugin otherwise, such as `{name}-plugin`, or state the driver's library by `--driver-library NAME`"
        )
    )]
    Plugin {
        /// The file name.
        library: String,
        /// The plugin's name.
        name: String,
    },
    /// The file is not a library.
    #[error(transparent)]
    #[diagnostic(
        code(sp_gen::new::library_invalid),
        help("`--driver-library` takes the driver's shared library")
    )]
    Invalid(#[from] LibraryError),
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    #[diagnostic(code(sp_gen::new::library_unreadable))]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

/// The header of a backend is not installed.
#[derive(Debug, Error, Diagnostic)]
#[error("no header {header} in {folders}")]
#[diagnostic(
    code(sp_gen::new::no_backend_header),
    help(
        "install the headers of OpenCL (`apt-get install opencl-headers` on Debian and Ubuntu), or name the folder that has \
        {header} with `--include DIR`"
    )
)]
pub struct NoBackendHeader {
    header: &'static str,
    folders: String,
}

impl DriverArgs {
    /// Returns the bindings for the plugin `name`, or `None` without `--driver` and `--backend`.
    pub fn bindings(&self, name: &str) -> miette::Result<Option<Bindings>> {
        let Some(header) = self.header()? else {
            return Ok(None);
        };
        let options = self.options(name, &header);
        check_library_name(name, &options.library)?;
        let contract = self.driver_contract.as_deref().map(Contract::read);
        let options = Options {
            contract: contract.transpose()?,
            ..options
        };
        let bindings = sp_driver::bindings(&options)?;
        if let Compilation::Skipped(reason) = compile(&bindings, &options.header.file_name())? {
            note!("src/driver.rs: not compiled: {reason}");
        }
        if let Some(library) = self.library_file() {
            check_library(&library, &header, &bindings)?;
        }
        describe(&bindings);
        if self.backend.is_none() {
            note!(
                "src/device.rs: computes on this machine's CPU until you replace it by a device over the driver (bring-up.md of sp-gen)"
            );
        }
        Ok(Some(bindings))
    }

    /// Returns true if the plugin has bindings of a driver's header.
    pub fn has_driver(&self) -> bool {
        self.driver.is_some()
    }

    /// Returns the header to bind: the one that is named, or that of the backend.
    fn header(&self) -> Result<Option<PathBuf>, NoBackendHeader> {
        match (&self.driver, self.backend) {
            (Some(header), _) => Ok(Some(header.clone())),
            (None, Some(backend)) => find_header(backend, &self.header_folders()).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// Returns the folders that can have the header of a backend.
    fn header_folders(&self) -> Vec<PathBuf> {
        let system = SYSTEM_HEADERS.map(PathBuf::from);
        self.include.iter().cloned().chain(system).collect()
    }

    /// Returns the folders of included headers. A backend's header includes others of its own folder by `CL/NAME.h`.
    fn folders(&self, header: &Path) -> Vec<PathBuf> {
        let root = header.parent().and_then(Path::parent);
        let root = root.filter(|_| self.backend.is_some());
        let own = self.include.iter().map(PathBuf::as_path);
        own.chain(root).map(Path::to_owned).collect()
    }

    fn options(&self, name: &str, header: &Path) -> Options {
        let stem = header.file_stem().unwrap_or_default().to_string_lossy();
        let file = self.library_file();
        let file_name = file.as_ref().and_then(|file| file.file_name());
        let library = match (&self.driver_library, file_name, self.backend) {
            (_, Some(file_name), _) => file_name.to_string_lossy().into_owned(),
            (Some(library), None, _) => library.clone(),
            (None, None, Some(backend)) => backend.library().to_owned(),
            (None, None, None) => format!("lib{stem}.so"),
        };
        Options {
            header: DriverHeader {
                path: header.to_owned(),
                folders: self.folders(header),
                defines: self.define.clone(),
            },
            library,
            variable: driver_variable(name),
            status: self.driver_status.clone(),
            contract: None,
        }
    }

    /// Returns the library if it is named by its path.
    fn library_file(&self) -> Option<PathBuf> {
        let library = self.driver_library.as_ref()?;
        library.contains('/').then(|| library.into())
    }
}

/// Folders of the system's headers.
const SYSTEM_HEADERS: [&str; 2] = ["/usr/local/include", "/usr/include"];

/// Returns the header of a backend in the first folder that has it.
fn find_header(backend: Backend, folders: &[PathBuf]) -> Result<PathBuf, NoBackendHeader> {
    let mut headers = folders.iter().map(|it| it.join(backend.header()));
    headers.find(|it| it.is_file()).ok_or_else(|| {
        let folders: Vec<_> = folders.iter().map(|it| it.display().to_string()).collect();
        NoBackendHeader {
            header: backend.header(),
            folders: folders.join(", "),
        }
    })
}

fn describe(bindings: &Bindings) {
    let functions = bindings.left_out.iter().filter(|it| it.is_function).count();
    let macros = match bindings.functions.len() - bindings.symbols.len() {
        0 => String::new(),
        count => format!(" and {count} macros that name one"),
    };
    note!(
        "src/driver.rs: bound {} functions{macros}, left out {functions}; the file's head has the reasons",
        bindings.symbols.len()
    );
    if !bindings.safe_functions.is_empty() {
        let count = bindings.safe_functions.len();
        note!("src/driver.rs: {count} functions have a safe method in `driver::safe`");
    }
    for name in &bindings.never_created {
        warning!(
            "src/driver.rs: no function of the contract creates `{name}`: its methods cannot be called"
        );
    }
    match &bindings.status {
        Some(status) => note!("src/driver.rs: functions that return `{status}` return a `Result`"),
        None => note!(
            "src/driver.rs: no type of status codes found; `--driver-status TYPE` names the type that becomes a `Result`"
        ),
    }
}

/// Checks that the driver's library does not have the file name of the plugin `name`.
fn check_library_name(name: &str, library: &str) -> Result<(), DriverLibraryError> {
    match library == library_file_name(name) {
        false => Ok(()),
        true => Err(DriverLibraryError::Plugin {
            library: library.to_owned(),
            name: name.to_owned(),
        }),
    }
}

/// Reports the functions that a library does not export. The plugin finds out at run time.
fn check_library(
    path: &Path,
    header: &Path,
    bindings: &Bindings,
) -> Result<(), DriverLibraryError> {
    let bytes =
        input::read(path, MAX_LIBRARY_BYTES).map_err(|source| DriverLibraryError::Unreadable {
            path: path.to_owned(),
            source,
        })?;
    let bound: BTreeSet<&str> = bindings.symbols.iter().map(String::as_str).collect();
    let is_bound = |name: &str| bound.contains(name);
    let names = LibraryNames::read_linked(&path.display().to_string(), &bytes, &is_bound)?;
    let missing: Vec<_> = bound
        .iter()
        .filter(|name| !names.exported.contains(**name))
        .collect();
    match missing.first() {
        None => Ok(()),
        Some(_) if missing.len() == bound.len() => Err(DriverLibraryError::Foreign {
            path: path.to_owned(),
            header: header.display().to_string(),
        }),
        Some(first) => {
            note!(
                "{}: {} functions of the header are not exported, such as {first}",
                path.display(),
                missing.len()
            );
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn missing_header_of_a_backend_names_folders_and_package() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().join("a"), folder.path().to_owned()];
        let error = find_header(Backend::OpenCl, &folders).unwrap_err();
        let expected = format!(
            "no header CL/cl.h in {}, {}",
            folders[0].display(),
            folders[1].display()
        );
        assert_eq!(error.to_string(), expected);
        let help = error.help().unwrap().to_string();
        assert!(help.contains("apt-get install opencl-headers"), "{help}");
        fs::create_dir_all(folder.path().join("CL")).unwrap();
        fs::write(folder.path().join("CL/cl.h"), "").unwrap();
        let header = find_header(Backend::OpenCl, &folders).unwrap();
        assert_eq!(header, folder.path().join("CL/cl.h"));
    }
}
