//! Einstein summation, compared with a loop over the coordinates of all labels; batches of products.

use super::*;
use crate::compute::einsum::{Einsum, Equation, einsum};
use crate::compute::matmul::{Batch, Product, multiply_batch};
use crate::compute::{Error, oracle};

/// A random equation without ellipsis, as letters, and the size of each letter.
fn case() -> impl Strategy<Value = (Vec<String>, String, Vec<usize>)> {
    let letters = |max: usize| vec(0..5_usize, 0..=max);
    (
        letters(4),
        proptest::option::of(letters(4)),
        letters(4),
        vec(0..6_usize, 5),
    )
        .prop_map(|(a, b, out, sizes)| {
            let text = |letters: &[usize]| {
                letters
                    .iter()
                    .map(|it| char::from(b'a' + *it as u8))
                    .collect::<String>()
            };
            let inputs: Vec<Vec<usize>> = [Some(a), b].into_iter().flatten().collect();
            let known: Vec<usize> = out
                .into_iter()
                .filter(|it| inputs.iter().flatten().any(|other| other == it))
                .collect();
            (
                inputs.iter().map(|it| text(it)).collect(),
                text(&known),
                sizes,
            )
        })
}

fn index(text: &str, at: &[usize], sizes: &[usize]) -> usize {
    text.bytes()
        .map(|it| usize::from(it - b'a'))
        .fold(0, |index, letter| index * sizes[letter] + at[letter])
}

fn dims_of(text: &str, sizes: &[usize]) -> Vec<usize> {
    text.bytes()
        .map(|it| sizes[usize::from(it - b'a')])
        .collect()
}

fn check(inputs: &[String], output: &str, sizes: &[usize]) {
    let dims: Vec<Vec<usize>> = inputs.iter().map(|it| dims_of(it, sizes)).collect();
    let data: Vec<Vec<i64>> = dims
        .iter()
        .enumerate()
        .map(|(i, dims)| {
            (0..len(dims))
                .map(|j| ((j * 7 + i) % 13) as i64 - 6)
                .collect()
        })
        .collect();
    let used: Vec<usize> = (0..5)
        .map(|i| {
            if inputs
                .iter()
                .any(|it| it.contains(char::from(b'a' + i as u8)))
            {
                sizes[i]
            } else {
                1
            }
        })
        .collect();
    let mut expected = vec![0_i64; len(&dims_of(output, sizes))];
    for at in oracle::coordinates(&used) {
        let product: i64 = inputs
            .iter()
            .zip(&data)
            .map(|(text, x)| x[index(text, &at, sizes)])
            .product();
        expected[index(output, &at, sizes)] += product;
    }
    let equation = Equation::parse(&format!("{}->{output}", inputs.join(","))).unwrap();
    let plan = Einsum::new(
        &equation,
        &dims.iter().map(Vec::as_slice).collect::<Vec<_>>(),
    )
    .unwrap();
    assert_eq!(plan.dims(), dims_of(output, sizes));
    let floats: Vec<Vec<f32>> = data
        .iter()
        .map(|x| x.iter().map(|it| *it as f32).collect())
        .collect();
    on_every_isa(|isa| {
        let mut out = vec![0; expected.len()];
        einsum(
            &plan,
            &data.iter().map(Vec::as_slice).collect::<Vec<_>>(),
            &mut out,
        );
        assert_same(isa, &out, &expected);
        let mut out = vec![0.0; expected.len()];
        einsum(
            &plan,
            &floats.iter().map(Vec::as_slice).collect::<Vec<_>>(),
            &mut out,
        );
        assert_same(
            isa,
            &out,
            &expected.iter().map(|it| *it as f32).collect::<Vec<_>>(),
        );
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn equations_match_oracle((inputs, output, sizes) in case()) {
        check(&inputs, &output, &sizes);
    }
}

fn run(text: &str, operands: &[(&[usize], &[f32])]) -> Result<(Vec<usize>, Vec<f32>), Error> {
    let dims: Vec<&[usize]> = operands.iter().map(|it| it.0).collect();
    let plan = Einsum::new(&Equation::parse(text)?, &dims)?;
    let mut out = vec![0.0; len(plan.dims())];
    einsum(
        &plan,
        &operands.iter().map(|it| it.1).collect::<Vec<_>>(),
        &mut out,
    );
    Ok((plan.dims().to_vec(), out))
}

#[test]
fn ellipsis_broadcasts() {
    let x: Vec<f32> = (0..12).map(|it| it as f32).collect();
    let (dims, out) = run(
        "...ij,j...->...i",
        &[(&[2, 2, 3], &x), (&[3, 1], &[1.0, 0.0, 2.0])],
    )
    .unwrap();
    assert_eq!((dims, out), (vec![2, 2], vec![4.0, 13.0, 22.0, 31.0]));
    let (dims, out) = run("i...->...", &[(&[2, 3], &x[..6])]).unwrap();
    assert_eq!((dims, out), (vec![3], vec![3.0, 5.0, 7.0]));
    let (dims, out) = run(
        "...,...->...",
        &[(&[2, 1], &[1.0, 2.0]), (&[3], &[1.0, 2.0, 3.0])],
    )
    .unwrap();
    assert_eq!(
        (dims, out),
        (vec![2, 3], vec![1.0, 2.0, 3.0, 2.0, 4.0, 6.0])
    );
}

#[test]
fn rejects_equations_that_do_not_match() {
    let x: &[(&[usize], &[f32])] = &[(&[2, 3], &[0.0; 6])];
    for text in [
        "ij",
        "ij -> i",
        "ij->i->j",
        "i.j->i",
        "ijk->i",
        "ii->i",
        "...->",
        "i,j->i",
        "a,b,c->a",
        "i......->i",
        "->",
        "i->i...",
    ] {
        assert!(matches!(run(text, x), Err(Error::Equation(_))), "{text}");
    }
    // As in TensorFlow, a label of the result that no operand has is left out.
    assert_eq!(run("ij->ik", x).unwrap().0, [2]);
}

#[test]
fn batches_broadcast() {
    let product = Product {
        m: 1,
        k: 2,
        n: 1,
        transpose_a: false,
        transpose_b: false,
    };
    let (batch, dims) = Batch::broadcast([&[2, 1], &[3]], product).unwrap();
    let mut out = [0.0_f32; 6];
    multiply_batch(
        &batch,
        &[1.0_f32, 2.0, 3.0, 4.0],
        &[1.0, 0.0, 0.0, 1.0, 1.0, 1.0],
        &mut out,
    );
    assert_eq!((dims, out), (vec![2, 3], [1.0, 2.0, 3.0, 3.0, 4.0, 7.0]));
    assert!(Batch::broadcast([&[0], &[2]], product).is_err());
    let (batch, dims) = Batch::broadcast([&[2, 2], &[1]], product).unwrap();
    let mut out = [0_i64; 4];
    multiply_batch(&batch, &[1_i64, 2, 3, 4, 5, 6, 7, 8], &[1, 10], &mut out);
    assert_eq!((dims, out), (vec![2, 2], [21, 43, 65, 87]));
    let none = Product { m: 0, ..product };
    let (batch, dims) = Batch::broadcast([&[1 << 40], &[1]], none).unwrap();
    multiply_batch::<i64>(&batch, &[], &[], &mut []);
    assert_eq!(dims, [1 << 40]);
}

#[test]
fn dims_of_empty_operands_may_be_of_any_size() {
    let many = 1 << 44;
    for (equation, dims, expected) in [
        ("iz,iw->", [[many, 0]; 2], vec![0.0_f32]),
        ("zi,zj->", [[0, many]; 2], vec![0.0]),
    ] {
        let equation = Equation::parse(equation).unwrap();
        let plan = Einsum::new(&equation, &dims.each_ref().map(|it| &it[..])).unwrap();
        let mut out = vec![7.0; expected.len()];
        einsum(&plan, &[&[], &[]], &mut out);
        assert_eq!(out, expected);
    }
}
