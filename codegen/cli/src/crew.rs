//! As many threads as the machine has. What comes out is in the order of what went in.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Does `work` on each of `pieces`.
pub fn each<P: Sync, R: Send>(pieces: &[P], work: impl Fn(&P) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let serve = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = pieces.get(index) else {
                break;
            };
            let result = work(piece);
            done.lock()
                .expect("no worker panics in here")
                .push((index, result));
        }
    };
    let hands = thread::available_parallelism().map_or(1, Into::into);
    thread::scope(|scope| {
        (1..hands.min(pieces.len())).for_each(|_| drop(scope.spawn(serve)));
        serve();
    });
    let mut done = done.into_inner().expect("no worker panics in here");
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
