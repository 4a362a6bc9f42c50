//! Functions. A function of TensorFlow is looked up on its first call; an entry point of the plugin is
//! declared. A function that every release from SPGEN_MIN_RELEASE on exports can be called by its plain
//! name, and any function through `spgen_find`, which returns NULL if the host lacks it.

use crate::model::item_releases::ItemReleases;
use sp_ir::{Function, Release, Side, Signature, Type, c};

use super::retyped::with_parameter_names;
use super::{comment, layouts, releases};
use crate::model::context::Context;
use crate::model::exports::Exports;
use crate::model::older_signatures::{OlderSignature, is_experimental};
use crate::model::parameter_docs;
use crate::model::releases::format_span;
use crate::model::timeline::Timeline;

/// Prints the functions of the API.
pub fn print(context: &Context<'_>) -> String {
    let items = context.api.items.iter();
    let functions = items.filter_map(|(name, item)| Some((name, item.as_function()?)));
    let functions = functions.filter(|(_, item)| !item.inline);
    let printed =
        functions.map(
            |(name, item)| match item.exported_by.as_ref().map(|it| it.value) {
                Some(Side::Plugin) => entry_point(name, item, context),
                _ => import(name, item, context),
            },
        );
    printed.collect()
}

fn entry_point(name: &str, item: &Function, context: &Context<'_>) -> String {
    let default_doc = "The plugin's entry point, which TensorFlow looks up.";
    let doc = item.doc.clone().unwrap_or_else(|| default_doc.to_owned());
    let doc = comment::doc(0, &[doc + &since(name, context)]);
    format!(
        "{doc}SPGEN_EXPORT {};\n\n",
        c::broken(name, &item.signature)
    )
}

/// Returns ` Available from 2.6 on.`, or an empty text.
fn since(name: &str, context: &Context<'_>) -> String {
    let since = comment::since(context.timeline.release_text(name, ""));
    format!(" {since}").trim_end().to_owned()
}

fn import(name: &str, item: &Function, context: &Context<'_>) -> String {
    let signature = with_layout_types(&with_parameter_names(&item.signature), context);
    let older = OlderSignature::find_all(name, item, context);
    let ty = c::broken(&format!("spgen_type_{name}"), &signature);
    let parts = [
        comment::doc(0, &doc_paragraphs(name, item, &older, context)),
        format!("typedef {ty};\n"),
        definition(name, item, &signature, &older, context),
        plain_name(name, item, &signature, context),
        "\n".to_owned(),
    ];
    parts.concat()
}

fn doc_paragraphs(
    name: &str,
    item: &Function,
    older: &[OlderSignature<'_>],
    context: &Context<'_>,
) -> Vec<String> {
    let doc = item.doc.clone().unwrap_or_default() + &since(name, context);
    let mut paragraphs = vec![doc];
    paragraphs.extend(parameter_docs::describe(&item.signature));
    paragraphs.extend(older.iter().map(older_signature_doc));
    paragraphs.extend(context.exports.describe(&item.symbol));
    paragraphs
}

/// Prints the macro call that defines the function's lookup and the message for hosts without it.
fn definition(
    name: &str,
    item: &Function,
    signature: &Signature,
    older: &[OlderSignature<'_>],
    context: &Context<'_>,
) -> String {
    let replacement = item.instead.as_ref();
    let replacement = replacement.map(|it| format!("Use {} instead.", it.value));
    let availability = [context.exports.describe(&item.symbol), replacement];
    let availability: Vec<String> = availability.into_iter().flatten().collect();
    let availability = format!("{:?}", availability.join(" "));
    let experimental = is_experimental(item);
    let arguments = [name.to_owned(), availability, experimental.to_string()];
    match (older.is_empty(), experimental) {
        (true, false) => comment::call("SPGEN_FUNCTION", &arguments[..2], "\n"),
        (true, true) => comment::call("SPGEN_EXPERIMENTAL_FUNCTION", &arguments[..2], "\n"),
        (false, _) => definition_with_older(name, signature, older, &arguments),
    }
}

/// Prints the function's plain name: the function, or a declaration whose call is a compile error.
fn plain_name(name: &str, item: &Function, signature: &Signature, context: &Context<'_>) -> String {
    let first = context.exports.always_since(&item.symbol);
    match (first, is_experimental(item)) {
        (None, _) => format!("SPGEN_REMOVED_FUNCTION({name})\n"),
        (_, true) => format!("SPGEN_CHANGEABLE_FUNCTION({name})\n"),
        (Some(first), false) => callable_name(name, signature, first.minor()),
    }
}

/// Prints the plain name as a function, if every supported release from `first` on has it.
fn callable_name(name: &str, signature: &Signature, first: Release) -> String {
    let call = format!(
        "  {}spgen_find_or_abort_{name}()",
        return_keyword(signature)
    );
    let body = format!(
        "static inline {} {{\n{}\n}}\n",
        c::broken(name, signature),
        comment::call(&call, &parameter_names(signature), ";")
    );
    let number = releases::number(first);
    match first {
        Release::FIRST_SUPPORTED => body,
        _ => format!(
            "#if SPGEN_MIN_RELEASE >= {number}\n{body}#else\nSPGEN_ADDED_FUNCTION({name}, \"{first}\", \
             {number})\n#endif\n"
        ),
    }
}

fn return_keyword(signature: &Signature) -> &'static str {
    match signature.ret {
        Type::Void => "",
        _ => "return ",
    }
}

fn parameter_names(signature: &Signature) -> Vec<String> {
    let params = signature.params.iter();
    params.map(|param| param.name.clone()).collect()
}

/// Returns a sentence about calls in the releases that have the older signature.
fn older_signature_doc(older: &OlderSignature<'_>) -> String {
    let releases = format_span(older.span);
    match &older.omitted_flags {
        Some(flags) => format!("In {releases} `{}` is ignored.", flags.join("`, `")),
        None => format!("In {releases} it has another signature, and spgen_find returns NULL."),
    }
}

/// Prints the definition of a function that has older signatures.
fn definition_with_older(
    name: &str,
    newest: &Signature,
    older: &[OlderSignature<'_>],
    arguments: &[String],
) -> String {
    let adapters: String = older.iter().map(|it| adapter(name, newest, it)).collect();
    let entries = older.iter().map(|older| {
        let releases = releases::range(older.span.0, Some(older.span.1));
        let adapter = match older.omitted_flags {
            Some(_) => format!("(spgen_function)spgen_{name}_{}", older.module),
            None => "NULL".to_owned(),
        };
        format!("{{{releases}, {adapter}}}")
    });
    let entries: Vec<String> = entries.collect();
    let list = format!("spgen_older_signatures_{name}");
    let count = entries.len().to_string();
    let arguments = [arguments, &[list.clone(), count]].concat();
    format!(
        "{adapters}static const spgen_older_signature {list}[] = {{\n    {},\n}};\n{}",
        entries.join(",\n    "),
        comment::call("SPGEN_DEFINE_FUNCTION", &arguments, "\n")
    )
}

/// Prints the function with the newest signature that calls the older one.
fn adapter(name: &str, newest: &Signature, older: &OlderSignature<'_>) -> String {
    let Some(flags) = &older.omitted_flags else {
        return String::new();
    };
    let signature = with_parameter_names(older.signature);
    let head = c::broken(&format!("spgen_{name}_{}", older.module), newest);
    let unused = flags.iter().map(|flag| format!("  (void){flag};\n"));
    let unused: String = unused.collect();
    let call = format!(
        "  {}((older_type*)spgen_find_symbol(&symbol))",
        return_keyword(newest)
    );
    format!(
        "/** {name} for the signature of {}, which has no `{}`. */\nstatic inline {head} {{\n  typedef {};\n  \
         static spgen_symbol symbol = {{\"{name}\", \"\", false, NULL, 0, NULL}};\n{unused}{}\n}}\n",
        format_span(older.span),
        flags.join("`, `"),
        c::broken("older_type", &signature).replace('\n', "\n  "),
        comment::call(&call, &parameter_names(&signature), ";")
    )
}

/// Returns the signature with the complete types of structs that it passes by value.
fn with_layout_types(signature: &Signature, context: &Context<'_>) -> Signature {
    let mut signature = signature.clone();
    for param in &mut signature.params {
        param.ty = layouts::by_value_type(&param.ty, context, None);
    }
    signature.ret = layouts::by_value_type(&signature.ret, context, None);
    signature
}

/// Prints the first and the newest release, and the known pre-releases.
pub fn known_releases(timeline: Option<&Timeline>) -> String {
    let first = releases::number(Release::FIRST_SUPPORTED);
    let newest = timeline.and_then(Timeline::newest);
    let newest = releases::number(newest.unwrap_or(Release::FIRST_SUPPORTED));
    let previews = timeline.map_or_else(Vec::new, Timeline::previews);
    let runtime = runtime_line(timeline, &previews);
    let previews = previews.into_iter().map(|(version, release)| {
        let number = releases::number(release);
        format!("    {{\"{version}\", {number}u}},\n")
    });
    let previews: String = previews.collect();
    format!(
        "/** The first release that loads plugins. */\n#define SPGEN_FIRST_RELEASE {first}u\n\n/** The newest final \
         release that is known here. */\n#define SPGEN_NEWEST_RELEASE {newest}u\n\n/** The pre-releases that are \
         known here: the version that TF_Version() returns there, and the release\n * whose layouts they have. \
         */\nstatic const struct {{\n  const char* version;\n  unsigned release;\n}} spgen_previews[] = \
         {{\n{previews}    {{\"\", 0}},\n}};\n\n{runtime}"
    )
}

/// Prints the statement of the library's section that `sp-gen diff --plugin` reads: with the accessors of the header, a
/// plugin adapts to the releases that are known here.
fn runtime_line(timeline: Option<&Timeline>, previews: &[(String, Release)]) -> String {
    let newest = timeline.and_then(Timeline::newest);
    let newest = newest.unwrap_or(Release::FIRST_SUPPORTED);
    let previews = previews.iter().map(|(version, _)| format!(" {version}"));
    let previews: String = previews.collect();
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "/** The runtime and the releases that it knows, for `sp-gen diff --plugin`. */\n#if defined(__ELF__) && \
         defined(__GNUC__)\n__attribute__((section(\"sp_optional\"), used)) static const char spgen_runtime_line[] \
         =\n    \"runtime spgen-c {version} {newest}{previews}\\n\";\n#endif\n"
    )
}

/// Prints the functions whose presence in the process limits the possible releases.
pub fn release_symbols(exports: Option<&Exports<'_>>) -> String {
    let symbols = exports.map_or_else(Vec::new, Exports::release_symbols);
    let line = |(name, first, last): &(&str, Release, Option<Release>)| {
        let releases = releases::range(*first, *last);
        let is_in_every_package = exports.is_some_and(|it| it.always_since(name) == Some(*first));
        format!("    {{\"{name}\", {releases}, {is_in_every_package}}},\n")
    };
    let lines: String = symbols.iter().map(line).collect();
    format!(
        "/** Functions whose presence in the process limits the possible releases, for hosts that state \
         none. */\nstatic const spgen_release_symbol spgen_release_symbols[] = {{\n{lines}    {{\"\", \
         {{SPGEN_FIRST_RELEASE, 0}}, false}},\n}};\n"
    )
}
