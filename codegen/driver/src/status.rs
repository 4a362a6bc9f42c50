//! The type of a driver's status codes, and the value that means success.

use std::collections::BTreeMap;

use sp_ir::{Item, Items, Type};
use sp_parse::clang::driver::{DriverConstant, DriverValue};

use crate::error::DriverError;

/// Most names that are followed to a type. Typedefs of themselves have none.
pub const MAX_NAMES: usize = 32;

/// `--driver-status TYPE[=SUCCESS]`, or `TYPE>=0`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusOption {
    /// The C type.
    pub ty: String,
    /// The values that mean success.
    pub success: Success,
}

/// The values of a status type that mean success.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Success {
    /// 0.
    Zero,
    /// The value with this name or number.
    Value(String),
    /// All that are not negative. They are results.
    NotNegative,
}

impl std::str::FromStr for StatusOption {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let results = text.strip_suffix("0").map(str::trim_end);
        let results = results
            .and_then(|it| it.strip_suffix(">="))
            .map(str::trim_end);
        let (ty, success) = match (results, text.split_once('=')) {
            (Some(ty), _) => (ty, Success::NotNegative),
            (None, Some((ty, value))) => (ty, Success::Value(value.to_owned())),
            (None, None) => (text, Success::Zero),
        };
        if ty.is_empty() || ty.ends_with('>') || success == Success::Value(String::new()) {
            let expected =
                "expected TYPE, TYPE=SUCCESS or TYPE>=0, such as `va_status=VA_OK` or `int>=0`";
            return Err(expected.to_owned());
        }
        Ok(Self {
            ty: ty.to_owned(),
            success,
        })
    }
}

/// The type of status codes.
#[derive(Debug, Clone)]
pub struct Status {
    /// The C name.
    pub name: String,
    /// The type.
    pub ty: Type,
    /// The value that means success.
    pub success: i64,
    /// True if values that are not negative are results, and negative ones errors.
    pub has_results: bool,
}

/// The declarations among which types and values are looked up.
pub struct Known<'a> {
    /// The types.
    pub items: &'a Items,
    /// The constants.
    pub constants: &'a [DriverConstant],
    /// The header, for messages.
    pub header: &'a str,
}

/// Returns the type of `option`, or the inferred one: the enumeration or integer typedef with a value 0 that most functions
/// with a result return, among the result types `returned`. `None` if there is no such type.
pub fn find(
    returned: &[&Type],
    known: &Known,
    option: Option<&StatusOption>,
) -> Result<Option<Status>, DriverError> {
    match option {
        Some(option) => find_named(returned, known, option).map(Some),
        None => Ok(infer(returned, known.items)),
    }
}

fn infer(returned: &[&Type], items: &Items) -> Option<Status> {
    let counts = return_types(returned);
    let total: usize = counts.values().sum();
    let candidates = counts.iter().filter(|(name, _)| may_be_status(name, items));
    let (name, count) = candidates.max_by_key(|(_, count)| **count)?;
    let is_common = *count >= 2 && count * 2 >= total;
    is_common.then(|| Status {
        ty: Type::Named(name.clone()),
        name: name.clone(),
        success: 0,
        has_results: false,
    })
}

/// Returns the number of functions with each result type, without `void`.
fn return_types(returned: &[&Type]) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for ty in returned {
        let name = spell(ty);
        if name != "void" {
            *counts.entry(name).or_default() += 1;
        }
    }
    counts
}

/// Returns true for an enumeration with a value 0, and for an integer typedef that is no truth value.
fn may_be_status<'a>(mut name: &'a str, items: &'a Items) -> bool {
    for _ in 0..MAX_NAMES {
        match items.get(name) {
            Some(Item::Enum(item)) => return item.variants.iter().any(|it| it.value == 0),
            Some(Item::Alias(alias)) => match &alias.ty {
                Type::Int { .. } => return !name.to_lowercase().contains("bool"),
                Type::Named(other) => name = other,
                _ => return false,
            },
            _ => return false,
        }
    }
    false
}

fn find_named(
    returned: &[&Type],
    known: &Known,
    option: &StatusOption,
) -> Result<Status, DriverError> {
    let is_named = |ty: &Type| {
        let int = Type::int(32, true);
        sp_ir::c::spell(ty) == option.ty || option.ty == "int" && *ty == int
    };
    let found = returned.iter().find(|ty| is_named(ty));
    let ty = found.ok_or_else(|| DriverError::Status {
        name: known.header.to_owned(),
        what: format!("no function returns `{}`", option.ty),
        help: help_types(returned) + &help_int(returned, known.items, &option.ty),
    })?;
    let has_results = option.success == Success::NotNegative;
    if has_results && !is_signed(ty, known.items) {
        return Err(DriverError::Status {
            name: known.header.to_owned(),
            what: format!("`{}` is no signed integer", option.ty),
            help: "`TYPE>=0` names a signed integer type, of which negative values are errors"
                .to_owned(),
        });
    }
    Ok(Status {
        name: option.ty.clone(),
        ty: (*ty).clone(),
        success: success(known, option)?,
        has_results,
    })
}

/// Returns true for a signed integer, also behind typedefs.
fn is_signed<'a>(mut ty: &'a Type, items: &'a Items) -> bool {
    for _ in 0..MAX_NAMES {
        match (ty, ty.named().and_then(|name| items.get(name))) {
            (Type::Named(_), Some(Item::Alias(alias))) => ty = &alias.ty,
            (ty, _) => {
                return matches!(
                    ty,
                    Type::Int { signed: true, .. } | Type::Address { signed: true }
                );
            }
        }
    }
    false
}

/// Returns how an enumeration is stated whose values functions return as `int`. Empty if `name` is no enumeration, or no
/// function returns `int`.
fn help_int(returned: &[&Type], items: &Items, name: &str) -> String {
    let is_enumeration = matches!(items.get(name), Some(Item::Enum(_)));
    match is_enumeration && returned.contains(&&Type::int(32, true)) {
        true => format!(
            "; if those with `int` return values of `{name}`, state `--driver-status int`, or `int=NAME` if `NAME` means success"
        ),
        false => String::new(),
    }
}

/// Returns a type as C spells it. The IR has no other name for `int`.
pub fn spell(ty: &Type) -> String {
    match sp_ir::c::spell(ty) {
        text if text == "int32_t" => "int".to_owned(),
        text => text,
    }
}

fn help_types(returned: &[&Type]) -> String {
    let mut counts: Vec<_> = return_types(returned).into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let types = counts.iter().take(5);
    let types: Vec<String> = types
        .map(|(name, count)| format!("`{name}` ({count} functions)"))
        .collect();
    format!("the functions return {}", types.join(", "))
}

fn success(known: &Known, option: &StatusOption) -> Result<i64, DriverError> {
    let Success::Value(name) = &option.success else {
        return Ok(0);
    };
    let number = name.parse().ok();
    let found = number.or_else(|| value(known, name));
    found.ok_or_else(|| DriverError::Status {
        name: known.header.to_owned(),
        what: format!("no constant `{name}`"),
        help: format!("write the name of a value of `{}`, or a number", option.ty),
    })
}

/// Returns the value of a constant or an enumerator.
fn value(known: &Known, name: &str) -> Option<i64> {
    let constant = known.constants.iter().find(|it| it.name == name);
    match constant.map(|it| &it.value) {
        Some(DriverValue::Int { value, .. } | DriverValue::Enumerator { value, .. }) => {
            i64::try_from(*value).ok()
        }
        Some(_) => None,
        None => known.items.values().find_map(|item| enumerator(item, name)),
    }
}

fn enumerator(item: &Item, name: &str) -> Option<i64> {
    let item = item.as_enum()?;
    let mut variants = item.variants.iter();
    variants.find(|it| it.name == name).map(|it| it.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_type_value_and_results() {
        let parse = |text: &str| text.parse::<StatusOption>();
        let parts = |text: &str| {
            let option = parse(text).unwrap();
            (option.ty, option.success)
        };
        assert_eq!(parts("st"), ("st".to_owned(), Success::Zero));
        let zero = Success::Value("0".to_owned());
        assert_eq!(parts("st=0"), ("st".to_owned(), zero));
        for text in ["int>=0", "int >= 0"] {
            assert_eq!(parts(text), ("int".to_owned(), Success::NotNegative));
        }
        for text in ["", "=1", "int=", ">=0", "int>=1"] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
