//! The declarations of a header that are bound, and their form in Rust.

mod constants;
mod layout;
mod reachable;
mod signature;

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Item, Items, Layout, Loc, Signature, Type};
use sp_parse::clang::driver::DriverDeclarations;
use sp_parse::clang::{Undescribed, UndescribedReason};

use crate::error::DriverError;
use crate::header::DriverHeader;
use crate::status::{self, Status, StatusOption};
pub use constants::{ConstantValue, MAX_NAMES, NamedConstant};
pub use layout::{Fields, Shape};

/// The declarations of a header that are bound, and those that are not.
#[derive(Debug)]
pub struct Model {
    /// The types, in the order of the headers' lines.
    pub types: Vec<(String, Item)>,
    /// The layout of each struct and union.
    pub shapes: BTreeMap<String, Shape>,
    /// Types of which only the size and alignment are known.
    pub opaque_values: BTreeMap<String, Layout>,
    /// Types that only pointers refer to.
    pub opaque_types: BTreeSet<String>,
    /// The functions.
    pub functions: Vec<Function>,
    /// The constants.
    pub constants: Vec<NamedConstant>,
    /// The declarations that are not bound.
    pub left_out: Vec<LeftOut>,
    /// The type of status codes.
    pub status: Option<Status>,
}

/// A function that is bound.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The symbol.
    pub symbol: String,
    /// Its parameters and result.
    pub signature: Signature,
    /// The position.
    pub loc: Loc,
}

/// A declaration that is not bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// The reason.
    pub reason: String,
    /// The position.
    pub loc: Loc,
    /// True for a function, false for the fields of a struct or another type.
    pub is_function: bool,
}

impl Model {
    /// Decides what is bound.
    ///
    /// # Errors
    /// Returns an error if no function can be bound, or if the type of status codes is not found.
    pub fn new(
        header: &DriverHeader,
        read: DriverDeclarations,
        option: Option<&StatusOption>,
    ) -> Result<Self, DriverError> {
        let DriverDeclarations {
            declared,
            own_headers,
            unsigned,
            macros_without_value,
        } = read;
        let mut items = declared.items;
        layout::decay_arrays(&mut items);
        let sizes = layout::Sizes::new(&items, &declared.undescribed);
        let mut left_out: Vec<_> = declared.undescribed.iter().map(left_out).collect();
        let functions = functions(&items, &sizes, &mut left_out);
        if functions.is_empty() {
            return Err(no_functions(header, &left_out));
        }
        let returned: Vec<&Type> = functions.iter().map(|it| &it.signature.ret).collect();
        let status = status::find(&returned, &items, option, &header.file_name())?;
        let own = |loc: &Loc| own_headers.contains(&loc.file);
        let used = reachable::reachable(&items, &functions, &own);
        let is_own_or_used = |it: &LeftOut| own(&it.loc) || used.missing.contains(&it.name);
        left_out.retain(is_own_or_used);
        let shapes = sizes.shapes(&used.names);
        left_out.extend(layout::left_out(&shapes, &items));
        left_out.extend(macros_without_value.into_iter().map(macro_without_value));
        let is_sized = |name: &String| sizes.undescribed.contains_key(name);
        let (opaque_values, opaque_types): (BTreeSet<_>, BTreeSet<_>) =
            used.missing.iter().cloned().partition(is_sized);
        let layouts = opaque_values.into_iter().map(|name| {
            let layout = sizes.undescribed[&name];
            (name, layout)
        });
        let opaque_values = layouts.collect();
        Ok(Self {
            constants: constants::find(&items, &unsigned, &used.names, &own, &mut left_out),
            types: in_order(items, &used.names),
            opaque_values,
            opaque_types,
            shapes,
            functions,
            left_out: sorted(left_out),
            status,
        })
    }
}

impl Model {
    /// Returns the value of a bound enumerator or constant.
    pub fn value(&self, name: &str) -> Option<i64> {
        let enumerators = self.types.iter().filter_map(|(_, item)| match item {
            Item::Enum(item) => item.variants.iter().find(|it| it.name == name),
            _ => None,
        });
        let mut values = enumerators.map(|it| it.value);
        let constant = || self.constants.iter().find(|it| it.name == name);
        values.next().or_else(|| match constant()?.value {
            ConstantValue::Int(value) => Some(value),
            _ => None,
        })
    }
}

fn no_functions(header: &DriverHeader, left_out: &[LeftOut]) -> DriverError {
    let first = left_out.iter().find(|it| it.is_function);
    DriverError::NoFunctions {
        name: header.file_name(),
        reason: first.map(|it| format!("`{}` {}", it.name, it.reason)),
    }
}

/// Returns the functions that can be bound, and adds the others to `left_out`.
fn functions(items: &Items, sizes: &layout::Sizes, left_out: &mut Vec<LeftOut>) -> Vec<Function> {
    let mut functions = Vec::new();
    for (name, item) in items {
        let Item::Function(function) = item else {
            continue;
        };
        match signature::problem(function, sizes) {
            Some(reason) => left_out.push(LeftOut {
                name: name.clone(),
                reason,
                loc: function.loc.clone(),
                is_function: true,
            }),
            None => functions.push(Function {
                name: name.clone(),
                symbol: function.symbol.clone(),
                signature: function.signature.clone(),
                loc: function.loc.clone(),
            }),
        }
    }
    functions.sort_by(|a, b| (&a.loc, &a.name).cmp(&(&b.loc, &b.name)));
    functions
}

fn left_out(undescribed: &Undescribed) -> LeftOut {
    let reason = match &undescribed.reason {
        UndescribedReason::Unsupported(error) if error.name != undescribed.name => {
            format!("has {} (`{}`)", error.what, error.name)
        }
        UndescribedReason::Unsupported(error) => format!("uses {}", error.what),
        UndescribedReason::Variadic => "takes a variable number of arguments".to_owned(),
        UndescribedReason::NameOfType => "has the name of a type".to_owned(),
    };
    LeftOut {
        name: undescribed.name.clone(),
        reason,
        loc: undescribed.loc.clone(),
        is_function: undescribed.is_function,
    }
}

fn macro_without_value((name, loc): (String, Loc)) -> LeftOut {
    LeftOut {
        name,
        reason: "is a macro with a cast, a floating-point number or another expression".to_owned(),
        loc,
        is_function: false,
    }
}

fn sorted(mut left_out: Vec<LeftOut>) -> Vec<LeftOut> {
    left_out.sort_by(|a, b| (&a.loc, &a.name).cmp(&(&b.loc, &b.name)));
    left_out.dedup();
    left_out
}

fn in_order(items: Items, used: &BTreeSet<String>) -> Vec<(String, Item)> {
    let is_bound = |(name, item): &(String, Item)| {
        used.contains(name) && !matches!(item, Item::Function(_) | Item::Constant(_))
    };
    let mut types: Vec<_> = items.into_iter().filter(is_bound).collect();
    types.sort_by(|(a, x), (b, y)| (x.loc(), a).cmp(&(y.loc(), b)));
    types
}
