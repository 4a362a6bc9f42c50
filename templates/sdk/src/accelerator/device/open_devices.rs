//! The open devices of all types.

use std::any::Any;
use std::sync::{Arc, PoisonError, RwLock, Weak};

type AnyDevice = dyn Any + Send + Sync;

static DEVICES: RwLock<Vec<Weak<AnyDevice>>> = RwLock::new(Vec::new());

/// Adds a device. It is open until it is dropped.
pub fn insert(device: Arc<AnyDevice>) {
    let mut devices = DEVICES.write().unwrap_or_else(PoisonError::into_inner);
    devices.retain(|it| it.strong_count() > 0);
    devices.push(Arc::downgrade(&device));
}

/// Returns the open devices of one type.
pub fn devices<D: Send + Sync + 'static>() -> Vec<Arc<D>> {
    let devices = DEVICES.read().unwrap_or_else(PoisonError::into_inner);
    let open = devices.iter().filter_map(Weak::upgrade);
    open.filter_map(|it| it.downcast().ok()).collect()
}
