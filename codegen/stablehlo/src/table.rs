//! The tables of attributes and types: their sizes are in one section, their encodings in another one.

use crate::cursor::{Cursor, MAX_DEPTH};
use crate::elements::Elements;
use crate::entry::{Context, Entry, Value};
use crate::error::ReadError;
use crate::layout::{self, Layout};
use crate::section::{self, Dialect, Sections};

/// The attributes and the types of a program.
pub(crate) struct Tables<'a> {
    pub attributes: Vec<Entry<'a>>,
    pub types: Vec<Entry<'a>>,
}

/// An entry that is not decoded.
struct Encoded<'a> {
    dialect: &'a str,
    /// False if the entry is text.
    is_custom: bool,
    bytes: Cursor<'a>,
}

impl<'a> Tables<'a> {
    pub fn read(
        sections: &Sections<'a>,
        strings: &[&'a [u8]],
        dialects: &[Dialect<'a>],
    ) -> Result<Self, ReadError> {
        let mut sizes = sections.get(section::ENTRY_SIZES)?;
        let mut entries = sections.get(section::ENTRIES)?;
        let (attribute_count, type_count) = (sizes.count()?, sizes.count()?);
        let attributes = read_group(attribute_count, &mut sizes, &mut entries, dialects)?;
        let types = read_group(type_count, &mut sizes, &mut entries, dialects)?;
        entries.expect_end("the last type")?;
        let mut context = Context {
            strings,
            attribute_count,
            type_count,
            types: &[],
        };
        let types = decode_all(&types, false, &context)?;
        context.types = &types;
        let attributes = decode_all(&attributes, true, &context)?;
        let tables = Self { attributes, types };
        tables.check_depth(&sizes)?;
        Ok(tables)
    }

    /// Returns an error if an entry refers to itself, or if too many are nested.
    fn check_depth(&self, end: &Cursor<'a>) -> Result<(), ReadError> {
        let count = self.attributes.len() + self.types.len();
        let mut depths = vec![None; count];
        for node in 0..count {
            if self.depth(node, 0, &mut depths).is_none() {
                return end.error(format!(
                    "more than {MAX_DEPTH} attributes or types refer to each other"
                ));
            }
        }
        Ok(())
    }

    /// Returns how many entries are nested in a node: an attribute, or a type after all of those. Returns `None` if there
    /// are too many, as there are in a cycle.
    fn depth(&self, node: usize, level: usize, depths: &mut [Option<usize>]) -> Option<usize> {
        if level >= MAX_DEPTH {
            return None;
        }
        if let Some(depth) = depths[node] {
            return (level + depth < MAX_DEPTH).then_some(depth);
        }
        let first_type = self.attributes.len();
        let entry = self
            .attributes
            .get(node)
            .or_else(|| self.types.get(node - first_type))?;
        let mut depth = 0;
        for value in &entry.values {
            for child in references(value, first_type) {
                depth = depth.max(1 + self.depth(child, level + 1, depths)?);
            }
        }
        depths[node] = Some(depth);
        Some(depth)
    }
}

/// Returns the nodes that a value refers to.
fn references(value: &Value<'_>, first_type: usize) -> Vec<usize> {
    match value {
        Value::Attribute(index) => vec![*index],
        Value::OptionalAttribute(index) => index.iter().copied().collect(),
        Value::Attributes(indices) => indices.clone(),
        Value::Pairs(pairs) => pairs
            .iter()
            .flat_map(|&(key, value)| [key, value])
            .collect(),
        Value::Type(index) => vec![first_type + index],
        Value::Types(indices) => indices.iter().map(|index| first_type + index).collect(),
        _ => Vec::new(),
    }
}

/// Reads the sizes of `count` entries, which are grouped by dialect, and takes their bytes.
fn read_group<'a>(
    count: usize,
    sizes: &mut Cursor<'a>,
    entries: &mut Cursor<'a>,
    dialects: &[Dialect<'a>],
) -> Result<Vec<Encoded<'a>>, ReadError> {
    let mut found = Vec::new();
    while found.len() < count {
        let dialect = dialects[sizes.index(dialects.len(), "dialect")?].name;
        let members = sizes.count()?;
        if members == 0 || members > count - found.len() {
            return sizes.error(format!(
                "a group has {members} entries, {} are left",
                count - found.len()
            ));
        }
        for _ in 0..members {
            let (size, is_custom) = sizes.flagged()?;
            let bytes = entries.range(entries.checked_count(size)?)?;
            found.push(Encoded {
                dialect,
                is_custom,
                bytes,
            });
        }
    }
    Ok(found)
}

fn decode_all<'a>(
    entries: &[Encoded<'a>],
    is_attribute: bool,
    context: &Context<'a, '_>,
) -> Result<Vec<Entry<'a>>, ReadError> {
    entries
        .iter()
        .map(|entry| decode(entry, is_attribute, context))
        .collect()
}

fn decode<'a>(
    encoded: &Encoded<'a>,
    is_attribute: bool,
    context: &Context<'a, '_>,
) -> Result<Entry<'a>, ReadError> {
    let mut cursor = encoded.bytes;
    let layout = find_layout(encoded, is_attribute, &mut cursor)?;
    let mut values = Vec::with_capacity(layout.fields.len());
    for &(_, kind) in layout.fields {
        values.push(context.value(&mut cursor, kind, &values)?);
    }
    cursor.expect_end(layout.name)?;
    let entry = Entry {
        dialect: encoded.dialect,
        layout,
        values,
    };
    if is_attribute {
        Elements::check(&entry, context.types).or_else(|message| encoded.bytes.error(message))?;
    }
    Ok(entry)
}

fn find_layout<'a>(
    encoded: &Encoded<'a>,
    is_attribute: bool,
    cursor: &mut Cursor<'a>,
) -> Result<&'static Layout, ReadError> {
    if !encoded.is_custom {
        return Ok(&layout::TEXT);
    }
    let start = *cursor;
    if !matches!(encoded.dialect, "vhlo" | "builtin") {
        return Ok(&layout::OPAQUE);
    }
    let code = cursor.varint()?;
    let what = if is_attribute { "attribute" } else { "type" };
    let Some(found) = layout::find(encoded.dialect, is_attribute, code) else {
        return start.error(format!("{what} {code} of VHLO is unknown"));
    };
    if *found == layout::OPAQUE {
        *cursor = start;
    }
    Ok(found)
}
