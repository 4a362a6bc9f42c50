//! Selection of boxes with high scores that overlap little.

use crate::compute::scalar::arith::{Float, greatest, least};
use sp_plugin::allocation;
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// A selection of boxes. A box has two opposite corners: y, x, y, x.
#[derive(Clone, Copy, Debug)]
pub struct Suppression<T> {
    /// The largest number of boxes.
    pub limit: usize,
    /// The ratio of intersection and union above which a box is suppressed, unless scores are reduced.
    pub overlap: T,
    /// The score that a box must exceed; `None` permits all but NaN.
    pub score: Option<T>,
    /// The deviation of the curve by which overlaps reduce scores; 0 if they do not.
    pub sigma: T,
}

/// A box that may be selected.
struct Candidate<T> {
    index: usize,
    score: T,
    /// The number of selected boxes that have reduced its score.
    compared: usize,
}

impl<T: Float> Candidate<T> {
    /// The order of candidates: higher scores and then lower indices are greater.
    fn order(&self, other: &Self) -> Ordering {
        let scores = self.score.partial_cmp(&other.score);
        scores
            .unwrap_or(Ordering::Equal)
            .then(other.index.cmp(&self.index))
    }
}

impl<T: Float> PartialEq for Candidate<T> {
    fn eq(&self, other: &Self) -> bool {
        self.order(other).is_eq()
    }
}

impl<T: Float> Eq for Candidate<T> {}

impl<T: Float> PartialOrd for Candidate<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Float> Ord for Candidate<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order(other)
    }
}

impl<T: Float> Suppression<T> {
    /// Returns indices and scores of the selected boxes, the highest score first.
    ///
    /// # Panics
    /// Panics if there are not four numbers for each score.
    pub fn select(&self, boxes: &[T], scores: &[T]) -> Vec<(usize, T)> {
        assert_eq!(
            boxes.len(),
            scores.len() * 4,
            "not four numbers for each score"
        );
        let mut selected: Vec<(usize, T)> = Vec::new();
        let candidates = (scores.iter().enumerate())
            .filter(|(_, score)| self.is_above(**score))
            .map(|(index, score)| Candidate {
                index,
                score: *score,
                compared: 0,
            });
        let mut candidates = BinaryHeap::from(allocation::collect_unsized(candidates));
        while selected.len() < self.limit {
            let Some(candidate) = candidates.pop() else {
                break;
            };
            match self.reduced(boxes, &selected, &candidate) {
                Some(score) if score == candidate.score => {
                    allocation::push(&mut selected, (candidate.index, score));
                }
                Some(score) if self.is_above(score) => {
                    let (index, compared) = (candidate.index, selected.len());
                    // In the memory of the candidate that `pop` has removed.
                    candidates.push(Candidate {
                        index,
                        score,
                        compared,
                    });
                }
                _ => {}
            }
        }
        selected
    }

    /// Returns the score of a box after the reductions by selected ones; `None` if one suppresses it.
    fn reduced(&self, boxes: &[T], selected: &[(usize, T)], candidate: &Candidate<T>) -> Option<T> {
        let edges = |index: usize| [0, 1, 2, 3].map(|i| boxes[index * 4 + i]);
        let mut score = candidate.score;
        for (other, _) in selected[candidate.compared..].iter().rev() {
            let overlap = overlap(edges(candidate.index), edges(*other));
            if self.sigma > T::ZERO {
                score = score.times(self.weight(overlap));
            } else if overlap > self.overlap {
                return None;
            }
            if !self.is_above(score) {
                break;
            }
        }
        Some(score)
    }

    /// Returns the factor of a score for an overlap.
    fn weight(&self, overlap: T) -> T {
        let half = T::ONE.over(T::from_count(2));
        let scale = half.over(self.sigma).negated();
        scale.times(overlap).times(overlap).exp()
    }

    fn is_above(&self, score: T) -> bool {
        score > self.score.unwrap_or(T::LOWEST)
    }
}

/// Returns the ratio of intersection and union of two boxes; 0 if one has no area.
fn overlap<T: Float>(one: [T; 4], other: [T; 4]) -> T {
    let range = |it: [T; 4], axis| {
        let [first, last] = [it[axis], it[axis + 2]];
        [least(first, last), greatest(first, last)]
    };
    let area = |it| {
        let [[top, bottom], [left, right]] = [range(it, 0), range(it, 1)];
        bottom.minus(top).times(right.minus(left))
    };
    let common = |axis| {
        let ([first, last], [begin, end]) = (range(one, axis), range(other, axis));
        greatest(least(last, end).minus(greatest(first, begin)), T::ZERO)
    };
    let (one_area, other_area) = (area(one), area(other));
    if one_area <= T::ZERO || other_area <= T::ZERO {
        return T::ZERO;
    }
    let intersection = common(0).times(common(1));
    intersection.over(one_area.plus(other_area).minus(intersection))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BOXES: [f32; 12] = [0.0, 0.0, 1.0, 1.0, 1.0, 1.1, 0.0, 0.1, 0.0, 5.0, 1.0, 6.0];

    #[test]
    fn overlaps_do_not_depend_on_the_order_of_corners() {
        let found = overlap([0.0, 0.0, 1.0, 1.0], [1.0, 1.5, 0.0, 0.5]);
        assert_eq!(found, 0.5 / 1.5);
        assert_eq!(overlap([0.0; 4], [0.0, 0.0, 1.0, 1.0]), 0.0);
    }

    #[test]
    fn scores_are_reduced_by_overlaps() {
        let plan = Suppression {
            limit: 3,
            overlap: 0.5,
            score: Some(0.0),
            sigma: 0.5,
        };
        let found = plan.select(&BOXES, &[0.9, 0.75, 0.95]);
        let overlap = 0.9_f32 / 1.1;
        let expected = [(2, 0.95), (0, 0.9), (1, 0.75 * (-overlap * overlap).exp())];
        assert_eq!(found.len(), expected.len());
        for ((index, score), (expected_index, expected_score)) in found.iter().zip(expected) {
            assert!(*index == expected_index && (score - expected_score).abs() < 1e-6);
        }
    }

    #[test]
    fn scores_that_are_equal_are_in_order_and_nan_is_none() {
        let plan = Suppression {
            limit: 9,
            overlap: 0.9,
            score: None,
            sigma: 0.0,
        };
        let scores = [f32::NAN, 1.0, 1.0];
        assert_eq!(plan.select(&BOXES, &scores), [(1, 1.0), (2, 1.0)]);
    }

    proptest! {
        #[test]
        fn selection_matches_oracle(boxes in prop::collection::vec([0..6_u8, 0..6_u8, 0..6_u8, 0..6_u8], 0..12), limit in 0..8_usize, step in 0..4_u8) {
            let overlap_limit = f64::from(step) / 4.0;
            let scores: Vec<f64> = (0..boxes.len()).map(|i| (i * 7 % 5) as f64).collect();
            let boxes: Vec<f64> = boxes.as_flattened().iter().map(|it| f64::from(*it)).collect();
            let mut order: Vec<usize> = (0..scores.len()).filter(|i| scores[*i] > 0.5).collect();
            order.sort_by(|x, y| scores[*y].total_cmp(&scores[*x]));
            let edges = |i: usize| [boxes[i * 4], boxes[i * 4 + 1], boxes[i * 4 + 2], boxes[i * 4 + 3]];
            let mut expected: Vec<usize> = Vec::new();
            for i in order {
                let is_free = expected.iter().all(|it| overlap(edges(i), edges(*it)) <= overlap_limit);
                if is_free && expected.len() < limit { expected.push(i); }
            }
            let plan = Suppression { limit, overlap: overlap_limit, score: Some(0.5), sigma: 0.0 };
            let found: Vec<usize> = plan.select(&boxes, &scores).iter().map(|it| it.0).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
