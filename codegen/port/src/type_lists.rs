//! The macros that call another macro for each element type of a list: `TF_CALL_FLOAT_TYPES(m)`.

use crate::macros::Macro;
use crate::token::{Kind, Token};

/// The macro of one type is `TF_CALL_` and the name of the type.
const TYPES: &str = "
float double int32 uint32 uint8 int16 int8 string tstring resource variant complex64 int64 uint64 bool qint8 quint8
qint32 bfloat16 qint16 quint16 uint16 complex128 half float8_e5m2 float8_e4m3fn float8_e4m3fnuz float8_e4m3b11fnuz
float8_e5m2fnuz float4_e2m1fn int4 uint4 int2 uint2";

/// A list, and its types or other lists, as TensorFlow 2.21 has them on servers.
const LISTS: &str = "
INTEGRAL_TYPES_NO_INT32 uint64 int64 uint32 uint16 int16 uint8 int8
INTEGRAL_TYPES INTEGRAL_TYPES_NO_INT32 int32
FLOAT_TYPES half bfloat16 float double
REAL_NUMBER_TYPES INTEGRAL_TYPES FLOAT_TYPES
REAL_NUMBER_TYPES_NO_BFLOAT16 INTEGRAL_TYPES half float double
REAL_NUMBER_TYPES_NO_INT32 FLOAT_TYPES INTEGRAL_TYPES_NO_INT32
COMPLEX_TYPES complex64 complex128
NUMBER_TYPES REAL_NUMBER_TYPES COMPLEX_TYPES
NUMBER_TYPES_NO_INT32 REAL_NUMBER_TYPES_NO_INT32 COMPLEX_TYPES
POD_TYPES NUMBER_TYPES bool
ALL_TYPES POD_TYPES tstring resource variant
POD_STRING_TYPES POD_TYPES tstring
GPU_NUMBER_TYPES half bfloat16 float double
GPU_ALL_TYPES GPU_NUMBER_TYPES COMPLEX_TYPES bool
GPU_NUMBER_TYPES_NO_HALF float double
QUANTIZED_TYPES qint8 quint8 qint32
SAVE_RESTORE_TYPES REAL_NUMBER_TYPES_NO_BFLOAT16 COMPLEX_TYPES QUANTIZED_TYPES bool tstring";

/// Returns the macros, by name.
pub fn type_lists() -> impl Iterator<Item = (String, Macro)> {
    let types = TYPES.split_whitespace().map(|name| {
        let body = [word("m"), mark("("), word(name), mark(")")];
        (format!("TF_CALL_{name}"), with_parameter(body.to_vec()))
    });
    let lists = LISTS.lines().filter_map(|line| {
        let (name, items) = line.split_once(' ')?;
        let call = |item| {
            [
                word(&format!("TF_CALL_{item}")),
                mark("("),
                word("m"),
                mark(")"),
            ]
        };
        let body = items.split(' ').flat_map(call).collect();
        Some((format!("TF_CALL_{name}"), with_parameter(body)))
    });
    types.chain(lists)
}

fn with_parameter(body: Vec<Token>) -> Macro {
    Macro {
        parameters: Some(vec!["m".to_owned()]),
        body,
        line: 0,
    }
}

fn word(text: &str) -> Token {
    token(Kind::Word, text)
}

fn mark(text: &str) -> Token {
    token(Kind::Punctuation, text)
}

fn token(kind: Kind, text: &str) -> Token {
    let (text, line) = (text.into(), 0);
    Token { kind, text, line }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn lists_contain_known_lists_and_types() {
        let lists: HashMap<String, Macro> = type_lists().collect();
        assert_eq!(lists.len(), 34 + 17);
        for (name, list) in &lists {
            for it in list.body.iter().filter_map(Token::word) {
                let is_known = it == "m" || lists.contains_key(it) || !it.starts_with("TF_CALL_");
                assert!(is_known, "{name}: {it}");
            }
        }
    }
}
