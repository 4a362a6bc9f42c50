//! Several threads at one list of pieces. What comes out is in the order of what went in.
//!
//! A piece that brings pieces of its own works on them alone: the other hands are busy already.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// libclang parses on the thread that calls it where it may start none.
const STACK: usize = 8 << 20;

thread_local!(static AT_WORK: Cell<bool> = const { Cell::new(false) });

/// How many threads there are for the caller: as many as the machine has processors.
pub fn hands() -> usize {
    match AT_WORK.get() {
        true => 1,
        false => thread::available_parallelism().map_or(1, Into::into),
    }
}

/// Does `work` on each of `pieces`.
pub fn each<P: Sync, R: Send>(pieces: &[P], work: impl Fn(&P) -> R + Sync) -> Vec<R> {
    among(hands(), pieces, work)
}

/// As [`each`], with `hands` threads: for work that waits more than it computes.
pub fn among<P: Sync, R: Send>(
    hands: usize,
    pieces: &[P],
    work: impl Fn(&P) -> R + Sync,
) -> Vec<R> {
    let hands = hands.min(pieces.len());
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let serve = || {
        let was_at_work = AT_WORK.replace(hands > 1 || AT_WORK.get());
        while let Some((index, piece)) = take(&next, pieces) {
            let result = work(piece);
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            done.push((index, result));
        }
        AT_WORK.set(was_at_work);
    };
    thread::scope(|scope| {
        let others = 1..hands;
        let spawn = |_| {
            thread::Builder::new()
                .stack_size(STACK)
                .spawn_scoped(scope, serve)
        };
        // Where the system has no more threads, those that are there do it all.
        let _others: Vec<_> = others.map(spawn).collect();
        serve();
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

fn take<'p, P>(next: &AtomicUsize, pieces: &'p [P]) -> Option<(usize, &'p P)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    pieces.get(index).map(|piece| (index, piece))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn results_stand_in_the_order_of_the_pieces() {
        let square = |piece: &u32| {
            thread::sleep(Duration::from_millis(u64::from(*piece)));
            piece * piece
        };
        assert_eq!(among(3, &[5, 1, 4, 2], square), [25, 1, 16, 4]);
    }

    #[test]
    fn nothing_to_do_is_done() {
        assert!(each(&[] as &[u32], |piece| *piece).is_empty());
    }

    #[test]
    fn a_piece_works_on_its_own_pieces_alone() {
        let hands_within = among(2, &[(), ()], |()| hands());
        assert_eq!(hands_within, [1, 1]);
        assert_eq!(
            hands(),
            thread::available_parallelism().map_or(1, Into::into)
        );
    }
}
