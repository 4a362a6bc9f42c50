//! Comments: where a registration is, and what has no skeleton.

use super::Input;
use crate::plan::PlannedKernel;
use crate::registration::{KernelRegistration, Position};
use proc_macro2::TokenStream;
use quote::quote;
use std::fmt::Write;

/// The most registrations that a comment lists.
const MAX_LISTED: usize = 4;

/// Prints lines of documentation of an item.
pub fn print_lines(lines: &[String]) -> TokenStream {
    let lines = lines.iter().map(|it| format!(" {}", plain(it)));
    quote!(#(#[doc = #lines])*)
}

/// Returns a text in printable ASCII: the characters of a source may be any.
pub fn plain(text: &str) -> String {
    let escape = |it: char| match it {
        ' '..='~' => it.to_string(),
        _ => it.escape_unicode().to_string(),
    };
    text.chars().map(escape).collect()
}

/// Prints the documentation of the file.
pub fn print_file(input: &Input<'_>) -> TokenStream {
    let names: Vec<&str> = input.sources.iter().map(|it| it.file_name()).collect();
    let mut lines = vec![format!(
        "Skeletons of the kernels and ops of {}, by `sp-gen port`.",
        names.join(", ")
    )];
    let omitted = input.plan.omitted.iter().map(|(index, reason)| {
        let kernel = &input.registrations.kernels[*index];
        format!(
            "- {} {}: {reason}",
            position(input, kernel.position),
            signature(kernel)
        )
    });
    add_list(&mut lines, "Kernels without a skeleton:", omitted);
    let ops = input.plan.ops.iter().filter_map(|it| {
        let op = &input.registrations.ops[it.registration];
        let reason = it.function.as_ref().err()?;
        Some(format!(
            "- {} {}: {reason}",
            position(input, op.position),
            op.definition.name
        ))
    });
    add_list(&mut lines, "Ops without a skeleton:", ops);
    let unread = input.registrations.unread.iter();
    let unread = unread.map(|it| {
        format!(
            "- {} `{}`: {}",
            position(input, it.position),
            it.what,
            it.reason
        )
    });
    add_list(&mut lines, "Not read:", unread);
    let lines = lines.iter().map(|it| match it.is_empty() {
        true => String::new(),
        false => format!(" {}", plain(it)),
    });
    quote!(#(#![doc = #lines])*)
}

fn add_list(lines: &mut Vec<String>, title: &str, items: impl Iterator<Item = String>) {
    let mut items = items.peekable();
    if items.peek().is_some() {
        lines.extend([String::new(), title.to_owned(), String::new()]);
        lines.extend(items);
    }
}

/// Returns `relu_op.cc:12`.
pub fn position(input: &Input<'_>, position: Position) -> String {
    let name = input.sources.get(position.source);
    let name = name.map_or("", |it| it.file_name());
    format!("{name}:{}", position.line)
}

/// Returns the op, the device and the types of a registration: `Relu CPU T=float,half`.
fn signature(kernel: &KernelRegistration) -> String {
    let mut text = format!("{} {}", kernel.op, kernel.device);
    for (attribute, types) in &kernel.types {
        let types: Vec<String> = types.iter().map(ToString::to_string).collect();
        // Writing to a String does not fail.
        let _ = write!(text, " {attribute}={}", types.join(","));
    }
    text
}

/// Returns the lines about a kernel: its op, its classes, and where they are registered.
pub fn kernel_lines(kernel: &PlannedKernel, input: &Input<'_>) -> Vec<String> {
    let registrations = || {
        kernel
            .registrations
            .iter()
            .map(|it| &input.registrations.kernels[*it])
    };
    let mut classes: Vec<&str> = registrations()
        .map(|it| it.class.split('<').next().unwrap_or_default())
        .collect();
    classes.dedup();
    let mut positions: Vec<String> = registrations()
        .map(|it| position(input, it.position))
        .collect();
    positions.dedup();
    let further = positions.len().saturating_sub(MAX_LISTED);
    positions.truncate(MAX_LISTED);
    let further = match further {
        0 => String::new(),
        number => format!(" and {number} more"),
    };
    let class = classes.first().copied().unwrap_or_default();
    vec![format!(
        "{}: `{class}` in {}{further}.",
        kernel.definition.name,
        positions.join(", ")
    )]
}
