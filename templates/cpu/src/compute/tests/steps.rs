//! Steps of elementwise functions have the bits of the single loops.

use super::{assert_same, on_every_isa};
use crate::compute::elementary::Elementary;
use crate::compute::map::{map1, map2};
use crate::compute::shape::Broadcast;
use crate::compute::simd::Isa;
use crate::compute::steps::{Body, Function, Steps};
use proptest::collection::vec;
use proptest::prelude::*;

fn function(op: &str) -> Function {
    Function::of_op(op).unwrap()
}

fn plan(inputs: usize, steps: &[(&str, [usize; 2])]) -> Steps {
    let steps: Vec<_> = steps
        .iter()
        .map(|(op, operands)| (function(op), *operands))
        .collect();
    Steps::new(inputs, &steps, &[steps.len() - 1]).unwrap()
}

fn numbers(len: usize, seed: usize) -> Vec<f32> {
    (0..len)
        .map(|i| ((i * 7 + seed) % 31) as f32 / 8.0 + 0.125)
        .collect()
}

/// Returns `f` of two operands, by the single loop.
fn two(
    dims: [&[usize]; 2],
    x: &[f32],
    y: &[f32],
    f: impl Fn(f32, f32) -> f32 + Sync + Copy,
) -> Vec<f32> {
    let plan = Broadcast::new(dims).unwrap();
    let mut out = vec![f32::NAN; plan.len()];
    map2(&plan, x, y, &mut out, f);
    out
}

fn one(x: &[f32], f: impl Fn(f32) -> f32 + Sync + Copy) -> Vec<f32> {
    let mut out = vec![f32::NAN; x.len()];
    map1(x, &mut out, f);
    out
}

#[test]
fn update_of_optimizer_has_bits_of_single_loops() {
    // m * rate / (sqrt(v) + epsilon), as Adam computes it.
    let steps = plan(
        4,
        &[
            ("Mul", [0, 1]),
            ("Sqrt", [2, 2]),
            ("AddV2", [5, 3]),
            ("RealDiv", [4, 6]),
        ],
    );
    for len in [0, 1, 3, 1023, 1024, 1025, 200_000] {
        let (m, v) = (numbers(len, 1), numbers(len, 5));
        let (rate, epsilon) = ([0.001_f32], [1e-7_f32]);
        let mut out = vec![f32::NAN; len];
        let inputs: [(&[usize], &[f32]); 4] =
            [(&[len], &m), (&[], &rate), (&[len], &v), (&[1], &epsilon)];
        steps.run(&inputs, &[len], &mut [&mut out]);
        let scaled = one(&m, |m| m * rate[0]);
        let root = one(&v, |v| v.sqrt() + epsilon[0]);
        assert_eq!(
            out,
            two([&[len], &[len]], &scaled, &root, |x, y| x / y),
            "{len}"
        );
    }
}

#[test]
fn inputs_broadcast_in_every_pattern() {
    let dims = [3, 40, 50];
    let steps = plan(2, &[("Sub", [0, 1]), ("Square", [2, 2]), ("Mul", [3, 2])]);
    let shapes: [&[usize]; 7] = [
        &[],
        &[50],
        &[40, 1],
        &[40, 50],
        &[3, 1, 50],
        &[3, 40, 1],
        &[3, 1, 1],
    ];
    let x = numbers(6000, 3);
    for shape in shapes {
        let y = numbers(shape.iter().product(), 11);
        let difference = two([&dims, shape], &x, &y, |x, y| x - y);
        let expected = one(&difference, |d| d * d * d);
        let mut out = vec![f32::NAN; 6000];
        steps.run(&[(&dims, &x), (shape, &y)], &dims, &mut [&mut out]);
        assert_eq!(out, expected, "{shape:?}");
    }
}

#[test]
fn result_is_kept_until_its_last_reader() {
    // Many results that live side by side, each read in the end.
    let mut steps: Vec<(&str, [usize; 2])> = vec![("Neg", [0, 0])];
    steps.extend((1..20).map(|i| ("AddV2", [i, 0])));
    steps.extend((0..19).map(|i| ("Maximum", [20 + i, 1 + i])));
    let x = numbers(3000, 2);
    let mut out = vec![f32::NAN; 3000];
    plan(1, &steps).run(&[(&[3000], &x)], &[3000], &mut [&mut out]);
    let expected = one(&x, |x| (1..20).fold(-x, |sum, _| sum + x));
    assert_eq!(out, expected);
}

#[test]
fn every_function_has_bits_of_single_loop() {
    let (x, y) = (numbers(1500, 1), numbers(1500, 17));
    for op in Function::OPS {
        let mut out = vec![f32::NAN; 1500];
        plan(2, &[("AddV2", [0, 1]), (op, [2, 0])]).run(
            &[(&[1500], &x), (&[1500], &y)],
            &[1500],
            &mut [&mut out],
        );
        let sum = two([&[1500], &[1500]], &x, &y, |x, y| x + y);
        let mut expected = vec![f32::NAN; 1500];
        for (start, expected) in expected.chunks_mut(7).enumerate() {
            let range = start * 7..start * 7 + expected.len();
            let isa = crate::compute::simd::Isa::current();
            match function(op).body {
                Body::One(f) => f(isa, &sum[range], expected),
                Body::Two(f) | Body::TwoOfOneShape(f) => {
                    f(isa, [&sum[range.clone()], &x[range]], expected)
                }
            }
        }
        let bits = |x: &[f32]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&out), bits(&expected), "{op}");
    }
    assert_eq!(one(&x, Elementary::hyperbolic_tangent), {
        let mut out = vec![f32::NAN; 1500];
        plan(1, &[("Tanh", [0, 0])]).run(&[(&[1500], &x)], &[1500], &mut [&mut out]);
        out
    });
}

/// Numbers of all signs and magnitudes, infinities, NaN and zeros.
const SPECIAL: [f32; 13] = [
    0.0,
    -0.0,
    1.5,
    -2.75,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    f32::MAX,
    -f32::MAX,
    f32::MIN_POSITIVE,
    1e-45,
    -1e-40,
    3e38,
];

/// Returns the value of each function of the inputs, of one length, by a loop for each function.
fn values(inputs: &[Vec<f32>], functions: &[(Function, [usize; 2])]) -> Vec<Vec<f32>> {
    let mut values = inputs.to_vec();
    for (function, [x, y]) in functions {
        let mut out = vec![0.0; inputs[0].len()];
        match function.body {
            Body::One(f) => f(Isa::current(), &values[*x], &mut out),
            Body::Two(f) | Body::TwoOfOneShape(f) => {
                f(Isa::current(), [&values[*x], &values[*y]], &mut out);
            }
        }
        values.push(out);
    }
    values.split_off(inputs.len())
}

/// Compares results of the functions, on every instruction set, with those of a loop for each function.
fn check(inputs: &[Vec<f32>], functions: &[(Function, [usize; 2])], results: &[usize]) {
    let dims: &[usize] = &[inputs[0].len()];
    let steps = Steps::new(inputs.len(), functions, results).unwrap();
    let operands: Vec<_> = inputs.iter().map(|it| (dims, &it[..])).collect();
    on_every_isa(|isa| {
        let expected = values(inputs, functions);
        let mut found = vec![vec![f32::NAN; dims[0]]; results.len()];
        let mut outs: Vec<&mut [f32]> = found.iter_mut().map(|it| &mut it[..]).collect();
        steps.run(&operands, dims, &mut outs);
        for (index, (found, result)) in found.iter().zip(results).enumerate() {
            assert_same(isa, found, &expected[*result]);
            let (single, read) = steps.restricted_to(index);
            let operands: Vec<_> = read.iter().map(|it| operands[*it]).collect();
            let mut out = vec![f32::NAN; dims[0]];
            single.run(&operands, dims, &mut [&mut out]);
            assert_same(isa, &out, found);
        }
    });
}

/// Each pair of functions, of all pairs of special numbers, with the first function on either side of the second.
#[test]
fn merged_functions_have_bits_of_single_loops() {
    let all = |step: usize| (0..13 * 13 * 13).map(move |i| SPECIAL[i / step % 13]);
    let inputs: Vec<Vec<f32>> = [1, 13, 169].map(|step| all(step).collect()).to_vec();
    let two = ["AddN", "AddV2", "Mul", "RealDiv", "Sub"];
    for first in [&two[..], &["Sqrt", "Square"]].concat() {
        for second in two {
            for operands in [[3, 2], [2, 3]] {
                let functions = [(function(first), [0, 1]), (function(second), operands)];
                check(&inputs, &functions, &[1]);
            }
        }
    }
}

#[test]
fn ignored_operand_is_no_operand_of_merged_functions() {
    let steps = [
        ("Sub", [0, 1]),
        ("Sqrt", [0, 2]),
        ("AddV2", [3, 0]),
        ("Mul", [2, 4]),
    ];
    let functions = steps.map(|(op, operands)| (function(op), operands));
    check(&[numbers(1500, 1), numbers(1500, 5)], &functions, &[3]);
}

proptest! {
    /// Values that are read once, several times and later than the next functions; several results.
    #[test]
    fn random_functions_have_bits_of_single_loops(
        inputs in 1..=3_usize,
        picks in vec((0..Function::OPS.len(), any::<[prop::sample::Index; 2]>(), any::<bool>()), 3..14),
    ) {
        let mut functions = Vec::new();
        for (index, (op, operands, is_cheap)) in picks.iter().enumerate() {
            // Each input is read. The others are mostly late values, so that chains are long.
            let known = inputs + index;
            let late = |it: &prop::sample::Index| known - 1 - it.index(known.min(4));
            let first = if index < inputs { index } else { late(&operands[0]) };
            let cheap = ["AddV2", "Mul", "RealDiv", "Sub", "Sqrt", "Square"];
            let op = if *is_cheap { cheap[op % cheap.len()] } else { Function::OPS[*op] };
            functions.push((function(op), [first, late(&operands[1])]));
        }
        let is_read = |number: usize| functions.iter().any(|it| it.1.contains(&number));
        let results: Vec<usize> = (0..functions.len()).filter(|it| !is_read(inputs + it) || it % 5 == 4).collect();
        let numbers = |seed: usize| (0..1100).map(|i| SPECIAL[(i * (seed + 1) + seed) % 13]).collect();
        let inputs: Vec<Vec<f32>> = (0..inputs).map(numbers).collect();
        check(&inputs, &functions, &results);
    }
}

#[test]
fn invalid_steps_are_rejected() {
    let add = function("AddV2");
    assert!(Steps::new(2, &[], &[]).is_none());
    assert!(Steps::new(2, &[(add, [0, 2])], &[0]).is_none());
    assert!(Steps::new(0, &[(add, [0, 0])], &[0]).is_none());
    assert!(Steps::new(2, &[(add, [0, 1]), (add, [3, 0])], &[1]).is_none());
    assert!(
        Steps::new(2, &[(add, [0, 0])], &[0]).is_none(),
        "input 1 is not read"
    );
    assert!(
        Steps::new(1, &[(add, [0, 0]), (add, [0, 0])], &[1]).is_none(),
        "step 0 is not read"
    );
    let sum = [(add, [0, 1])];
    for results in [&[][..], &[1], &[0, 0]] {
        assert!(Steps::new(2, &sum, results).is_none(), "{results:?}");
    }
    assert!(Function::of_op("MatMul").is_none());
}

#[test]
fn shapes_are_those_of_single_functions() {
    let dims = |steps: &Steps, inputs: &[&[usize]]| {
        let result = steps.result_dims(inputs.iter().copied());
        result
            .map(|it| it[0].to_vec())
            .map_err(|it| format!("{it:?}"))
    };
    let sum = plan(3, &[("AddN", [0, 1]), ("Mul", [3, 2])]);
    assert_eq!(dims(&sum, &[&[3], &[3], &[2, 3]]), Ok(vec![2, 3]));
    assert!(dims(&sum, &[&[3], &[2, 3], &[2, 3]]).is_err());
    let gradient = plan(3, &[("Mul", [0, 1]), ("TanhGrad", [3, 2])]);
    assert_eq!(dims(&gradient, &[&[3], &[2, 1], &[2, 3]]), Ok(vec![2, 3]));
    assert!(dims(&gradient, &[&[3], &[3], &[2, 3]]).is_err());
    assert!(dims(&gradient, &[&[3], &[4], &[4]]).is_err());
}

#[test]
#[should_panic(expected = "broadcasts")]
fn input_of_other_shape_panics() {
    let mut out = vec![0.0; 6];
    plan(1, &[("Neg", [0, 0])]).run(&[(&[4], &[1.0; 4])], &[6], &mut [&mut out]);
}

/// A cell of a recurrent layer: gates, the new state and the output, all of which its gradient reads.
const CELL: &[(&str, [usize; 2])] = &[
    ("Sigmoid", [0, 0]),
    ("Tanh", [1, 1]),
    ("Mul", [3, 4]),
    ("AddV2", [2, 5]),
    ("Tanh", [6, 6]),
    ("Mul", [7, 3]),
];

#[test]
fn several_results_have_bits_of_single_loops() {
    let functions: Vec<_> = CELL.iter().map(|(op, it)| (function(op), *it)).collect();
    let steps = Steps::new(3, &functions, &[5, 0, 3, 1]).unwrap();
    for len in [0, 1, 1024, 1025, 150_000] {
        let [gate, input, state] = [1, 5, 9].map(|seed| numbers(len, seed));
        let inputs: [(&[usize], &[f32]); 3] = [(&[len], &gate), (&[len], &input), (&[len], &state)];
        let mut found = [(); 4].map(|()| vec![f32::NAN; len]);
        let mut outs: Vec<&mut [f32]> = found.iter_mut().map(|it| &mut it[..]).collect();
        steps.run(&inputs, &[len], &mut outs);
        let gate = one(&gate, Elementary::logistic);
        let input = one(&input, Elementary::hyperbolic_tangent);
        let dims: [&[usize]; 2] = [&[len], &[len]];
        let product = two(dims, &gate, &input, |x, y| x * y);
        let state = two(dims, &state, &product, |x, y| x + y);
        let output = one(&state, Elementary::hyperbolic_tangent);
        let output = two(dims, &output, &gate, |x, y| x * y);
        assert_eq!(found, [output, gate, state, input], "{len}");
    }
}

#[test]
fn steps_of_one_result_read_only_its_inputs() {
    let functions: Vec<_> = CELL.iter().map(|(op, it)| (function(op), *it)).collect();
    let steps = Steps::new(3, &functions, &[1, 5]).unwrap();
    let dims = steps
        .result_dims([&[][..], &[4], &[2, 1]].into_iter())
        .unwrap();
    assert_eq!([&dims[0][..], &dims[1]], [&[4][..], &[2, 4]]);
    let (of_first, inputs) = steps.restricted_to(0);
    assert_eq!(inputs, [1]);
    let (x, mut out) = (numbers(4, 3), [f32::NAN; 4]);
    of_first.run(&[(&[4], &x)], &[4], &mut [&mut out]);
    assert_eq!(out.to_vec(), one(&x, Elementary::hyperbolic_tangent));
    assert_eq!(steps.restricted_to(1).1, [0, 1, 2]);
}
