use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn every_task_runs_once_also_nested_and_from_many_threads() {
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let counts: Vec<AtomicUsize> = (0..60).map(|_| AtomicUsize::new(0)).collect();
                run(6, |outer| {
                    run(10, |inner| {
                        counts[outer * 10 + inner].fetch_add(1, Ordering::Relaxed);
                    });
                });
                assert!(
                    counts
                        .iter()
                        .all(|count| count.load(Ordering::Relaxed) == 1)
                );
            });
        }
    });
}

#[test]
fn pieces_cover_the_slice_in_order() {
    for len in [0, 1, 63, 64, 1000, 4097] {
        let mut out = vec![usize::MAX; len];
        pieces(&mut out, 100, |start, piece| {
            piece
                .iter_mut()
                .enumerate()
                .for_each(|(i, v)| *v = start + i)
        });
        assert!(out.iter().enumerate().all(|(i, v)| i == *v));
    }
}

#[test]
fn rows_are_never_cut() {
    let mut out = vec![0_usize; 7 * 123];
    rows(&mut out, 7, 10, |first, piece| {
        assert_eq!(piece.len() % 7, 0);
        piece
            .chunks_mut(7)
            .enumerate()
            .for_each(|(i, row)| row.fill(first + i));
    });
    assert!(
        out.chunks(7)
            .enumerate()
            .all(|(i, row)| row.iter().all(|v| *v == i))
    );
}

#[test]
fn a_panic_arrives_when_no_task_still_runs() {
    let (begun, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let caught = catch_unwind(AssertUnwindSafe(|| {
        run(32, |index| {
            assert_ne!(index, 5, "expected");
            begun.fetch_add(1, Ordering::SeqCst);
            thread::sleep(std::time::Duration::from_millis(1));
            done.fetch_add(1, Ordering::SeqCst);
        });
    }));
    let payload = caught.unwrap_err();
    assert!(
        payload
            .downcast_ref::<String>()
            .is_some_and(|text| text.contains("expected"))
    );
    assert_eq!(begun.load(Ordering::SeqCst), done.load(Ordering::SeqCst));
}

#[test]
fn leaks_payloads_after_the_first() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    // A payload whose drop panics would end a thread of the pool. This one counts, since a thread that ends leaves the caller waiting.
    struct Payload;
    impl Drop for Payload {
        fn drop(&mut self) {
            DROPPED.fetch_add(1, Ordering::Relaxed);
        }
    }
    for _ in 0..20 {
        let payload = catch_unwind(|| run(8, |_| std::panic::panic_any(Payload))).unwrap_err();
        assert!(payload.is::<Payload>());
        std::mem::forget(payload);
    }
    assert_eq!(DROPPED.load(Ordering::Relaxed), 0);
}

/// Forks a child that computes, and returns true if it ends well within ten seconds.
fn child_computes() -> bool {
    // SAFETY: the child computes, which needs no lock that a thread of this test may hold, and exits.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let mut out = vec![0_usize; 4096];
        pieces(&mut out, 64, |start, piece| piece.fill(start));
        let is_done = out.iter().enumerate().all(|(i, v)| *v <= i);
        // SAFETY: ends the child without running what the parent registered.
        unsafe { libc::_exit(if is_done { 0 } else { 1 }) }
    }
    for _ in 0..10_000 {
        let mut status = -1;
        // SAFETY: asks for a child of this process.
        if unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == child {
            return status == 0;
        }
        thread::sleep(std::time::Duration::from_millis(1));
    }
    // SAFETY: ends a child of this process that was not waited for yet.
    unsafe { libc::kill(child, libc::SIGKILL) };
    false
}

#[test]
fn forked_children_compute_while_threads_of_the_parent_do() {
    let ended = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut out = vec![0_usize; 1024];
                while ended.load(Ordering::Relaxed) == 0 {
                    pieces(&mut out, 64, |start, piece| piece.fill(start));
                }
            });
        }
        let failed = (0..150).filter(|_| !child_computes()).take(1).count();
        ended.store(1, Ordering::Relaxed);
        assert_eq!(failed, 0, "a child hung or computed wrongly");
    });
}
