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

const fn row(code: u64, name: &'static str, fields: &'static [(&'static str, Kind)]) -> Layout {
    Layout { code, name, fields }
}

/// An entry that is stored as its text in the assembly format.
pub(crate) static TEXT: Layout = row(0, "text", &[("text", Rest)]);
/// An entry in the encoding of another dialect, or of the builtin dialect for what no program of JAX has.
pub(crate) static OPAQUE: Layout = row(0, "opaque", &[("bytes", Rest)]);

/// Attributes of VHLO 1.0 to 1.20.
static VHLO_ATTRIBUTES: &[Layout] = &[
    row(1, "array_v1", &[("value", Attributes)]),
    row(2, "bool_v1", &[("value", Natural)]),
    row(
        3,
        "comparison_direction_v1",
        &[("value", Enumerator(&["EQ", "NE", "GE", "GT", "LE", "LT"]))],
    ),
    row(
        4,
        "comparison_type_v1",
        &[(
            "value",
            Enumerator(&["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"]),
        )],
    ),
    row(5, "api_version_v1", &[("value", Enumerator(API_VERSIONS))]),
    row(6, "dict_v1", &[("value", Pairs)]),
    row(
        7,
        "fft_type_v1",
        &[("value", Enumerator(&["FFT", "IFFT", "RFFT", "IRFFT"]))],
    ),
    row(8, "float_v1", &[("type", Type), ("value", Bits)]),
    row(9, "integer_v1", &[("type", Type), ("value", Bits)]),
    row(10, "output_operand_alias_v1", OUTPUT_OPERAND_ALIAS),
    row(
        11,
        "precision_v1",
        &[("value", Enumerator(&["DEFAULT", "HIGH", "HIGHEST"]))],
    ),
    row(
        12,
        "rng_algorithm_v1",
        &[("value", Enumerator(&["DEFAULT", "THREE_FRY", "PHILOX"]))],
    ),
    row(
        13,
        "rng_distribution_v1",
        &[("value", Enumerator(&["", "UNIFORM", "NORMAL"]))],
    ),
    row(14, "string_v1", &[("value", String)]),
    row(15, "tensor_v1", &[("type", Type), ("data", Blob)]),
    row(
        16,
        "transpose_v1",
        &[(
            "value",
            Enumerator(&["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"]),
        )],
    ),
    row(17, "type_v1", &[("value", Type)]),
    row(18, "type_extensions_v1", &[("bounds", Integers)]),
    row(
        19,
        "result_accuracy_mode_v1",
        &[("value", Enumerator(&["DEFAULT", "HIGHEST", "TOLERANCE"]))],
    ),
    row(
        20,
        "result_accuracy_v1",
        &[
            ("atol", Double),
            ("rtol", Double),
            ("ulps", Integer),
            ("mode", Attribute),
        ],
    ),
    row(
        21,
        "sub_axis_info_v1",
        &[("pre_size", Integer), ("size", Integer)],
    ),
    row(
        22,
        "axis_ref_v1",
        &[("name", Attribute), ("sub_axis_info", FlagAndAttribute)],
    ),
    row(
        23,
        "replica_group_mesh_axes_v1",
        &[("mesh", Attribute), ("axes", Attribute)],
    ),
    row(
        24,
        "mesh_axis_v1",
        &[("name", Attribute), ("size", Integer)],
    ),
    row(
        25,
        "mesh_v1",
        &[("axes", Attribute), ("device_ids", OptionalAttribute)],
    ),
];

const API_VERSIONS: &[&str] = &[
    "API_VERSION_UNSPECIFIED",
    "API_VERSION_ORIGINAL",
    "API_VERSION_STATUS_RETURNING",
    "API_VERSION_STATUS_RETURNING_UNIFIED",
    "API_VERSION_TYPED_FFI",
];

const OUTPUT_OPERAND_ALIAS: &[(&str, Kind)] = &[
    ("outputTupleIndices", Integers),
    ("operandIndex", Integer),
    ("operandTupleIndices", Integers),
];

/// Types of VHLO 1.0 to 1.20.
static VHLO_TYPES: &[Layout] = &[
    row(0, "bool_v1", &[]),
    row(1, "complex_v1", &[("element", Type)]),
    row(2, "bf16_v1", &[]),
    row(3, "f16_v1", &[]),
    row(4, "f32_v1", &[]),
    row(5, "f64_v1", &[]),
    row(6, "f8E4M3FN_v1", &[]),
    row(7, "f8E5M2_v1", &[]),
    row(8, "func_v1", &[("inputs", Types), ("results", Types)]),
    row(9, "index_v1", &[]),
    row(10, "i4_v1", &[]),
    row(11, "i8_v1", &[]),
    row(12, "i16_v1", &[]),
    row(13, "i32_v1", &[]),
    row(14, "i64_v1", &[]),
    row(15, "ui4_v1", &[]),
    row(16, "ui8_v1", &[]),
    row(17, "ui16_v1", &[]),
    row(18, "ui32_v1", &[]),
    row(19, "ui64_v1", &[]),
    row(20, "tensor_v1", &[("shape", Integers), ("element", Type)]),
    row(
        21,
        "tensor_v1",
        &[
            ("encoding", Attribute),
            ("shape", Integers),
            ("element", Type),
        ],
    ),
    row(22, "token_v1", &[]),
    row(23, "tuple_v1", &[("elements", Types)]),
    row(24, "quant_v1", QUANTIZED),
    row(25, "unranked_tensor_v1", &[("element", Type)]),
    row(26, "witness_v1", &[]),
    row(27, "f8E4M3FNUZ_v1", &[]),
    row(28, "f8E5M2FNUZ_v1", &[]),
    row(29, "f8E4M3B11FNUZ_v1", &[]),
    row(30, "quant_per_axis_v1", QUANTIZED_PER_AXIS),
    row(31, "i2_v1", &[]),
    row(32, "ui2_v1", &[]),
    row(33, "none_v1", &[]),
    // The name has a misprint: the type is tf32.
    row(34, "tf31_v1", &[]),
    row(35, "f8E4M3_v1", &[]),
    row(36, "f8E3M4_v1", &[]),
    row(37, "f4E2M1FN_v1", &[]),
    row(38, "f6E2M3FN_v1", &[]),
    row(39, "f6E3M2FN_v1", &[]),
    row(40, "f8E8M0FNU_v1", &[]),
    row(41, "buffer_v1", &[("shape", Integers), ("element", Type)]),
    row(42, "future_v1", &[("types", Types)]),
];

const QUANTIZED: &[(&str, Kind)] = &[
    ("flags", Natural),
    ("storage_type", Type),
    ("expressed_type", Type),
    ("scale", Double),
    ("zero_point", Integer),
    ("storage_min", Integer),
    ("storage_max", Integer),
];

const QUANTIZED_PER_AXIS: &[(&str, Kind)] = &[
    ("flags", Natural),
    ("storage_type", Type),
    ("expressed_type", Type),
    ("dimension", Natural),
    ("storage_min", Integer),
    ("storage_max", Integer),
    ("scales", Doubles),
    ("zero_points", Integers),
];

/// Attributes of the builtin dialect that stand beside VHLO: those of the module, and locations.
static BUILTIN_ATTRIBUTES: &[Layout] = &[
    row(0, "array", &[("value", Attributes)]),
    row(1, "dictionary", &[("value", Pairs)]),
    row(2, "string", &[("value", String)]),
    row(4, "symbol", &[("name", Attribute)]),
    row(6, "type", &[("value", Type)]),
    row(7, "unit", &[]),
    row(8, "integer", &[("type", Type), ("value", Bits)]),
    row(9, "float", &[("type", Type), ("value", Bits)]),
    row(
        10,
        "callsite_location",
        &[("callee", Attribute), ("caller", Attribute)],
    ),
    row(
        11,
        "file_location",
        &[("file", Attribute), ("line", Natural), ("column", Natural)],
    ),
    row(12, "fused_location", &[("locations", Attributes)]),
    row(
        13,
        "fused_location",
        &[("locations", Attributes), ("metadata", Attribute)],
    ),
    row(
        14,
        "name_location",
        &[("name", Attribute), ("child", Attribute)],
    ),
    row(15, "unknown_location", &[]),
];

/// Types of the builtin dialect that attributes of a module have.
static BUILTIN_TYPES: &[Layout] = &[
    row(0, "integer", &[("width and signedness", Natural)]),
    row(1, "index", &[]),
    row(2, "function", &[("inputs", Types), ("results", Types)]),
    row(3, "bf16", &[]),
    row(4, "f16", &[]),
    row(5, "f32", &[]),
    row(6, "f64", &[]),
    row(12, "none", &[]),
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
