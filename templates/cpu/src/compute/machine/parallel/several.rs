//! Chunks of several results.

use super::{available_threads, round_up_rows, run_grains, threads};
use std::sync::{Mutex, PoisonError};

/// A task of [`for_each_chunk_of`].
type ChunksTask<'a, T> = dyn Fn(usize, &mut [&mut [T]]) + Sync + 'a;

/// Splits results of one length as [`for_each_chunk`](super::for_each_chunk), and calls `task(start, chunks)` with the same
/// part of each.
///
/// # Panics
/// Panics if a task panics, or if the lengths of the results differ.
pub fn for_each_chunk_of<T: Send>(outs: &mut [&mut [T]], grain: usize, task: &ChunksTask<'_, T>) {
    let len = outs.first().map_or(0, |it| it.len());
    assert!(
        outs.iter().all(|it| it.len() == len),
        "results differ in length"
    );
    let grains = len / grain.max(1);
    let tasks = grains.min(threads() * 4);
    if tasks <= 1 || available_threads() == 1 {
        return task(0, outs);
    }
    let size = round_up_rows(len.div_ceil(tasks), 1, grain);
    let mut chunks: Vec<Vec<&mut [T]>> = (0..len.div_ceil(size)).map(|_| Vec::new()).collect();
    for out in outs {
        let parts = out.chunks_mut(size);
        chunks
            .iter_mut()
            .zip(parts)
            .for_each(|(all, part)| all.push(part));
    }
    // Each task locks its own chunks, without waiting.
    let chunks: Vec<_> = chunks.into_iter().map(Mutex::new).collect();
    run_grains(grains, chunks.len(), |index| {
        let mut chunks = chunks[index].lock().unwrap_or_else(PoisonError::into_inner);
        task(index * size, &mut chunks);
    });
}
