//! Several imports at once: as many threads as the network and the index bear, results in order.

use std::sync::Mutex;
use std::sync::PoisonError;

/// One wheel is read while the other's answer is under way.
const AT_ONCE: usize = 2;

/// Does `work` for each item, two at a time, and tells `done` of each as it comes; the results
/// stand in the order of the items.
pub fn each<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
    done: impl Fn(&T, &R) + Sync,
) -> Vec<R> {
    let next = Mutex::new(0..items.len());
    let results = Mutex::new(Vec::new());
    let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE.min(items.len()) {
            scope.spawn(|| {
                while let Some(at) = take() {
                    let result = work(&items[at]);
                    let mut results = results.lock().unwrap_or_else(PoisonError::into_inner);
                    // Under the lock, so that two do not talk at once.
                    done(&items[at], &result);
                    results.push((at, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let told = Mutex::new(Vec::new());
        let squares = each(
            &[5_u32, 1, 4, 2],
            |item| {
                std::thread::sleep(std::time::Duration::from_millis(u64::from(*item)));
                item * item
            },
            |item, _| told.lock().unwrap().push(*item),
        );
        assert_eq!(squares, [25, 1, 16, 4]);
        let mut told = told.into_inner().unwrap();
        told.sort_unstable();
        assert_eq!(told, [1, 2, 4, 5]);
    }

    #[test]
    fn nothing_to_do_is_done() {
        assert!(each(&[] as &[u32], |item| *item, |_, _| ()).is_empty());
    }
}
