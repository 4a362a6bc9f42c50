//! Merging of steps: two become one loop, which saves a write to the first cache and a read from it.

use super::pair::{self, PairBody};
use super::{Body, Function};

/// A function, or two of which only the second one reads the result of the first.
pub(super) enum Loop {
    Single(Body),
    Pair(PairBody),
}

/// A loop and its operands.
pub(super) struct MergedLoop {
    pub body: Loop,
    /// The numbers of the operands: inputs, then results of loops. A number is repeated if there are fewer than three.
    pub operands: [usize; 3],
    /// The number of the function whose result the loop writes.
    pub function: usize,
}

/// Returns the loops that compute the functions, in their order. `results` are the numbers of the functions whose results
/// are kept.
pub(super) fn merge(
    inputs: usize,
    functions: &[(Function, [usize; 2])],
    results: &[usize],
) -> Vec<MergedLoop> {
    let mut merged: Vec<MergedLoop> = Vec::with_capacity(functions.len());
    for (index, (function, operands)) in functions.iter().enumerate() {
        let is_private = |number: usize| {
            let is_result = |it: usize| results.contains(&it);
            number >= inputs && !is_result(number - inputs) && count_reads(functions, number) == 1
        };
        let pair = [0, 1].into_iter().find_map(|side| {
            let first = is_private(operands[side]).then(|| operands[side] - inputs)?;
            let body = pair::find_body(functions[first].0.op, function.op, side == 0)?;
            let first = remove_single(&mut merged, first)?;
            Some((Loop::Pair(body), [first[0], first[1], operands[1 - side]]))
        });
        let [x, y] = *operands;
        let (body, operands) = pair.unwrap_or((Loop::Single(function.body), [x, y, y]));
        merged.push(MergedLoop {
            body,
            operands,
            function: index,
        });
    }
    renumber(inputs, &mut merged);
    merged
}

/// Removes the loop of this function and returns its operands, or `None` if it is a pair.
fn remove_single(merged: &mut Vec<MergedLoop>, function: usize) -> Option<[usize; 3]> {
    let is_single = |it: &MergedLoop| matches!(it.body, Loop::Single(_));
    let at = merged
        .iter()
        .position(|it| it.function == function && is_single(it))?;
    Some(merged.remove(at).operands)
}

/// Returns how many times the functions state an operand. One of a single operand counts once, and its second operand, which
/// it ignores, counts too: the value must exist.
fn count_reads(functions: &[(Function, [usize; 2])], number: usize) -> usize {
    let reads = |(function, operands): &(Function, [usize; 2])| match function.body {
        Body::One(_) => usize::from(operands.contains(&number)),
        _ => operands.iter().filter(|it| **it == number).count(),
    };
    functions.iter().map(reads).sum()
}

/// Replaces the numbers of functions by those of the loops that write their results.
fn renumber(inputs: usize, merged: &mut [MergedLoop]) {
    let functions: Vec<usize> = merged.iter().map(|it| it.function).collect();
    let operands = merged.iter_mut().flat_map(|it| &mut it.operands);
    for number in operands.filter(|it| **it >= inputs) {
        *number = inputs + functions.partition_point(|it| *it < *number - inputs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Merges functions of which the last one is the only result, and returns for each loop whether it is a pair, and its
    /// operands.
    fn merged(inputs: usize, functions: &[(&str, [usize; 2])]) -> Vec<(bool, [usize; 3])> {
        let functions: Vec<_> = functions
            .iter()
            .map(|(op, operands)| (Function::of_op(op).unwrap(), *operands))
            .collect();
        merge(inputs, &functions, &[functions.len() - 1])
            .iter()
            .map(|it| (matches!(it.body, Loop::Pair(_)), it.operands))
            .collect()
    }

    #[test]
    fn second_function_takes_operands_of_first() {
        let left = [("Sub", [0, 1]), ("Mul", [3, 2])];
        assert_eq!(merged(3, &left), [(true, [0, 1, 2])]);
        let right = [("Square", [0, 0]), ("Sub", [1, 2])];
        assert_eq!(merged(2, &right), [(true, [0, 0, 1])]);
        let chain = [("Sub", [0, 1]), ("Mul", [3, 2]), ("AddV2", [0, 4])];
        let loops = [(true, [0, 1, 2]), (false, [0, 3, 3])];
        assert_eq!(
            merged(3, &chain),
            loops,
            "a pair is not the first of a pair"
        );
    }

    #[test]
    fn one_of_two_operands_is_merged() {
        let functions = [("Mul", [0, 1]), ("Sub", [1, 0]), ("AddV2", [2, 3])];
        assert_eq!(
            merged(2, &functions),
            [(false, [1, 0, 0]), (true, [0, 1, 2])]
        );
    }

    #[test]
    fn value_of_several_readers_is_computed_alone() {
        let twice = [("Sub", [0, 1]), ("Mul", [2, 2])];
        assert_eq!(merged(2, &twice), [(false, [0, 1, 1]), (false, [2, 2, 2])]);
        let later = [("Sub", [0, 1]), ("Mul", [2, 0]), ("Sub", [3, 2])];
        assert_eq!(merged(2, &later), [(false, [0, 1, 1]), (true, [2, 0, 2])]);
    }

    #[test]
    fn result_is_computed_alone() {
        let functions = ["Sub", "Mul"].map(|op| Function::of_op(op).unwrap());
        let functions = [(functions[0], [0, 1]), (functions[1], [2, 0])];
        assert_eq!(merge(2, &functions, &[1]).len(), 1);
        assert_eq!(merge(2, &functions, &[1, 0]).len(), 2);
    }
}
