//! loom's types under the names of `templates/cpu/src/compute/machine/parallel/sync.rs`.

pub use loom::sync::atomic::{AtomicUsize, Ordering};
pub use loom::sync::{Arc, Condvar, Mutex, MutexGuard};

/// Omits the checks before a thread sleeps. After a check that succeeds, `front` locks the queue, as after a sleep.
pub fn pause(_checks: usize) -> bool {
    false
}

loom::thread_local! {
    static CURRENT: Thread = Thread(Arc::new(Token::default()));
}

/// The token of `park`, as the standard library documents it. loom's own `unpark` runs in one step with the operation before it,
/// and synchronizes with a thread that does not park. Both hide orders that are possible in a process.
#[derive(Default)]
struct Token {
    is_available: Mutex<bool>,
    available: Condvar,
}

pub struct Thread(Arc<Token>);

impl Thread {
    pub fn unpark(&self) {
        *self.0.is_available.lock().unwrap() = true;
        self.0.available.notify_one();
    }
}

pub fn current() -> Thread {
    CURRENT.with(|thread| Thread(thread.0.clone()))
}

pub fn park() {
    let Thread(token) = current();
    let mut is_available = token.is_available.lock().unwrap();
    while !*is_available {
        is_available = token.available.wait(is_available).unwrap();
    }
    *is_available = false;
}
