//! Rust bindings of a driver, from its C header: any header of any vendor.
//!
//! [`header`] reads the declarations, [`model`] decides what can be bound and how, [`contract`] what can be called without
//! `unsafe`, [`print`] writes one Rust file without dependencies. The functions are looked up at run time.

pub mod compile;
pub mod contract;
pub mod error;
pub mod header;
pub mod model;
mod names;
mod print;
pub mod status;

pub use compile::{Compilation, compile};
pub use contract::Contract;
pub use error::DriverError;
pub use header::DriverHeader;
pub use model::{LeftOut, Model};
pub use status::StatusOption;

use std::collections::BTreeSet;

use header::read;

/// A header, and the options for its bindings.
#[derive(Debug, Clone)]
pub struct Options {
    /// The header.
    pub header: DriverHeader,
    /// The library that is loaded at run time, as `dlopen` takes it.
    pub library: String,
    /// The environment variable that names another library.
    pub variable: String,
    /// The type of status codes; inferred if it is `None`.
    pub status: Option<StatusOption>,
    /// The facts of the driver's documentation; `None` for bindings without safe methods.
    pub contract: Option<Contract>,
}

/// The bindings of a driver.
#[derive(Debug)]
pub struct Bindings {
    /// The Rust file.
    pub text: String,
    /// The names of the bound functions, and of macros that name one.
    pub functions: Vec<String>,
    /// The symbols of the bound functions.
    pub symbols: BTreeSet<String>,
    /// The names of the functions with a safe method.
    pub safe_functions: Vec<String>,
    /// The owned types that no function of the contract creates.
    pub never_created: Vec<String>,
    /// The declarations that are not bound.
    pub left_out: Vec<LeftOut>,
    /// The name of the type of status codes, if there is one.
    pub status: Option<String>,
}

/// Reads the header and prints its bindings.
///
/// # Errors
/// Returns an error if the header cannot be read, is not C, or declares no function that can be bound.
pub fn bindings(options: &Options) -> Result<Bindings, DriverError> {
    let read = read(&options.header)?;
    let model = Model::new(&options.header, read, options.status.as_ref())?;
    let contract = options.contract.as_ref();
    let safe = contract.map(|it| it.check(&model)).transpose()?;
    let safe_functions = safe.iter().flat_map(|safe| &safe.functions);
    let safe_functions = safe_functions.map(|it| it.function.name.clone()).collect();
    let never_created = safe.iter().flat_map(|safe| safe.never_created());
    Ok(Bindings {
        never_created: never_created.map(str::to_owned).collect(),
        text: print::print(&model, safe.as_ref(), options)?,
        safe_functions,
        functions: model.functions.iter().map(|it| it.name.clone()).collect(),
        symbols: model.functions.iter().map(|it| it.symbol.clone()).collect(),
        status: model.status.as_ref().map(|status| status.name.clone()),
        left_out: model.left_out,
    })
}
