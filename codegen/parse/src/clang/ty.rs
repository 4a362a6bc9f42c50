//! Converts C types to the IR's. Typedefs from outside of the include root (`int32_t`) are resolved; the others stay
//! names, as in the header.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use clang_sys::*;
use sp_ir::{Param, Signature, Type};

use super::cursor::{Cursor, Ty, TyId};
use super::names::Names;

/// A type that the IR cannot describe, as C spells it.
#[derive(Debug)]
pub struct Unsupported(pub String);

/// Converts types, given the names of anonymous types.
pub struct Types<'a> {
    names: &'a Names,
    owned: &'a dyn Fn(Cursor) -> bool,
    /// True if a function with another calling convention than C's is not converted.
    only_c_convention: bool,
    known: RefCell<HashMap<TyId, Type>>,
    /// The types that are being converted, each of which contains the next one.
    depth: Cell<usize>,
}

/// Limit for the pointers, arrays and functions of one type, which is that of a snapshot. Deeper types would overflow the
/// stack wherever they are converted, printed or dropped.
const MAX_DEPTH: usize = 64;

impl<'a> Types<'a> {
    /// Returns a converter. `names` has the names that typedefs and fields give to anonymous types; `owned` returns true
    /// for a declaration in a header under the include root. With `only_c_convention`, a function with another calling
    /// convention is unsupported.
    pub fn new(
        names: &'a Names,
        owned: &'a dyn Fn(Cursor) -> bool,
        only_c_convention: bool,
    ) -> Self {
        Self {
            names,
            owned,
            only_c_convention,
            known: RefCell::default(),
            depth: Cell::default(),
        }
    }

    /// Converts a type. Results are cached: a few types are used often.
    pub fn convert(&self, ty: Ty) -> Result<Type, Unsupported> {
        if let Some(known) = self.known.borrow().get(&ty.id()) {
            return Ok(known.clone());
        }
        if self.depth.get() == MAX_DEPTH {
            let what = format!("more than {MAX_DEPTH} pointers, arrays or functions in one type");
            return Err(Unsupported(what));
        }
        self.depth.update(|depth| depth + 1);
        let converted = self.convert_new(ty);
        self.depth.update(|depth| depth - 1);
        let converted = converted?;
        let mut known = self.known.borrow_mut();
        known.insert(ty.id(), converted.clone());
        Ok(converted)
    }

    fn convert_new(&self, ty: Ty) -> Result<Type, Unsupported> {
        let ty = ty.unelaborated();
        match ty.kind() {
            CXType_Typedef => self.typedef(ty),
            CXType_Record | CXType_Enum => self.named(ty),
            CXType_Pointer => self.pointer(ty.pointee()),
            CXType_ConstantArray => Ok(Type::array(
                self.convert(ty.element())?,
                ty.array_len().max(0) as u64,
            )),
            // A parameter `T x[]` is a pointer. The length of a trailing array member is not stated.
            CXType_IncompleteArray => self.pointer(ty.element()),
            CXType_Unexposed => self.unexposed(ty),
            _ => scalar(ty),
        }
    }

    /// Converts a function type. `names` are the declarations of its parameters.
    pub fn signature(&self, ty: Ty, names: &[Cursor]) -> Result<Signature, Unsupported> {
        if ty.is_variadic() {
            return Err(Unsupported(ty.spelling()));
        }
        let params = ty.arguments().into_iter().enumerate();
        let params = params
            .map(|(index, ty)| {
                let name = names.get(index).map(|cursor| cursor.name());
                let name = name.unwrap_or_default();
                Ok(Param::new(name, self.parameter(ty)?))
            })
            .collect::<Result<_, Unsupported>>()?;
        let ret = self.convert(ty.result())?;
        // Last, because clang's recursion overflows the stack on a type that the conversion rejects as too deep.
        let convention = ty.convention();
        if self.only_c_convention && convention.is_some() {
            return Err(Unsupported(ty.spelling()));
        }
        Ok(Signature {
            params,
            ret,
            ret_transfer: None,
            convention: convention.map(str::to_owned),
        })
    }

    /// Returns the function type that a field, parameter or typedef points to, with its parameters' names; `None` if it
    /// points to no function.
    pub fn pointed_signature(
        &self,
        ty: Ty,
        declared: Cursor,
    ) -> Option<Result<Signature, Unsupported>> {
        let function = function_type(ty).or_else(|| pointed_function(ty))?;
        let names = declared.children().into_iter();
        let names = names.filter(|child| child.kind() == CXCursor_ParmDecl);
        let names: Vec<Cursor> = names.collect();
        Some(self.signature(function, &names))
    }

    /// Converts the type of a field or parameter as [`convert`](Self::convert) does. The parameters of a function pointer
    /// have the names in the declaration.
    pub fn declared_type(&self, cursor: Cursor) -> Result<Type, Unsupported> {
        match self.pointed_signature(cursor.ty(), cursor) {
            Some(signature) => Ok(Type::Function(Box::new(signature?))),
            None => self.convert(cursor.ty()),
        }
    }

    /// Converts the type of a parameter as [`declared_type`](Self::declared_type) does.
    pub fn declared_parameter(&self, cursor: Cursor) -> Result<Type, Unsupported> {
        match self.pointed_signature(cursor.ty(), cursor) {
            Some(signature) => Ok(Type::Function(Box::new(signature?))),
            None => self.parameter(cursor.ty()),
        }
    }

    /// Converts the type of a parameter as C11 6.7.6.3 adjusts it: an array is a pointer to its first element, a function a
    /// pointer to the function.
    fn parameter(&self, ty: Ty) -> Result<Type, Unsupported> {
        if let Some(element) = array_element(ty) {
            return Ok(Type::pointer(self.convert(element)?, !ty.is_const_value()));
        }
        match function_type(ty) {
            Some(function) => Ok(Type::Function(Box::new(self.signature(function, &[])?))),
            None => self.convert(ty),
        }
    }

    /// Converts an array of unknown length, as of a member `T x[]`, to one of no elements.
    pub fn flexible_array(&self, ty: Ty) -> Result<Type, Unsupported> {
        Ok(Type::array(self.convert(ty.canonical().element())?, 0))
    }

    fn typedef(&self, ty: Ty) -> Result<Type, Unsupported> {
        let declaration = ty.declaration();
        let name = declaration.name();
        if (self.owned)(declaration) {
            return Ok(Type::Named(name));
        }
        match name.as_str() {
            "size_t" => Ok(Type::Size),
            "intptr_t" => Ok(Type::Address { signed: true }),
            "uintptr_t" => Ok(Type::Address { signed: false }),
            _ => self.convert(declaration.aliased()),
        }
    }

    fn named(&self, ty: Ty) -> Result<Type, Unsupported> {
        let name = self.names.get(ty.declaration());
        name.map(Type::Named)
            .ok_or_else(|| Unsupported(ty.spelling()))
    }

    fn pointer(&self, pointee: Ty) -> Result<Type, Unsupported> {
        // `typedef void Run(Args* args);` is a callback, and `Run*` is a pointer to that function.
        if is_function_typedef(pointee) {
            return self.convert(pointee);
        }
        if let Some(function) = function_type(pointee) {
            return Ok(Type::Function(Box::new(self.signature(function, &[])?)));
        }
        let target = match pointee.canonical().kind() {
            CXType_IncompleteArray => self.flexible_array(pointee)?,
            _ => self.convert(pointee)?,
        };
        Ok(Type::pointer(target, !pointee.is_const_value()))
    }

    /// Converts parenthesised declarators and attributed types, for which libclang has no kind.
    fn unexposed(&self, ty: Ty) -> Result<Type, Unsupported> {
        match ty.canonical() {
            canonical if canonical.kind() == CXType_Unexposed => Err(Unsupported(ty.spelling())),
            canonical => self.convert(canonical),
        }
    }
}

/// Returns the type of an array's elements, also if a typedef names the array; `None` for another type.
fn array_element(ty: Ty) -> Option<Ty> {
    let is_array = |ty: Ty| {
        let kind = ty.kind();
        kind == CXType_IncompleteArray
            || kind == CXType_ConstantArray
            || kind == CXType_VariableArray
    };
    if !is_array(ty.canonical()) {
        return None;
    }
    let mut array = ty.unelaborated();
    while array.kind() == CXType_Typedef {
        array = array.declaration().aliased().unelaborated();
    }
    let array = if is_array(array) {
        array
    } else {
        ty.canonical()
    };
    Some(array.element())
}

/// Returns true for a typedef of a function type, not of a pointer to one.
fn is_function_typedef(ty: Ty) -> bool {
    let ty = ty.unelaborated();
    ty.kind() == CXType_Typedef && is_function(ty)
}

fn is_function(ty: Ty) -> bool {
    matches!(
        ty.canonical().kind(),
        CXType_FunctionProto | CXType_FunctionNoProto
    )
}

/// Returns the function type that `ty` points to, or `None` if it points to a typedef or another type.
fn pointed_function(ty: Ty) -> Option<Ty> {
    let ty = ty.unelaborated();
    (ty.kind() == CXType_Pointer).then(|| function_type(ty.pointee()))?
}

/// Returns `ty` if it is a function type and not a typedef of one. It is not made canonical, which would resolve the
/// names of parameter types.
fn function_type(ty: Ty) -> Option<Ty> {
    let ty = ty.unelaborated();
    (is_function(ty) && ty.kind() != CXType_Typedef).then_some(ty)
}

fn scalar(ty: Ty) -> Result<Type, Unsupported> {
    let bits = (ty.size().max(0) * 8) as u8;
    match ty.kind() {
        CXType_Void => Ok(Type::Void),
        CXType_Bool => Ok(Type::Bool),
        CXType_Char_S | CXType_Char_U => Ok(Type::Char),
        CXType_Float | CXType_Double => Ok(Type::Float { bits }),
        CXType_SChar | CXType_Short | CXType_Int | CXType_Long | CXType_LongLong => {
            Ok(Type::Int { bits, signed: true })
        }
        CXType_UChar | CXType_UShort | CXType_UInt | CXType_ULong | CXType_ULongLong => {
            Ok(Type::int(bits, false))
        }
        _ => Err(Unsupported(ty.spelling())),
    }
}
