//! TensorFlow's eager runtime, on the CPU only: a context in which an op runs by core's kernel for the CPU.
//!
//! The functions are those of tensorflow/c/eager/c_api.h and tensorflow/c/c_api.h, which declare them alike in all known
//! releases. They are not part of the contract of plugins, so each is looked up, and its absence is an error.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr::{self, NonNull};
use std::sync::OnceLock;

use sp_abi::tf_buffer::TF_Buffer;
use sp_abi::tf_tensor::TF_Tensor;
use sp_runtime::{RawStatus, symbol};

use crate::graph::OwnedBuffer;
use crate::limit::c_index;
use crate::status::with_status;
use crate::tensor::Tensor;
use crate::{Error, Result};
use sp_graph::proto::Message;

/// Declares the C types, of which only addresses are used.
macro_rules! opaque {
    ($($name:ident)*) => {$(
        #[repr(C)]
        struct $name {
            private: [u8; 0],
        }
    )*};
}

opaque! { ContextOptions RawContext RawOp RawHandle }

/// Declares functions of TensorFlow, and how to look all of them up.
macro_rules! functions {
    ($($field:ident = $symbol:literal: fn($($parameter:ty),*) $(-> $result:ty)?;)*) => {
        struct Functions {
            $($field: unsafe extern "C-unwind" fn($($parameter),*) $(-> $result)?,)*
        }

        impl Functions {
            fn find() -> std::result::Result<Self, &'static CStr> {
                Ok(Self {
                    $($field: {
                        let found = symbol::find_symbol($symbol).ok_or($symbol)?;
                        // SAFETY: the headers that the module names declare the function with this signature.
                        unsafe { std::mem::transmute::<*mut c_void, unsafe extern "C-unwind" fn($($parameter),*) $(-> $result)?>(found) }
                    },)*
                })
            }
        }
    };
}

functions! {
    new_options = c"TFE_NewContextOptions": fn() -> *mut ContextOptions;
    set_config = c"TFE_ContextOptionsSetConfig": fn(*mut ContextOptions, *const c_void, usize, *mut RawStatus);
    delete_options = c"TFE_DeleteContextOptions": fn(*mut ContextOptions);
    new_context = c"TFE_NewContext": fn(*const ContextOptions, *mut RawStatus) -> *mut RawContext;
    new_op = c"TFE_NewOp": fn(*mut RawContext, *const c_char, *mut RawStatus) -> *mut RawOp;
    set_device = c"TFE_OpSetDevice": fn(*mut RawOp, *const c_char, *mut RawStatus);
    set_attribute = c"TFE_OpSetAttrValueProto": fn(*const RawOp, *const c_char, *const c_void, usize, *mut RawStatus);
    add_input = c"TFE_OpAddInput": fn(*mut RawOp, *mut RawHandle, *mut RawStatus);
    execute = c"TFE_Execute": fn(*mut RawOp, *mut *mut RawHandle, *mut c_int, *mut RawStatus);
    delete_op = c"TFE_DeleteOp": fn(*mut RawOp);
    new_handle = c"TFE_NewTensorHandle": fn(*const TF_Tensor, *mut RawStatus) -> *mut RawHandle;
    resolve = c"TFE_TensorHandleResolve": fn(*mut RawHandle, *mut RawStatus) -> *mut TF_Tensor;
    delete_handle = c"TFE_DeleteTensorHandle": fn(*mut RawHandle);
    all_kernels = c"TF_GetAllRegisteredKernels": fn(*mut RawStatus) -> *mut TF_Buffer;
    all_ops = c"TF_GetAllOpList": fn() -> *mut TF_Buffer;
}

fn functions() -> Result<&'static Functions> {
    static FUNCTIONS: OnceLock<std::result::Result<Functions, &'static CStr>> = OnceLock::new();
    let missing = |name: &&CStr| Error::unimplemented(format!("TensorFlow exports no {name:?}"));
    FUNCTIONS
        .get_or_init(Functions::find)
        .as_ref()
        .map_err(missing)
}

/// Returns the serialized `KernelList` of all kernels that are registered.
///
/// # Errors
/// Returns an error if the running TensorFlow exports no such function.
pub(super) fn registered_kernels() -> Result<OwnedBuffer> {
    let get = functions()?.all_kernels;
    // SAFETY: the status is live.
    let buffer = with_status(|status| unsafe { get(status) })?;
    // SAFETY: the caller of the function owns the buffer.
    unsafe { OwnedBuffer::from_raw(buffer) }
}

/// Returns the serialized `OpList` of all ops that are registered.
///
/// # Errors
/// Returns an error if the running TensorFlow exports no such function.
pub(super) fn registered_ops() -> Result<OwnedBuffer> {
    // SAFETY: the function has no preconditions, and its caller owns the buffer.
    unsafe { OwnedBuffer::from_raw((functions()?.all_ops)()) }
}

/// An eager context without devices of type GPU. Ops run on its CPU. It is leak-exempt: held for the life of the process.
struct Context(NonNull<RawContext>);

// SAFETY: TensorFlow's `EagerContext` may be used by several threads at a time; Python's is.
unsafe impl Send for Context {}
// SAFETY: as above.
unsafe impl Sync for Context {}

impl Context {
    fn get() -> Result<&'static Self> {
        static CONTEXT: OnceLock<Result<Context>> = OnceLock::new();
        CONTEXT
            .get_or_init(Self::new)
            .as_ref()
            .map_err(Clone::clone)
    }

    fn new() -> Result<Self> {
        let functions = functions()?;
        // `ConfigProto.device_count`, a map whose absent value is 0: no device of type GPU, which would be one of the plugin.
        let count = Message::default().text(1, "GPU").finish();
        let config = Message::default().bytes(1, count).finish();
        // SAFETY: the options are live until they are deleted, once, and the bytes outlive the call that parses them.
        let context = unsafe {
            let options = (functions.new_options)();
            let configured = with_status(|status| {
                (functions.set_config)(options, config.as_ptr().cast(), config.len(), status);
            });
            let context = configured
                .and_then(|()| with_status(|status| (functions.new_context)(options, status)));
            (functions.delete_options)(options);
            context?
        };
        let none = || Error::internal("TensorFlow created no eager context");
        NonNull::new(context).map(Self).ok_or_else(none)
    }
}

/// An owned handle of a tensor of the context.
struct Handle<'f>(NonNull<RawHandle>, &'f Functions);

impl<'f> Handle<'f> {
    /// # Safety
    /// `handle` is null or live, and its owner transfers it.
    unsafe fn from_raw(handle: *mut RawHandle, functions: &'f Functions) -> Result<Self> {
        let none = || Error::internal("TensorFlow returned no handle of a tensor");
        NonNull::new(handle)
            .map(|it| Self(it, functions))
            .ok_or_else(none)
    }

    fn new(tensor: &Tensor, functions: &'f Functions) -> Result<Self> {
        // SAFETY: tensor and status are live, and the handle has a reference to the buffer of its own.
        unsafe {
            let handle = with_status(|status| (functions.new_handle)(tensor.as_ptr(), status))?;
            Self::from_raw(handle, functions)
        }
    }

    fn tensor(&self) -> Result<Tensor> {
        // SAFETY: handle and status are live, and the caller owns the tensor.
        unsafe {
            Tensor::from_raw(with_status(|status| {
                (self.1.resolve)(self.0.as_ptr(), status)
            })?)
        }
    }
}

impl Drop for Handle<'_> {
    fn drop(&mut self) {
        // SAFETY: owned, live, and not used again.
        unsafe { (self.1.delete_handle)(self.0.as_ptr()) }
    }
}

/// An op of the context, which is about to run on the CPU.
struct Op<'f>(NonNull<RawOp>, &'f Functions);

impl<'f> Op<'f> {
    fn new(name: &CStr, functions: &'f Functions) -> Result<Self> {
        let context = Context::get()?.0.as_ptr();
        // SAFETY: context, name and status are live.
        let op =
            with_status(|status| unsafe { (functions.new_op)(context, name.as_ptr(), status) })?;
        let none = || Error::internal("TensorFlow created no op");
        let op = Self(NonNull::new(op).ok_or_else(none)?, functions);
        let device = c"/device:CPU:0".as_ptr();
        // SAFETY: op, device and status are live.
        with_status(|status| unsafe { (functions.set_device)(op.0.as_ptr(), device, status) })?;
        Ok(op)
    }

    fn set_attribute(&self, name: &CStr, value: &[u8]) -> Result<()> {
        let (data, len) = (value.as_ptr().cast(), value.len());
        let set = self.1.set_attribute;
        // SAFETY: op, name and status are live, and the value has `len` bytes, which TensorFlow parses.
        with_status(|status| unsafe { set(self.0.as_ptr(), name.as_ptr(), data, len, status) })
    }

    fn add_input(&self, handle: &Handle<'_>) -> Result<()> {
        let (op, handle) = (self.0.as_ptr(), handle.0.as_ptr());
        // SAFETY: op, handle and status are live, and the op has a reference to the tensor of its own.
        with_status(|status| unsafe { (self.1.add_input)(op, handle, status) })
    }

    /// Runs the op, which has at most `count` outputs, and returns them.
    fn execute(&self, count: usize) -> Result<Vec<Handle<'f>>> {
        let mut outputs = vec![ptr::null_mut(); count];
        let mut found = c_index(count)?;
        // SAFETY: op and status are live, and there is room for `found` outputs. TensorFlow sets it to their number.
        let executed = with_status(|status| unsafe {
            (self.1.execute)(
                self.0.as_ptr(),
                outputs.as_mut_ptr(),
                &raw mut found,
                status,
            );
        });
        executed?;
        outputs.truncate(usize::try_from(found).unwrap_or(0));
        // SAFETY: the caller of the function owns the outputs. All are taken, so that an error leaks none.
        let outputs: Vec<_> = outputs
            .into_iter()
            .map(|it| unsafe { Handle::from_raw(it, self.1) })
            .collect();
        outputs.into_iter().collect()
    }
}

impl Drop for Op<'_> {
    fn drop(&mut self) {
        // SAFETY: owned, live, and not used again.
        unsafe { (self.1.delete_op)(self.0.as_ptr()) }
    }
}

/// Runs an op by core's kernel for the CPU. Its attributes are serialized `AttrValue`s; inputs and outputs are in host memory.
///
/// # Errors
/// Returns the error of the op, or one if there is no kernel for the CPU.
pub(super) fn run(
    name: &CStr,
    attributes: &[(CString, Vec<u8>)],
    inputs: &[Tensor],
    outputs: usize,
) -> Result<Vec<Tensor>> {
    let functions = functions()?;
    let op = Op::new(name, functions)?;
    for (name, value) in attributes {
        op.set_attribute(name, value)?;
    }
    for tensor in inputs {
        op.add_input(&Handle::new(tensor, functions)?)?;
    }
    op.execute(outputs)?.iter().map(Handle::tensor).collect()
}
