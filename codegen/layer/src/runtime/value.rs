//! Arguments, results and structs as text.

use super::description::{Function, Kind, Parameter, Structure, Type};
use super::record::push_escaped;
use std::fmt::Write;

/// Maximum number of bytes of a text that are printed.
const TEXT_LIMIT: usize = 160;
/// Maximum number of elements of a list that are printed.
const LIST_LIMIT: u64 = 16;
/// Structs behind pointers in structs are printed up to this depth.
const DEPTH: usize = 3;
/// Addresses below it are no memory.
const FIRST_ADDRESS: u64 = 4096;

/// Appends the arguments by name, before the call. `arguments` has a value for each parameter: the bits of an integer,
/// enumeration, float or pointer, or the address of a struct.
///
/// # Safety
/// The arguments are those of a call with the signature of `function`, and valid as the API requires.
pub unsafe fn push_arguments(function: &Function, arguments: &[u64], out: &mut String) {
    for (index, parameter) in function.parameters.iter().enumerate() {
        // A status is among the results.
        if is_status(&parameter.ty) && !is_subject(function, index) {
            continue;
        }
        if index > 0 {
            out.push_str(", ");
        }
        let _ = write!(out, "{}=", parameter.name);
        let next = function.parameters.get(index + 1);
        let count = next.and_then(|next| element_count(next, arguments[index + 1]));
        // SAFETY: as the caller states.
        unsafe { push_argument(parameter, arguments[index], count, out) };
    }
}

/// Appends the result and what the callee has stored behind its parameters, after the call.
///
/// # Safety
/// As of [`push_arguments`]; `result` has the bits of the result.
pub unsafe fn push_results(function: &Function, arguments: &[u64], result: u64, out: &mut String) {
    if !matches!(function.result, Type::Void) {
        // SAFETY: the result is valid as the API requires.
        unsafe { push_value(&function.result, result, None, DEPTH, out) };
    }
    for (index, parameter) in function.parameters.iter().enumerate() {
        let next = function.parameters.get(index + 1);
        let is_list = next.is_some_and(|next| element_count(next, 1).is_some());
        let address = arguments[index];
        // The status that a function is about may be deleted by now.
        let is_stale = is_status(&parameter.ty) && is_subject(function, index);
        if is_list || is_stale || address < FIRST_ADDRESS {
            continue;
        }
        let start = out.len();
        // SAFETY: the memory is the caller's, which has passed it to be filled.
        unsafe { push_stored(parameter, address, out) };
        if out.len() > start && start > 0 {
            out.insert_str(start, ", ");
        }
    }
}

/// Returns the value of `parameter` as the number of elements of the pointer before it, or `None` if it is no count.
fn element_count(parameter: &Parameter, value: u64) -> Option<u64> {
    const NAMES: [&str; 11] = [
        "size",
        "length",
        "len",
        "src_size",
        "name_len",
        "text_len",
        "proto_len",
        "lengths",
        "storage_size",
        "max_length",
        "max_values",
    ];
    let is_count = parameter.name.starts_with("num_")
        || parameter.name.starts_with("max_")
        || NAMES.contains(&parameter.name);
    match parameter.ty {
        Type::Int { bits, .. } if is_count => Some(value & mask(bits)),
        Type::Pointer { .. } if parameter.name == "lengths" => Some(0),
        _ => None,
    }
}

fn mask(bits: u8) -> u64 {
    match bits {
        64.. => u64::MAX,
        _ => (1 << bits) - 1,
    }
}

/// # Safety
/// `value` is an argument for `parameter`, valid as the API requires; `count` is the number of elements behind it.
unsafe fn push_argument(parameter: &Parameter, value: u64, count: Option<u64>, out: &mut String) {
    match &parameter.ty {
        // An out parameter's memory is not initialized yet.
        Type::Pointer { mutable: true, .. } if parameter.is_out => push_address(value, out),
        // SAFETY: as the caller states.
        ty => unsafe { push_value(ty, value, count, DEPTH, out) },
    }
}

/// Appends `NAME=VALUE` of what the callee has stored at `address`.
///
/// # Safety
/// `address` is an argument for `parameter` that is not null, and the call has returned.
unsafe fn push_stored(parameter: &Parameter, address: u64, out: &mut String) {
    let Type::Pointer { pointee, mutable } = &parameter.ty else {
        return;
    };
    if is_status(&parameter.ty) {
        let _ = write!(out, "{}=", parameter.name);
        return super::host::push_status(address, out);
    }
    let is_scalar = matches!(
        pointee,
        Type::Bool | Type::Int { bits: 16.., .. } | Type::Float { .. } | Type::Enum(_)
    );
    let is_object = matches!(
        pointee,
        Type::Pointer {
            pointee: Type::Opaque(_),
            ..
        }
    );
    let is_filled = matches!(pointee, Type::Struct(_)) && parameter.is_out;
    if *mutable && (is_scalar || is_object || is_filled) {
        let _ = write!(out, "{}=", parameter.name);
        // SAFETY: the callee has stored a value of that type, or its caller's value is still there.
        unsafe { push_memory(pointee, address, DEPTH, out) };
    }
}

/// Returns true if the parameter is the object that a function of core is about.
fn is_subject(function: &Function, index: usize) -> bool {
    index == 0 && function.kind == Kind::Host
}

fn is_status(ty: &Type) -> bool {
    ty.pointed_opaque().ends_with("_Status")
}

fn push_address(value: u64, out: &mut String) {
    let _ = match value {
        0 => write!(out, "null"),
        value => write!(out, "{value:#x}"),
    };
}

/// Appends a value.
///
/// # Safety
/// `value` has the bits of a `ty`, or the address of a struct.
unsafe fn push_value(ty: &Type, value: u64, count: Option<u64>, depth: usize, out: &mut String) {
    let _ = match ty {
        Type::Void => Ok(()),
        Type::Bool => write!(out, "{}", value & 0xff != 0),
        Type::Int { bits, signed: true } => {
            let unused = 64 - u32::from(*bits);
            write!(out, "{}", ((value << unused) as i64) >> unused)
        }
        Type::Int { bits, .. } => write!(out, "{}", value & mask(*bits)),
        Type::Float { bits: 32 } => write!(out, "{}", f32::from_bits(value as u32)),
        Type::Float { .. } => write!(out, "{}", f64::from_bits(value)),
        Type::Enum(enumeration) => {
            let value = i64::from(value as i32);
            let variant = enumeration.variants.iter().find(|(_, it)| *it == value);
            match variant {
                Some((name, _)) => write!(out, "{name}"),
                None => write!(out, "{value}"),
            }
        }
        // SAFETY: a struct is passed by its address.
        Type::Struct(structure) => return unsafe { push_struct(structure, value, depth, out) },
        Type::Opaque(_) | Type::Function => return push_address(value, out),
        // SAFETY: as the caller states.
        Type::Pointer { .. } => return unsafe { push_pointer(ty, value, count, depth, out) },
    };
}

/// # Safety
/// `value` is a `ty`, which is a pointer, valid as the API requires.
unsafe fn push_pointer(ty: &Type, value: u64, count: Option<u64>, depth: usize, out: &mut String) {
    let Type::Pointer { pointee, mutable } = ty else {
        return;
    };
    if value < FIRST_ADDRESS {
        return push_address(value, out);
    }
    // SAFETY: a pointer to constant text or numbers, or to a struct, is readable in the size that its type or the count
    // states.
    unsafe {
        match pointee {
            Type::Int {
                bits: 8,
                signed: true,
            } if !mutable => push_text(value, count, out),
            Type::Int { bits: 16.., .. } if !mutable && count.is_some() => {
                push_list(pointee, value, count.unwrap_or(0), out);
            }
            Type::Struct(structure) => push_struct(structure, value, depth, out),
            _ => push_address(value, out),
        }
    }
}

/// # Safety
/// `count` bytes at `address` are readable, or those up to a null byte.
unsafe fn push_text(address: u64, count: Option<u64>, out: &mut String) {
    let start = address as *const u8;
    let limit = count.map_or(TEXT_LIMIT, |count| TEXT_LIMIT.min(count as usize));
    let mut bytes = Vec::with_capacity(32);
    for index in 0..limit {
        // SAFETY: no byte before this one was the text's end.
        let byte = unsafe { start.add(index).read() };
        if byte == 0 && count.is_none() {
            break;
        }
        bytes.push(byte);
    }
    out.push('"');
    push_escaped(out, &String::from_utf8_lossy(&bytes));
    out.push_str(if bytes.len() == TEXT_LIMIT {
        "...\""
    } else {
        "\""
    });
}

/// # Safety
/// `count` values of type `ty` at `address` are readable.
unsafe fn push_list(ty: &Type, address: u64, count: u64, out: &mut String) {
    let Type::Int { bits, .. } = ty else { return };
    out.push('[');
    for index in 0..count.min(LIST_LIMIT) {
        if index > 0 {
            out.push_str(", ");
        }
        // SAFETY: the element is in the list.
        unsafe { push_memory(ty, address + index * u64::from(bits / 8), 1, out) };
    }
    out.push_str(if count > LIST_LIMIT { ", ...]" } else { "]" });
}

/// Appends the value at `address`.
///
/// # Safety
/// A `ty` at `address` is readable.
unsafe fn push_memory(ty: &Type, address: u64, depth: usize, out: &mut String) {
    let pointer = address as *const u8;
    // SAFETY: a value of that size is readable, as the caller states. It need not be aligned.
    let value = unsafe {
        match ty {
            Type::Struct(_) | Type::Opaque(_) | Type::Void => address,
            Type::Bool => u64::from(pointer.read()),
            Type::Int { bits: 8, .. } => u64::from(pointer.read()),
            Type::Int { bits: 16, .. } => u64::from(pointer.cast::<u16>().read_unaligned()),
            Type::Int { bits: 32, .. } | Type::Float { bits: 32 } | Type::Enum(_) => {
                u64::from(pointer.cast::<u32>().read_unaligned())
            }
            _ => pointer.cast::<u64>().read_unaligned(),
        }
    };
    // SAFETY: the value is one of `ty`.
    unsafe { push_value(ty, value, None, depth.saturating_sub(1), out) };
}

/// Appends the fields that are within the struct's `struct_size`.
///
/// # Safety
/// A `structure` at `address` is readable, up to its `struct_size` if it has one.
unsafe fn push_struct(structure: &Structure, address: u64, depth: usize, out: &mut String) {
    if address < FIRST_ADDRESS || depth == 0 {
        return push_address(address, out);
    }
    // SAFETY: as the caller states.
    let limit = unsafe { readable_size(structure, address as usize) };
    out.push('{');
    let mut separator = "";
    for field in structure.fields {
        let is_null = |at: u64| {
            // SAFETY: the field is within the limit.
            field.size == 8 && unsafe { (at as *const u64).read_unaligned() } == 0
        };
        let position = address + field.offset as u64;
        let is_usual_size = field.name == "struct_size" && limit == structure.size;
        let is_unused = field.name == "ext" && is_null(position);
        if field.offset + field.size > limit || is_usual_size || is_unused {
            continue;
        }
        let _ = write!(out, "{separator}{}=", field.name);
        separator = ", ";
        // SAFETY: the field is within the limit.
        unsafe { push_memory(&field.ty, position, depth, out) };
    }
    out.push('}');
}

/// Returns the number of bytes of a struct that both sides know.
///
/// # Safety
/// The first eight bytes at `address` are readable if the struct is versioned.
pub unsafe fn readable_size(structure: &Structure, address: usize) -> usize {
    if !structure.is_versioned {
        return structure.size;
    }
    // SAFETY: `struct_size` is the first field.
    let stated = unsafe { (address as *const usize).read_unaligned() };
    stated.min(structure.size)
}

#[cfg(test)]
mod tests {
    use super::super::description::{Enumeration, Field};
    use super::*;

    const CHAR: Type = Type::Int {
        bits: 8,
        signed: true,
    };
    const LONG: Type = Type::Int {
        bits: 64,
        signed: true,
    };
    const SIZE: Type = Type::Int {
        bits: 64,
        signed: false,
    };
    static CODES: Enumeration = Enumeration {
        name: "TF_Code",
        variants: &[("TF_OK", 0), ("TF_UNKNOWN", 2)],
    };
    static BLOCK: Structure = Structure {
        name: "SP_Block",
        size: 24,
        is_versioned: true,
        fields: &[
            field("struct_size", 0, SIZE),
            field("count", 8, LONG),
            field("more", 16, LONG),
        ],
    };

    const fn field(name: &'static str, offset: usize, ty: Type) -> Field {
        Field {
            name,
            offset,
            size: 8,
            ty,
            is_required: false,
            is_reserved: false,
            slot: None,
        }
    }

    const fn parameter(name: &'static str, ty: Type) -> Parameter {
        Parameter {
            name,
            ty,
            is_out: false,
        }
    }

    fn arguments(parameters: &'static [Parameter], values: &[u64]) -> String {
        let function = Function::new("TF_Demo", Kind::Host, parameters, Type::Void);
        let mut out = String::new();
        // SAFETY: each test passes values for the parameters.
        unsafe { push_arguments(&function, values, &mut out) };
        out
    }

    #[test]
    fn prints_numbers_with_their_width_and_sign() {
        static PARAMETERS: [Parameter; 4] = [
            parameter(
                "a",
                Type::Int {
                    bits: 32,
                    signed: true,
                },
            ),
            parameter(
                "b",
                Type::Int {
                    bits: 8,
                    signed: false,
                },
            ),
            parameter("c", Type::Float { bits: 64 }),
            parameter("d", Type::Enum(&CODES)),
        ];
        let values = [u64::from(u32::MAX), 0x1_ff, 1.5f64.to_bits(), 2];
        assert_eq!(
            arguments(&PARAMETERS, &values),
            "a=-1, b=255, c=1.5, d=TF_UNKNOWN"
        );
    }

    #[test]
    fn prints_texts_and_lists_by_their_count() {
        static PARAMETERS: [Parameter; 4] = [
            parameter(
                "name",
                Type::Pointer {
                    pointee: &CHAR,
                    mutable: false,
                },
            ),
            parameter(
                "dims",
                Type::Pointer {
                    pointee: &LONG,
                    mutable: false,
                },
            ),
            parameter(
                "num_dims",
                Type::Int {
                    bits: 32,
                    signed: true,
                },
            ),
            parameter(
                "null",
                Type::Pointer {
                    pointee: &CHAR,
                    mutable: false,
                },
            ),
        ];
        let (name, dims) = (c"a\tb", [2_i64, -1]);
        let values = [name.as_ptr() as u64, dims.as_ptr() as u64, 2, 0];
        let expected = "name=\"a\\tb\", dims=[2, -1], num_dims=2, null=null";
        assert_eq!(arguments(&PARAMETERS, &values), expected);
    }

    #[test]
    fn prints_no_field_beyond_struct_size() {
        static PARAMETERS: [Parameter; 1] = [parameter(
            "block",
            Type::Pointer {
                pointee: &Type::Struct(&BLOCK),
                mutable: false,
            },
        )];
        let block = [16_u64, 5, 0xdead];
        let text = arguments(&PARAMETERS, &[block.as_ptr() as u64]);
        assert_eq!(text, "block={struct_size=16, count=5}");
    }

    #[test]
    fn prints_what_the_callee_has_stored() {
        static PARAMETERS: [Parameter; 1] = [Parameter {
            name: "count",
            ty: Type::Pointer {
                pointee: &LONG,
                mutable: true,
            },
            is_out: true,
        }];
        let function = Function::new("TF_Demo", Kind::Host, &PARAMETERS, Type::Bool);
        let (mut count, mut out) = (0_i64, String::new());
        count += 7;
        // SAFETY: the argument is the address of a number.
        unsafe { push_results(&function, &[(&raw const count) as u64], 1, &mut out) };
        assert_eq!(out, "true, count=7");
    }
}
