//! Structs of the API by the names of their fields.

use sp_ir::{Api, Item, Type};

/// A field: its offset from the start of the outermost struct, and its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub offset: usize,
    pub size: usize,
}

/// Returns the field at `path` of the struct `name`: names that are separated by dots, for nested structs.
pub(crate) fn place(api: &Api, name: &str, path: &str) -> Option<Place> {
    let (first, rest) = match path.split_once('.') {
        Some((first, rest)) => (first, Some(rest)),
        None => (path, None),
    };
    let fields = api.items.get(name)?.fields()?;
    let field = fields.iter().find(|field| field.name == first)?;
    let outer = Place {
        offset: field.offset as usize,
        size: field.size as usize,
    };
    let Some(rest) = rest else {
        return Some(outer);
    };
    let Type::Named(inner) = &field.ty else {
        return None;
    };
    let place = place(api, inner, rest)?;
    Some(Place {
        offset: outer.offset + place.offset,
        ..place
    })
}

/// Returns the `struct_size` of the struct `name` and its size with padding.
pub(crate) fn sizes(api: &Api, name: &str) -> Option<(usize, usize)> {
    let layout = api.items.get(name)?.layout()?;
    let size = api.structure(name)?.struct_size.as_ref();
    let size = size.map_or(layout.size, |size| size.value);
    Some((size as usize, layout.size as usize))
}

/// Returns the value of an enumerator.
pub(crate) fn enumerator(api: &Api, name: &str) -> Option<i64> {
    let mut enums = api.items.values().filter_map(Item::as_enum);
    enums.find_map(|found| {
        let variant = found.variants.iter().find(|it| it.name == name)?;
        Some(variant.value)
    })
}

/// Returns the values of the enumeration `name`, each with the part of its name after `PREFIX_`.
pub(crate) fn values<'a>(api: &'a Api, name: &str, prefix: &str) -> Vec<(&'a str, i64)> {
    let found = api.items.get(name).and_then(Item::as_enum);
    let variants = found.map_or(&[][..], |found| &found.variants);
    let named = variants.iter().filter_map(|it| {
        let short = it.name.strip_prefix(prefix)?;
        Some((short, it.value))
    });
    named.collect()
}
