//! Steps of optimizers, compared with the oracle: one element at a time, in the order of the formula.

use super::*;
use crate::compute::oracle;
use crate::compute::training::{Adam, Momentum};

fn values(len: usize, seed: f64) -> Vec<f64> {
    (0..len).map(|n| ((n as f64 + seed) * 0.37).sin()).collect()
}

/// A step of an optimizer over the variable and its state.
type Step = fn(&Momentum<f64>, [&mut [f64]; 2], &[f64]);

#[test]
fn adam_matches_oracle() {
    for (len, use_nesterov) in [(0, false), (1, true), (70_001, false), (70_001, true)] {
        let adam = Adam {
            beta1_power: 0.81,
            beta2_power: 0.998,
            rate: 0.01,
            beta1: 0.9,
            beta2: 0.999,
            epsilon: 1e-7,
            use_nesterov,
        };
        let (var, m, g) = (values(len, 1.0), values(len, 2.0), values(len, 3.0));
        let v: Vec<f64> = values(len, 4.0).iter().map(|v| v * v).collect();
        let element = |n: usize| oracle::adam(&adam, [var[n], m[n], v[n]], g[n]);
        let expected: Vec<[f64; 3]> = (0..len).map(element).collect();
        on_every_isa(|isa| {
            let (mut var, mut m, mut v) = (var.clone(), m.clone(), v.clone());
            adam.step([&mut var, &mut m, &mut v], &g);
            for (index, out) in [var, m, v].iter().enumerate() {
                let expected: Vec<f64> = expected.iter().map(|it| it[index]).collect();
                assert_same(isa, out, &expected);
            }
        });
    }
}

#[test]
fn momentum_matches_oracle() {
    for use_nesterov in [false, true] {
        let momentum = Momentum {
            rate: 0.1,
            momentum: 0.9,
            use_nesterov,
        };
        let (var, sum, g) = (values(9001, 1.0), values(9001, 2.0), values(9001, 3.0));
        let steps: [Step; 2] = [Momentum::step, Momentum::keras_step];
        for (is_keras, step) in [false, true].into_iter().zip(steps) {
            let element = |n: usize| oracle::momentum(&momentum, is_keras, [var[n], sum[n]], g[n]);
            let expected: Vec<[f64; 2]> = (0..var.len()).map(element).collect();
            on_every_isa(|isa| {
                let (mut var, mut sum) = (var.clone(), sum.clone());
                step(&momentum, [&mut var, &mut sum], &g);
                for (index, out) in [var, sum].iter().enumerate() {
                    let expected: Vec<f64> = expected.iter().map(|it| it[index]).collect();
                    assert_same(isa, out, &expected);
                }
            });
        }
    }
}
