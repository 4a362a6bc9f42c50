//! What a kernel that computes on the host sees: slices, wherever the device's memory is.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::slice;

use sp_abi::tf_datatype::TF_DataType;

use super::call::Call;
use super::host_argument::Argument;
use super::variable::Callbacks; // since 2.6
use super::{HostKernel, Kernel, OnDevice};
use crate::buffer::Buffer;
use crate::tensor::{Raw, address};
use crate::{Access, Device, Element, Error, HostTensor, Memory, Result};

/// A [`HostKernel`] as a kernel of any device: in place or staged, as the device's access says.
pub struct OnHost<B>(PhantomData<fn() -> B>);

impl<D: Device, B: HostKernel> Kernel<D> for OnHost<B> {
    type Attributes = B::Attributes;

    fn compute(cx: &OnDevice<'_, D>, attributes: &B::Attributes) -> Result<()> {
        on_host(cx, &|host| B::compute(host, attributes))
    }
}

/// Made once for a device, not for each of its kernels.
fn on_host<D: Device>(cx: &OnDevice<'_, D>, body: &dyn Fn(&Host<'_>) -> Result<()>) -> Result<()> {
    let memory = D::Access::open(cx.device(), cx.stream())?;
    let host = Host::new(cx.call(), &memory)?;
    body(&host)?;
    host.finish()
}

/// Device memory without its type, so that kernels need no type parameter for it.
trait Reach {
    fn is_staged(&self) -> bool;
    /// # Safety
    /// As for [`Memory::fetch`].
    unsafe fn fetch(&self, host: *mut c_void, device: *const c_void, bytes: usize) -> Result<()>;
    /// # Safety
    /// As for [`Memory::store`].
    unsafe fn store(&self, device: *mut c_void, host: *const c_void, bytes: usize) -> Result<()>;
}

impl<M: Memory> Reach for M {
    fn is_staged(&self) -> bool {
        M::STAGED
    }

    unsafe fn fetch(&self, host: *mut c_void, device: *const c_void, bytes: usize) -> Result<()> {
        // SAFETY: passed on as it came.
        unsafe { Memory::fetch(self, host, device, bytes) }
    }

    unsafe fn store(&self, device: *mut c_void, host: *const c_void, bytes: usize) -> Result<()> {
        // SAFETY: passed on as it came.
        unsafe { Memory::store(self, device, host, bytes) }
    }
}

/// One call of a kernel that computes on the host.
///
/// What [`input`](Host::input) and [`output`](Host::output) lend lives until the call ends. Copies
/// back to a device happen once the kernel has returned without an error.
pub struct Host<'a> {
    call: &'a Call,
    memory: &'a dyn Reach,
    held: RefCell<Vec<Held>>,
    pending: RefCell<Vec<Pending>>,
    taken: RefCell<Vec<Cell<bool>>>,
}

/// An input that must live until the call ends.
struct Held {
    _tensor: Raw,
    _copy: Option<Buffer>,
}

/// An output, and where it is written first if the device's memory is out of reach.
struct Pending {
    tensor: Raw,
    copy: Option<Buffer>,
}

impl<'a> Host<'a> {
    fn new(call: &'a Call, memory: &'a dyn Reach) -> Result<Self> {
        let taken = (0..call.outputs()?).map(|_| Cell::new(false)).collect();
        Ok(Self {
            call,
            memory,
            held: RefCell::default(),
            pending: RefCell::default(),
            taken: RefCell::new(taken),
        })
    }

    /// How many inputs the call has.
    ///
    /// # Errors
    /// Where the running TensorFlow lacks a function for it.
    pub fn inputs(&self) -> Result<usize> {
        self.call.inputs()
    }

    /// Input `index` as elements of `T`, wherever it lies.
    ///
    /// # Errors
    /// Returns an error if there is no such input, it has another type, or it cannot be copied out.
    pub fn input<T: Element>(&self, index: usize) -> Result<HostTensor<'_, T>> {
        let tensor = self.call.input(index)?;
        let copy = self
            .is_copied(Argument::Input(index))?
            .then(|| self.fetch(&tensor))
            .transpose()?;
        self.hold(tensor, copy)
    }

    /// Input `index`, which the registration asked for in host memory (`host = [..]`).
    ///
    /// # Errors
    /// Returns an error if there is no such input, it has another type, or the registration has it in
    /// device memory.
    pub fn host_input<T: Element>(&self, index: usize) -> Result<HostTensor<'_, T>> {
        let host = self.call.host_arguments()?;
        host.check(self.call, Argument::Input(index))?;
        self.hold(self.call.input(index)?, None)
    }

    /// Returns true if the host reaches `argument` only through a copy.
    fn is_copied(&self, argument: Argument) -> Result<bool> {
        match self.memory.is_staged() {
            true => Ok(!self.call.host_arguments()?.has(self.call, argument)?),
            false => Ok(false),
        }
    }

    /// Input `index` in host memory, a list of `int32` or `int64`: axes, shapes, paddings.
    ///
    /// # Errors
    /// Where there is no such input, or its type is neither.
    pub fn host_integers(&self, index: usize) -> Result<Vec<i64>> {
        match self.call.input(index)?.dtype()? {
            TF_DataType::TF_INT32 => {
                let narrow = self.host_input::<i32>(index)?;
                Ok(narrow.data().iter().map(|&value| value.into()).collect())
            }
            _ => Ok(self.host_input::<i64>(index)?.data().to_vec()),
        }
    }

    /// Output `index`, freshly allocated with shape `dims`, all zeros.
    ///
    /// # Errors
    /// Returns an error if there is no such output, it was taken already, it has another type, or memory
    /// is exhausted.
    // As for `output_uninit`.
    #[allow(clippy::mut_from_ref)]
    pub fn output<T: Element>(&self, index: usize, dims: &[usize]) -> Result<&mut [T]> {
        let elements = self.output_uninit::<T>(index, dims)?;
        let (start, len) = (elements.as_mut_ptr().cast::<T>(), elements.len());
        // SAFETY: `start` leads `len` elements, lent to this call alone, and zeros are a value of any
        // `Element`.
        unsafe {
            start.write_bytes(0, len);
            Ok(slice::from_raw_parts_mut(start, len))
        }
    }

    /// Output `index`, freshly allocated with shape `dims`. Its memory is uninitialised: for kernels that
    /// write every element, and would only pay for the zeros of [`output`](Host::output).
    ///
    /// An element that is not written reaches TensorFlow as whatever the memory held.
    ///
    /// # Errors
    /// As [`output`](Host::output).
    // Each output is lent once, which `take` sees to, so no two of these overlap.
    #[allow(clippy::mut_from_ref)]
    pub fn output_uninit<T: Element>(
        &self,
        index: usize,
        dims: &[usize],
    ) -> Result<&mut [MaybeUninit<T>]> {
        self.take(index)?;
        let tensor = self.call.output(index, T::DTYPE, dims)?;
        let len = tensor.len::<T>()?;
        let copy = match self.is_copied(Argument::Output(index))? {
            true => Some(Buffer::zeroed(len * size_of::<T>())?),
            false => None,
        };
        let start = start_of::<MaybeUninit<T>>(&tensor, copy.as_ref())?;
        self.pending.borrow_mut().push(Pending { tensor, copy });
        // SAFETY: `start` is aligned and leads `len` elements of an output that nobody else has;
        // `pending` keeps it until the call ends. They may be uninitialised, which the type states.
        Ok(unsafe { slice::from_raw_parts_mut(start.as_ptr(), len) })
    }

    // since 2.6
    /// Gives the variable that is input `variable` the value of input `value`; with
    /// `validate_shape`, from 2.10 on, only one of the variable's own shape.
    ///
    /// # Errors
    /// Where it is no variable, the shape is refused, or the running TensorFlow offers no way.
    pub fn assign_variable<T: Element>(
        &self,
        variable: usize,
        value: usize,
        validate_shape: bool,
    ) -> Result<()> {
        let callbacks = Callbacks {
            copy: &|source, target| self.copy::<T>(source, target),
            update: &|_, _| Err(Error::internal("an assignment changes nothing in place")),
        };
        self.call
            .assign_variable(variable, value, validate_shape, callbacks)
    }

    // since 2.6
    /// Changes the variable that is input `variable` by `change(variable, value)`, where input
    /// `value` has the variable's shape; nobody else reads or writes it meanwhile.
    ///
    /// # Errors
    /// Where their shapes or types differ, or the running TensorFlow offers no way.
    pub fn update_variable<T: Element>(
        &self,
        variable: usize,
        value: usize,
        change: impl Fn(&mut [T], &[T]),
    ) -> Result<()> {
        let callbacks = Callbacks {
            copy: &|source, target| self.copy::<T>(source, target),
            update: &|value, variable| self.change(value, variable, &change),
        };
        self.call.update_variable(variable, value, callbacks)
    }

    fn copy<T: Element>(&self, source: &Raw, target: &Raw) -> Result<()> {
        let (from, to) = (source.len::<T>()?, target.len::<T>()?);
        if from != to {
            let message = format!("{from} elements were to become the {to} of a variable");
            return Err(Error::invalid_argument(message));
        }
        let bytes = target.bytes()?;
        match self.memory.is_staged() {
            true => self.put(&self.fetch(source)?, target),
            false if bytes == 0 => Ok(()),
            // SAFETY: the host may use both, and both have that many bytes.
            false => unsafe { self.memory.fetch(target.data()?, source.data()?, bytes) },
        }
    }

    fn change<T: Element>(
        &self,
        value: &Raw,
        variable: &Raw,
        change: &impl Fn(&mut [T], &[T]),
    ) -> Result<()> {
        let (len, dims) = (variable.len::<T>()?, (variable.dims()?, value.dims()?));
        if value.len::<T>()? != len {
            let message = format!(
                "a variable of shape {:?} and a value of {:?}",
                dims.0, dims.1
            );
            return Err(Error::invalid_argument(message));
        }
        let staged = match self.memory.is_staged() {
            true => (Some(self.fetch(variable)?), Some(self.fetch(value)?)),
            false => (None, None),
        };
        let (old, by) = (
            start_of::<T>(variable, staged.0.as_ref())?,
            start_of::<T>(value, staged.1.as_ref())?,
        );
        // SAFETY: both are aligned, and each leads `len` elements: of the variable, which core has locked
        // for us, and of an input, which nobody changes while a kernel runs. Any bytes are values of an
        // `Element`.
        unsafe {
            change(
                slice::from_raw_parts_mut(old.as_ptr(), len),
                slice::from_raw_parts(by.as_ptr(), len),
            );
        }
        staged.0.map_or(Ok(()), |copy| self.put(&copy, variable))
    }

    fn take(&self, index: usize) -> Result<()> {
        let taken = self.taken.borrow();
        let output = taken.get(index).ok_or_else(|| {
            Error::internal(format!("output {index} of {} was asked for", taken.len()))
        })?;
        match output.replace(true) {
            false => Ok(()),
            true => Err(Error::internal(format!(
                "output {index} was asked for twice"
            ))),
        }
    }

    fn fetch(&self, tensor: &Raw) -> Result<Buffer> {
        self.call.staged().set(true);
        let bytes = tensor.bytes()?;
        let copy = Buffer::zeroed(bytes)?;
        if bytes > 0 {
            // SAFETY: the buffer has `bytes`, and so has the tensor.
            unsafe {
                self.memory
                    .fetch(copy.start().as_ptr().cast(), tensor.data()?, bytes)?
            };
        }
        Ok(copy)
    }

    fn hold<T: Element>(&self, tensor: Raw, copy: Option<Buffer>) -> Result<HostTensor<'_, T>> {
        let (dims, len) = (tensor.dims()?, tensor.len::<T>()?);
        let start = start_of::<T>(&tensor, copy.as_ref())?;
        self.held.borrow_mut().push(Held {
            _tensor: tensor,
            _copy: copy,
        });
        // SAFETY: `start` is aligned and leads `len` elements that `held` keeps until the call ends. Any
        // bytes are values of an `Element`, and TensorFlow changes no input while a kernel runs.
        let data = unsafe { slice::from_raw_parts(start.as_ptr(), len) };
        Ok(HostTensor { dims, data })
    }

    /// Copies staged outputs back to the device.
    fn finish(self) -> Result<()> {
        for Pending { tensor, copy } in self.pending.into_inner() {
            if let Some(copy) = copy {
                put(self.call, self.memory, &copy, &tensor)?;
            }
        }
        Ok(())
    }

    fn put(&self, copy: &Buffer, tensor: &Raw) -> Result<()> {
        put(self.call, self.memory, copy, tensor)
    }
}

/// Copies a buffer of the tensor's size into the tensor.
fn put(call: &Call, memory: &dyn Reach, copy: &Buffer, tensor: &Raw) -> Result<()> {
    call.staged().set(true);
    let bytes = tensor.bytes()?;
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: the buffer has `bytes`, and so has the tensor.
    unsafe { memory.store(tensor.data()?, copy.start().as_ptr().cast(), bytes) }
}

/// Returns the address at which the kernel works: that of the copy if there is one, else the tensor's.
fn start_of<T>(tensor: &Raw, copy: Option<&Buffer>) -> Result<NonNull<T>> {
    match copy {
        Some(copy) => Ok(copy.start().cast()),
        None => address(tensor.data()?),
    }
}
