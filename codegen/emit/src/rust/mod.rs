//! Emission of the crate sp-abi. There is one emitter for each kind of item; [`module`] prints the files.

mod adapters;
mod availability;
mod blank_lines;
mod comment;
mod constants;
mod declarations;
mod doc;
mod enums;
mod epoch_modules;
mod functions;
mod handles;
mod imports;
mod layout;
mod library;
mod macros;
mod manifest;
mod method;
mod module;
mod releases;
mod retyped;
mod shims;
mod slots;
mod source_file;
mod structs;
mod traits;
mod ty;

use sp_system::parallel;

use crate::Files;
use crate::model::context::Context;
use module::{PARTS, PrintedFile};

pub use module::problems;

/// The parts of the emitter that print any Rust file: types, comments and formatted items.
pub mod printing {
    pub use super::comment::safety;
    pub use super::source_file::format_items;
    pub use super::ty::{Paths, print_function_type, print_param_type, print_return, print_type};
}

/// Prints the files of the crate.
pub fn print(contexts: &[Context<'_>]) -> Files {
    let first = contexts.first();
    let availability = first.and_then(|it| availability::print(it.exports));
    let mut files = Files::from([
        (
            "Cargo.toml".to_owned(),
            manifest::print(first.map(|it| it.features)),
        ),
        (
            "src/lib.rs".to_owned(),
            library::print(contexts, availability.is_some()),
        ),
    ]);
    files.extend(availability);
    for (context, printed) in contexts.iter().zip(print_modules(contexts)) {
        files.extend([module::print_mod(context, &printed)]);
        files.extend(printed.into_iter().map(|file| (file.path, file.text)));
    }
    files
}

/// Prints the files of every API except `mod.rs`.
fn print_modules(contexts: &[Context<'_>]) -> Vec<Vec<PrintedFile>> {
    let mut tasks: Vec<(usize, usize)> = (0..=PARTS.len())
        .flat_map(|part| (0..contexts.len()).map(move |context| (context, part)))
        .collect();
    // The largest APIs come first, so that no thread starts one of them last.
    tasks.sort_by_key(|(context, _)| std::cmp::Reverse(contexts[*context].api.items.len()));
    let printed = parallel::map(&tasks, |(context, part)| {
        let printed = match PARTS.get(*part) {
            Some(part) => module::print(&contexts[*context], part),
            None => module::print_macros(&contexts[*context]),
        };
        (*context, printed)
    });
    let mut files: Vec<Vec<PrintedFile>> = contexts.iter().map(|_| Vec::new()).collect();
    for (context, part) in printed {
        files[context].extend(part);
    }
    files
}
