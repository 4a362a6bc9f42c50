//! Products and convolutions with a bias and an activation have the bits of the single steps.

use super::*;
use crate::compute::arith::add;
use crate::compute::elementary::Elementary;
use crate::compute::map::map1;
use crate::compute::matmul::{Factor, Part, Product, Tiled, matmul, matmul_with};
use crate::compute::nn::activation as f;
use crate::compute::nn::bias::{ChannelLayout, bias_add};
use crate::compute::nn::conv::{Convolution, convolve, convolve_with};
use crate::compute::nn::epilogue::{Activation, Addend, Epilogue};
use crate::compute::nn::relu::relu;
use crate::compute::nn::window::{Padding, Slide};
use crate::compute::precision::Precision;
use sp_plugin::{Bf16, F16};

const ACTIVATIONS: [Activation; 7] = [
    Activation::Identity,
    Activation::Relu,
    Activation::Relu6,
    Activation::Elu,
    Activation::LeakyRelu(0.3),
    Activation::Tanh,
    Activation::Sigmoid,
];

/// Rounds all elements to `T`.
fn rounded<T: Precision>(x: &[T::Compute]) -> Vec<T::Compute> {
    x.iter().map(|x| T::from_compute(*x).to_compute()).collect()
}

/// Returns numbers whose sums of products are exact: a task on another thread may have another instruction set.
fn numbers<T: Precision<Compute: Elementary>>(len: usize, step: usize) -> Vec<T::Compute> {
    let number = |i| ((i * step % 23) as f64 - 11.0) / 16.0;
    let exact: Vec<_> = (0..len).map(|i| T::Compute::constant(number(i))).collect();
    rounded::<T>(&exact)
}

/// Returns what bias and activation make of a result with rows of `bias`.
fn expected<T: Precision<Compute: Elementary>>(
    x: &[T::Compute],
    bias: &[T::Compute],
    activation: Activation,
) -> Vec<T::Compute> {
    let (x, mut sums) = (rounded::<T>(x), x.to_vec());
    let dims = [x.len() / bias.len(), bias.len()];
    bias_add(&dims, ChannelLayout::ChannelsLast, &x, bias, &mut sums).unwrap();
    let (sums, mut y) = (rounded::<T>(&sums), sums.clone());
    match activation {
        Activation::Identity => y = sums,
        Activation::Relu => map1(&sums, &mut y, relu),
        Activation::Relu6 => map1(&sums, &mut y, f::relu6),
        Activation::Elu => map1(&sums, &mut y, f::elu),
        Activation::LeakyRelu(alpha) => {
            let alpha = rounded::<T>(&[T::Compute::constant(alpha.into())]);
            map1(&sums, &mut y, f::leaky_relu(alpha[0]));
        }
        Activation::Tanh => map1(&sums, &mut y, Elementary::hyperbolic_tangent),
        Activation::Sigmoid => map1(&sums, &mut y, Elementary::logistic),
    }
    y
}

fn check_product<T: Precision<Compute: Tiled + Elementary + SameBits>>(product: Product) {
    let a = numbers::<T>(product.m * product.k, 7);
    let b = numbers::<T>(product.k * product.n, 5);
    let bias = numbers::<T>(product.n, 3);
    on_every_isa(|isa| {
        let mut c = vec![T::Compute::default(); product.m * product.n];
        matmul(product, &a, &b, &mut c);
        for activation in ACTIVATIONS {
            let epilogue = Epilogue::<T>::new(&bias, activation);
            let mut found = vec![T::Compute::default(); c.len()];
            let finish = |part: Part<'_, T::Compute>| epilogue.apply(part);
            matmul_with(product, &a, &b, &mut found, Some(&finish));
            assert_same(isa, &found, &expected::<T>(&c, &bias, activation));
        }
        let addend = numbers::<T>(c.len(), 11);
        let sums = rounded::<T>(&c);
        let sums: Vec<_> = sums.iter().zip(&addend).map(|(x, y)| add(*x, *y)).collect();
        let mut found = vec![T::Compute::default(); c.len()];
        let epilogue = Addend::<T>::new(&addend, product.n);
        let finish = |part: Part<'_, T::Compute>| epilogue.apply(part);
        matmul_with(product, &a, &b, &mut found, Some(&finish));
        assert_same(isa, &found, &rounded::<T>(&sums));
    });
}

/// The shapes cover vectors, no terms, several blocks of terms, rows and columns, and strips of part of a register.
#[test]
fn products_have_bits_of_single_steps() {
    let shapes = [
        (1, 9, 20),
        (9, 20, 1),
        (3, 0, 5),
        (4, 2, 3),
        (3, 130, 20),
        (100, 3, 4),
        (32, 600, 128),
        (70, 30, 50),
        (300, 7, 100),
        (9, 3, 2200),
    ];
    for (m, k, n) in shapes {
        let product = Product {
            m,
            k,
            n,
            transpose_a: n % 3 == 0,
            transpose_b: n % 2 == 0,
        };
        check_product::<f32>(product);
        check_product::<f64>(product);
        check_product::<F16>(product);
        check_product::<Bf16>(product);
    }
}

fn check_convolution<T: Precision<Compute: Tiled + Elementary + SameBits>>(plan: &Convolution)
where
    T::Compute: Factor<Compute = T::Compute>,
{
    let x = numbers::<T>(plan.input().iter().product(), 7);
    let filter = numbers::<T>(plan.filter().iter().product(), 5);
    let bias = numbers::<T>(plan.filter()[3], 3);
    on_every_isa(|isa| {
        let mut y = vec![T::Compute::default(); plan.output().iter().product()];
        convolve(plan, &x, &filter, &mut y);
        for activation in ACTIVATIONS {
            let epilogue = Epilogue::<T>::new(&bias, activation);
            let mut found = vec![T::Compute::default(); y.len()];
            let finish = |part: Part<'_, T::Compute>| epilogue.apply(part);
            convolve_with(plan, &x, &filter, &mut found, Some(&finish));
            assert_same(isa, &found, &expected::<T>(&y, &bias, activation));
        }
    });
}

/// The filters cover general, pointwise, grouped and depthwise convolutions, and windows without elements.
#[test]
fn convolutions_have_bits_of_single_steps() {
    let slide = Slide {
        stride: 1,
        dilation: 1,
        padding: Padding::Same,
    };
    let cases = [
        ([2, 9, 7, 3], [3, 3, 3, 20]),
        ([2, 9, 7, 6], [1, 1, 6, 10]),
        ([2, 9, 7, 6], [3, 2, 2, 9]),
        ([2, 9, 7, 4], [3, 3, 1, 4]),
        ([1, 40, 40, 8], [3, 3, 8, 16]),
        ([2, 4, 4, 2], [0, 1, 2, 3]),
        ([0, 4, 4, 2], [2, 2, 2, 3]),
    ];
    for (input, filter) in cases {
        let plan = Convolution::new(input, filter, [slide; 2]).unwrap();
        check_convolution::<f32>(&plan);
        check_convolution::<f64>(&plan);
        check_convolution::<F16>(&plan);
    }
}
