//! As many threads as the machine has. What comes out is in the order of what went in.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::module::{self, PARTS, Printed, Source};

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

/// The files of every API but its index.
pub fn print(sources: &[Source<'_>]) -> Vec<Vec<Printed>> {
    let mut pieces: Vec<(usize, usize)> = (0..=PARTS.len())
        .flat_map(|part| (0..sources.len()).map(move |source| (source, part)))
        .collect();
    // The longest first, so that no thread is left alone with it.
    pieces.sort_by_key(|(source, _)| std::cmp::Reverse(sources[*source].api.items.len()));
    let printed = each(&pieces, |(source, part)| {
        let printed = match PARTS.get(*part) {
            Some(part) => module::print(&sources[*source], part),
            None => module::print_macros(&sources[*source]),
        };
        (*source, printed)
    });
    let mut files: Vec<Vec<Printed>> = sources.iter().map(|_| Vec::new()).collect();
    for (source, part) in printed {
        files[source].extend(part);
    }
    files
}
