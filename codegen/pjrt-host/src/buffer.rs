//! Arrays on the host, buffers on a device, and events.

use sp_host::child_checks::Stop;

use crate::memory;
use crate::plugin::{Called, Plugin, PluginError};

/// An array on the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HostArray {
    pub bytes: Vec<u8>,
    pub dims: Vec<i64>,
    /// The value of `PJRT_Buffer_Type`.
    pub element: u64,
}

/// The value of `PJRT_Buffer_Type_F32`, in every version of the header.
pub(crate) const F32: u64 = 11;

impl HostArray {
    /// Returns an array of 32-bit floats: 1, 2, 3 ...
    pub fn counting(dims: &[i64]) -> Self {
        let count: i64 = dims.iter().product();
        let numbers: Vec<f32> = (0..count).map(|it| it as f32 + 1.0).collect();
        Self::floats(dims, &numbers)
    }

    /// Returns an array of 32-bit floats.
    pub fn floats(dims: &[i64], numbers: &[f32]) -> Self {
        Self {
            bytes: numbers.iter().flat_map(|it| it.to_ne_bytes()).collect(),
            dims: dims.to_vec(),
            element: F32,
        }
    }

    /// Returns an array of any element type, with bytes that differ.
    pub fn pattern(dims: &[i64], element: u64, size: usize) -> Self {
        let count: i64 = dims.iter().product();
        let bytes = (0..count as usize * size).map(|at| (at * 7 + 1) as u8);
        Self {
            bytes: bytes.collect(),
            dims: dims.to_vec(),
            element,
        }
    }
}

/// A buffer of the plugin. It is destroyed by [`Buffer::destroy`] only.
#[derive(Clone, Copy)]
pub(crate) struct Buffer<'p, 'a> {
    pub plugin: &'p Plugin<'a>,
    pub handle: u64,
}

impl<'p, 'a> Buffer<'p, 'a> {
    pub fn new(plugin: &'p Plugin<'a>, handle: u64) -> Self {
        Self { plugin, handle }
    }

    /// Calls `function` of the buffer.
    pub fn call(&self, function: &str, set: &[(&str, u64)]) -> Result<crate::args::Args<'a>, Stop> {
        self.plugin.require(function, self.try_call(function, set)?)
    }

    /// Calls `function` of the buffer, which may fail.
    pub fn try_call(&self, function: &str, set: &[(&str, u64)]) -> Result<Called<'a>, Stop> {
        let set = [&[("buffer", self.handle)], set].concat();
        self.plugin.try_call(function, &set)
    }

    /// Waits for the event of a copy, and destroys it.
    pub fn finish(&self, event: u64) -> Result<(), Stop> {
        let waited = wait(self.plugin, event)?;
        waited.map_err(|error| Stop::Fail(format!("an event has the error {error}")))
    }

    /// Copies the buffer to the host and returns its bytes.
    pub fn to_host(self) -> Result<Vec<u8>, Stop> {
        let copied = self.try_to_host(0)?;
        copied.map_err(|error| Stop::Fail(format!("PJRT_Buffer_ToHostBuffer failed: {error}")))
    }

    /// Copies the buffer to the host with the layout at `layout`, or the plugin's if it is 0.
    pub fn try_to_host(&self, layout: u64) -> Result<Result<Vec<u8>, PluginError>, Stop> {
        let set = [("src", self.handle), ("host_layout", layout)];
        let size = match self.plugin.try_call("Buffer_ToHostBuffer", &set)? {
            Ok(args) => args.get("dst_size")? as usize,
            Err(error) => return Ok(Err(error)),
        };
        ensure(size <= 1 << 30, || {
            format!("PJRT_Buffer_ToHostBuffer asks for {size} bytes")
        })?;
        let mut bytes = vec![0xa5; size + MARGIN];
        let dst = [
            ("dst", bytes.as_mut_ptr() as u64),
            ("dst_size", size as u64),
        ];
        let copied = self
            .plugin
            .try_call("Buffer_ToHostBuffer", &[&set[..], &dst].concat())?;
        let event = match copied {
            Ok(args) => args.pointer("event")?,
            Err(error) => return Ok(Err(error)),
        };
        let waited = wait(self.plugin, event)?;
        ensure(bytes[size..].iter().all(|byte| *byte == 0xa5), || {
            format!("PJRT_Buffer_ToHostBuffer wrote after the {size} bytes of dst")
        })?;
        bytes.truncate(size);
        Ok(waited.map(|()| bytes))
    }

    /// Fails unless the buffer has the bytes of `array`.
    pub fn expect(&self, array: &HostArray, what: &str) -> Result<(), Stop> {
        expect_bytes(&self.to_host()?, &array.bytes, what)
    }

    /// Returns the dimensions that `function` reports in the list `field`.
    pub fn numbers(&self, function: &str, field: &str, count: &str) -> Result<Vec<i64>, Stop> {
        let args = self.call(function, &[])?;
        let numbers = memory::words(args.get(field)?, args.get(count)? as usize, field)?;
        Ok(numbers.into_iter().map(|it| it as i64).collect())
    }

    /// Returns true if the buffer is deleted.
    pub fn is_deleted(&self) -> Result<bool, Stop> {
        self.call("Buffer_IsDeleted", &[])?.flag("is_deleted")
    }

    /// Frees the buffer's memory.
    pub fn delete(&self) -> Result<(), Stop> {
        self.call("Buffer_Delete", &[]).map(drop)
    }

    /// Destroys the buffer.
    pub fn destroy(&self) -> Result<(), Stop> {
        self.call("Buffer_Destroy", &[]).map(drop)
    }

    /// Returns the event that is ready when the buffer is.
    pub fn ready_event(&self) -> Result<u64, Stop> {
        self.call("Buffer_ReadyEvent", &[])?.pointer("event")
    }

    /// Waits until the buffer is ready. Returns the error of its computation, if there is one.
    pub fn wait(&self) -> Result<Result<(), PluginError>, Stop> {
        wait(self.plugin, self.ready_event()?)
    }
}

/// Bytes after the host's memory that must not change.
const MARGIN: usize = 64;

/// Waits for an event and destroys it. Returns the event's error, if it has one.
pub(crate) fn wait(plugin: &Plugin<'_>, event: u64) -> Result<Result<(), PluginError>, Stop> {
    let waited = plugin.try_call("Event_Await", &[("event", event)])?;
    let is_ready = plugin.call("Event_IsReady", &[("event", event)])?;
    if !is_ready.flag("is_ready")? {
        let text = "an event is not ready after PJRT_Event_Await".into();
        return Err(Stop::Fail(text));
    }
    plugin.call("Event_Destroy", &[("event", event)])?;
    Ok(waited.map(drop))
}

/// Fails unless the bytes are equal.
pub(crate) fn expect_bytes(found: &[u8], expected: &[u8], what: &str) -> Result<(), Stop> {
    if found.len() != expected.len() {
        let (found, expected) = (found.len(), expected.len());
        return Err(Stop::Fail(format!(
            "{what} has {found} bytes, expected {expected}"
        )));
    }
    match found.iter().zip(expected).position(|(a, b)| a != b) {
        None => Ok(()),
        Some(at) => Err(Stop::Fail(format!(
            "byte {at} of {what} is {}, expected {}",
            found[at], expected[at]
        ))),
    }
}

/// Fails with `text` unless `is_right`.
pub(crate) fn ensure(is_right: bool, text: impl FnOnce() -> String) -> Result<(), Stop> {
    match is_right {
        true => Ok(()),
        false => Err(Stop::Fail(text())),
    }
}

/// Fails unless `called` is an error with a known code and a message. Returns the error.
pub(crate) fn expect_error(called: Called<'_>, what: &str) -> Result<PluginError, Stop> {
    match called {
        Ok(_) => Err(Stop::Fail(format!("{what} is no error"))),
        Err(error) => {
            ensure((1..=16).contains(&error.code), || {
                format!(
                    "{what} has the error code {}, which is not known",
                    error.code
                )
            })?;
            ensure(!error.message.is_empty(), || {
                format!("{what} has an error without a message")
            })?;
            Ok(error)
        }
    }
}
