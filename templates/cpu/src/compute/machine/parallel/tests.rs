use super::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[test]
fn every_task_runs_once_if_nested_and_called_by_many_threads() {
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
fn chunks_cover_slice_in_order() {
    for len in [0, 1, 63, 64, 1000, 4097] {
        let mut out = vec![usize::MAX; len];
        for_each_chunk(&mut out, 100, |start, chunk| {
            chunk
                .iter_mut()
                .enumerate()
                .for_each(|(i, v)| *v = start + i)
        });
        assert!(out.iter().enumerate().all(|(i, v)| i == *v));
    }
}

#[test]
fn row_chunks_have_whole_rows() {
    let mut out = vec![0_usize; 7 * 123];
    for_each_row_chunk(&mut out, 7, 10, |first, chunk| {
        assert_eq!(chunk.len() % 7, 0);
        chunk
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

/// With a width that wraps, two threads would get the same rows.
#[test]
#[should_panic(expected = "not whole rows")]
fn rejects_width_that_wraps() {
    let width = usize::MAX / 1024 + 1;
    for_each_row_chunk2(
        (&mut [0_u8; 1024], 1),
        (&mut [0_u8; 0], width),
        1,
        |_, _, _| (),
    );
}

#[test]
fn panic_is_resumed_after_running_tasks_have_ended() {
    let (started, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let caught = catch_unwind(AssertUnwindSafe(|| {
        run(32, |index| {
            assert_ne!(index, 5, "expected");
            started.fetch_add(1, Ordering::SeqCst);
            thread::sleep(std::time::Duration::from_millis(1));
            ended.fetch_add(1, Ordering::SeqCst);
        });
    }));
    let payload = caught.unwrap_err();
    assert!(
        payload
            .downcast_ref::<String>()
            .is_some_and(|text| text.contains("expected"))
    );
    assert_eq!(started.load(Ordering::SeqCst), ended.load(Ordering::SeqCst));
}

#[test]
fn leaks_payloads_after_the_first() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    // A payload whose drop panics would end a thread of the pool. This one counts, since a thread that ends leaves the
    // caller waiting.
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

/// Forks a child that computes, and returns true if it succeeds within ten seconds.
fn child_computes() -> bool {
    // SAFETY: the child takes no lock that another thread of this test may hold, and exits.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let mut out = vec![0_usize; 4096];
        for_each_chunk(&mut out, 64, |start, chunk| chunk.fill(start));
        let is_right = out.iter().enumerate().all(|(i, v)| *v <= i);
        // SAFETY: `_exit` runs no handlers of the parent.
        unsafe { libc::_exit(if is_right { 0 } else { 1 }) }
    }
    for _ in 0..10_000 {
        let mut status = -1;
        // SAFETY: `pid` is a child of this process, and `status` is a live integer.
        if unsafe { libc::waitpid(pid, &raw mut status, libc::WNOHANG) } == pid {
            return status == 0;
        }
        thread::sleep(std::time::Duration::from_millis(1));
    }
    // SAFETY: the child was not waited for, so `pid` still names it.
    unsafe { libc::kill(pid, libc::SIGKILL) };
    false
}

#[test]
#[allow(clippy::print_stdout, reason = "the reason of a skipped test")]
fn forked_child_computes_while_parent_uses_pool() {
    if std::env::var_os("SP_EMULATED").is_some() {
        // qemu-user 7.2 fails its own assertions (`cpu == current_cpu`).
        return println!("skipped: an emulator cannot fork a process whose threads are running");
    }
    let is_closed = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut out = vec![0_usize; 1024];
                while is_closed.load(Ordering::Relaxed) == 0 {
                    for_each_chunk(&mut out, 64, |start, chunk| chunk.fill(start));
                }
            });
        }
        let failed = (0..150).filter(|_| !child_computes()).take(1).count();
        is_closed.store(1, Ordering::Relaxed);
        assert_eq!(failed, 0, "a child hung or computed wrongly");
    });
}

#[test]
fn task_of_a_computation_on_all_threads_uses_its_own_only() {
    let tasks = threads().max(2) * 2;
    run(tasks, |_| {
        assert_eq!(available_threads(), 1);
        run(3, |_| assert_eq!(available_threads(), 1));
    });
    assert_eq!(available_threads(), threads());
    assert!(std::panic::catch_unwind(|| run(tasks, |_| panic!("expected"))).is_err());
    assert_eq!(available_threads(), threads());
}
