//! Changes of some rows of a tensor.

/// Changes rows: `f(old, new)` of each element and that of a row of `v`, one row after the other. Indices are modulo the
/// number of rows.
///
/// # Panics
/// Panics if `y` does not consist of `rows` rows, or if `v` has fewer rows than there are indices.
pub fn change_rows<T: Copy>(
    y: &mut [T],
    rows: usize,
    indices: &[i32],
    v: &[T],
    f: impl Fn(T, T) -> T,
) {
    let Some(width @ 1..) = y.len().checked_div(rows) else {
        return;
    };
    assert_eq!(y.len(), rows * width, "not {rows} rows");
    for (at, index) in indices.iter().enumerate() {
        let row = i64::from(*index).rem_euclid(rows as i64) as usize;
        let (y, v) = (&mut y[row * width..][..width], &v[at * width..][..width]);
        y.iter_mut().zip(v).for_each(|(y, v)| *y = f(*y, *v));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_change_in_order_and_wrap() {
        let mut y = [1, 2, 3, 4];
        change_rows(
            &mut y,
            2,
            &[0, -1, 2],
            &[10, 20, 30, 40, 50, 60],
            |old, new| old * 2 + new,
        );
        assert_eq!(y, [(2 + 10) * 2 + 50, (4 + 20) * 2 + 60, 36, 48]);
        change_rows(&mut [] as &mut [i32], 0, &[1], &[], |_, new| new);
        change_rows(&mut [] as &mut [i32], 3, &[1], &[], |_, new| new);
    }
}
