//! Named values: attributes of plugins, devices and topologies, and costs of executables.

use std::collections::BTreeSet;

use sp_host::child_checks::Stop;

use crate::args::Args;
use crate::buffer::ensure;
use crate::memory;
use crate::plugin::Plugin;

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    Int(i64),
    List(Vec<i64>),
    Float(f32),
    Bool(bool),
}

/// A named value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Attribute {
    pub name: String,
    pub value: Value,
}

/// Bytes of a `PJRT_NamedValue`, in every version of the header.
const SIZE: usize = 56;

/// Returns the named values in two fields of `args`. Names must be unique and not empty.
pub(super) fn read(
    plugin: &Plugin<'_>,
    args: &Args<'_>,
    field: &str,
    count: &str,
) -> Result<Vec<Attribute>, Stop> {
    let (start, count) = (args.get(field)?, args.get(count)? as usize);
    let known = crate::layout::sizes(plugin.api, "PJRT_NamedValue").map(|(_, padded)| padded);
    ensure(known == Some(SIZE), || {
        "PJRT_NamedValue has another layout".into()
    })?;
    ensure(count < 100_000, || {
        format!("there are {count} values in {field}")
    })?;
    let items = (0..count).map(|at| value(start + (at * SIZE) as u64, at, field));
    let items: Vec<Attribute> = items.collect::<Result<_, _>>()?;
    let mut names = BTreeSet::new();
    let repeated = items.iter().find(|it| !names.insert(&it.name));
    match repeated {
        Some(item) => Err(Stop::Fail(format!(
            "{field} has two values {:?}",
            item.name
        ))),
        None => Ok(items),
    }
}

fn value(address: u64, at: usize, field: &str) -> Result<Attribute, Stop> {
    let what = format!("value {at} of {field}");
    let words = memory::words(address, SIZE / 8, &what)?;
    let [struct_size, _, name, name_size, kind, data, size] = words[..] else {
        unreachable!("seven words were read")
    };
    ensure(struct_size as usize == SIZE, || {
        format!("{what} has a struct_size of {struct_size}, expected {SIZE}")
    })?;
    let name = memory::text(name, name_size as usize, &format!("the name of {what}"))?;
    ensure(!name.is_empty(), || format!("{what} has no name"))?;
    let value = match kind as u32 {
        0 => Value::Text(memory::text(data, size as usize, &name)?),
        1 => Value::Int(data as i64),
        2 => {
            let numbers = memory::words(data, size as usize, &name)?;
            Value::List(numbers.into_iter().map(|it| it as i64).collect())
        }
        3 => Value::Float(f32::from_bits(data as u32)),
        4 => Value::Bool(data as u8 != 0),
        other => return Err(Stop::Fail(format!("{name} has the type {other}"))),
    };
    let is_scalar = matches!(value, Value::Int(_) | Value::Float(_) | Value::Bool(_));
    ensure(!is_scalar || size == 1, || {
        format!("{name} is one value with a value_size of {size}, expected 1")
    })?;
    Ok(Attribute { name, value })
}

/// Returns the names in one line.
pub(super) fn describe(attributes: &[Attribute]) -> String {
    let names: Vec<&str> = attributes.iter().map(|it| it.name.as_str()).collect();
    match names.is_empty() {
        true => "none".into(),
        false => names.join(", "),
    }
}
