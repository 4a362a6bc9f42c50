//! The encodings of attributes and types: a code, which stands first, and the fields after it.

use Kind::{
    Attribute, Attributes, Bits, Blob, Double, Doubles, Enumerator, FlagAndAttribute, Integer,
    Integers, Natural, OptionalAttribute, Pairs, Rest, String, Type, Types,
};

/// The encoding of an attribute or a type.
#[derive(Debug, PartialEq)]
pub struct Layout {
    code: u64,
    /// Name in the text of a program, such as `tensor_v1`.
    pub name: &'static str,
    /// Name and kind of each field.
    pub fields: &'static [(&'static str, Kind)],
}

/// The encoding of a field.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(
    missing_docs,
    reason = "the variants are those of `Value`, and how they are encoded"
)]
pub enum Kind {
    Attribute,
    /// An attribute whose index has a flag.
    OptionalAttribute,
    /// A number that is 0 if no attribute follows.
    FlagAndAttribute,
    Attributes,
    Pairs,
    Type,
    Types,
    Natural,
    Integer,
    Integers,
    Double,
    Doubles,
    /// A number of the type that the preceding field names.
    Bits,
    String,
    Blob,
    /// The bytes up to the end of the entry.
    Rest,
    /// A number with a name; an empty name is no value.
    Enumerator(&'static [&'static str]),
}

/// Declares tables of layouts: a code, a name, and the fields in brackets.
macro_rules! layouts {
    ($($(#[$doc:meta])* $table:ident { $($code:literal $name:literal $([$($field:ident: $kind:expr),*])?)* })*) => {
        $($(#[$doc])* static $table: &[Layout] = &[$(Layout {
            code: $code,
            name: $name,
            fields: &[$($((stringify!($field), $kind)),*)?],
        }),*];)*
    };
}

/// An entry that is stored as its text in the assembly format.
pub(crate) static TEXT: Layout = Layout {
    code: 0,
    name: "text",
    fields: &[("text", Rest)],
};
/// An entry in the encoding of another dialect, or of the builtin dialect for what no program of JAX has.
pub(crate) static OPAQUE: Layout = Layout {
    code: 0,
    name: "opaque",
    fields: &[("bytes", Rest)],
};

layouts! {
    /// Attributes of VHLO 1.0 to 1.20.
    VHLO_ATTRIBUTES {
        1 "array_v1" [value: Attributes]
        2 "bool_v1" [value: Natural]
        3 "comparison_direction_v1" [value: Enumerator(&["EQ", "NE", "GE", "GT", "LE", "LT"])]
        4 "comparison_type_v1" [value: Enumerator(&["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"])]
        5 "api_version_v1" [value: Enumerator(API_VERSIONS)]
        6 "dict_v1" [value: Pairs]
        7 "fft_type_v1" [value: Enumerator(&["FFT", "IFFT", "RFFT", "IRFFT"])]
        8 "float_v1" [type_: Type, value: Bits]
        9 "integer_v1" [type_: Type, value: Bits]
        10 "output_operand_alias_v1" [outputTupleIndices: Integers, operandIndex: Integer, operandTupleIndices: Integers]
        11 "precision_v1" [value: Enumerator(&["DEFAULT", "HIGH", "HIGHEST"])]
        12 "rng_algorithm_v1" [value: Enumerator(&["DEFAULT", "THREE_FRY", "PHILOX"])]
        13 "rng_distribution_v1" [value: Enumerator(&["", "UNIFORM", "NORMAL"])]
        14 "string_v1" [value: String]
        15 "tensor_v1" [type_: Type, data: Blob]
        16 "transpose_v1" [value: Enumerator(&["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])]
        17 "type_v1" [value: Type]
        18 "type_extensions_v1" [bounds: Integers]
        19 "result_accuracy_mode_v1" [value: Enumerator(&["DEFAULT", "HIGHEST", "TOLERANCE"])]
        20 "result_accuracy_v1" [atol: Double, rtol: Double, ulps: Integer, mode: Attribute]
        21 "sub_axis_info_v1" [pre_size: Integer, size: Integer]
        22 "axis_ref_v1" [name: Attribute, sub_axis_info: FlagAndAttribute]
        23 "replica_group_mesh_axes_v1" [mesh: Attribute, axes: Attribute]
        24 "mesh_axis_v1" [name: Attribute, size: Integer]
        25 "mesh_v1" [axes: Attribute, device_ids: OptionalAttribute]
    }

    /// Types of VHLO 1.0 to 1.20. The name of type 34 has a misprint, it is tf32.
    VHLO_TYPES {
        0 "bool_v1"
        1 "complex_v1" [element: Type]
        2 "bf16_v1"
        3 "f16_v1"
        4 "f32_v1"
        5 "f64_v1"
        6 "f8E4M3FN_v1"
        7 "f8E5M2_v1"
        8 "func_v1" [inputs: Types, results: Types]
        9 "index_v1"
        10 "i4_v1"
        11 "i8_v1"
        12 "i16_v1"
        13 "i32_v1"
        14 "i64_v1"
        15 "ui4_v1"
        16 "ui8_v1"
        17 "ui16_v1"
        18 "ui32_v1"
        19 "ui64_v1"
        20 "tensor_v1" [shape: Integers, element: Type]
        21 "tensor_v1" [encoding: Attribute, shape: Integers, element: Type]
        22 "token_v1"
        23 "tuple_v1" [elements: Types]
        24 "quant_v1" [flags: Natural, storage: Type, expressed: Type, scale: Double, zero: Integer, min: Integer, max: Integer]
        25 "unranked_tensor_v1" [element: Type]
        26 "witness_v1"
        27 "f8E4M3FNUZ_v1"
        28 "f8E5M2FNUZ_v1"
        29 "f8E4M3B11FNUZ_v1"
        30 "quant_per_axis_v1" [flags: Natural, storage: Type, expressed: Type, axis: Natural, min: Integer, max: Integer,
            scales: Doubles, zeros: Integers]
        31 "i2_v1"
        32 "ui2_v1"
        33 "none_v1"
        34 "tf31_v1"
        35 "f8E4M3_v1"
        36 "f8E3M4_v1"
        37 "f4E2M1FN_v1"
        38 "f6E2M3FN_v1"
        39 "f6E3M2FN_v1"
        40 "f8E8M0FNU_v1"
        41 "buffer_v1" [shape: Integers, element: Type]
        42 "future_v1" [types: Types]
    }

    /// Attributes of the builtin dialect that stand beside VHLO: those of the module, and locations.
    BUILTIN_ATTRIBUTES {
        0 "array" [value: Attributes]
        1 "dictionary" [value: Pairs]
        2 "string" [value: String]
        6 "type" [value: Type]
        7 "unit"
        8 "integer" [type_: Type, value: Bits]
        9 "float" [type_: Type, value: Bits]
        10 "callsite_location" [callee: Attribute, caller: Attribute]
        11 "file_location" [file: Attribute, line: Natural, column: Natural]
        12 "fused_location" [locations: Attributes]
        13 "fused_location" [locations: Attributes, metadata: Attribute]
        14 "name_location" [name: Attribute, child: Attribute]
        15 "unknown_location"
    }

    /// Types of the builtin dialect that stand beside VHLO.
    BUILTIN_TYPES {
        0 "integer" [width_and_sign: Natural]
        1 "index"
        2 "function" [inputs: Types, results: Types]
        3 "bf16"
        4 "f16"
        5 "f32"
        6 "f64"
        9 "complex" [element: Type]
        12 "none"
        13 "tensor" [shape: Integers, element: Type]
    }
}

const API_VERSIONS: &[&str] = &[
    "API_VERSION_UNSPECIFIED",
    "API_VERSION_ORIGINAL",
    "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI",
];

/// Returns the layout of a code in the encoding of a dialect. An unknown code of VHLO has none; one of another dialect is
/// opaque.
pub(crate) fn find(dialect: &str, is_attribute: bool, code: u64) -> Option<&'static Layout> {
    let layouts = match (dialect, is_attribute) {
        ("vhlo", true) => VHLO_ATTRIBUTES,
        ("vhlo", false) => VHLO_TYPES,
        ("builtin", true) => BUILTIN_ATTRIBUTES,
        ("builtin", false) => BUILTIN_TYPES,
        _ => return Some(&OPAQUE),
    };
    let found = layouts.iter().find(|layout| layout.code == code);
    if dialect == "vhlo" {
        found
    } else {
        found.or(Some(&OPAQUE))
    }
}
