//! The header of one API: its opening comment, its includes, and its declarations in an order that C accepts.

use std::collections::BTreeSet;

use sp_ir::Api;

use super::{COMMON, GENERATED, accessors, comment, functions, include_guards, order, types};
use crate::model::context::Context;
use crate::model::docs::inline_functions;

/// The end of every file.
pub const CLOSE: &str = "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";

/// Hand-written code that declines a host in the entry point of an API.
const ENTRY_POINTS: &[(&str, &str)] = &[
    ("grappler", include_str!("text/entry/grappler.h")),
    (
        "pluggable_profiler",
        include_str!("text/entry/pluggable_profiler.h"),
    ),
    (
        "stream_executor",
        include_str!("text/entry/stream_executor.h"),
    ),
];

/// Prints the header; `replaced_guards` are the include guards of TensorFlow's own headers of the API.
pub fn print(context: &Context<'_>, replaced_guards: Option<&BTreeSet<String>>) -> String {
    let name = context.api.name.as_str();
    let guard = format!("SPGEN_{}_H_", name.to_uppercase());
    let replaced_guards =
        replaced_guards.map(|it| include_guards::print(it, &super::file_name(name)));
    let opening = format!(
        "{GENERATED}{}#ifndef {guard}\n#define {guard}\n\n{}\n{}\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n",
        comment::doc(0, &file_doc(context.api)),
        replaced_guards.unwrap_or_default(),
        includes(context)
    );
    let entry_point = ENTRY_POINTS.iter().find(|(api, _)| *api == name);
    let sections = [
        opening,
        types::forward(context),
        types::values(context),
        types::bodies(context),
        accessors::print(context),
        functions::print(context),
        entry_point.map_or_else(String::new, |(_, text)| (*text).to_owned()),
        CLOSE.to_owned(),
    ];
    let sections = sections.iter().map(|it| it.trim_end());
    let present: Vec<&str> = sections.filter(|it| !it.is_empty()).collect();
    present.join("\n\n") + "\n"
}

fn includes(context: &Context<'_>) -> String {
    let imports = order::imports(context).into_iter();
    let lines = imports.map(|api| format!("#include \"{}\"\n", super::file_name(api)));
    [format!("#include \"{COMMON}\"\n")]
        .into_iter()
        .chain(lines)
        .collect()
}

fn file_doc(api: &Api) -> Vec<String> {
    let version = api.version.as_ref();
    let version = version.map(|it| format!(" (version {it} of its headers)"));
    let inline = inline_functions(&api.items);
    let mut paragraphs = vec![format!(
        "The API `{}` of TensorFlow {}{}, for all known releases.",
        api.name,
        api.release_name(),
        version.unwrap_or_default()
    )];
    if !inline.is_empty() {
        paragraphs.push(format!(
            "Absent, since TensorFlow's header defines them inline and no library exports them: {}.",
            inline.join(", ")
        ));
    }
    paragraphs
}
