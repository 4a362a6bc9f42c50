//! Batch normalization and its gradients. Statistics are those of a channel over all other dims.

use crate::compute::machine::array;
use crate::compute::machine::parallel::for_each_block;
use crate::compute::machine::simd::Isa;
use crate::compute::machine::workspace::zeroed;
use crate::compute::scalar::arith::Float;
use sp_plugin::allocation;

/// The number of elements in a block, whose sums are computed together.
const BLOCK: usize = 64 * 1024;

/// A tensor as images of `channels` times `inner` elements: `inner` is 1 if the channels are the last dim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Channels {
    /// The number of channels.
    pub channels: usize,
    /// The number of adjacent elements of a channel.
    pub inner: usize,
    /// The number of elements of a channel.
    pub count: usize,
}

impl Channels {
    fn len(&self) -> usize {
        self.channels * self.count
    }

    /// Returns the shape with several rows of few channels as one row, and their number: loops over [`COLUMNS`] channels
    /// have less overhead.
    fn with_long_rows(self) -> (Self, usize) {
        let rows = COLUMNS >> self.channels.trailing_zeros().min(COLUMNS.ilog2());
        if self.inner > 1 || self.channels > MOST_JOINED || !self.count.is_multiple_of(rows) {
            return (self, 1);
        }
        let long = Self {
            channels: self.channels * rows,
            count: self.count / rows,
            ..self
        };
        (long, rows)
    }

    /// Returns the number of elements of a block: whole rows of all channels.
    fn block(&self) -> usize {
        let row = self.channels * self.inner;
        (BLOCK / row).max(1) * row
    }
}

/// Returns the parts of some slices from `start` on. All have the same length, so that loops over them need no checks.
#[inline(always)]
fn parts<T, const N: usize>(slices: [&[T]; N], start: usize, len: usize) -> [&[T]; N] {
    array::map(
        slices,
        #[inline(always)]
        |slice| &slice[start..start + len],
    )
}

/// Returns the elements `index` of some slices.
#[inline(always)]
fn elements<T: Copy, const N: usize>(slices: &[&[T]; N], index: usize) -> [T; N] {
    array::from_fn(
        #[inline(always)]
        |i| slices[i][index],
    )
}

/// The number of adjacent channels that are computed together. Loops of a length that the compiler knows have no overhead
/// for each row.
const COLUMNS: usize = 32;
/// The largest number of channels of which several rows are computed as one.
const MOST_JOINED: usize = 48;

/// Computes for each channel `S` sums of `terms(elements of the tensors, parameters of the channel)`. Blocks and the
/// order of summation depend on the shape only.
fn sums<T: Float, const N: usize, const P: usize, const S: usize>(
    shape: Channels,
    tensors: [&[T]; N],
    parameters: [&[T]; P],
    terms: impl Fn([T; N], [T; P]) -> [T; S] + Sync,
) -> Vec<[T; S]> {
    let (shape, rows) = shape.with_long_rows();
    let parameters = parameters.map(|it| allocation::repeated(it, rows));
    let parameters = array::from_fn(|i| &parameters[i][..]);
    let Channels {
        channels, inner, ..
    } = shape;
    let (block, isa) = (shape.block(), Isa::current());
    let mut partial = zeroed(shape.len().div_ceil(block) * channels);
    for_each_block(&mut partial, channels, |index, sums| {
        let (start, end) = (index * block, ((index + 1) * block).min(shape.len()));
        let tensors = parts(tensors, start, end - start);
        isa.vectorize(
            #[inline(always)]
            || match inner {
                1 => sum_rows(tensors, parameters, sums, &terms),
                _ => sum_images(inner, tensors, parameters, sums, &terms),
            },
        );
    });
    let channels = channels / rows;
    let (first, rest) = partial.split_at(channels);
    let mut totals = allocation::copied(first);
    for part in rest.chunks_exact(channels) {
        totals
            .iter_mut()
            .zip(part)
            .for_each(|(total, part)| add(total, *part));
    }
    totals
}

/// Adds the terms of rows of channels.
#[inline(always)]
fn sum_rows<T: Float, const N: usize, const P: usize, const S: usize>(
    tensors: [&[T]; N],
    parameters: [&[T]; P],
    sums: &mut [[T; S]],
    terms: &impl Fn([T; N], [T; P]) -> [T; S],
) {
    let channels = sums.len();
    let (wide, narrow) = sums.as_chunks_mut::<COLUMNS>();
    for (index, sums) in wide.iter_mut().enumerate() {
        let first = index * COLUMNS;
        let parameters = parts(parameters, first, COLUMNS);
        let mut columns = [[T::ZERO; COLUMNS]; S];
        for row in (first..tensors[0].len()).step_by(channels) {
            let tensors = parts(tensors, row, COLUMNS);
            for column in 0..COLUMNS {
                let term = terms(elements(&tensors, column), elements(&parameters, column));
                for (columns, term) in columns.iter_mut().zip(term) {
                    columns[column] = columns[column].plus(term);
                }
            }
        }
        for (column, sums) in sums.iter_mut().enumerate() {
            *sums = array::map(columns, |it| it[column]);
        }
    }
    if narrow.is_empty() {
        return;
    }
    let first = channels - narrow.len();
    let parameters = parts(parameters, first, narrow.len());
    for row in (first..tensors[0].len()).step_by(channels) {
        let tensors = parts(tensors, row, narrow.len());
        for (column, sum) in narrow.iter_mut().enumerate() {
            let term = terms(elements(&tensors, column), elements(&parameters, column));
            add(sum, term);
        }
    }
}

/// Adds the terms of images whose channels have `inner` adjacent elements.
#[inline(always)]
fn sum_images<T: Float, const N: usize, const P: usize, const S: usize>(
    inner: usize,
    tensors: [&[T]; N],
    parameters: [&[T]; P],
    sums: &mut [[T; S]],
    terms: &impl Fn([T; N], [T; P]) -> [T; S],
) {
    let channels = sums.len();
    for image in (0..tensors[0].len()).step_by(channels * inner) {
        for (channel, sum) in sums.iter_mut().enumerate() {
            let tensors = parts(tensors, image + channel * inner, inner);
            let parameters = elements(&parameters, channel);
            let term = sum_run(
                inner,
                #[inline(always)]
                |i| terms(elements(&tensors, i), parameters),
            );
            add(sum, term);
        }
    }
}

#[inline(always)]
fn add<T: Float, const S: usize>(sums: &mut [T; S], terms: [T; S]) {
    (0..S).for_each(
        #[inline(always)]
        |i| sums[i] = sums[i].plus(terms[i]),
    );
}

/// Sums adjacent elements in sixteen sums, which are vectors.
#[inline(always)]
fn sum_run<T: Float, const S: usize>(len: usize, term: impl Fn(usize) -> [T; S]) -> [T; S] {
    const LANES: usize = 16;
    let mut lanes = [[T::ZERO; S]; LANES];
    let whole = len / LANES * LANES;
    for start in (0..whole).step_by(LANES) {
        for (lane, sums) in lanes.iter_mut().enumerate() {
            add(sums, term(start + lane));
        }
    }
    for (index, sums) in (whole..len).zip(&mut lanes) {
        add(sums, term(index));
    }
    let mut total = [T::ZERO; S];
    lanes.into_iter().for_each(|sums| add(&mut total, sums));
    total
}

/// Writes `f(elements of the tensors, parameters of the channel)` to each element.
fn map_channels<T: Float, const N: usize, const P: usize>(
    shape: Channels,
    tensors: [&[T]; N],
    parameters: [&[T]; P],
    out: &mut [T],
    f: impl Fn([T; N], [T; P]) -> T + Sync,
) {
    let (shape, rows) = shape.with_long_rows();
    let parameters = parameters.map(|it| allocation::repeated(it, rows));
    let parameters = array::from_fn(|i| &parameters[i][..]);
    let (block, isa) = (shape.block(), Isa::current());
    for_each_block(out, block, |index, out| {
        let tensors = parts(tensors, index * block, out.len());
        isa.vectorize(
            #[inline(always)]
            || match shape.inner {
                1 => map_rows(tensors, parameters, shape.channels, out, &f),
                inner => map_images(inner, tensors, parameters, shape.channels, out, &f),
            },
        );
    });
}

/// Writes rows of channels.
#[inline(always)]
fn map_rows<T: Float, const N: usize, const P: usize>(
    tensors: [&[T]; N],
    parameters: [&[T]; P],
    channels: usize,
    out: &mut [T],
    f: &impl Fn([T; N], [T; P]) -> T,
) {
    let narrow = channels % COLUMNS;
    for first in (0..channels - narrow).step_by(COLUMNS) {
        let parameters = parts(parameters, first, COLUMNS);
        for row in (first..out.len()).step_by(channels) {
            let (tensors, out) = (parts(tensors, row, COLUMNS), &mut out[row..][..COLUMNS]);
            for (column, out) in out.iter_mut().enumerate() {
                *out = f(elements(&tensors, column), elements(&parameters, column));
            }
        }
    }
    if narrow == 0 {
        return;
    }
    let parameters = parts(parameters, channels - narrow, narrow);
    for row in (channels - narrow..out.len()).step_by(channels) {
        let (tensors, out) = (parts(tensors, row, narrow), &mut out[row..][..narrow]);
        for (column, out) in out.iter_mut().enumerate() {
            *out = f(elements(&tensors, column), elements(&parameters, column));
        }
    }
}

/// Writes images whose channels have `inner` adjacent elements.
#[inline(always)]
fn map_images<T: Float, const N: usize, const P: usize>(
    inner: usize,
    tensors: [&[T]; N],
    parameters: [&[T]; P],
    channels: usize,
    out: &mut [T],
    f: &impl Fn([T; N], [T; P]) -> T,
) {
    for (index, out) in out.chunks_exact_mut(inner).enumerate() {
        let tensors = parts(tensors, index * inner, inner);
        let parameters = elements(&parameters, index % channels);
        for (i, out) in out.iter_mut().enumerate() {
            *out = f(elements(&tensors, i), parameters);
        }
    }
}

/// Mean and variance of each channel, without Bessel's correction.
#[derive(Clone, PartialEq, Debug)]
pub struct Moments<T> {
    /// The means.
    pub mean: Vec<T>,
    /// The variances.
    pub variance: Vec<T>,
}

/// Computes the moments of a tensor that is not empty.
///
/// # Panics
/// Panics if `x` has another length than the shape.
pub fn moments<T: Float>(shape: Channels, x: &[T]) -> Moments<T> {
    assert_eq!(
        x.len(),
        shape.len(),
        "the tensor differs in length from its shape"
    );
    let count = T::from_count(shape.count);
    let average = |sums: Vec<[T; 1]>| -> Vec<T> {
        allocation::collect(sums.iter().map(|[sum]| sum.over(count)))
    };
    let mean = average(sums(
        shape,
        [x],
        [],
        #[inline(always)]
        |[x], []| [x],
    ));
    let variance = average(sums(
        shape,
        [x],
        [&mean],
        #[inline(always)]
        |[x], [mean]| [x.minus(mean).times(x.minus(mean))],
    ));
    Moments { mean, variance }
}

/// Returns `1 / sqrt(variance + epsilon)` of each channel.
fn inverse_deviations<T: Float>(variance: &[T], epsilon: T) -> Vec<T> {
    let inverse = |variance: &T| T::ONE.over(variance.plus(epsilon).root());
    allocation::collect(variance.iter().map(inverse))
}

/// Returns the products of the elements of two slices.
fn products<T: Float>(x: &[T], y: &[T]) -> Vec<T> {
    allocation::collect(x.iter().zip(y).map(|(x, y)| x.times(*y)))
}

/// Computes `y = (x - mean) * scale / sqrt(variance + epsilon) + offset` of a tensor that is not empty.
///
/// # Panics
/// Panics if a slice has another length than the shape.
pub fn normalize<T: Float>(
    shape: Channels,
    x: &[T],
    [mean, variance, scale, offset]: [&[T]; 4],
    epsilon: T,
    y: &mut [T],
) {
    assert_eq!(
        [x.len(), y.len()],
        [shape.len(); 2],
        "a tensor differs in length from its shape"
    );
    let factors = products(&inverse_deviations(variance, epsilon), scale);
    map_channels(
        shape,
        [x],
        [mean, &factors, offset],
        y,
        #[inline(always)]
        |[x], [mean, factor, offset]| x.minus(mean).times(factor).plus(offset),
    );
}

/// The gradients of scale and offset.
#[derive(Clone, PartialEq, Debug)]
pub struct ParameterGradients<T> {
    /// The gradient of the scale.
    pub scale: Vec<T>,
    /// The gradient of the offset.
    pub offset: Vec<T>,
}

/// Computes the gradients of batch normalization of a tensor that is not empty. In training the moments depend on `x`,
/// so that they contribute to `dx`.
///
/// # Panics
/// Panics if a slice has another length than the shape.
pub fn normalize_gradients<T: Float>(
    shape: Channels,
    [dy, x]: [&[T]; 2],
    [mean, variance, scale]: [&[T]; 3],
    (epsilon, is_training): (T, bool),
    dx: &mut [T],
) -> ParameterGradients<T> {
    assert_eq!(
        [dy.len(), x.len(), dx.len()],
        [shape.len(); 3],
        "a tensor differs in length from its shape"
    );
    let inverse = inverse_deviations(variance, epsilon);
    let totals = sums(
        shape,
        [dy, x],
        [mean],
        #[inline(always)]
        |[dy, x], [mean]| [dy, dy.times(x.minus(mean))],
    );
    let offset = allocation::collect(totals.iter().map(|[sum, _]| *sum));
    let covariance = allocation::collect(totals.iter().map(|[_, product]| *product));
    let factors = products(scale, &inverse);
    let average = |sums: &[T]| -> Vec<T> {
        let count = T::from_count(shape.count);
        allocation::collect(sums.iter().map(|sum| sum.over(count)))
    };
    if is_training {
        let slopes = products(&products(&inverse, &inverse), &average(&covariance));
        map_channels(
            shape,
            [dy, x],
            [mean, &factors, &average(&offset), &slopes],
            dx,
            #[inline(always)]
            |[dy, x], [mean, factor, average, slope]| {
                factor.times(dy.minus(average).minus(x.minus(mean).times(slope)))
            },
        );
    } else {
        map_channels(
            shape,
            [dy],
            [&factors],
            dx,
            #[inline(always)]
            |[dy], [factor]| dy.times(factor),
        );
    }
    let scale = products(&covariance, &inverse);
    ParameterGradients { scale, offset }
}
