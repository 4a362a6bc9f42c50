//! Kernels that compute on the host as commands of a stream.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use sp_runtime::guard::catch_panic;

use super::Shared;
use super::memory::RetiredMemory;
use super::pending::PendingMemory;
use crate::accelerator::guard::call_queue;
use crate::accelerator::host_memory::Delivery;
use crate::accelerator::stream::{Command, Failures, StreamState};
use crate::accelerator::{
    Accelerator, HostTarget, LateSource, Queue, Region, Stream, host_function,
};
use crate::host_work::{HostQueue, HostWork, RunHostWork, Transfer};
use crate::synchronous::is_synchronous;
use crate::trace::CommandKind;
use crate::{Error, Result};

/// Most bytes of host memory that pending work has on a device, apart from the memory of one call.
const PENDING_LIMIT: usize = 256 << 20;

/// A stream that computes on the host.
struct Behind<'a, A: Accelerator> {
    device: &'a Shared<A>,
    stream: &'a Arc<StreamState<A>>,
}

impl<A: Accelerator> Shared<A> {
    /// Returns the stream for kernels that compute on the host; `None` if they have to wait for it, since its queue cannot copy what
    /// they write later.
    pub fn host_queue<'a>(&'a self, stream: &'a Stream<A>) -> Option<HostQueue<'a>> {
        let stream = &stream.0;
        let is_in_place = self.accelerator.addressable_memory().is_some();
        let behind = Behind {
            device: self,
            stream,
        };
        (is_in_place || stream.has_late_copies()).then(|| HostQueue(Box::new(behind)))
    }
}

impl<A: Accelerator> RunHostWork for Behind<'_, A> {
    fn has_late_copies(&self) -> bool {
        self.stream.has_late_copies()
    }

    unsafe fn enqueue(&self, mut work: HostWork) -> Result<()> {
        self.device.check()?;
        let memory = self.count_memory(&work)?;
        let command = Command::HostKernel(work.name.clone());
        let timing = self.stream.begin_timing();
        let queue = self.stream.queue()?;
        // SAFETY: the caller has the same obligations.
        let enqueue = || unsafe { self.enqueue_commands(queue, &mut work) };
        let enqueued = catch_panic("a kernel on the host", enqueue);
        self.stream.close();
        self.stream.end_timing(timing, CommandKind::Kernel);
        let marked = match enqueued {
            Ok(()) => self.stream.mark(command),
            Err(error) => Err(self.stream.failures.fail_at(&command, &error)),
        };
        // The commands use the memory until the stream drops its share of the use count.
        drop(work);
        let use_count = Arc::new(());
        self.stream.hold(&use_count);
        (self.device.memory).retire(use_count, RetiredMemory::Work(memory));
        match is_synchronous() {
            true => marked.and_then(|()| self.stream.synchronize()),
            false => marked,
        }
    }
}

impl<A: Accelerator> Behind<'_, A> {
    /// Counts the memory of a call. Waits first if pending work has too much.
    fn count_memory(&self, work: &HostWork) -> Result<PendingMemory> {
        let transfers = work.inputs.iter().chain(&work.outputs);
        let bytes = transfers.map(|it| it.bytes).sum();
        let pending = &self.device.pending_bytes;
        let before = pending.load(Ordering::Relaxed);
        if before > 0 && before.saturating_add(bytes) > PENDING_LIMIT {
            self.stream.synchronize()?;
            self.device.reclaim();
        }
        Ok(PendingMemory::new(work.memory.clone(), bytes, pending))
    }

    /// # Safety
    /// As for [`RunHostWork::enqueue`].
    unsafe fn enqueue_commands(&self, queue: &A::Queue, work: &mut HostWork) -> Result<()> {
        let mut deliveries = Vec::with_capacity(work.inputs.len());
        for it in &work.inputs {
            // SAFETY: the caller guarantees the address, and that nobody else uses the memory before the computation.
            let target = unsafe { HostTarget::new(it.host.as_ptr(), it.bytes) };
            deliveries.push(target.delivery());
            let source = self.device.region(it.device, it.bytes)?;
            call_queue(queue, |queue| queue.copy_out(target, &source))?;
        }
        let computation = Computation {
            deliveries,
            compute: std::mem::replace(&mut work.compute, Box::new(|| Ok(()))),
            name: work.name.clone(),
            failures: Arc::downgrade(&self.stream.failures),
            _in_place: self.regions(&work.in_place)?,
        };
        let function = Box::new(move || host_function::run(|| computation.run()));
        call_queue(queue, |queue| queue.host_function(function))?;
        work.outputs
            .iter()
            .try_for_each(|it| self.copy_in(queue, it))
    }

    fn regions(&self, places: &[(usize, usize)]) -> Result<Vec<Region<A>>> {
        let region = |&(address, bytes): &(usize, usize)| self.device.region(address, bytes);
        places.iter().map(region).collect()
    }

    fn copy_in(&self, queue: &A::Queue, transfer: &Transfer) -> Result<()> {
        let target = self.device.region(transfer.device, transfer.bytes)?;
        let source = LateSource::new(transfer.host.as_ptr(), transfer.bytes);
        call_queue(queue, |queue| match queue.late_copies() {
            Some(copies) => copies.copy_in_late(&target, source),
            None => Err(Error::internal("the queue has no late copies any more")),
        })
    }
}

/// The host function of a call.
struct Computation<A: Accelerator> {
    deliveries: Vec<Delivery>,
    compute: Box<dyn FnOnce() -> Result<()> + Send>,
    name: Arc<str>,
    failures: Weak<Failures<A>>,
    /// Dropped in a host function: the memory is freed later, by a thread that calls the device.
    _in_place: Vec<Region<A>>,
}

impl<A: Accelerator> Computation<A> {
    /// Computes, unless the stream has failed: its copies may lack their bytes then. An error is the stream's.
    fn run(self) {
        let (name, failures) = (self.name, self.failures);
        let has_failed = failures.upgrade().is_none_or(|it| it.check().is_err());
        if has_failed {
            return;
        }
        let (deliveries, compute) = (self.deliveries, self.compute);
        let computed = catch_panic("a kernel", || {
            for delivery in deliveries {
                // SAFETY: the job has the memory, and the copies are complete: a function runs after the earlier commands.
                unsafe { delivery.write()? };
            }
            compute()
        });
        if let (Err(error), Some(failures)) = (computed, failures.upgrade()) {
            failures.fail_as(Error::new(
                error.code(),
                format!("{name}: {}", error.message()),
            ));
        }
    }
}
