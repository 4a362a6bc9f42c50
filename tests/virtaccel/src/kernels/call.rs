//! The arguments of a launch: checked when it is added to a queue, used when it runs.

use std::borrow::Cow;
use std::cell::Cell;
use std::slice;

use super::{Kernel, Role};
use crate::abi::{Argument, MAX_DIMS, Result, Status, Tensor};
use crate::access::{self, Access, overlap};
use crate::memory::{Region, region};

/// A launch.
pub struct Call {
    kernel: &'static Kernel,
    values: Vec<Value>,
}

enum Value {
    Tensor(TensorValue),
    Integer(i64),
    Real(f64),
}

struct TensorValue {
    region: Region,
    ty: Type,
    dims: Vec<usize>,
    /// True after a kernel took the exclusive slice.
    is_taken: Cell<bool>,
}

/// An element type: `va_type`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    F32 = 1,
    F64 = 2,
    I32 = 3,
    I64 = 4,
}

/// A type of elements in device memory.
///
/// # Safety
/// - Any bytes are a valid value.
/// - `TYPE` has the size and the alignment of `Self`.
pub unsafe trait Element: Copy {
    /// Its `va_type`.
    const TYPE: Type;
}

// SAFETY: numbers have no invalid bytes, and the sizes agree.
unsafe impl Element for f32 {
    const TYPE: Type = Type::F32;
}
// SAFETY: as above.
unsafe impl Element for f64 {
    const TYPE: Type = Type::F64;
}
// SAFETY: as above.
unsafe impl Element for i32 {
    const TYPE: Type = Type::I32;
}
// SAFETY: as above.
unsafe impl Element for i64 {
    const TYPE: Type = Type::I64;
}

impl Type {
    fn from_raw(raw: i32) -> Result<Self> {
        let all = [Self::F32, Self::F64, Self::I32, Self::I64];
        let found = all.into_iter().find(|ty| *ty as i32 == raw);
        found.ok_or(Status::INVALID_VALUE)
    }

    fn size(self) -> usize {
        match self {
            Self::F32 | Self::I32 => 4,
            Self::F64 | Self::I64 => 8,
        }
    }
}

impl Call {
    /// Checks the arguments of a launch.
    pub fn new(kernel: &'static Kernel, arguments: &[Argument]) -> Result<Self> {
        if kernel.arguments.len() != arguments.len() {
            return Err(Status::INVALID_VALUE);
        }
        let pairs = kernel.arguments.iter().zip(arguments);
        let values = pairs.map(|(role, argument)| value(*role, argument));
        let call = Self {
            kernel,
            values: values.collect::<Result<_>>()?,
        };
        call.check_aliases()?;
        Ok(call)
    }

    /// Returns an error if two written tensors overlap: there is no order between their writes.
    fn check_aliases(&self) -> Result {
        let ranges = self.written().map(|it| it.region.access(true).range);
        let ranges: Vec<_> = ranges.collect();
        let is_alias = |(index, range)| ranges[..index].iter().any(|other| overlap(other, range));
        match ranges.iter().enumerate().any(is_alias) {
            true => Err(Status::INVALID_VALUE),
            false => Ok(()),
        }
    }

    /// Runs the kernel, with exclusive access to what it writes.
    pub fn run(&self) -> Result {
        self.tensors().try_for_each(|(_, it)| it.region.check())?;
        let accesses = self
            .tensors()
            .map(|(role, it)| it.region.access(role.writes()));
        let accesses: Vec<Access> = accesses.collect();
        let _guard = access::acquire(accesses);
        (self.kernel.run)(self)
    }

    fn tensors(&self) -> impl Iterator<Item = (Role, &TensorValue)> {
        let pairs = self.kernel.arguments.iter().zip(&self.values);
        pairs.filter_map(|(role, value)| match value {
            Value::Tensor(tensor) => Some((*role, tensor)),
            _ => None,
        })
    }

    fn written(&self) -> impl Iterator<Item = &TensorValue> {
        let tensors = self.tensors().filter(|(role, _)| role.writes());
        tensors.map(|(_, tensor)| tensor)
    }

    fn tensor(&self, index: usize) -> Result<&TensorValue> {
        match self.values.get(index) {
            Some(Value::Tensor(tensor)) => Ok(tensor),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    /// Returns the type of a tensor.
    pub fn element_type(&self, index: usize) -> Result<Type> {
        Ok(self.tensor(index)?.ty)
    }

    /// Returns the dims of a tensor.
    pub fn dims(&self, index: usize) -> Result<&[usize]> {
        Ok(&self.tensor(index)?.dims)
    }

    /// Returns an integer.
    pub fn integer(&self, index: usize) -> Result<i64> {
        match self.values.get(index) {
            Some(Value::Integer(value)) => Ok(*value),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    /// Returns a real number.
    pub fn real(&self, index: usize) -> Result<f64> {
        match self.values.get(index) {
            Some(Value::Real(value)) => Ok(*value),
            _ => Err(Status::INVALID_VALUE),
        }
    }

    /// Returns the elements of an input. They are copied if the kernel also writes that memory.
    pub fn input<T: Element>(&self, index: usize) -> Result<Cow<'_, [T]>> {
        let tensor = self.typed::<T>(index)?;
        let range = tensor.region.access(false).range;
        let is_written = self
            .written()
            .any(|it| overlap(&it.region.access(true).range, &range));
        let len = tensor.region.len / size_of::<T>();
        let pointer = tensor.region.pointer().cast::<T>();
        let elements = match is_written {
            // SAFETY: the region is mapped, aligned for `T` (`value` checks that) and `len` elements long. `run` has
            // exclusive access, and no slice of `output` exists yet: kernels take inputs first, `output` asserts it.
            true => Cow::Owned(unsafe { slice::from_raw_parts(pointer, len) }.to_vec()),
            // SAFETY: as above; no written tensor overlaps this one, and other operations may only read it.
            false => Cow::Borrowed(unsafe { slice::from_raw_parts(pointer, len) }),
        };
        assert!(
            self.written().all(|it| !it.is_taken.get()),
            "inputs come before outputs"
        );
        Ok(elements)
    }

    /// Returns the elements of an output or an updated tensor, once.
    #[allow(
        clippy::mut_from_ref,
        reason = "the flag of the tensor makes the slice unique"
    )]
    pub fn output<T: Element>(&self, index: usize) -> Result<&mut [T]> {
        let tensor = self.typed::<T>(index)?;
        let is_written = self.kernel.arguments[index].writes();
        assert!(is_written, "argument {index} is an input");
        assert!(!tensor.is_taken.replace(true), "the output was taken");
        let len = tensor.region.len / size_of::<T>();
        // SAFETY: the region is mapped, aligned for `T` and `len` elements long. `run` has exclusive access, no other
        // written tensor overlaps it (`check_aliases`), inputs that overlap were copied, and the flag allows one slice.
        Ok(unsafe { slice::from_raw_parts_mut(tensor.region.pointer().cast(), len) })
    }

    fn typed<T: Element>(&self, index: usize) -> Result<&TensorValue> {
        let tensor = self.tensor(index)?;
        match tensor.ty == T::TYPE {
            true => Ok(tensor),
            false => Err(Status::INVALID_VALUE),
        }
    }
}

fn value(role: Role, argument: &Argument) -> Result<Value> {
    match (role, argument.kind) {
        // SAFETY: `kind` selects the member that the caller wrote. All members are plain numbers.
        (Role::In | Role::Out | Role::Update, 1) => tensor(unsafe { &argument.value.tensor }),
        // SAFETY: as above.
        (Role::Integer, 2) => Ok(Value::Integer(unsafe { argument.value.integer })),
        // SAFETY: as above.
        (Role::Real, 3) => Ok(Value::Real(unsafe { argument.value.real })),
        _ => Err(Status::INVALID_VALUE),
    }
}

fn tensor(raw: &Tensor) -> Result<Value> {
    let ty = Type::from_raw(raw.ty)?;
    let rank = raw.rank as usize;
    let dims = raw.dims.get(..rank.min(MAX_DIMS + 1));
    let dims = dims.ok_or(Status::INVALID_VALUE)?;
    let count = |count: u64, dim: &u64| count.checked_mul(*dim);
    let bytes = dims.iter().try_fold(ty.size() as u64, count);
    let bytes = bytes.ok_or(Status::INVALID_VALUE)?;
    let address = raw.address as usize;
    if !address.is_multiple_of(ty.size()) {
        return Err(Status::INVALID_ADDRESS);
    }
    Ok(Value::Tensor(TensorValue {
        region: region(address, bytes)?,
        ty,
        dims: dims.iter().map(|dim| *dim as usize).collect(),
        is_taken: Cell::new(false),
    }))
}
