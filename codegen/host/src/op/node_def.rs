//! An op of a serialized `NodeDef`, which is an input that may be damaged.

use super::Op;
use crate::core::Attr;
use crate::proto::{self, FieldValue};
use crate::{DType, Error, Tensor};

impl Op {
    /// Returns the op of a serialized `NodeDef`, with its attributes and the name of its node.
    ///
    /// # Errors
    /// Returns an error if the bytes are no `NodeDef`, or if an attribute has a value of unknown form or more than 64 MiB of
    /// repeated elements.
    pub fn from_node_def(bytes: &[u8]) -> Result<Self, Error> {
        let invalid = || Error::Misuse("the bytes are no NodeDef".into());
        let fields = proto::parse_fields(bytes).ok_or_else(invalid)?;
        let text = |wanted: u32| {
            let mut fields = fields.iter();
            let (_, value) = fields.find(|(number, _)| *number == wanted)?;
            value.text()
        };
        let mut room = MAX_REPEATED;
        let mut op = Self::new(&text(2).ok_or_else(invalid)?);
        op.node = text(1);
        let entries = fields.iter().filter(|(number, _)| *number == 5);
        for entry in entries.filter_map(|(_, entry)| entry.bytes()) {
            let mut name = proto::field_values(entry, 1).filter_map(FieldValue::text);
            let name = name.next().ok_or_else(invalid)?;
            let value = proto::field_values(entry, 2).find_map(FieldValue::bytes);
            let unknown = || {
                let reason = "has an unknown form, or is too large";
                Error::Misuse(format!("the attribute {name} {reason}"))
            };
            let value = attr_value(value.unwrap_or_default(), &mut room).ok_or_else(unknown)?;
            op.attrs.insert(name, value);
        }
        Ok(op)
    }

    /// Returns the attributes that are a type or a list of types.
    pub fn type_attributes(&self) -> impl Iterator<Item = (&str, Vec<DType>)> {
        let dtype = |value: &Attr| match value {
            Attr::Type(dtype) => Some(*dtype),
            _ => None,
        };
        let types = self.attrs.iter().map(move |(name, value)| match value {
            Attr::List(items) => (name.as_str(), items.iter().filter_map(dtype).collect()),
            value => (name.as_str(), dtype(value).into_iter().collect::<Vec<_>>()),
        });
        types.filter(|(_, types)| !types.is_empty())
    }

    /// Sets the name of the node.
    pub fn node(mut self, name: &str) -> Self {
        self.node = Some(name.to_owned());
        self
    }

    /// Sets the attributes that state the types of outputs, as far as `types` states them, and no others: for a kernel
    /// without a function that creates it, which cannot read attributes.
    pub fn with_output_types(mut self, types: &[DType]) -> Self {
        self.required.clear();
        for (output, dtype) in self.outputs.iter().zip(types) {
            if let super::ArgumentTypes::Attr(attr) = &output.types {
                let attr = self.attrs.entry(attr.clone());
                attr.or_insert(Attr::Type(*dtype));
            }
        }
        self
    }
}

/// Field of a function in an `AttrValue`; in its list it is another one.
const FUNCTION: u32 = 10;
const LISTED_FUNCTION: u32 = 9;

/// The most bytes of all tensors of a node whose messages have fewer elements than the tensors.
const MAX_REPEATED: usize = 64 << 20;

/// Returns the value of an `AttrValue`. A message without a field is an empty list. `room` is the rest of [`MAX_REPEATED`].
fn attr_value(message: &[u8], room: &mut usize) -> Option<Attr> {
    let fields = proto::parse_fields(message)?;
    match fields.first() {
        None => Some(Attr::List(vec![])),
        Some((1, list)) => attr_list(list.bytes()?, room),
        Some((number, value)) => scalar(*number, *value, FUNCTION, room),
    }
}

fn attr_list(message: &[u8], room: &mut usize) -> Option<Attr> {
    let mut items = Vec::new();
    for (number, value) in proto::parse_fields(message)? {
        match (number, value) {
            // Numbers of a list are packed.
            (3..=6, FieldValue::Bytes(packed)) => items.extend(packed_items(number, packed)?),
            _ => items.push(scalar(number, value, LISTED_FUNCTION, room)?),
        }
    }
    Some(Attr::List(items))
}

fn packed_items(number: u32, packed: &[u8]) -> Option<Vec<Attr>> {
    let values = match number {
        4 => proto::fixed_values(packed, 4)?,
        _ => proto::varints(packed)?,
    };
    let value = |value| match number {
        4 => FieldValue::Fixed(value),
        _ => FieldValue::Number(value),
    };
    let items = values.into_iter();
    items
        .map(|it| scalar(number, value(it), 0, &mut 0))
        .collect()
}

fn scalar(number: u32, value: FieldValue<'_>, function: u32, room: &mut usize) -> Option<Attr> {
    Some(match (number, value) {
        (2, value) => Attr::Text(value.text()?),
        (3, FieldValue::Number(value)) => Attr::Int(value as i64),
        (4, FieldValue::Fixed(bits)) => Attr::Float(f32::from_bits(bits as u32)),
        (5, FieldValue::Number(value)) => Attr::Bool(value != 0),
        (6, FieldValue::Number(value)) => Attr::Type(DType(value as u32)),
        (7, value) => Attr::Shape(shape(value.bytes()?)),
        (8, value) => Attr::Tensor(tensor(value.bytes()?, room)?),
        (number, value) if number == function => {
            let name = proto::field_values(value.bytes()?, 1).find_map(FieldValue::text);
            Attr::Function(name?)
        }
        _ => return None,
    })
}

/// Returns the dimensions of a `TensorShapeProto`, or `None` if its rank is unknown.
fn shape(message: &[u8]) -> Option<Vec<i64>> {
    let number = |value: FieldValue<'_>| match value {
        FieldValue::Number(value) => Some(value as i64),
        _ => None,
    };
    if proto::field_values(message, 3)
        .filter_map(number)
        .any(|it| it != 0)
    {
        return None;
    }
    let dims = proto::field_values(message, 2).filter_map(FieldValue::bytes);
    let size = |dim| proto::field_values(dim, 1).find_map(number).unwrap_or(0);
    Some(dims.map(size).collect())
}

/// Returns the tensor of a `TensorProto` whose elements are its `tensor_content`, or one value for all.
fn tensor(message: &[u8], room: &mut usize) -> Option<Tensor> {
    let dtype = proto::field_values(message, 1).find_map(|it| match it {
        FieldValue::Number(value) => Some(DType(value as u32)),
        _ => None,
    })?;
    let dims = proto::field_values(message, 2).find_map(FieldValue::bytes);
    let dims = shape(dims.unwrap_or_default())?;
    let content = proto::field_values(message, 4).find_map(FieldValue::bytes);
    let size = dtype.size();
    let count = Tensor::element_count(&dims)?;
    let length = count.checked_mul(size).filter(|_| size > 0)?;
    let bytes = match content {
        Some(bytes) => bytes.to_vec(),
        None => {
            *room = room.checked_sub(length)?;
            repeated(message, dtype, length)?
        }
    };
    (bytes.len() == length).then(|| Tensor::from_bytes(dtype, dims, &bytes))
}

/// Returns the elements from the field for their type. The last value stands for those that are absent.
fn repeated(message: &[u8], dtype: DType, length: usize) -> Option<Vec<u8>> {
    let (field, width) = field_of(dtype)?;
    let mut values = Vec::new();
    for value in proto::field_values(message, field) {
        match value {
            FieldValue::Bytes(packed) if width > 0 => {
                values.extend(proto::fixed_values(packed, width)?);
            }
            FieldValue::Bytes(packed) => values.extend(proto::varints(packed)?),
            FieldValue::Number(value) | FieldValue::Fixed(value) => values.push(value),
        }
    }
    let size = dtype.size();
    // A complex number has two values.
    let is_complex = matches!(dtype, DType::COMPLEX64 | DType::COMPLEX128);
    let part = if is_complex { size / 2 } else { size };
    let bytes = |value: &u64| value.to_le_bytes().into_iter().take(part);
    let mut elements = Vec::with_capacity(length);
    elements.extend(values.iter().flat_map(bytes));
    let last = match elements.len().checked_sub(size) {
        Some(start) => elements[start..].to_vec(),
        None => vec![0; size],
    };
    while elements.len() < length {
        elements.extend(&last);
    }
    Some(elements)
}

/// Returns the field of `TensorProto` that has the values of a type, with the size of a fixed one, or 0. `None` if no field is known.
fn field_of(dtype: DType) -> Option<(u32, usize)> {
    Some(match dtype {
        DType::FLOAT => (5, 4),
        DType::DOUBLE => (6, 8),
        DType::INT32 | DType::INT16 | DType::UINT16 | DType::INT8 | DType::UINT8 => (7, 0),
        DType::QINT8 | DType::QUINT8 | DType::QINT16 | DType::QUINT16 | DType::QINT32 => (7, 0),
        DType::COMPLEX64 => (9, 4),
        DType::INT64 => (10, 0),
        DType::BOOL => (11, 0),
        DType::COMPLEX128 => (12, 8),
        DType::HALF | DType::BFLOAT16 => (13, 0),
        DType::UINT32 => (16, 0),
        DType::UINT64 => (17, 0),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(attrs: &[(&str, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = [proto::bytes_field(1, "n"), proto::bytes_field(2, "Cast")].concat();
        for (name, value) in attrs {
            let entry = [proto::bytes_field(1, name), proto::bytes_field(2, value)].concat();
            bytes.extend(proto::bytes_field(5, entry));
        }
        bytes
    }

    #[test]
    fn reads_attributes_of_each_form() {
        let float = [&[4 << 3 | 5][..], &1.5_f32.to_le_bytes()].concat();
        let packed = proto::bytes_field(3, [1, 0x80, 1]);
        let dim = proto::bytes_field(2, proto::varint_field(1, 2));
        let value = [5 << 3 | 5, 0, 0, 0, 0x40];
        let filled = [
            proto::varint_field(1, 1),
            proto::bytes_field(2, &dim),
            value.to_vec(),
        ]
        .concat();
        let bytes = node(&[
            ("DstT", proto::varint_field(6, 3)),
            ("rate", float),
            ("strides", proto::bytes_field(1, packed)),
            ("shape", proto::bytes_field(7, dim)),
            ("value", proto::bytes_field(8, filled)),
            ("Tout", proto::bytes_field(1, proto::bytes_field(6, [1, 9]))),
        ]);
        let op = Op::from_node_def(&bytes).unwrap();
        let types: Vec<_> = op.type_attributes().collect();
        let list = vec![DType::FLOAT, DType::INT64];
        assert_eq!(types, [("DstT", vec![DType::INT32]), ("Tout", list)]);
        assert_eq!((&*op.name, op.node.as_deref()), ("Cast", Some("n")));
        assert_eq!(op.attrs["DstT"], Attr::Type(DType::INT32));
        assert_eq!(op.attrs["rate"], Attr::Float(1.5));
        assert_eq!(op.attrs["strides"], Attr::from(vec![1_i64, 128]));
        assert_eq!(op.attrs["shape"], Attr::Shape(Some(vec![2])));
        assert_eq!(
            op.attrs["value"],
            Attr::Tensor(Tensor::from([2], &[2f32, 2.0]))
        );
    }

    #[test]
    fn values_are_read_from_the_field_of_their_type() {
        let two = proto::bytes_field(2, proto::bytes_field(2, proto::varint_field(1, 2)));
        let of = |dtype: DType, value: Vec<u8>| {
            let number = proto::varint_field(1, u64::from(dtype.0));
            tensor(&[number, two.clone(), value].concat(), &mut 32)
        };
        let unsigned = of(DType::UINT32, proto::varint_field(16, 5)).unwrap();
        assert_eq!(unsigned, Tensor::from([2], &[5_u32, 5]));
        let parts: Vec<u8> = [1.0_f32, -2.0].map(f32::to_le_bytes).concat();
        let complex = of(DType::COMPLEX64, proto::bytes_field(9, &parts)).unwrap();
        assert_eq!(complex.bytes(), parts.repeat(2));
        assert!(of(DType::FLOAT8_E5M2, proto::varint_field(7, 1)).is_none());
        let dims =
            [i64::MAX as u64, 2, 0].map(|it| proto::bytes_field(2, proto::varint_field(1, it)));
        let shape = proto::bytes_field(2, dims.concat());
        let overflowing = [proto::varint_field(1, 1), shape].concat();
        assert!(tensor(&overflowing, &mut 0).is_none());
    }

    #[test]
    fn rejects_bytes_that_are_no_node() {
        assert!(Op::from_node_def(b"\xff").is_err());
        assert!(Op::from_node_def(&node(&[("T", vec![0xff])])).is_err());
        let huge = proto::bytes_field(2, proto::varint_field(1, 1 << 40));
        let tensor = [proto::varint_field(1, 1), proto::bytes_field(2, huge)].concat();
        let huge = node(&[("value", proto::bytes_field(8, tensor))]);
        assert!(Op::from_node_def(&huge).is_err());
    }

    #[test]
    fn repeated_elements_of_all_tensors_are_limited() {
        let dim = proto::bytes_field(2, proto::varint_field(1, 1 << 23));
        let tensor = [proto::varint_field(1, 1), proto::bytes_field(2, dim)].concat();
        let list = |count| {
            let tensors = proto::bytes_field(8, &tensor).repeat(count);
            Op::from_node_def(&node(&[("values", proto::bytes_field(1, tensors))]))
        };
        assert!(list(2).is_ok());
        let error = list(3).unwrap_err().to_string();
        assert!(error.contains("is too large"), "{error}");
    }
}
