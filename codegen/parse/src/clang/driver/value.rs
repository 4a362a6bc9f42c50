//! The value of an expression, which initializes a variable.

use clang_sys::*;
use sp_ir::Type;

use super::super::cursor::{Cursor, Number, Ty};
use super::super::literal;
use super::super::ty::Types;

/// The value of a constant.
#[derive(Debug, Clone, PartialEq)]
pub enum DriverValue {
    /// An integer of up to 64 bits.
    Int {
        /// The value.
        value: i128,
        /// The type, if the expression is cast to a type with a name.
        ty: Option<Type>,
    },
    /// A floating-point number.
    Float {
        /// The value.
        value: f64,
        /// Its width in bits: 32 or 64.
        bits: u8,
    },
    /// The bytes of a text, without its NUL.
    Text(Vec<u8>),
    /// A pointer with the address of no object, such as `((handle)1)`.
    Address {
        /// The address.
        value: u64,
        /// The type.
        ty: Type,
    },
    /// An enumerator of a named enumeration.
    Enumerator {
        /// Its name.
        name: String,
        /// The value.
        value: i128,
    },
}

/// The value of a macro.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluated {
    /// The value, or the reason why there is none.
    pub value: Result<DriverValue, String>,
    /// The function or enumerator that the macro names.
    pub named: Option<String>,
}

/// Returns the value of a variable's initializer as that of a macro.
pub fn evaluate(variable: Cursor, address: Option<Cursor>, types: &Types) -> Evaluated {
    let expression = variable.children().pop();
    let named = expression.and_then(|it| inner(it, CXCursor_DeclRefExpr));
    Evaluated {
        value: read(variable, address, types),
        named: named.map(Cursor::name),
    }
}

/// Returns the value of a variable's initializer, or the reason why it has none. `address` is the initializer of a variable
/// with the same value, converted to an integer.
pub fn read(
    variable: Cursor,
    address: Option<Cursor>,
    types: &Types,
) -> Result<DriverValue, String> {
    let expression = variable.children().pop();
    let ty = expression.map_or(variable.ty(), Cursor::ty);
    let number = variable.initial_number();
    match (ty.canonical().kind(), number) {
        (CXType_Pointer, _) => read_pointer(expression, ty, address, types),
        (CXType_Int128 | CXType_UInt128, _) => Err("is an integer of 128 bits".to_owned()),
        (_, Some(Number::Int(value))) => Ok(DriverValue::Int {
            value,
            ty: named(ty, types),
        }),
        (CXType_Float, Some(Number::Float(value))) => Ok(DriverValue::Float { value, bits: 32 }),
        (CXType_Double, Some(Number::Float(value))) => Ok(DriverValue::Float { value, bits: 64 }),
        _ => Err(format!("is a value of the type `{}`", ty.spelling())),
    }
}

/// Returns the type if a typedef or an enumeration gives it a name.
fn named(ty: Ty, types: &Types) -> Option<Type> {
    let is_named = matches!(ty.unelaborated().kind(), CXType_Typedef | CXType_Enum);
    let converted = is_named.then(|| types.convert(ty).ok()).flatten();
    converted.filter(|ty| matches!(ty, Type::Named(_)))
}

fn read_pointer(
    expression: Option<Cursor>,
    ty: Ty,
    address: Option<Cursor>,
    types: &Types,
) -> Result<DriverValue, String> {
    if let Some(text) = expression.and_then(|it| inner(it, CXCursor_StringLiteral)) {
        let bytes = literal::string_bytes(&text.spelling());
        return bytes
            .map(DriverValue::Text)
            .ok_or_else(|| "is a text of wide characters".to_owned());
    }
    let address = address.and_then(Cursor::initial_number);
    let Some(Number::Int(value)) = address else {
        return Err("is the address of an object or a function".to_owned());
    };
    let ty = types.convert(ty);
    let ty = ty.map_err(|error| format!("is a value of the type `{}`", error.0))?;
    Ok(DriverValue::Address {
        value: value as u64,
        ty,
    })
}

/// Returns the expression of this kind that an expression is, without parentheses and conversions.
fn inner(mut expression: Cursor<'_>, kind: CXCursorKind) -> Option<Cursor<'_>> {
    while expression.kind() != kind {
        match expression.kind() {
            CXCursor_ParenExpr | CXCursor_UnexposedExpr => {
                expression = expression.children().pop()?
            }
            _ => return None,
        }
    }
    Some(expression)
}
