//! Copies of short runs of elements, and repetitions of runs.

/// Copies `len` elements from the start of `source`, or its first element `len` times, to the start of `out`. The elements
/// of `out` after them may have other values then: copies of a constant length are a few instructions.
///
/// # Panics
/// Panics if a slice has fewer elements.
#[inline(always)]
pub fn copy_run<T: Copy>(source: &[T], is_repeated: bool, len: usize, out: &mut [T]) {
    let is_copied = match len {
        0..=8 => copy_longer::<T, 8>(source, is_repeated, out),
        9..=16 => copy_longer::<T, 16>(source, is_repeated, out),
        17..=32 if is_repeated => copy_longer::<T, 32>(source, is_repeated, out),
        _ => false,
    };
    match is_repeated {
        _ if is_copied => {}
        true => out[..len].fill(source[0]),
        false => out[..len].copy_from_slice(&source[..len]),
    }
}

/// Copies `LEN` elements as [`copy_run`]. Returns false if there are not so many.
#[inline(always)]
fn copy_longer<T: Copy, const LEN: usize>(source: &[T], is_repeated: bool, out: &mut [T]) -> bool {
    let Some(out) = out.first_chunk_mut::<LEN>() else {
        return false;
    };
    match source.first_chunk::<LEN>() {
        _ if is_repeated => *out = [source[0]; LEN],
        Some(source) => *out = *source,
        None => return false,
    }
    true
}

/// Copies `out.len()` elements from `offset` on, each `step` after the one before it.
///
/// # Panics
/// Panics if an element is outside of `source`.
#[inline(always)]
pub fn copy_steps<T: Copy>(source: &[T], offset: usize, step: isize, out: &mut [T]) {
    match step {
        1 => out.copy_from_slice(&source[offset..offset + out.len()]),
        0 => out.fill(source[offset]),
        -1 => {
            let run = &source[offset + 1 - out.len()..=offset];
            let pairs = out.iter_mut().zip(run.iter().rev());
            pairs.for_each(|(out, element)| *out = *element);
        }
        _ => {
            let mut offset = offset;
            for out in out {
                *out = source[offset];
                offset = offset.wrapping_add_signed(step);
            }
        }
    }
}

/// The number of elements up to which a block of repetitions grows.
const MAX_BLOCK: usize = 2048;

/// Fills `out` with the elements of `source` in order, repeated.
///
/// # Panics
/// Panics if `source` has no elements, or more than `out`.
pub fn repeat<T: Copy>(source: &[T], out: &mut [T]) {
    assert!(!source.is_empty(), "there is nothing to repeat");
    out[..source.len()].copy_from_slice(source);
    // The first elements of `out`, whole repetitions, are copied again and again while they are in the first cache.
    let (mut block, mut done) = (source.len(), source.len());
    while done < out.len() {
        let len = block.min(out.len() - done);
        out.copy_within(..len, done);
        done += len;
        if block < MAX_BLOCK {
            block = done;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_repeated_in_order() {
        for (period, len) in [
            (1, 1),
            (1, 9),
            (3, 3),
            (3, 4),
            (3, 100),
            (7, 15),
            (7, 20_000),
            (3000, 9001),
        ] {
            let source: Vec<usize> = (0..period).collect();
            let mut out = vec![usize::MAX; len];
            repeat(&source, &mut out);
            let expected: Vec<_> = (0..len).map(|at| at % period).collect();
            assert_eq!(out, expected);
        }
    }

    #[test]
    fn runs_of_any_length_are_copied_in_order() {
        for len in 1..40 {
            for is_repeated in [false, true] {
                let source: Vec<usize> = (0..5 * len).collect();
                let mut out = vec![usize::MAX; 5 * len];
                for run in 0..5 {
                    copy_run(
                        &source[run * len..],
                        is_repeated,
                        len,
                        &mut out[run * len..],
                    );
                }
                let expected = |at| if is_repeated { at / len * len } else { at };
                assert_eq!(out, (0..5 * len).map(expected).collect::<Vec<_>>());
            }
        }
    }
}
