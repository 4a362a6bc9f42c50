//! The functions that can be bound, the macros that name them, and the functions that are left out.

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Item, Items, Loc, Signature};
use sp_parse::clang::driver::FunctionAlias;

use super::layout::Sizes;
use super::{LeftOut, signature};

/// A function that is bound.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The symbol.
    pub symbol: String,
    /// Its parameters and result.
    pub signature: Signature,
    /// The names of the parameters in Rust.
    pub parameters: Vec<String>,
    /// The function's own name if `name` is that of a macro.
    pub alias_of: Option<String>,
    /// The position.
    pub loc: Loc,
}

/// Returns the functions that can be bound, and adds the others to `left_out`. `forwards` has the functions that inline
/// functions only call.
pub fn find(
    items: &Items,
    forwards: &BTreeMap<String, String>,
    sizes: &Sizes,
    left_out: &mut Vec<LeftOut>,
) -> Vec<Function> {
    let mut functions = Vec::new();
    for (name, item) in items {
        let Item::Function(function) = item else {
            continue;
        };
        let loc = function.loc.clone();
        match signature::problem(function, forwards.get(name), sizes) {
            Some(reason) => left_out.push(LeftOut {
                name: name.clone(),
                reason,
                loc,
                is_function: true,
            }),
            None => functions.push(Function {
                name: name.clone(),
                symbol: function.symbol.clone(),
                signature: function.signature.clone(),
                parameters: Vec::new(),
                alias_of: None,
                loc,
            }),
        }
    }
    sort(&mut functions);
    functions
}

/// Adds the macros that name a function under their names, and those that cannot be bound to `left_out`.
pub fn add_aliases(
    functions: &mut Vec<Function>,
    aliases: Vec<FunctionAlias>,
    left_out: &mut Vec<LeftOut>,
) {
    let names: BTreeSet<String> = functions.iter().map(|it| it.name.clone()).collect();
    for FunctionAlias {
        name,
        function,
        loc,
    } in aliases
    {
        if name == function {
            continue;
        }
        let named = functions.iter().find(|it| it.name == function);
        let reason = match named {
            None => format!("is a macro for `{function}`, which is left out"),
            Some(_) if names.contains(&name) => {
                format!("is a macro for `{function}`, and a function has the same name")
            }
            Some(named) => {
                let alias = Function {
                    name,
                    alias_of: Some(function),
                    loc,
                    ..named.clone()
                };
                functions.push(alias);
                continue;
            }
        };
        left_out.push(LeftOut::declaration(name, reason, loc));
    }
    sort(functions);
}

fn sort(functions: &mut [Function]) {
    functions.sort_by(|a, b| (&a.loc, &a.name).cmp(&(&b.loc, &b.name)));
}
