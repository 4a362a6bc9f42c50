//! The same computations as plainly as they can be written: one element at a time, by index. Tests compare with these.

use super::arith::{Float, Number};
use super::shape::len;
use super::training::{Adam, Momentum};

/// Returns the coordinates of each element of a tensor, in order.
pub fn coordinates(dims: &[usize]) -> Vec<Vec<usize>> {
    let coordinates_of = |mut index: usize| {
        let mut coordinates = vec![0; dims.len()];
        for axis in (0..dims.len()).rev() {
            coordinates[axis] = index % dims[axis];
            index /= dims[axis];
        }
        coordinates
    };
    (0..len(dims)).map(coordinates_of).collect()
}

/// Returns the index, in a broadcast operand, of the element of the result with these coordinates.
pub fn operand_index(operand: &[usize], coordinates: &[usize]) -> usize {
    let skip = coordinates.len() - operand.len();
    let pairs = operand.iter().zip(&coordinates[skip..]);
    pairs.fold(0, |index, (dim, coordinate)| {
        index * dim + if *dim == 1 { 0 } else { *coordinate }
    })
}

/// Returns `f` of each element of two broadcast operands.
pub fn map2<A: Copy, B: Copy, U>(
    dims: &[usize],
    (x, x_dims): (&[A], &[usize]),
    (y, y_dims): (&[B], &[usize]),
    f: impl Fn(A, B) -> U,
) -> Vec<U> {
    coordinates(dims)
        .iter()
        .map(|it| f(x[operand_index(x_dims, it)], y[operand_index(y_dims, it)]))
        .collect()
}

/// Returns, for each element of the result, the elements that are reduced into it.
pub fn reduce<T: Copy>(x: &[T], dims: &[usize], axes: &[usize]) -> Vec<Vec<T>> {
    let kept: Vec<usize> = (0..dims.len())
        .filter(|axis| !axes.contains(axis))
        .collect();
    let kept_dims: Vec<usize> = kept.iter().map(|axis| dims[*axis]).collect();
    let mut groups = vec![Vec::new(); len(&kept_dims)];
    for (x, coordinates) in x.iter().zip(coordinates(dims)) {
        let result: Vec<usize> = kept.iter().map(|axis| coordinates[*axis]).collect();
        groups[operand_index(&kept_dims, &result)].push(*x);
    }
    groups
}

/// Returns the product by the triple loop; `a` and `b` are read at `(i, p)` and `(p, j)`.
pub fn matmul<T: Number>(
    [m, k, n]: [usize; 3],
    a: impl Fn(usize, usize) -> T,
    b: impl Fn(usize, usize) -> T,
) -> Vec<T> {
    let element = |i, j| (0..k).fold(T::ZERO, |sum, p| sum.plus(a(i, p).times(b(p, j))));
    (0..m)
        .flat_map(|i| (0..n).map(move |j| (i, j)))
        .map(|(i, j)| element(i, j))
        .collect()
}

/// Returns loss and gradient of one row.
pub fn cross_entropy<T: Float>(x: &[T], label: usize) -> (T, Vec<T>) {
    let max = x
        .iter()
        .fold(x[0], |max, x| if *x > max { *x } else { max });
    let exps: Vec<T> = x.iter().map(|x| x.minus(max).exp()).collect();
    let sum = exps.iter().fold(T::ZERO, |sum, e| sum.plus(*e));
    let mut gradient: Vec<T> = exps.iter().map(|e| e.over(sum)).collect();
    gradient[label] = gradient[label].minus(T::ONE);
    (sum.ln().minus(x[label].minus(max)), gradient)
}

/// Returns the rows that the indices select from a table of shape `[batch.., rows, row..]`.
pub fn gather<T: Copy>(
    table: &[T],
    (batch, rows, row): (&[usize], usize, &[usize]),
    indices: &[i32],
) -> Vec<T> {
    let (width, selected) = (len(row), indices.len() / len(batch));
    let element = |at: usize, column: usize| {
        let row = at / selected * rows + indices[at] as usize;
        table[row * width + column]
    };
    (0..indices.len())
        .flat_map(|at| (0..width).map(move |column| element(at, column)))
        .collect()
}

/// Returns the table after `f(old, new)` of each element of the rows that the indices select, in order.
pub fn scatter<T: Copy>(
    table: &[T],
    width: usize,
    indices: &[i64],
    new: impl Fn(usize) -> T,
    f: impl Fn(T, T) -> T,
) -> Vec<T> {
    let mut out = table.to_vec();
    for (at, index) in indices.iter().enumerate() {
        for column in 0..width {
            let old = &mut out[*index as usize * width + column];
            *old = f(*old, new(at * width + column));
        }
    }
    out
}

/// Returns variable and moments after a step of Adam.
pub fn adam(adam: &Adam<f64>, [var, m, v]: [f64; 3], g: f64) -> [f64; 3] {
    let rate = adam.rate * (1.0 - adam.beta2_power).sqrt() / (1.0 - adam.beta1_power);
    let m = m + (g - m) * (1.0 - adam.beta1);
    let v = v + (g * g - v) * (1.0 - adam.beta2);
    let slope = match adam.use_nesterov {
        true => g * (1.0 - adam.beta1) + adam.beta1 * m,
        false => m,
    };
    [var - slope * rate / (v.sqrt() + adam.epsilon), m, v]
}

/// Returns variable and sum after a step with momentum.
pub fn momentum(step: &Momentum<f64>, is_keras: bool, [var, sum]: [f64; 2], g: f64) -> [f64; 2] {
    let Momentum { rate, momentum, .. } = *step;
    match (is_keras, step.use_nesterov) {
        (false, is_ahead) => {
            let sum = sum * momentum + g;
            let plain = rate * sum;
            let ahead = g * rate + sum * momentum * rate;
            [var - if is_ahead { ahead } else { plain }, sum]
        }
        (true, is_ahead) => {
            let sum = sum * momentum - g * rate;
            let ahead = sum * momentum - g * rate;
            [var + if is_ahead { ahead } else { sum }, sum]
        }
    }
}
