//! Bit-fields: the bytes that store them, which are fields of the Rust struct, and the methods that access them.

use std::collections::BTreeMap;

use sp_ir::{Field, Item, Items, Loc, Type};
use sp_parse::clang::BitField;

/// The methods that access a bit-field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accessor {
    /// The name of the bit-field.
    pub name: String,
    /// The declared type.
    pub ty: Type,
    /// The field with its bytes.
    pub storage: String,
    /// The offset of its first bit in these bytes.
    pub offset: u64,
    /// The number of its bits.
    pub width: u64,
}

impl Accessor {
    /// Returns the name of the bit-field's type, or `None` for a number.
    pub fn used_type(&self) -> Option<String> {
        self.ty.named().map(str::to_owned)
    }
}

/// A part of a struct, in the order of offsets.
enum Part {
    Field(Box<Field>),
    Bits(Vec<BitField>),
}

/// Adds fields with the bytes of bit-fields to the structs and unions, and returns the accessors of each.
pub fn add_storage(
    items: &mut Items,
    bit_fields: BTreeMap<String, Vec<BitField>>,
) -> BTreeMap<String, Vec<Accessor>> {
    let mut accessors = BTreeMap::new();
    for (name, bit_fields) in bit_fields {
        let added = match items.get_mut(&name) {
            Some(Item::Struct(item)) => {
                let fields = std::mem::take(&mut item.fields);
                let mut storage = Storage::new(item.loc.clone());
                parts(fields, bit_fields).for_each(|part| storage.add(part));
                item.fields = storage.with_gaps_filled();
                storage.accessors
            }
            Some(Item::Union(item)) => {
                let mut storage = Storage::new(item.loc.clone());
                bit_fields
                    .into_iter()
                    .for_each(|it| storage.add_bits(vec![it], 0));
                item.fields.append(&mut storage.fields);
                storage.accessors
            }
            _ => continue,
        };
        accessors.insert(name, added);
    }
    accessors
}

/// Returns the fields and the runs of bit-fields between them.
fn parts(fields: Vec<Field>, bit_fields: Vec<BitField>) -> impl Iterator<Item = Part> {
    let mut bits = bit_fields.into_iter().peekable();
    let mut parts = Vec::new();
    for field in fields {
        let start = field.offset * 8;
        parts.push(Part::Bits(
            std::iter::from_fn(|| bits.next_if(|it| it.offset < start)).collect(),
        ));
        parts.push(Part::Field(Box::new(field)));
    }
    parts.push(Part::Bits(bits.collect()));
    parts.into_iter()
}

/// The fields of a struct whose bit-fields are bytes.
struct Storage {
    fields: Vec<Field>,
    accessors: Vec<Accessor>,
    /// The end of the last field in bytes.
    end: u64,
    loc: Loc,
}

impl Storage {
    fn new(loc: Loc) -> Self {
        Self {
            fields: Vec::new(),
            accessors: Vec::new(),
            end: 0,
            loc,
        }
    }

    fn add(&mut self, part: Part) {
        match part {
            Part::Field(field) => {
                self.end = field.offset + field.size;
                self.fields.push(*field);
            }
            Part::Bits(bits) => {
                if let Some(first) = bits.first() {
                    let start = self.align(first);
                    self.add_bits(bits, start);
                }
            }
        }
    }

    /// Adds a field without a size that aligns the next one if there is padding before a bit-field, and returns the next
    /// one's offset. Bytes of padding would change the registers in which the struct is passed.
    fn align(&mut self, first: &BitField) -> u64 {
        let start = self.end.next_multiple_of(first.size.max(1));
        if first.offset / 8 == self.end || start > first.offset / 8 {
            return self.end;
        }
        let elem = Type::int((first.size * 8) as u8, false);
        self.push("align", elem, 0, start);
        start
    }

    fn add_bits(&mut self, bits: Vec<BitField>, start: u64) {
        let ends = bits.iter().map(|it| (it.offset + it.width).div_ceil(8));
        let end = ends.max().unwrap_or(start);
        let storage = self.push("bits", BYTE, end.saturating_sub(start), start);
        let accessors = bits.into_iter().map(|it| Accessor {
            name: it.name,
            ty: it.ty,
            storage: storage.clone(),
            offset: it.offset.saturating_sub(start * 8),
            width: it.width,
        });
        self.accessors.extend(accessors);
        self.end = end;
    }

    /// Adds an array, and returns its name.
    fn push(&mut self, prefix: &str, elem: Type, len: u64, offset: u64) -> String {
        // Two underscores, as in the names of unnamed members.
        let name = format!("{prefix}__{}", self.fields.len());
        let size = if elem == BYTE { len } else { 0 };
        let (ty, loc) = (Type::array(elem, len), self.loc.clone());
        self.fields.push(Field::new(&name, ty, offset, size, loc));
        name
    }

    /// Returns the fields. The bytes of bit-fields extend to the next field: there may be unnamed bit-fields between them.
    fn with_gaps_filled(&mut self) -> Vec<Field> {
        let mut fields = std::mem::take(&mut self.fields);
        for index in 1..fields.len() {
            let next = fields[index].offset;
            let before = &mut fields[index - 1];
            let is_storage = before.name.starts_with("bits__") && before.size > 0;
            if let Type::Array { len, .. } = &mut before.ty
                && is_storage
                && next > before.offset
            {
                *len = next - before.offset;
                before.size = *len;
            }
        }
        fields
    }
}

const BYTE: Type = Type::int(8, false);
