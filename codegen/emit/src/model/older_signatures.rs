//! Older signatures of a function, which a later release broke under the same symbol.

use sp_ir::{Function, Param, Signature, Type};

use super::context::Context;
use super::epochs::OlderDeclaration;
use super::releases::Span;

/// A signature that a function has in older releases.
pub struct OlderSignature<'a> {
    /// The module of its epoch.
    pub module: &'a str,
    /// The first and the last release that has it.
    pub span: Span,
    /// The signature.
    pub signature: &'a Signature,
    /// The flags that it lacks; `None` if it differs in anything else.
    pub omitted_flags: Option<Vec<&'a str>>,
}

impl<'a> OlderSignature<'a> {
    /// Returns the older signatures of a function, oldest first.
    pub fn find_all(name: &str, newest: &'a Function, context: &Context<'a>) -> Vec<Self> {
        let modules = context.older.into_iter().flatten();
        modules
            .flat_map(|(module, older)| older.iter().map(move |older| (module, older)))
            .filter(|(_, older)| older.name == name)
            .filter_map(|(module, older)| Self::new(module, older, &newest.signature))
            .collect()
    }

    fn new(
        module: &'a str,
        older: &'a OlderDeclaration<'_>,
        newest: &'a Signature,
    ) -> Option<Self> {
        let Function { signature, .. } = older.item.as_function()?;
        Some(Self {
            module,
            span: older.span,
            signature,
            omitted_flags: omitted_flags(signature, newest),
        })
    }
}

/// Returns the flags that `newest` adds to `older`, or `None` if there is any other difference.
fn omitted_flags<'a>(older: &Signature, newest: &'a Signature) -> Option<Vec<&'a str>> {
    let contains = |params: &[Param], param: &Param| {
        let mut params = params.iter();
        params.any(|it| it.name == param.name && it.ty.canonical() == param.ty.canonical())
    };
    let keeps_all = older.params.iter().all(|it| contains(&newest.params, it));
    let added = newest.params.iter();
    let added: Vec<&Param> = added.filter(|it| !contains(&older.params, it)).collect();
    let are_flags = added.iter().all(|it| it.ty == Type::Bool);
    let are_named = newest.params.iter().all(|it| !it.name.is_empty());
    (keeps_all && are_flags && are_named && older.ret == newest.ret)
        .then(|| added.iter().map(|it| it.name.as_str()).collect())
}

/// Returns true if TensorFlow calls the function experimental, by its header's path. TensorFlow changes such
/// functions without another name or version.
pub fn is_experimental(item: &Function) -> bool {
    item.loc.file.contains("experimental")
}
