//! Element types of tensors.

use std::fmt;

/// An element type, numbered as `TF_DataType` numbers it. Numbers without a name are possible: a newer TensorFlow may
/// have more types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DataType(u8);

/// Begins the name of a type that has none, such as `type100`.
const NUMBERED: &str = "type";

/// Numbers from here on are reference types in `TF_DataType`.
const FIRST_REFERENCE: u8 = 101;

/// Calls the macro `$table` with a row for each element type: its name in `TF_DataType`, its number, the name that TensorFlow
/// prints, and the number of bytes of an element, which is 0 if elements have no fixed size.
#[macro_export]
macro_rules! for_data_types {
    ($table:ident) => {
        $table! {
            FLOAT = 1 "float" 4,
            DOUBLE = 2 "double" 8,
            INT32 = 3 "int32" 4,
            UINT8 = 4 "uint8" 1,
            INT16 = 5 "int16" 2,
            INT8 = 6 "int8" 1,
            STRING = 7 "string" 0,
            COMPLEX64 = 8 "complex64" 8,
            INT64 = 9 "int64" 8,
            BOOL = 10 "bool" 1,
            QINT8 = 11 "qint8" 1,
            QUINT8 = 12 "quint8" 1,
            QINT32 = 13 "qint32" 4,
            BFLOAT16 = 14 "bfloat16" 2,
            QINT16 = 15 "qint16" 2,
            QUINT16 = 16 "quint16" 2,
            UINT16 = 17 "uint16" 2,
            COMPLEX128 = 18 "complex128" 16,
            HALF = 19 "half" 2,
            RESOURCE = 20 "resource" 0,
            VARIANT = 21 "variant" 0,
            UINT32 = 22 "uint32" 4,
            UINT64 = 23 "uint64" 8,
            FLOAT8_E5M2 = 24 "float8_e5m2" 1,
            FLOAT8_E4M3FN = 25 "float8_e4m3fn" 1,
            FLOAT8_E4M3FNUZ = 26 "float8_e4m3fnuz" 1,
            FLOAT8_E4M3B11FNUZ = 27 "float8_e4m3b11fnuz" 1,
            FLOAT8_E5M2FNUZ = 28 "float8_e5m2fnuz" 1,
            INT4 = 29 "int4" 1,
            UINT4 = 30 "uint4" 1,
            INT2 = 31 "int2" 1,
            UINT2 = 32 "uint2" 1,
            FLOAT4_E2M1FN = 33 "float4_e2m1fn" 1,
        }
    };
}

macro_rules! data_types {
    ($($name:ident = $number:literal $text:literal $size:literal,)*) => {
        /// The numbers, and the names that TensorFlow prints.
        const NAMES: &[(u8, &str)] = &[$(($number, $text)),*];

        impl DataType {
            $(
                #[doc = concat!("`TF_", stringify!($name), "`.")]
                pub const $name: Self = Self($number);
            )*
        }
    };
}

for_data_types!(data_types);

impl DataType {
    /// Returns the type with this number, or `None` if it is 0 or the number of a reference type.
    pub fn from_number(number: u32) -> Option<Self> {
        let number = u8::try_from(number).ok()?;
        (1..FIRST_REFERENCE)
            .contains(&number)
            .then_some(Self(number))
    }

    /// Returns the type with this name, or `None` if there is none.
    pub fn from_name(name: &str) -> Option<Self> {
        if let Some((number, _)) = NAMES.iter().find(|it| it.1 == name) {
            return Some(Self(*number));
        }
        let number = name.strip_prefix(NUMBERED)?.parse().ok()?;
        Self::from_number(number).filter(|it| it.to_string() == name)
    }

    /// Returns the number, a `TF_DataType`.
    pub const fn number(self) -> u32 {
        self.0 as u32
    }

    /// Returns the name that TensorFlow prints, or `None` if it is not known.
    pub fn name(self) -> Option<&'static str> {
        let row = NAMES.iter().find(|it| it.0 == self.0)?;
        Some(row.1)
    }
}

impl fmt::Display for DataType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{NUMBERED}{}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_round_trip() {
        for number in 1..100 {
            let data_type = DataType::from_number(number).unwrap();
            assert_eq!(DataType::from_name(&data_type.to_string()), Some(data_type));
            assert_eq!(data_type.number(), number);
        }
        assert_eq!(DataType::HALF.to_string(), "half");
        assert_eq!(DataType::FLOAT4_E2M1FN.to_string(), "float4_e2m1fn");
        assert_eq!(DataType::from_number(100).unwrap().to_string(), "type100");
    }

    #[test]
    fn rejects_reference_types_and_unknown_names() {
        for number in [0, 101, 120, 300] {
            assert_eq!(DataType::from_number(number), None, "{number}");
        }
        for name in [
            "", "T", "type", "type0", "type1", "type040", "type101", "Half",
        ] {
            assert_eq!(DataType::from_name(name), None, "{name}");
        }
    }
}
