//! Positions in sorted rows, and the rank of one element.

/// Returns the number of elements of a sorted row that are less than `value`.
#[inline]
pub fn lower_bound<T: PartialOrd>(row: &[T], value: T) -> usize {
    row.partition_point(|it| *it < value)
}

/// Returns the number of elements of a sorted row that are not greater than `value`.
#[inline]
pub fn upper_bound<T: PartialOrd>(row: &[T], value: T) -> usize {
    row.partition_point(|it| !matches!(value.partial_cmp(it), Some(std::cmp::Ordering::Less)))
}

/// Returns true if less than `k` elements are larger than the one at `target`. It is false if there is no such element,
/// or if one of them is infinite or NaN.
pub fn is_in_top_k(row: &[f32], target: i64, k: i64) -> bool {
    let target = usize::try_from(target).ok().and_then(|it| row.get(it));
    let Some(target) = target.filter(|it| it.is_finite()) else {
        return false;
    };
    let mut larger = 0;
    for element in row {
        if !element.is_finite() {
            return false;
        }
        larger += i64::from(element > target);
        if larger > k {
            return false;
        }
    }
    larger < k
}
