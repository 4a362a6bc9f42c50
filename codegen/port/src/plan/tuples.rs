//! Combinations of types, one for each type attribute, and their division into products of lists.

use crate::rust_types::{ElementClass, class_of};
use sp_ops::DataType;
use std::collections::{BTreeMap, BTreeSet};

/// Combinations of types, each in the order of the attributes.
pub type Tuples = BTreeSet<Vec<DataType>>;

/// The most combinations of one registration.
const MAX_COMBINATIONS: usize = 4096;

/// Returns every combination of one type from each list.
///
/// # Errors
/// Returns an error if there are too many.
pub fn combine<'a>(lists: impl Iterator<Item = &'a Vec<DataType>>) -> Result<Tuples, String> {
    let mut tuples = Tuples::from([Vec::new()]);
    for list in lists {
        if tuples.len().saturating_mul(list.len()) > MAX_COMBINATIONS {
            return Err(format!(
                "it has more than {MAX_COMBINATIONS} combinations of types"
            ));
        }
        let extend = |tuple: &Vec<DataType>| {
            let tuple = tuple.clone();
            list.iter().map(move |ty| [&tuple[..], &[*ty]].concat())
        };
        tuples = tuples.iter().flat_map(extend).collect();
    }
    Ok(tuples)
}

/// Divides combinations into products of lists. The types of a list are of one class.
pub fn products(tuples: &Tuples) -> Vec<Vec<Vec<DataType>>> {
    let mut classes: BTreeMap<Vec<ElementClass>, Tuples> = BTreeMap::new();
    for tuple in tuples {
        let class = tuple.iter().map(|it| class_of(*it)).collect();
        classes.entry(class).or_default().insert(tuple.clone());
    }
    classes.values().flat_map(divide).collect()
}

/// Types with the same combinations of further types are one list.
fn divide(tuples: &Tuples) -> Vec<Vec<Vec<DataType>>> {
    if tuples.iter().all(Vec::is_empty) {
        return vec![Vec::new()];
    }
    let mut by_first: BTreeMap<DataType, Tuples> = BTreeMap::new();
    for (first, rest) in tuples.iter().filter_map(|it| it.split_first()) {
        by_first.entry(*first).or_default().insert(rest.to_vec());
    }
    let mut lists: BTreeMap<Tuples, Vec<DataType>> = BTreeMap::new();
    for (first, rest) in by_first {
        lists.entry(rest).or_default().push(first);
    }
    let product = |(rest, list): (&Tuples, &Vec<DataType>)| {
        let list = list.clone();
        let with_list = move |rest: Vec<Vec<DataType>>| [vec![list.clone()], rest].concat();
        divide(rest).into_iter().map(with_list)
    };
    let mut found: Vec<_> = lists.iter().flat_map(product).collect();
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const F: DataType = DataType::FLOAT;
    const H: DataType = DataType::HALF;
    const I: DataType = DataType::INT32;
    const S: DataType = DataType::STRING;

    #[test]
    fn types_with_equal_rests_are_one_list() {
        let tuples = Tuples::from([vec![F, F], vec![F, I], vec![H, F], vec![H, I], vec![I, I]]);
        assert_eq!(
            products(&tuples),
            [vec![vec![F, H], vec![F, I]], vec![vec![I], vec![I]]]
        );
        assert_eq!(
            products(&Tuples::from([vec![]])),
            [Vec::<Vec<DataType>>::new()]
        );
    }

    #[test]
    fn strings_are_apart_from_numbers() {
        let tuples = Tuples::from([vec![F], vec![S], vec![H]]);
        assert_eq!(products(&tuples), [vec![vec![F, H]], vec![vec![S]]]);
    }

    #[test]
    fn too_many_combinations_are_an_error() {
        let list: Vec<DataType> = (1..30).filter_map(DataType::from_number).collect();
        let error = combine([&list, &list, &list].into_iter()).unwrap_err();
        assert!(error.contains("more than 4096 combinations"), "{error}");
        assert_eq!(combine([&list, &list].into_iter()).unwrap().len(), 29 * 29);
    }
}
