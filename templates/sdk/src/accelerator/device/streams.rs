//! The streams of a device.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::Result;
use crate::accelerator::Accelerator;
use crate::accelerator::stream::StreamState;

/// The streams that TensorFlow has, and one of the layer.
pub(super) struct Streams<A: Accelerator> {
    streams: Mutex<Vec<Weak<StreamState<A>>>>,
    /// The stream of synchronous copies.
    transfers: Mutex<Option<Arc<StreamState<A>>>>,
}

impl<A: Accelerator> Streams<A> {
    pub fn new() -> Self {
        Self {
            streams: Mutex::default(),
            transfers: Mutex::default(),
        }
    }

    /// Adds a stream. It is one of the device's until it is dropped.
    pub fn insert(&self, stream: &Arc<StreamState<A>>) {
        let mut streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.retain(|it| it.strong_count() > 0);
        streams.push(Arc::downgrade(stream));
    }

    /// Returns the streams that are not dropped.
    pub fn all(&self) -> Vec<Arc<StreamState<A>>> {
        let streams = self.streams.lock().unwrap_or_else(PoisonError::into_inner);
        streams.iter().filter_map(Weak::upgrade).collect()
    }

    /// Returns the stream of synchronous copies, which `create` creates for the first one.
    ///
    /// # Errors
    /// Returns the error of `create`.
    pub fn transfers(
        &self,
        create: impl FnOnce() -> Result<Arc<StreamState<A>>>,
    ) -> Result<Arc<StreamState<A>>> {
        let mut transfers = self
            .transfers
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(stream) = &*transfers {
            return Ok(stream.clone());
        }
        let stream = create()?;
        *transfers = Some(stream.clone());
        Ok(stream)
    }
}
