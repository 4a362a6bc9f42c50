//! Functions of the result of a product or a convolution, in the same pass: a bias for each column, then an activation
//! function; or the sum with another matrix.
//!
//! The result has the bits of the single steps: each rounds to the element type.
//!
//! A product and a sum are one node too: gradients of weights that several steps use are such sums. The sum follows
//! the whole product, so that the bits are those of two ops, also above 512 terms.

use super::activation as f;
use super::relu;
use crate::compute::loops::precision::Precision;
use crate::compute::machine::simd::Isa;
use crate::compute::ops::elementwise::elementwise_ops;
use crate::compute::ops::matmul::Part;
use crate::compute::scalar::arith::add;
use crate::compute::scalar::elementary::Elementary;

/// Defines the activation functions: those of the rows that are activations, and `LeakyRelu`, whose op has an attribute.
macro_rules! activations {
    (@apply floats $part:ident, $bias:ident, $f:path) => { rows::<T>($part, $bias, $f) };
    (@named floats $op:ident) => { (stringify!($op), Activation::$op) };
    ($($operands:ident { $($op:ident $names:tt -> $result:ident: $cost:ident
        $(, step($step:ty))? $(, activation($types:ident))?
        { $class:ident $(($($ty:ty),+))? => $f:path $(, $($others:tt)*)? }
    )* })*) => {
        /// An activation function.
        #[derive(Clone, Copy, PartialEq, Debug)]
        pub enum Activation {
            /// `x`
            Identity,
            /// [`leaky_relu`](f::leaky_relu) with this slope below 0.
            LeakyRelu(f32),
            $($($(
                #[doc = concat!("The function of `", stringify!($op), "`, for ", stringify!($types), ".")]
                $op,
            )?)*)*
        }

        /// The activations of ops without attributes.
        const ACTIVATIONS: &[(&str, Activation)] = &[$($($(activations!(@named $types $op),)?)*)*];

        impl Activation {
            /// Replaces the elements of a part of a matrix by the function of their sums with the biases.
            #[inline(always)]
            fn apply<T: Precision<Compute: Elementary>>(self, part: Part<'_, T::Compute>, bias: &[T::Compute]) {
                match self {
                    Self::Identity => rows::<T>(part, bias, |x| x),
                    Self::LeakyRelu(slope) => {
                        let slope = round::<T>(T::Compute::constant(slope.into()));
                        rows::<T>(part, bias, f::leaky_relu(slope));
                    }
                    $($($(Self::$op => activations!(@apply $types part, bias, $f),)?)*)*
                }
            }
        }
    };
}

elementwise_ops!([activations]);

impl Activation {
    /// Returns the function of an op, or `None` if it is no activation. `slope` is that of `LeakyRelu`.
    pub fn of_op(op: &str, slope: f32) -> Option<Self> {
        let found = ACTIVATIONS.iter().find(|it| it.0 == op);
        match op {
            "LeakyRelu" => Some(Self::LeakyRelu(slope)),
            _ => found.map(|it| it.1),
        }
    }

    /// Returns the names of the ops that are activations.
    pub fn ops() -> Vec<&'static str> {
        let named = ACTIVATIONS.iter().map(|it| it.0);
        named.chain(["LeakyRelu"]).collect()
    }
}

/// A bias for each column, and the activation of the sum, for elements of type `T`.
pub struct Epilogue<'a, T: Precision> {
    isa: Isa,
    bias: &'a [T::Compute],
    activation: Activation,
}

impl<'a, T: Precision<Compute: Elementary>> Epilogue<'a, T> {
    /// Creates the epilogue of a matrix with a column for each element of `bias`.
    pub fn new(bias: &'a [T::Compute], activation: Activation) -> Self {
        Self {
            isa: Isa::current(),
            bias,
            activation,
        }
    }

    /// Replaces the elements of a part of the matrix.
    ///
    /// # Panics
    /// Panics if the part has columns beyond the last bias.
    pub fn apply(&self, part: Part<'_, T::Compute>) {
        let bias = &self.bias[part.columns()];
        self.isa.vectorize(
            #[inline(always)]
            || self.activation.apply::<T>(part, bias),
        );
    }
}

/// A matrix that is added to the result, for elements of type `T`.
pub struct Addend<'a, T: Precision> {
    isa: Isa,
    matrix: &'a [T::Compute],
    columns: usize,
}

impl<'a, T: Precision<Compute: Elementary>> Addend<'a, T> {
    /// Creates the addend of a matrix of so many columns.
    pub fn new(matrix: &'a [T::Compute], columns: usize) -> Self {
        Self {
            isa: Isa::current(),
            matrix,
            columns,
        }
    }

    /// Replaces the elements of a part of the result by the sums.
    ///
    /// # Panics
    /// Panics if the part has elements outside of the addend.
    pub fn apply(&self, part: Part<'_, T::Compute>) {
        let (rows, columns) = (part.rows(), part.columns());
        let mut addends = self
            .matrix
            .chunks_exact(self.columns.max(1))
            .skip(rows.start);
        self.isa.vectorize(
            #[inline(always)]
            || {
                part.for_each_row(
                    #[inline(always)]
                    |row| {
                        let addend = addends.next().expect("the addend has all rows");
                        for (x, addend) in row.iter_mut().zip(&addend[columns.clone()]) {
                            *x = round::<T>(add(round::<T>(*x), *addend));
                        }
                    },
                );
            },
        );
    }
}

/// Replaces each element by `f` of its sum with the column's bias.
#[inline(always)]
fn rows<T: Precision<Compute: Elementary>>(
    part: Part<'_, T::Compute>,
    bias: &[T::Compute],
    f: impl Fn(T::Compute) -> T::Compute,
) {
    part.for_each_row(
        #[inline(always)]
        |row| {
            // No `for_each`: the compiler may leave it a function for the baseline if `f` is long.
            for (x, bias) in row.iter_mut().zip(bias) {
                *x = f(round::<T>(add(round::<T>(*x), *bias)));
            }
        },
    );
}

/// Rounds a number to the element type, as a result that is stored.
#[inline(always)]
fn round<T: Precision>(x: T::Compute) -> T::Compute {
    T::from_compute(x).to_compute()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add(addend: &[f32], columns: usize, first: usize, result: &mut [f32]) {
        let part = Part::of_rows(first, result, columns);
        Addend::<f32>::new(addend, columns).apply(part);
    }

    #[test]
    fn rows_of_part_get_those_of_addend() {
        let mut result = [0.5; 4];
        add(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 1, &mut result);
        assert_eq!(result, [3.5, 4.5, 5.5, 6.5]);
        add(&[], 0, 0, &mut []);
    }

    #[test]
    #[should_panic(expected = "the addend has all rows")]
    fn rejects_rows_outside_of_addend() {
        add(&[1.0, 2.0], 2, 0, &mut [0.0; 4]);
    }
}
