//! The declarations of a header that are bound, and their form in Rust.

mod bit_fields;
mod constants;
mod functions;
mod layout;
mod reachable;
mod signature;
mod sizes;
mod value_names;

use std::collections::{BTreeMap, BTreeSet};

use sp_ir::{Alias, Enum, Item, Items, Layout, Loc, Type, Variant};
use sp_parse::clang::driver::{DriverDeclarations, WithoutValue};
use sp_parse::clang::{Undescribed, UndescribedReason};

use crate::error::DriverError;
use crate::header::DriverHeader;
use crate::status::{self, MAX_NAMES, Status, StatusOption};
pub use bit_fields::Accessor;
pub use constants::{ConstantValue, NamedConstant};
pub use functions::Function;
pub use layout::{Fields, Shape};
pub use sizes::StatedSizes;

/// The declarations of a header that are bound, and those that are not.
#[derive(Debug)]
pub struct Model {
    /// The types, in the order of the headers' lines.
    pub types: Vec<(String, Item)>,
    /// The layout of each struct and union.
    pub shapes: BTreeMap<String, Shape>,
    /// The bit-fields of structs and unions.
    pub accessors: BTreeMap<String, Vec<Accessor>>,
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

impl LeftOut {
    /// Returns one that is no function.
    pub(crate) fn declaration(name: String, reason: String, loc: Loc) -> Self {
        Self {
            name,
            reason,
            loc,
            is_function: false,
        }
    }
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
            constants,
            forwards,
        } = read;
        let mut items = declared.items;
        let accessors = bit_fields::add_storage(&mut items, declared.bit_fields);
        let sizes = layout::Sizes::new(&items, &declared.undescribed);
        let mut left_out: Vec<_> = declared.undescribed.iter().map(left_out).collect();
        let mut functions = functions::find(&declared.functions, &forwards, &sizes, &mut left_out);
        if functions.is_empty() {
            return Err(no_functions(header, &left_out));
        }
        let returned: Vec<&Type> = functions.iter().map(|it| &it.signature.ret).collect();
        let known = status::Known {
            items: &items,
            constants: &constants.constants,
            header: &header.file_name(),
        };
        let status = status::find(&returned, &known, option)?;
        let own = |loc: &Loc| own_headers.contains(&loc.file);
        let further = constants::used_types(&constants.constants)
            .chain(accessors.values().flatten().filter_map(Accessor::used_type));
        let used = reachable::reachable(&items, &functions, &own, further);
        let is_own_or_used = |it: &LeftOut| own(&it.loc) || used.missing.contains(&it.name);
        left_out.retain(is_own_or_used);
        let shapes = sizes.shapes(&used.names);
        left_out.extend(layout::left_out(&shapes, &items));
        functions::add_aliases(&mut functions, constants.aliases, &mut left_out);
        let (opaque_values, opaque_types) = opaque(&used, &sizes);
        let without_value = constants.without_value;
        let mut model = Self {
            constants: constants::find(constants.constants, &items, &used.names, &mut left_out),
            types: in_order(items, &used.names),
            opaque_values,
            opaque_types,
            accessors,
            shapes,
            functions,
            left_out,
            status,
        };
        model.add_left_out(without_value);
        value_names::name_values(&mut model);
        Ok(model)
    }

    /// Adds macros and variables without a value, unless a bound item or a function has the name.
    fn add_left_out(&mut self, without_value: Vec<WithoutValue>) {
        let functions = self.functions.iter().map(|it| &it.name);
        let names = functions.chain(self.constants.iter().map(|it| &it.name));
        let names = names.chain(self.types.iter().map(|(name, _)| name));
        let names = names.chain(self.left_out.iter().map(|it| &it.name));
        let names: BTreeSet<String> = names.cloned().collect();
        let added = without_value.into_iter();
        let added = added.filter(|it| !names.contains(&it.name));
        let added: Vec<LeftOut> = added
            .map(|it| LeftOut::declaration(it.name, it.reason, it.loc))
            .collect();
        self.left_out.extend(added);
        self.left_out
            .sort_by(|a, b| (&a.loc, &a.name).cmp(&(&b.loc, &b.name)));
        self.left_out.dedup();
    }

    /// Returns a bound type.
    pub fn item(&self, name: &str) -> Option<&Item> {
        let mut types = self.types.iter();
        types.find(|(known, _)| known == name).map(|(_, item)| item)
    }

    /// Returns the typedef with this name.
    pub fn alias(&self, name: &str) -> Option<&Alias> {
        match self.item(name) {
            Some(Item::Alias(alias)) => Some(alias),
            _ => None,
        }
    }

    /// Returns the type that a typedef names.
    pub fn resolve<'t>(&'t self, mut ty: &'t Type) -> &'t Type {
        // The limit is against typedefs of themselves.
        for _ in 0..MAX_NAMES {
            let Type::Named(name) = ty else {
                break;
            };
            let Some(Item::Alias(alias)) = self.item(name) else {
                break;
            };
            ty = &alias.ty;
        }
        ty
    }

    /// Returns the names of a type: those of the typedefs that `resolve` follows, and that of the type that they name.
    pub fn names<'t>(&'t self, ty: &'t Type) -> impl Iterator<Item = &'t str> {
        let next = |name: &&str| match self.item(name) {
            Some(Item::Alias(alias)) => name_of(&alias.ty),
            _ => None,
        };
        std::iter::successors(name_of(ty), next).take(MAX_NAMES)
    }

    /// Returns the name and the item of an enumeration, also behind typedefs.
    pub fn enumeration<'t>(&'t self, ty: &'t Type) -> Option<(&'t str, &'t Enum)> {
        let name = self.resolve(ty).named()?;
        Some((name, self.item(name)?.as_enum()?))
    }

    /// Returns the bound enumerators.
    pub fn enumerators(&self) -> impl Iterator<Item = &Variant> {
        self.types.iter().flat_map(|(_, item)| match item {
            Item::Enum(item) => item.variants.as_slice(),
            _ => &[],
        })
    }

    /// Returns the value of a bound enumerator or constant.
    pub fn value(&self, name: &str) -> Option<i64> {
        let enumerators = self.enumerators().filter(|it| it.name == name);
        let mut values = enumerators.map(|it| it.value);
        let constant = || self.constants.iter().find(|it| it.name == name);
        values.next().or_else(|| match constant()?.value {
            ConstantValue::Int(value)
            | ConstantValue::Typed { value, .. }
            | ConstantValue::Enumerator { value, .. } => i64::try_from(value).ok(),
            _ => None,
        })
    }
}

fn name_of(ty: &Type) -> Option<&str> {
    match ty {
        Type::Named(name) => Some(name),
        _ => None,
    }
}

/// Returns the types without fields: those with a layout, and those that only pointers refer to.
fn opaque(
    used: &reachable::Reachable,
    sizes: &layout::Sizes,
) -> (BTreeMap<String, Layout>, BTreeSet<String>) {
    let layout = |name: &String| sizes.undescribed.get(name).copied();
    let names = used.missing.iter();
    let (values, types): (Vec<_>, Vec<_>) = names
        .map(|name| (name.clone(), layout(name)))
        .partition(|(_, layout)| layout.is_some());
    let values = values.into_iter();
    let values = values.filter_map(|(name, layout)| Some((name, layout?)));
    let types = types.into_iter().map(|(name, _)| name);
    (values.collect(), types.collect())
}

fn no_functions(header: &DriverHeader, left_out: &[LeftOut]) -> DriverError {
    let first = left_out.iter().find(|it| it.is_function);
    DriverError::NoFunctions {
        name: header.file_name(),
        reason: first.map(|it| format!("`{}` {}", it.name, it.reason)),
    }
}

fn left_out(undescribed: &Undescribed) -> LeftOut {
    let reason = match &undescribed.reason {
        UndescribedReason::Unsupported(error) if error.name != undescribed.name => {
            format!("has {} (`{}`)", error.what, error.name)
        }
        UndescribedReason::Unsupported(error) => format!("uses {}", error.what),
        UndescribedReason::Variadic => "takes a variable number of arguments".to_owned(),
    };
    LeftOut {
        name: undescribed.name.clone(),
        reason,
        loc: undescribed.loc.clone(),
        is_function: undescribed.is_function,
    }
}

fn in_order(items: Items, used: &BTreeSet<String>) -> Vec<(String, Item)> {
    let is_bound = |(name, item): &(String, Item)| {
        used.contains(name) && !matches!(item, Item::Function(_) | Item::Constant(_))
    };
    let mut types: Vec<_> = items.into_iter().filter(is_bound).collect();
    types.sort_by(|(a, x), (b, y)| (x.loc(), a).cmp(&(y.loc(), b)));
    types
}
