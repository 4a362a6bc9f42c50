//! Prints the bindings: items by quote and prettyplease, the rest of the file by a template.

mod bit_fields;
mod constants;
mod functions;
mod safe;
mod types;

use askama::Template;
use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};
use sp_emit::printing::{Paths, format_items, print_type};
use sp_ir::{Item, Loc};

use crate::contract::SafeModel;
use crate::error::DriverError;
use crate::model::{LeftOut, Model};
use crate::{Options, header, names};

/// The file.
#[derive(Template)]
#[template(path = "driver.rs.jinja", escape = "none")]
struct File<'a> {
    header: String,
    target: String,
    library: String,
    variable: String,
    bound: usize,
    aliases: usize,
    has_empty_structs: bool,
    has_bit_fields: bool,
    left_out_functions: Vec<String>,
    left_out_types: Vec<String>,
    types: String,
    functions: String,
    /// The module of safe methods; empty without a contract.
    safe: String,
    status: Option<StatusText<'a>>,
}

/// The status type in the file.
struct StatusText<'a> {
    /// The C name.
    name: &'a str,
    /// The Rust type.
    ty: String,
    /// The value that means success.
    success: String,
    /// True if values that are not negative are results.
    has_results: bool,
    /// The expression of the failed status's text.
    format: &'a str,
}

/// Every name is in scope.
pub(crate) struct InScope;

impl Paths for InScope {
    fn item(&self, name: &str) -> TokenStream {
        let name = names::item(name);
        quote!(#name)
    }

    fn ffi(&self, name: &str) -> TokenStream {
        let name = format_ident!("{name}");
        quote!(#name)
    }
}

/// Prints the file.
///
/// # Errors
/// Returns an error if the template cannot be rendered.
pub fn print(
    model: &Model,
    safe: Option<&SafeModel>,
    options: &Options,
) -> Result<String, DriverError> {
    let list = |is_function: bool| {
        let listed = model.left_out.iter();
        let listed = listed.filter(|it| it.is_function == is_function);
        listed.map(left_out).collect()
    };
    let aliases = model.functions.iter();
    let aliases = aliases.filter(|it| it.alias_of.is_some()).count();
    let file = File {
        header: doc_text(&options.header.file_name()),
        target: header::target(),
        library: Literal::string(&options.library).to_string(),
        variable: Literal::string(&options.variable).to_string(),
        bound: model.functions.len() - aliases,
        aliases,
        has_empty_structs: has_empty_structs(model),
        has_bit_fields: !model.accessors.is_empty(),
        left_out_functions: list(true),
        left_out_types: list(false),
        types: format_items(types::print(model)),
        functions: format_items(functions::print(model)),
        safe: safe.map_or_else(String::new, |safe| format_items(safe::print(model, safe))),
        status: model
            .status
            .as_ref()
            .map(|status| status_text(model, status)),
    };
    Ok(format!("{}\n", file.render()?.trim_end()))
}

/// Returns true for a struct without fields. GNU's C passes none, as Rust does, but rustc warns of it.
fn has_empty_structs(model: &Model) -> bool {
    let mut types = model.types.iter();
    types.any(|(_, item)| matches!(item, Item::Struct(item) if item.layout.size == 0))
}

fn left_out(it: &LeftOut) -> String {
    let file = it.loc.file.rsplit('/').next().unwrap_or_default();
    let reason = without_folders(&it.reason);
    let text = format!("`{}` ({file}:{}) {reason}", it.name, it.loc.line);
    doc_text(&text)
}

/// Returns a text without the folders of paths, which clang's names of unnamed types have.
fn without_folders(text: &str) -> String {
    let words = text.split(' ').map(|word| match word.starts_with('/') {
        true => word.rsplit('/').next().unwrap_or_default(),
        false => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns the doc of an item: its C declaration and its position.
fn doc(declaration: &str, loc: &Loc) -> String {
    let file = loc.file.rsplit('/').next().unwrap_or_default();
    doc_text(&format!(" `{declaration}`, {file}:{}", loc.line))
}

/// Returns a text without the characters that end a line or a comment. Paths and types of a header may have any.
fn doc_text(text: &str) -> String {
    text.chars().filter(|it| !it.is_control()).collect()
}

fn status_text<'a>(model: &'a Model, status: &'a crate::status::Status) -> StatusText<'a> {
    let number = Literal::i64_unsuffixed(status.success);
    // The status may be a typedef of the enumeration, which is no constructor.
    let enumeration = model.enumeration(&status.ty);
    StatusText {
        name: &status.name,
        has_results: status.has_results,
        success: match enumeration {
            Some((name, _)) => format!("{}({number})", names::item(name)),
            None => number.to_string(),
        },
        ty: print_type(&status.ty, &InScope).to_string(),
        format: match enumeration {
            Some(_) => "{status:?}",
            None => "status {status}",
        },
    }
}
