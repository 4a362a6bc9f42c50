//! Handles: numbers that are never used twice, so that a handle of a destroyed object is detected.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::abi::{Result, Status};
use crate::device::Device;
use crate::fence::Fence;
use crate::queue::Queue;

/// The objects of one kind by their handles.
pub struct Registry<T>(Mutex<BTreeMap<usize, Arc<T>>>);

/// The open devices.
pub static DEVICES: Registry<Device> = Registry::new();
/// The queues.
pub static QUEUES: Registry<Queue> = Registry::new();
/// The fences.
pub static FENCES: Registry<Fence> = Registry::new();

/// Handles of all kinds have one counter, so that a handle of another kind is detected too. It starts above the null page.
static NEXT: AtomicUsize = AtomicUsize::new(0x1_0001);

impl<T> Registry<T> {
    const fn new() -> Self {
        Self(Mutex::new(BTreeMap::new()))
    }

    /// Adds an object and returns its handle.
    pub fn insert(&self, object: Arc<T>) -> usize {
        let handle = NEXT.fetch_add(2, Ordering::Relaxed);
        self.lock().insert(handle, object);
        handle
    }

    /// Returns the object of a handle.
    pub fn get(&self, handle: usize) -> Result<Arc<T>> {
        let objects = self.lock();
        objects.get(&handle).cloned().ok_or(Status::INVALID_HANDLE)
    }

    /// Removes and returns the object of a handle.
    pub fn remove(&self, handle: usize) -> Result<Arc<T>> {
        self.lock().remove(&handle).ok_or(Status::INVALID_HANDLE)
    }

    /// Returns a handle of an object that `is_wanted` accepts.
    pub fn find(&self, is_wanted: impl Fn(&T) -> bool) -> Option<usize> {
        let objects = self.lock();
        let mut entries = objects.iter();
        entries
            .find(|(_, object)| is_wanted(object))
            .map(|(handle, _)| *handle)
    }

    /// Returns all objects.
    pub fn all(&self) -> Vec<Arc<T>> {
        self.lock().values().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, Arc<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
