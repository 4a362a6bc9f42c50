//! Host memory as the layer passes it to a queue.

use std::any::TypeId;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::slice;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Accelerator, Queue, Region, limits};
use crate::{Error, Result};

/// Host memory that a queue reads. It lives until the command has completed, and nobody writes to it meanwhile.
#[derive(Debug, Clone, Copy)]
pub struct HostSource<'c> {
    start: *const u8,
    len: usize,
    call: PhantomData<&'c [u8]>,
}

/// Host memory that a queue writes. It lives until the command has completed, and nobody else uses it meanwhile.
#[derive(Debug)]
pub struct HostTarget<'c> {
    start: *mut u8,
    len: usize,
    delivery: Arc<Mutex<Delivered>>,
    call: PhantomData<&'c mut [u8]>,
}

/// Host memory that a queue reads when the command runs, and not earlier: an earlier function of the queue writes it. It lives until
/// the command has completed.
#[derive(Debug)]
pub struct LateSource<'c> {
    start: *const u8,
    len: usize,
    call: PhantomData<&'c [u8]>,
}

// SAFETY: a value yields only an address, and the memory belongs to no thread.
unsafe impl Send for LateSource<'_> {}
// SAFETY: as above.
unsafe impl Sync for LateSource<'_> {}

impl LateSource<'_> {
    pub(super) fn new(start: *const u8, len: usize) -> Self {
        let call = PhantomData;
        Self { start, len, call }
    }

    /// Returns the source for a command that runs after the method has returned.
    ///
    /// # Safety
    /// - The value is used only by a command of the queue that has got it.
    pub unsafe fn for_command(self) -> LateSource<'static> {
        LateSource::new(self.start, self.len)
    }

    /// Returns the address of the first byte. The bytes are initialized when the command runs, and nobody writes them then.
    pub fn as_ptr(&self) -> *const u8 {
        self.start
    }

    len_methods!("bytes", self => self.len);
}

/// State of the bytes of a target.
#[derive(Debug)]
enum Delivered {
    /// The queue writes them to the address.
    ToAddress,
    /// The writer has not been called.
    Pending,
    /// The writer has been called.
    Bytes(Vec<u8>),
}

// SAFETY: the memory belongs to no thread. Who created the value guarantees that nobody writes it.
unsafe impl Send for HostSource<'_> {}
// SAFETY: as above.
unsafe impl Sync for HostSource<'_> {}
// SAFETY: the memory belongs to no thread, and the value is the only one for it.
unsafe impl Send for HostTarget<'_> {}
// SAFETY: a shared value yields only an address.
unsafe impl Sync for HostTarget<'_> {}

impl<'c> HostSource<'c> {
    /// # Safety
    /// The memory is readable, and not written, for `'c`, and until the command that gets the value has completed.
    pub(super) unsafe fn new(start: *const u8, len: usize) -> Self {
        let call = PhantomData;
        Self { start, len, call }
    }

    /// Returns the address of the first byte.
    pub fn as_ptr(&self) -> *const u8 {
        self.start
    }

    /// Returns the bytes, which may be used until the queue's method returns. A command that runs later needs a copy of them.
    pub fn as_bytes(&self) -> &'c [u8] {
        match self.len {
            0 => &[],
            // SAFETY: the memory is readable and not written for this lifetime.
            len => unsafe { slice::from_raw_parts(self.start, len) },
        }
    }

    /// Returns the source for a command that runs after the method has returned.
    ///
    /// # Safety
    /// - The value is used only by a command of the queue that has got it.
    /// - No slice that [`as_bytes`](Self::as_bytes) returns outlives the command, although its type permits it.
    /// - The fences, functions and synchronizations of the queue complete after its earlier commands, as
    ///   [`Queue`] requires.
    pub unsafe fn for_command(self) -> HostSource<'static> {
        let HostSource { start, len, .. } = self;
        let call = PhantomData;
        HostSource { start, len, call }
    }

    len_methods!("bytes", self => self.len);
}

impl HostTarget<'_> {
    /// # Safety
    /// The memory is writable, and nobody else uses it, until the command that gets the value has completed.
    pub(super) unsafe fn new(start: *mut u8, len: usize) -> Self {
        Self {
            start,
            len,
            delivery: Arc::new(Mutex::new(Delivered::ToAddress)),
            call: PhantomData,
        }
    }

    /// Returns the target for a command that runs after the method has returned.
    ///
    /// # Safety
    /// - The value is used only by a command of the queue that has got it.
    /// - The fences, functions and synchronizations of the queue complete after its earlier commands, as
    ///   [`Queue`] requires.
    pub unsafe fn for_command(self) -> HostTarget<'static> {
        let Self {
            start,
            len,
            delivery,
            ..
        } = self;
        HostTarget {
            start,
            len,
            delivery,
            call: PhantomData,
        }
    }

    /// Returns a function that takes the bytes when the driver has them, on any thread. The layer writes them to the target
    /// once the queue reports the command as complete.
    pub fn into_writer(self) -> impl FnOnce(Vec<u8>) + Send + 'static {
        let delivery = self.delivery;
        *lock(&delivery) = Delivered::Pending;
        move |bytes| *lock(&delivery) = Delivered::Bytes(bytes)
    }

    /// Returns the way in which the bytes reach the target.
    pub(super) fn delivery(&self) -> Delivery {
        Delivery {
            start: self.start,
            len: self.len,
            delivered: self.delivery.clone(),
        }
    }

    /// Returns the address of the first byte.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.start
    }

    len_methods!("bytes", self => self.len);
}

/// The bytes that a queue delivers to a target.
pub(super) struct Delivery {
    start: *mut u8,
    len: usize,
    delivered: Arc<Mutex<Delivered>>,
}

// SAFETY: the memory belongs to no thread, and who created the target guarantees that nobody else uses it.
unsafe impl Send for Delivery {}

impl Delivery {
    /// Writes the bytes to the target, unless the queue has written them.
    ///
    /// # Errors
    /// Returns an error if the queue has reported completion before it has delivered the bytes, or if their number differs.
    ///
    /// # Safety
    /// - The target's memory is live, and no command uses it.
    pub unsafe fn write(self) -> Result<()> {
        let bytes = match &*lock(&self.delivered) {
            Delivered::ToAddress => return Ok(()),
            Delivered::Pending => None,
            Delivered::Bytes(bytes) if bytes.len() != self.len => None,
            Delivered::Bytes(bytes) => {
                // SAFETY: the target has as many bytes, and is live. The vector is other memory.
                unsafe {
                    self.start
                        .copy_from_nonoverlapping(bytes.as_ptr(), self.len)
                };
                Some(())
            }
        };
        let error = || Error::internal("the queue reports a copy as complete without its bytes");
        bytes.ok_or_else(error)
    }
}

fn lock(delivered: &Mutex<Delivered>) -> MutexGuard<'_, Delivered> {
    delivered.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Largest number of bytes of a pattern that is repeated on the host.
const CHUNK: usize = 1 << 20;

/// Writes a pattern by copies of it.
///
/// A queue of another type is rejected: it may forward the copies to the accelerator's queue, and call the host function before
/// they have completed.
pub(super) fn fill_by_copies<A: Accelerator, Q: Queue<A> + ?Sized>(
    queue: &Q,
    target: &Region<A>,
    pattern: &[u8],
) -> Result<()> {
    if pattern.is_empty() && !target.is_empty() {
        return Err(Error::invalid_argument(
            "a pattern of 0 bytes fills nothing",
        ));
    }
    if TypeId::of::<Q>() != TypeId::of::<A::Queue>() {
        return Err(Error::unimplemented(
            "`fill` by copies is for the accelerator's own type of queues: implement `fill`",
        ));
    }
    let len = target.len().min(CHUNK);
    let chunk: Arc<[u8]> = pattern.iter().copied().cycle().take(len).collect();
    // If the queue panics, or takes no function and cannot be waited for, the copies may still run, so the chunk is leaked.
    let chunk = ManuallyDrop::new(chunk);
    let copied = copy_repeatedly(queue, target, &chunk);
    let held = Arc::clone(&chunk);
    let is_enqueued = queue.host_function(Box::new(move || drop(held))).is_ok();
    if is_enqueued || (limits::timeout().is_none() && queue.synchronize().is_ok()) {
        drop(ManuallyDrop::into_inner(chunk));
    }
    copied
}

fn copy_repeatedly<A: Accelerator, Q: Queue<A> + ?Sized>(
    queue: &Q,
    target: &Region<A>,
    chunk: &[u8],
) -> Result<()> {
    let mut offset = 0;
    while offset < target.len() {
        let len = chunk.len().min(target.len() - offset);
        // SAFETY: the caller holds the chunk until the copies have completed.
        let source = unsafe { HostSource::new(chunk.as_ptr(), len) };
        queue.copy_in(&target.slice(offset, len)?, source)?;
        offset += len;
    }
    Ok(())
}
