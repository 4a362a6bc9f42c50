//! The order of work on streams: happens-before over streams, events and waits of the host.
//!
//! The host is taken for one thread, and a kernel for work on its stream (`TF_GetStream`), which begins when the kernel
//! gets an input or output. So what is found is not ordered by any call.

use super::arguments::Arguments;
use super::clock::{Access, Clock};
use super::finding::finding;
use crate::runtime::description::Kind;
use crate::runtime::system;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// Accesses that are remembered; older ones are forgotten.
const LIMIT: usize = 1024;

#[derive(Default)]
struct Order {
    streams: HashMap<u64, Clock>,
    events: HashMap<u64, Event>,
    /// The work that the host has waited for.
    host: Clock,
    /// The work ahead of a host callback, by its argument.
    callbacks: HashMap<u64, Clock>,
    accesses: Vec<Access>,
    host_blocks: BTreeMap<u64, u64>,
}

#[derive(Default, Clone)]
struct Event {
    clock: Clock,
    recorded: u64,
    is_recorded: bool,
}

static ORDER: Mutex<Option<Order>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Order>> {
    ORDER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks a call that accesses memory, or frees it.
///
/// # Safety
/// The arguments are those of a call.
pub unsafe fn before(call: &Arguments<'_>) {
    let mut order = lock();
    let order = order.get_or_insert_with(Order::default);
    if call.function.kind == Kind::HostCallback {
        // The plugin passes the function's argument first.
        if let Some(clock) = call
            .values
            .first()
            .and_then(|it| order.callbacks.remove(it))
        {
            order.host_waits(&clock);
        }
    }
    if call.function.kind != Kind::Slot {
        return;
    }
    match call.function.short_name() {
        // SAFETY: as the caller states.
        name if name.contains("memcpy") || name.starts_with("mem") => unsafe { order.access(call) },
        "host_callback" => {
            let clock = order.enqueued(call.get("stream").unwrap_or(0));
            order
                .callbacks
                .insert(call.get("callback_arg").unwrap_or(0), clock);
        }
        "host_memory_deallocate" => order.free_host(call),
        // Core destroys a stream or event when nothing uses it.
        "destroy_stream" => drop(order.streams.remove(&call.get("stream").unwrap_or(0))),
        "destroy_event" => drop(order.events.remove(&call.get("event").unwrap_or(0))),
        _ => {}
    }
}

/// Notes the order that a call makes.
///
/// # Safety
/// The arguments are those of a call that has returned `result`.
pub unsafe fn after(call: &Arguments<'_>, result: u64) {
    // SAFETY: the status is live.
    if call.function.kind != Kind::Slot || !unsafe { call.is_ok() } {
        return;
    }
    let mut order = lock();
    let order = order.get_or_insert_with(Order::default);
    let stream = call.get("stream").unwrap_or(0);
    let event = call.get("event").unwrap_or(0);
    match call.function.short_name() {
        "record_event" => order.record(event, stream),
        "wait_for_event" => {
            let clock = order.event(event).clock;
            order.streams.entry(stream).or_default().join(&clock);
        }
        "create_stream_dependency" => {
            let other = order.stream(call.get("other").unwrap_or(0));
            order
                .streams
                .entry(call.get("dependent").unwrap_or(0))
                .or_default()
                .join(&other);
        }
        "block_host_until_done" => {
            let clock = order.stream(stream);
            order.host_waits(&clock);
        }
        "block_host_for_event" => {
            let clock = order.event(event).clock;
            order.host_waits(&clock);
        }
        "synchronize_all_activity" => {
            let clocks: Vec<Clock> = order.streams.values().cloned().collect();
            clocks.iter().for_each(|clock| order.host_waits(clock));
        }
        "get_event_status" => order.polled(call, event, result),
        "host_memory_allocate" if result != 0 => {
            order
                .host_blocks
                .insert(result, call.get("size").unwrap_or(0));
        }
        _ => {}
    }
}

/// Notes that a kernel on `stream` reads or writes `size` bytes of device memory at `start`.
pub fn kernel_access(subject: &'static str, stream: u64, (start, size): (u64, u64), writes: bool) {
    let mut order = lock();
    let order = order.get_or_insert_with(Order::default);
    let (clock, time) = order.enqueue(stream);
    let access = Access {
        start,
        size,
        writes,
        is_host: false,
        task: (stream, time),
        name: "a kernel",
    };
    order.add(subject, access, &clock, true);
}

impl Order {
    fn stream(&self, stream: u64) -> Clock {
        self.streams.get(&stream).cloned().unwrap_or_default()
    }

    fn event(&self, event: u64) -> Event {
        self.events.get(&event).cloned().unwrap_or_default()
    }

    /// Returns the clock of what is enqueued on `stream` now: after all that the stream and the host have waited for.
    fn enqueued(&mut self, stream: u64) -> Clock {
        let host = self.host.clone();
        let clock = self.streams.entry(stream).or_default();
        clock.join(&host);
        clock.clone()
    }

    /// Adds a task to `stream`; returns its clock and its number.
    fn enqueue(&mut self, stream: u64) -> (Clock, u64) {
        let mut clock = self.enqueued(stream);
        let time = clock.tick(stream);
        self.streams.insert(stream, clock.clone());
        (clock, time)
    }

    /// Records an event, which is a task of its own: the host may have waited for all that is ahead of it.
    fn record(&mut self, event: u64, stream: u64) {
        let event_of_stream = Event {
            clock: self.enqueue(stream).0,
            recorded: system::now(),
            is_recorded: true,
        };
        self.events.insert(event, event_of_stream);
    }

    fn host_waits(&mut self, clock: &Clock) {
        self.host.join(clock);
        let host = &self.host;
        self.accesses.retain(|it| !it.is_before(host));
    }

    /// # Safety
    /// The call is that of a copy or fill.
    unsafe fn access(&mut self, call: &Arguments<'_>) {
        let size = call.get("size").unwrap_or(0);
        let (clock, task) = match call.get("stream") {
            Some(stream) => {
                let (clock, time) = self.enqueue(stream);
                (clock, Some((stream, time)))
            }
            // A copy without a stream is complete when it returns.
            None => (self.host.clone(), None),
        };
        let name = call.function.short_name();
        let access = |start: u64, writes: bool, is_host: bool| Access {
            start,
            size,
            writes,
            is_host,
            task: task.unwrap_or_default(),
            name,
        };
        let mut accesses = Vec::new();
        for (parameter, writes) in [
            ("device_src", false),
            ("device_dst", true),
            ("location", true),
        ] {
            // SAFETY: the structs of a call are readable.
            let start = unsafe { call.field(parameter, "opaque") };
            accesses.extend(start.map(|start| access(start, writes, false)));
        }
        for (parameter, writes) in [("host_src", false), ("host_dst", true)] {
            accesses.extend(call.get(parameter).map(|start| access(start, writes, true)));
        }
        for access in accesses.into_iter().filter(|it| it.size > 0) {
            self.add(call.function.name, access, &clock, task.is_some());
        }
    }

    fn add(&mut self, subject: &str, access: Access, clock: &Clock, is_enqueued: bool) {
        let mut others = self.accesses.iter().filter(|it| it.conflicts(&access));
        // Memory of the host may be used by another thread for another copy.
        let unordered = others.find(|it| !it.is_host && !it.is_before(clock));
        if let Some(other) = unordered {
            let (verb, start) = (if other.writes { "writes" } else { "reads" }, access.start);
            let detail = format!(
                "{} bytes at {start:#x}, which {} on the stream {:#x} {verb}: no dependency orders the two",
                access.size, other.name, other.task.0
            );
            finding("stream_dependency_missing", subject, &detail);
        }
        if is_enqueued {
            if self.accesses.len() >= LIMIT {
                self.accesses.remove(0);
            }
            self.accesses.push(access);
        }
    }

    fn free_host(&mut self, call: &Arguments<'_>) {
        let Some(start) = call.values.get(1).copied() else {
            return;
        };
        let Some(size) = self.host_blocks.remove(&start) else {
            return;
        };
        let is_in_block =
            |it: &&Access| it.is_host && it.start < start + size && start < it.start + it.size;
        if let Some(access) = self.accesses.iter().find(is_in_block) {
            let detail = format!(
                "{} of {} bytes at {:#x} on the stream {:#x} may still run",
                access.name, access.size, access.start, access.task.0
            );
            finding("host_memory_in_use", call.function.name, &detail);
        }
    }

    fn polled(&mut self, call: &Arguments<'_>, event: u64, status: u64) {
        let state = self.event(event);
        let name = call.function.name;
        match call.result_name(status) {
            Some("SE_EVENT_COMPLETE") => return self.host_waits(&state.clock),
            Some("SE_EVENT_PENDING") => {}
            Some(_) => return,
            None => {
                let detail = format!("returned {status}, which is not an SE_EventStatus");
                return finding("field_access", name, &detail);
            }
        }
        if !state.is_recorded {
            return;
        }
        if state.clock.is_before(&self.host) {
            let detail =
                "the event is pending, and a call that waits for the work ahead of it has returned";
            finding("async_waits", name, detail);
        }
        let waited = (system::now() - state.recorded) / 1_000_000_000;
        if waited >= event_seconds() {
            let detail =
                format!("the event {event:#x} is pending {waited} seconds after record_event");
            finding("event_never_complete", name, &detail);
        }
    }
}

fn event_seconds() -> u64 {
    static SECONDS: OnceLock<u64> = OnceLock::new();
    let read = || std::env::var("SP_LAYER_EVENT_SECONDS").ok()?.parse().ok();
    *SECONDS.get_or_init(|| read().unwrap_or(30))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_behind_finished_work_may_be_pending() {
        let (mut order, stream, event) = (Order::default(), 1, 2);
        let (clock, _) = order.enqueue(stream);
        order.host_waits(&clock);
        order.record(event, stream);
        assert!(!order.event(event).clock.is_before(&order.host));
        let clock = order.stream(stream);
        order.host_waits(&clock);
        assert!(order.event(event).clock.is_before(&order.host));
    }
}
