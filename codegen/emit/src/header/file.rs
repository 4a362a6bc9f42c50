//! The header of one API: what it says of itself, what it needs, and its declarations in the order in
//! which C wants them.

use std::collections::BTreeSet;

use sp_ir::{Api, Item};

use super::{GENERATED, SHIM, access, comment, functions, guards, order, types};
use crate::context::Context;

/// What ends every file.
pub const CLOSE: &str = "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";

/// What is written by hand for an API's entry point: how it declines a host.
const ENTRIES: &[(&str, &str)] = &[
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

/// The header; `shadowed` are the guards of TensorFlow's own.
pub fn print(context: &Context<'_>, shadowed: Option<&BTreeSet<String>>) -> String {
    let name = context.api.name.as_str();
    let guard = format!("SP_{}_H_", name.to_uppercase());
    let shadowed = shadowed.map(|it| guards::print(it, &super::name(name)));
    let opening = format!(
        "{GENERATED}{}#ifndef {guard}\n#define {guard}\n\n{}\n{}\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n",
        comment::doc(0, &about(context.api)),
        shadowed.unwrap_or_default(),
        includes(context)
    );
    let entry = ENTRIES.iter().find(|(api, _)| *api == name);
    let sections = [
        opening,
        types::forward(context),
        types::values(context),
        types::bodies(context),
        access::print(context),
        functions::print(context),
        entry.map_or_else(String::new, |(_, text)| (*text).to_owned()),
        CLOSE.to_owned(),
    ];
    let sections = sections.iter().map(|it| it.trim_end());
    let there: Vec<&str> = sections.filter(|it| !it.is_empty()).collect();
    there.join("\n\n") + "\n"
}

fn includes(context: &Context<'_>) -> String {
    let imports = order::imports(context).into_iter();
    let lines = imports.map(|api| format!("#include \"{}\"\n", super::name(api)));
    [format!("#include \"{SHIM}\"\n")]
        .into_iter()
        .chain(lines)
        .collect()
}

fn about(api: &Api) -> Vec<String> {
    let version = api.version.as_ref();
    let version = version.map(|it| format!(" (its headers say {it})"));
    let is_inline = |item: &Item| matches!(item, Item::Function(it) if it.inline);
    let items = api.items.iter().filter(|(_, item)| is_inline(item));
    let inline: Vec<&str> = items.map(|(name, _)| name.as_str()).collect();
    let mut said = vec![format!(
        "The API `{}` as TensorFlow {} has it{}, for every release that is known.",
        api.name,
        api.release_name(),
        version.unwrap_or_default()
    )];
    if !inline.is_empty() {
        said.push(format!(
            "Left out, since their bodies stand in TensorFlow's header and no library exports them: {}.",
            inline.join(", ")
        ));
    }
    said
}
