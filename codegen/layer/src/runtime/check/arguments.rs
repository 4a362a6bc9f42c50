//! The arguments of a call, by name.

use crate::runtime::description::{Function, Parameter, Structure, Type};
use crate::runtime::host;
use crate::runtime::value::readable_size;

/// A call.
pub struct Arguments<'a> {
    /// The function.
    pub function: &'static Function,
    /// The bits of its arguments.
    pub values: &'a [u64],
}

impl Arguments<'_> {
    /// Returns the argument `name`.
    pub fn get(&self, name: &str) -> Option<u64> {
        Some(self.values[self.function.position(name)?])
    }

    /// Returns the parameters by which the callee may store a value: each with the type of the value and its address.
    pub fn stored(&self) -> impl Iterator<Item = (&'static Parameter, &'static Type, u64)> {
        let parameters = self.function.parameters.iter().zip(self.values);
        parameters.filter_map(|(parameter, address)| match &parameter.ty {
            Type::Pointer {
                pointee,
                mutable: true,
            } => Some((parameter, *pointee, *address)),
            _ => None,
        })
    }

    /// Returns the field `field` of the struct that the argument `name` points to.
    ///
    /// # Safety
    /// The argument is null, or the struct is readable up to its `struct_size`.
    pub unsafe fn field(&self, name: &str, field: &str) -> Option<u64> {
        let index = self.function.position(name)?;
        let structure = self.function.parameters[index].ty.pointed_struct()?;
        // SAFETY: as the caller states.
        unsafe { read_field(structure, self.values[index], field) }
    }

    /// Returns true if the call has reported no error. It is true for a function without a status.
    ///
    /// # Safety
    /// The call's status is live.
    pub unsafe fn is_ok(&self) -> bool {
        let status = self.get("status").unwrap_or(0);
        // SAFETY: as the caller states.
        unsafe { host::status_code(status) }.is_none_or(|code| code == 0)
    }

    /// Returns the enumerator that the call has returned, or `None` if the result is no value of an enumeration.
    pub fn result_name(&self, result: u64) -> Option<&'static str> {
        let Type::Enum(enumeration) = &self.function.result else {
            return None;
        };
        let mut variants = enumeration.variants.iter();
        let found = variants.find(|(_, value)| *value == i64::from(result as i32))?;
        Some(found.0)
    }

    /// Returns the number that identifies the device, or 0.
    ///
    /// # Safety
    /// The argument `device` is null, or points to a live `SP_Device`.
    pub unsafe fn device(&self) -> u64 {
        // SAFETY: as the caller states.
        unsafe { self.field("device", "device_handle") }.unwrap_or(0)
    }
}

/// Returns a field of eight bytes of the struct at `address`, or `None` if the struct ends before it.
///
/// # Safety
/// `address` is null, or a `structure` is readable there up to its `struct_size`.
pub unsafe fn read_field(structure: &Structure, address: u64, name: &str) -> Option<u64> {
    let field = structure.fields.iter().find(|it| it.name == name)?;
    // SAFETY: as the caller states.
    let limit = unsafe { readable_size(structure, address as usize) };
    if address == 0 || field.size != 8 || field.offset + field.size > limit {
        return None;
    }
    // SAFETY: the field is within the struct.
    Some(unsafe { ((address + field.offset as u64) as *const u64).read_unaligned() })
}
