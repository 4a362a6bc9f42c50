//! Functions: TensorFlow's are looked up when they are first called, the plugin's entry points are
//! declared. One that every release from SP_MIN_RELEASE on exports has its plain name; any is there
//! through `sp_find`, which gives NULL where the host lacks it.

use sp_expand::structure::ItemReleases;
use sp_ir::{Function, Item, Side, Signature, Type};

use super::super::adapters::Form;
use super::super::contract;
use super::super::exports::Exports;
use super::super::functions::is_experimental;
use super::retyped::{named, releases};
use super::{comment, forms};
use crate::context::Context;
use crate::minor::{FIRST_LOADER, Minor, run};
use crate::timeline::Timeline;
use sp_data::release::Release;
use sp_ir::c;

/// The functions of the API.
pub fn print(context: &Context<'_>) -> String {
    let items = context.api.items.iter();
    let functions = items.filter_map(|(name, item)| match item {
        Item::Function(item) if !item.inline => Some((name, item)),
        _ => None,
    });
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
    let said = "The plugin's entry point, which TensorFlow looks up.";
    let first = item.doc.clone().unwrap_or_else(|| said.to_owned());
    let doc = comment::doc(0, &[first + &since(name, context)]);
    format!("{doc}SP_ENTRY {};\n\n", c::broken(name, &item.signature))
}

/// ` From 2.6 on.`
fn since(name: &str, context: &Context<'_>) -> String {
    let since = comment::since(context.timeline.release_text(name, ""));
    format!(" {since}").trim_end().to_owned()
}

fn import(name: &str, item: &Function, context: &Context<'_>) -> String {
    let signature = by_value(&named(&item.signature), context);
    let forms = Form::all(name, item, context);
    let ty = c::broken(&format!("sp_type_{name}"), &signature);
    let parts = [
        comment::doc(0, &said(name, item, &forms, context)),
        format!("typedef {ty};\n"),
        look_up(name, item, &signature, &forms, context),
        by_name(name, item, &signature, context),
        "\n".to_owned(),
    ];
    parts.concat()
}

fn said(name: &str, item: &Function, forms: &[Form<'_>], context: &Context<'_>) -> Vec<String> {
    let first = item.doc.clone().unwrap_or_default() + &since(name, context);
    let mut said = vec![first];
    said.extend(contract::told(&item.signature));
    said.extend(forms.iter().map(told));
    said.extend(context.exports.told(&item.symbol));
    said
}

/// What finds it, and what is told where it is not found.
fn look_up(
    name: &str,
    item: &Function,
    signature: &Signature,
    forms: &[Form<'_>],
    context: &Context<'_>,
) -> String {
    let instead = item.instead.as_ref();
    let instead = instead.map(|it| format!("Use {} instead.", it.value));
    let about = [context.exports.told(&item.symbol), instead];
    let about: Vec<String> = about.into_iter().flatten().collect();
    let (about, experimental) = (format!("{:?}", about.join(" ")), is_experimental(item));
    let facts = [name.to_owned(), about, experimental.to_string()];
    match (forms.is_empty(), experimental) {
        (true, false) => comment::listed("SP_FUNCTION", &facts[..2], "\n"),
        (true, true) => comment::listed("SP_EXPERIMENTAL", &facts[..2], "\n"),
        (false, _) => before(name, signature, forms, &facts),
    }
}

/// What its plain name is: the function, or an error that says why not.
fn by_name(name: &str, item: &Function, signature: &Signature, context: &Context<'_>) -> String {
    let from = context.exports.always_since(&item.symbol);
    match (from, is_experimental(item)) {
        (None, _) => format!("SP_GONE({name})\n"),
        (_, true) => format!("SP_UNSETTLED({name})\n"),
        (Some(from), false) => plain(name, signature, (from.major, from.minor)),
    }
}

/// Its plain name, for the plugins that need no release without it.
fn plain(name: &str, signature: &Signature, from: Minor) -> String {
    let head = format!("  {}sp_must_{name}()", back(signature));
    let body = format!(
        "static inline {} {{\n{}\n}}\n",
        c::broken(name, signature),
        comment::listed(&head, &names(signature), ";")
    );
    let (major, minor) = from;
    let number = major * 100 + minor;
    match from {
        FIRST_LOADER => body,
        _ => format!(
            "#if SP_MIN_RELEASE >= {number}\n{body}#else\nSP_LATER({name}, \"{major}.{minor}\", {number})\n#endif\n"
        ),
    }
}

fn back(signature: &Signature) -> &'static str {
    match signature.ret {
        Type::Void => "",
        _ => "return ",
    }
}

fn names(signature: &Signature) -> Vec<String> {
    let params = signature.params.iter();
    params.map(|param| param.name.clone()).collect()
}

/// What becomes of a call in the releases that have another signature.
fn told(form: &Form<'_>) -> String {
    let releases = run(form.span);
    match &form.lacks {
        Some(flags) => format!("In {releases} `{}` is not looked at.", flags.join("`, `")),
        None => format!("In {releases} it takes other arguments and is not found."),
    }
}

/// What finds a function that had other signatures.
fn before(name: &str, newest: &Signature, forms: &[Form<'_>], facts: &[String]) -> String {
    let adapters: String = forms
        .iter()
        .map(|form| adapter(name, newest, form))
        .collect();
    let older = forms.iter().map(|form| {
        let releases = releases(form.span.0, Some(form.span.1));
        let adapter = match form.lacks {
            Some(_) => format!("(sp_function)sp_{name}_{}", form.module),
            None => "NULL".to_owned(),
        };
        format!("{{{releases}, {adapter}}}")
    });
    let older: Vec<String> = older.collect();
    let (all, count) = (format!("sp_older_{name}"), older.len().to_string());
    let facts = [facts, &[all.clone(), count]].concat();
    format!(
        "{adapters}static const sp_older {all}[] = {{\n    {},\n}};\n{}",
        older.join(",\n    "),
        comment::listed("SP_FUNCTION_OF", &facts, "\n")
    )
}

/// The function with the newest signature, which calls the older one.
fn adapter(name: &str, newest: &Signature, form: &Form<'_>) -> String {
    let Some(flags) = &form.lacks else {
        return String::new();
    };
    let older = named(form.older);
    let head = c::broken(&format!("sp_{name}_{}", form.module), newest);
    let unused: String = flags
        .iter()
        .map(|flag| format!("  (void){flag};\n"))
        .collect();
    let call = format!("  {}((older_type*)sp_find_symbol(&symbol))", back(newest));
    format!(
        "/** {name} in {}, which knows no `{}`. */\nstatic inline {head} {{\n  typedef {};\n  \
         static sp_symbol symbol = {{\"{name}\", \"\", false, NULL, 0, NULL}};\n{unused}{}\n}}\n",
        run(form.span),
        flags.join("`, `"),
        c::broken("older_type", &older).replace('\n', "\n  "),
        comment::listed(&call, &names(&older), ";")
    )
}

/// The signature, with what it passes by value complete.
fn by_value(signature: &Signature, context: &Context<'_>) -> Signature {
    let mut signature = signature.clone();
    for param in &mut signature.params {
        param.ty = forms::held(&param.ty, context, None);
    }
    signature.ret = forms::held(&signature.ret, context, None);
    signature
}

/// What the shim's own header knows: the newest release, and the functions whose presence tells
/// releases.
pub fn marks(exports: Option<&Exports<'_>>, timeline: Option<&Timeline>) -> String {
    let all = exports.map_or_else(Vec::new, Exports::marks);
    let minor = |release: Release| (release.major, release.minor);
    let line = |(name, first, last): &(&str, Release, Option<Release>)| {
        let releases = releases(minor(*first), last.map(minor));
        let always = exports.is_some_and(|it| it.always_since(name) == Some(*first));
        format!("    {{\"{name}\", {releases}, {always}}},\n")
    };
    let lines: String = all.iter().map(line).collect();
    let newest = timeline.and_then(Timeline::newest);
    let code = |(major, minor): Minor| major * 100 + minor;
    let previews = timeline.map_or_else(Vec::new, Timeline::previews);
    let preview = |(version, release)| format!("    {{\"{version}\", {}u}},\n", code(release));
    let previews: String = previews.into_iter().map(preview).collect();
    format!(
        "/** The newest final release that is known here. */\n#define SP_NEWEST_RELEASE {}u\n\n/** The pre-releases \
         that are known here: what TF_Version() returns there, and the release whose layouts they have. */\nstatic \
         const struct {{\n    const char* version;\n    unsigned release;\n}} sp_previews[] = \
         {{\n{previews}    {{\"\", 0}},\n}};\n\n/** One function of each kind: which of them a process has tells its release, where nothing \
         else\n * does. */\nstatic const sp_mark sp_marks[] = {{\n{lines}    {{\"\", {{SP_FIRST_RELEASE, \
         0}}, false}},\n}};\n",
        code(newest.unwrap_or(FIRST_LOADER))
    )
}
