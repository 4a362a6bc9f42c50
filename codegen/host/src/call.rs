//! Calls from the host into the plugin. The address of a slot comes from a record. Its C signature is written at
//! the call, and a test compares it with every release (`signatures.rs`).

use std::ffi::c_void;

use crate::contract_watch::CallWatch;
use crate::objects::{self, BorrowedObject};
use crate::record::GuardedStruct;
use crate::status_object::StatusObject;
use crate::{Error, StatusCode, fault};

/// A pointer to an object or struct of the C API.
pub(crate) type Ptr = *mut c_void;

/// A function that runs on a stream, and its argument.
pub(crate) type HostCallback = unsafe extern "C" fn(*mut c_void, *mut c_void);

/// Calls the function in a slot of a record: `call!(table, "destroy_stream", (device, stream): (Ptr, Ptr))`.
macro_rules! call {
    ($table:expr, $slot:literal, ($($arg:expr),*): ($($ty:ty),*)) => {
        $crate::call::call!($table, $slot, ($($arg),*): ($($ty),*) -> ())
    };
    ($table:expr, $slot:literal, ($($arg:expr),*): ($($ty:ty),*) -> $ret:ty) => {{
        let arguments: ($($ty,)*) = ($($arg,)*);
        // SAFETY: the plugin stored this address in this slot, and the slot has this C signature in every
        // release (`signatures.rs`). The records and statuses in `arguments` are alive until the call returns.
        unsafe { $crate::call::call_slot::<_, $ret>(&$table, &$slot, arguments)? }
    }};
}
pub(crate) use call;

/// Calls a function whose last parameter is a status; returns the status's error. The types include that of the status:
/// `status_call!(table, "start_timer", (device, stream, timer): (Ptr, Ptr, Ptr, Ptr))`.
macro_rules! status_call {
    ($table:expr, $slot:literal, ($($arg:expr),*): ($($ty:ty),*)) => {
        $crate::call::call_with_status($slot, |status| {
            $crate::call::call!($table, $slot, ($($arg,)* status): ($($ty),*));
            Ok(())
        })
    };
}
pub(crate) use status_call;

/// Calls the function in `slot` of `table`, and records which structs it changed against their
/// contract.
///
/// # Safety
/// - The slot's C signature is `arguments` and `R`.
/// - The memory that the arguments point to is valid until this function returns.
pub(crate) unsafe fn call_slot<A: CallArguments, R>(
    table: &GuardedStruct,
    slot: &'static &'static str,
    arguments: A,
) -> Result<R, Error> {
    let address = table.slot(slot)?;
    let watch = CallWatch::for_slot(table.shape(), slot, &arguments.addresses());
    fault::set_current_call(slot);
    // SAFETY: the caller guarantees the signature and the lifetime of the arguments.
    let result = unsafe { arguments.pass(address) };
    // SAFETY: the caller guarantees that the memory behind the arguments is valid until this function returns.
    let stored_handles = unsafe { arguments.stored_handles() };
    watch.report(arguments.is_ok(), &stored_handles);
    Ok(result)
}

/// The arguments of one call.
pub(crate) trait CallArguments: Copy {
    /// Returns the address of each argument, or 0 for a number.
    fn addresses(&self) -> Vec<usize>;

    /// Returns the handle behind each argument that points to one.
    ///
    /// # Safety
    /// - The memory that the arguments point to is valid.
    unsafe fn stored_handles(&self) -> Vec<Option<Ptr>>;

    /// Calls `function` with these arguments.
    ///
    /// # Safety
    /// The obligations of [`call_slot`].
    unsafe fn pass<R>(self, function: Ptr) -> R;

    /// Returns true unless the last argument is a status that reports an error.
    fn is_ok(&self) -> bool {
        let last = self.addresses().last().copied().unwrap_or(0);
        is_ok(last as Ptr)
    }
}

/// Returns true unless `status` is a status that reports an error.
pub(crate) fn is_ok(status: Ptr) -> bool {
    let status = objects::with_object(status.cast::<StatusObject>(), StatusObject::get);
    status.is_none_or(|(code, _)| code == StatusCode::OK)
}

/// One argument of a call.
pub(crate) trait CallArgument: Copy {
    /// Returns its address, or 0 for a number.
    fn address(self) -> usize;

    /// Returns the handle that it points to, if any.
    ///
    /// # Safety
    /// - The memory that the argument points to is valid.
    unsafe fn stored_handle(self) -> Option<Ptr> {
        None
    }
}

macro_rules! numbers {
    ($($ty:ty)*) => { $(impl CallArgument for $ty {
        fn address(self) -> usize {
            0
        }
    })* };
}

macro_rules! pointers {
    ($($ty:ty)*) => { $(impl CallArgument for $ty {
        fn address(self) -> usize {
            self as usize
        }
    })* };
}

numbers!(u8 u32 u64 i64 HostCallback);
pointers!(Ptr *mut u8 *const u8 *mut i32 *mut i64 *mut usize);

impl CallArgument for *mut Ptr {
    fn address(self) -> usize {
        self as usize
    }

    unsafe fn stored_handle(self) -> Option<Ptr> {
        // SAFETY: the caller guarantees that the handle's memory is valid.
        Some(unsafe { *self })
    }
}

macro_rules! arguments {
    ($($name:ident)*) => {
        #[allow(non_snake_case, reason = "one name for a type and its value")]
        impl<$($name: CallArgument),*> CallArguments for ($($name,)*) {
            fn addresses(&self) -> Vec<usize> {
                let ($($name,)*) = *self;
                vec![$($name.address()),*]
            }

            unsafe fn stored_handles(&self) -> Vec<Option<Ptr>> {
                let ($($name,)*) = *self;
                // SAFETY: the caller guarantees that the memory behind each argument is valid.
                vec![$(unsafe { $name.stored_handle() }),*]
            }

            unsafe fn pass<R>(self, function: Ptr) -> R {
                let ($($name,)*) = self;
                type Function<$($name,)* R> = unsafe extern "C" fn($($name),*) -> R;
                // SAFETY: the caller guarantees that `function` has this C signature, and the lifetime of the arguments.
                unsafe { std::mem::transmute::<Ptr, Function<$($name,)* R>>(function)($($name),*) }
            }
        }
    };
}

arguments!();
arguments!(A);
arguments!(A B);
arguments!(A B C);
arguments!(A B C D);
arguments!(A B C D E);
arguments!(A B C D E F);

/// Runs `body` with a new status and returns the error that the plugin stored in it, if any. `call` names
/// the plugin's function.
pub(crate) fn call_with_status<T>(
    call: &str,
    body: impl FnOnce(Ptr) -> Result<T, Error>,
) -> Result<T, Error> {
    let status = BorrowedObject::new(StatusObject::new());
    let result = body(status.address().cast());
    let outcome = status.take().map(|status| status.get());
    let value = result?;
    match outcome {
        Some((StatusCode::OK, _)) => Ok(value),
        Some((code, message)) => Err(Error::Status {
            call: call.to_owned(),
            code,
            message,
        }),
        None => Err(Error::Refused(format!(
            "{call} deleted its status argument"
        ))),
    }
}
