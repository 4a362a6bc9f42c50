//! The `TF_Status` of C functions, so that a call allocates none.
//!
//! An instance of a kernel has one status. TensorFlow computes several calls of an instance at a time, so a call
//! takes the status out of the instance, and uses that of its thread if another call has it. One with an error is
//! replaced.

use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicPtr, Ordering};

use sp_runtime::{RawStatus, Status};

use crate::{Error, Result};

thread_local! {
    static STATUS: Cell<Option<Status>> = const { Cell::new(None) };
}

/// Calls a C function with the thread's status, and returns its result, or the error that it has reported.
///
/// A nested call creates a status of its own. After an error the status is deleted, so that the next call begins
/// with one that is OK.
///
/// # Errors
/// Returns the error in the status.
#[inline]
pub fn with_status<T>(call: impl FnOnce(*mut RawStatus) -> T) -> Result<T> {
    let status = take_from_thread()?;
    let result = call(status.as_ptr());
    status.check()?;
    STATUS.set(Some(status));
    Ok(result)
}

#[cold]
fn take_from_thread() -> Result<Status> {
    STATUS.take().map_or_else(Status::new, Ok)
}

/// The status of a kernel's instance, which one call at a time uses. Null while a call has it.
pub(crate) struct InstanceStatus(AtomicPtr<RawStatus>);

impl InstanceStatus {
    /// Creates a status that is OK.
    ///
    /// # Errors
    /// Returns an error if the process has no TensorFlow.
    pub fn new() -> Result<Self> {
        let status = Status::new()?.into_raw();
        Ok(Self(AtomicPtr::new(status.as_ptr())))
    }

    #[inline]
    fn take(&self) -> Option<Status> {
        // Acquire pairs with the Release of the call that had the status before.
        let status = NonNull::new(self.0.swap(ptr::null_mut(), Ordering::Acquire));
        // SAFETY: a pointer that is not null is that of a live status, which `new` or `put_back` stored, and the swap made this
        // call its only owner. A `TF_Status` is not bound to a thread.
        status.map(|it| unsafe { Status::from_raw(it) })
    }

    /// Returns the status after [`take`](Self::take), once.
    #[inline]
    fn put_back(&self, status: Status) {
        self.0.store(status.into_raw().as_ptr(), Ordering::Release);
    }
}

impl Drop for InstanceStatus {
    fn drop(&mut self) {
        drop(self.take());
    }
}

/// The status during one call of a kernel: that of its instance, or that of the thread while another call has it.
pub(crate) struct CallStatus<'i> {
    instance: &'i InstanceStatus,
    is_of_instance: bool,
    status: Cell<Option<Status>>,
}

impl CallStatus<'static> {
    /// Uses the status of the thread, for a call without an instance.
    pub fn of_thread() -> Self {
        static NONE: InstanceStatus = InstanceStatus(AtomicPtr::new(ptr::null_mut()));
        Self::new(&NONE)
    }
}

impl<'i> CallStatus<'i> {
    /// Takes the status of the instance.
    #[inline]
    pub fn new(instance: &'i InstanceStatus) -> Self {
        let status = instance.take();
        Self {
            instance,
            is_of_instance: status.is_some(),
            status: Cell::new(status),
        }
    }

    /// Calls a C function that returns an object, or null after an error. The status is read only then.
    ///
    /// # Errors
    /// Returns the error in the status.
    #[inline]
    pub fn object<T>(&self, call: impl FnOnce(*mut RawStatus) -> *mut T) -> Result<NonNull<T>> {
        let status = self.take()?;
        match NonNull::new(call(status.as_ptr())) {
            Some(object) => {
                self.status.set(Some(status));
                Ok(object)
            }
            None => Err(reported_error(status)),
        }
    }

    /// Calls a C function that returns nothing.
    ///
    /// # Errors
    /// Returns the error in the status.
    #[inline]
    pub fn check(&self, call: impl FnOnce(*mut RawStatus)) -> Result<()> {
        let status = self.take()?;
        call(status.as_ptr());
        status.check()?;
        self.status.set(Some(status));
        Ok(())
    }

    #[inline]
    fn take(&self) -> Result<Status> {
        self.status.take().map_or_else(take_from_thread, Ok)
    }

    /// Returns the status of the thread, or replaces that of the instance, which is deleted after an error.
    #[cold]
    fn restore(&self, status: Option<Status>) {
        match status {
            Some(status) => STATUS.set(Some(status)),
            None if self.is_of_instance => {
                // Without a status the next calls use those of their threads.
                if let Ok(status) = Status::new() {
                    self.instance.put_back(status);
                }
            }
            None => {}
        }
    }
}

impl Drop for CallStatus<'_> {
    #[inline]
    fn drop(&mut self) {
        match (self.is_of_instance, self.status.take()) {
            (true, Some(status)) => self.instance.put_back(status),
            (_, status) => self.restore(status),
        }
    }
}

#[cold]
fn reported_error(status: Status) -> Error {
    let none = || Error::internal("TensorFlow returned no object and no error");
    status.check().err().unwrap_or_else(none)
}

/// In the process of these tests there is no TensorFlow, so that a status is an address only, and none can be created.
#[cfg(test)]
mod tests {
    use std::cell::UnsafeCell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    fn status(memory: &mut [u64; 1]) -> Status {
        // SAFETY: without TensorFlow nothing reads the memory.
        unsafe { Status::from_raw(NonNull::from(memory).cast()) }
    }

    fn instance(memory: &mut [u64; 1]) -> InstanceStatus {
        InstanceStatus(AtomicPtr::new(status(memory).into_raw().as_ptr()))
    }

    /// Returns the status that a C function of the call would get.
    fn address(call: &CallStatus<'_>) -> Option<*mut RawStatus> {
        let mut address = None;
        let object = |status| {
            address = Some(status);
            std::ptr::dangling_mut::<u8>()
        };
        call.object(object).ok()?;
        address
    }

    #[test]
    fn second_call_at_a_time_uses_status_of_thread() {
        let (mut of_instance, mut of_thread) = ([0], [0]);
        let expected = [&of_instance, &of_thread].map(|it| std::ptr::from_ref(it).cast());
        let instance = instance(&mut of_instance);
        STATUS.set(Some(status(&mut of_thread)));
        for _ in 0..2 {
            let first = CallStatus::new(&instance);
            let second = CallStatus::new(&instance);
            assert_eq!(address(&first).map(<*mut _>::cast_const), Some(expected[0]));
            assert_eq!(
                address(&second).map(<*mut _>::cast_const),
                Some(expected[1])
            );
            // In either order of drops each status returns to its owner.
            drop(first);
            assert!(!instance.0.load(Ordering::Relaxed).is_null());
            drop(second);
            assert!(STATUS.take().map(|it| STATUS.set(Some(it))).is_some());
        }
        STATUS.take();
    }

    #[test]
    fn nested_use_takes_another_status() {
        let (mut of_instance, mut of_thread) = ([0], [0]);
        let instance = instance(&mut of_instance);
        STATUS.set(Some(status(&mut of_thread)));
        let call = CallStatus::new(&instance);
        let nested = call.object(|outer| {
            let inner = address(&call).unwrap();
            assert_ne!(outer, inner);
            inner
        });
        assert_eq!(
            nested.ok().map(NonNull::as_ptr).map(<*mut _>::cast_const),
            { Some(std::ptr::from_ref(&of_thread).cast()) }
        );
        STATUS.take();
    }

    #[test]
    fn status_with_error_is_not_used_again() {
        let mut of_instance = [0];
        let instance = instance(&mut of_instance);
        let call = CallStatus::new(&instance);
        assert!(call.object(|_| ptr::null_mut::<u8>()).is_err());
        drop(call);
        // Without TensorFlow there is no new one.
        assert!(instance.0.load(Ordering::Relaxed).is_null());
        assert!(address(&CallStatus::new(&instance)).is_none());
    }

    #[test]
    fn panic_in_c_call_leaves_no_status_behind() {
        let mut of_instance = [0];
        let instance = instance(&mut of_instance);
        let call = CallStatus::new(&instance);
        let panicking = || call.check(|_| panic!("a defect"));
        assert!(catch_unwind(AssertUnwindSafe(panicking)).is_err());
        drop(call);
        assert!(instance.0.load(Ordering::Relaxed).is_null());
    }

    /// Memory that one thread at a time may change: that of the status.
    struct Changed(UnsafeCell<[u64; 1]>);

    // SAFETY: the test changes the memory only with the status of the instance, which one call at a time has.
    unsafe impl Sync for Changed {}

    impl Changed {
        /// Adds 1, not atomically: threads at the same time would lose some.
        ///
        /// # Safety
        /// The caller has the status.
        unsafe fn add(&self) {
            // SAFETY: the caller has the status, and so the memory.
            unsafe { (*self.0.get())[0] += 1 };
        }
    }

    #[test]
    fn threads_never_share_status_of_instance() {
        let memory = Changed(UnsafeCell::new([0]));
        let address = memory.0.get();
        // SAFETY: the memory is a local variable, to which no other reference exists.
        let instance = instance(unsafe { &mut *address });
        let start = Barrier::new(4);
        let had_status = || {
            let mut count = 0;
            start.wait();
            for _ in 0..20_000 {
                let call = CallStatus::new(&instance);
                if call.is_of_instance {
                    // SAFETY: the call has the status.
                    unsafe { memory.add() };
                    count += 1;
                }
            }
            count
        };
        let all: u64 = thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(had_status)).collect();
            threads.into_iter().map(|it| it.join().unwrap()).sum()
        });
        assert_eq!(memory.0.into_inner(), [all]);
        assert!(all > 0);
    }
}
