//! Convolution of images and volumes and its gradients, as products of matrices.
//!
//! The rows of the left matrix are the windows of the images, which tiles read where they are (`direct`); the right one
//! is the filter. A window of one element is a row as it is stored. Gradients of inputs whose windows are apart go through
//! patches (`patches`). Tensors are in the order batch, planes, rows, columns, channels; filters in the order planes,
//! rows, columns, input channels of a group, output channels. An image is a volume of one plane.

mod depthwise;
mod direct;
mod elements;
mod patches;

use super::window::{Slide, Windows};
use crate::compute::machine::simd::Isa;
use crate::compute::ops::matmul::{Factor, Finish, Product, Tile, Tiled, finish_rows};
use crate::compute::scalar::arith::Number;
use crate::compute::{Error, Result, len};
use direct::Filter;

/// The dims of a convolution.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Convolution {
    batch: usize,
    planes: Windows,
    rows: Windows,
    columns: Windows,
    groups: usize,
    /// The input channels of a group.
    depth: usize,
    /// The output channels of all groups.
    filters: usize,
}

impl Convolution {
    /// Creates the plan for an input `[batch, rows, columns, channels]` and a filter `[rows, columns, channels of a
    /// group, filters]`.
    ///
    /// # Errors
    /// Returns [`Error::WindowTooLarge`], or [`Error::Groups`] if the channels or filters cannot be divided into
    /// groups.
    pub fn new(input: [usize; 4], filter: [usize; 4], [rows, columns]: [Slide; 2]) -> Result<Self> {
        let ([batch, height, width, channels], [y, x, depth, filters]) = (input, filter);
        let input = [batch, 1, height, width, channels];
        Self::new_3d(
            input,
            [1, y, x, depth, filters],
            [Slide::NONE, rows, columns],
        )
    }

    /// Creates the plan for an input `[batch, planes, rows, columns, channels]` and a filter `[planes, rows, columns,
    /// channels of a group, filters]`.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new).
    pub fn new_3d(input: [usize; 5], filter: [usize; 5], slides: [Slide; 3]) -> Result<Self> {
        let ([batch, .., channels], [.., depth, filters]) = (input, filter);
        let uneven = Error::Groups {
            channels,
            depth,
            filters,
        };
        if depth == 0 || !channels.is_multiple_of(depth) {
            return Err(uneven);
        }
        let groups = channels / depth;
        if groups > 0 && !filters.is_multiple_of(groups) {
            return Err(uneven);
        }
        let windows = |i: usize| Windows::new(input[i + 1], filter[i], slides[i]);
        Ok(Self {
            batch,
            planes: windows(0)?,
            rows: windows(1)?,
            columns: windows(2)?,
            groups,
            depth,
            filters,
        })
    }

    /// Returns the dims of the result of images.
    pub fn output(&self) -> [usize; 4] {
        without_planes(self.output_3d())
    }

    /// Returns the dims of the input images.
    pub fn input(&self) -> [usize; 4] {
        without_planes(self.input_3d())
    }

    /// Returns the dims of the result.
    pub fn output_3d(&self) -> [usize; 5] {
        let [planes, rows, columns] = self.axes().map(|it| it.output);
        [self.batch, planes, rows, columns, self.filters]
    }

    /// Returns the dims of the input.
    pub fn input_3d(&self) -> [usize; 5] {
        let [planes, rows, columns] = self.axes().map(|it| it.input);
        [self.batch, planes, rows, columns, self.channels()]
    }

    /// Returns the dims of the filter of images.
    pub fn filter(&self) -> [usize; 4] {
        [self.rows.size, self.columns.size, self.depth, self.filters]
    }

    fn channels(&self) -> usize {
        self.groups * self.depth
    }

    /// Returns the windows along the planes, rows and columns.
    fn axes(&self) -> [&Windows; 3] {
        [&self.planes, &self.rows, &self.columns]
    }

    /// Returns the number of elements of a patch of one group.
    #[inline]
    fn patch(&self) -> usize {
        len(&[
            self.planes.size,
            self.rows.size,
            self.columns.size,
            self.depth,
        ])
    }

    /// Returns the number of windows of an image or a volume.
    #[inline]
    fn windows(&self) -> usize {
        len(&[self.planes.output, self.rows.output, self.columns.output])
    }

    /// Returns the number of filters of a group.
    fn group_filters(&self) -> usize {
        self.filters / self.groups
    }

    /// Returns true if each patch is one pixel, in order.
    fn is_pointwise(&self) -> bool {
        self.groups == 1 && self.axes().iter().all(|it| it.is_identity())
    }

    /// Returns the product of all windows and the filter.
    fn product(&self) -> Product {
        Product {
            m: self.batch * self.windows(),
            k: self.patch(),
            n: self.group_filters(),
            transpose_a: false,
            transpose_b: false,
        }
    }

    /// Returns the plan of pairs of input channels, if they are multiplied faster, and the tile of either plan.
    fn with_tile<T: Factor>(&self) -> (Option<Self>, Tile<T::Compute>) {
        match T::pair_tile().filter(|_| self.depth.is_multiple_of(2)) {
            Some(tile) => {
                let depth = self.depth / 2;
                (Some(Self { depth, ..*self }), tile)
            }
            None => (None, T::Compute::tile(Isa::current())),
        }
    }

    /// Returns true if there is nothing to sum: the result is empty, or all zeros.
    fn is_trivial(&self) -> bool {
        [
            self.batch,
            self.windows(),
            self.filters,
            self.patch(),
            self.groups,
        ]
        .contains(&0)
    }

    fn check<X, F, Y>(&self, x: &[X], filter: &[F], y: &[Y]) {
        let lens = [
            len(&self.input_3d()),
            len(&[self.patch(), self.filters]),
            len(&self.output_3d()),
        ];
        assert_eq!(
            [x.len(), filter.len(), y.len()],
            lens,
            "a tensor differs in length from the plan"
        );
    }
}

/// Computes the convolution before rounding.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn convolve<T: Factor>(plan: &Convolution, x: &[T], filter: &[T], y: &mut [T::Compute]) {
    convolve_with(plan, x, filter, y, None);
}

/// Computes the convolution as [`convolve`], and calls `finish` once for each element, in parts that are still in the
/// caches. The columns of a part are filters.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn convolve_with<T: Factor>(
    plan: &Convolution,
    x: &[T],
    filter: &[T],
    y: &mut [T::Compute],
    finish: Option<&Finish<'_, T::Compute>>,
) {
    plan.check(x, filter, y);
    if plan.is_pointwise() && !plan.is_trivial() {
        return T::multiply(plan.product(), x, filter, y, finish);
    }
    if plan.is_trivial() {
        y.fill(T::Compute::ZERO);
    } else if plan.is_depthwise() {
        depthwise::forward(plan, &T::widened(x), &T::widened(filter), y);
    } else {
        return convolve_windows(plan, x, filter, y, finish);
    }
    if let Some(finish) = finish {
        finish_rows(y, plan.filters, finish);
    }
}

/// Computes a convolution that is not trivial, with elements or with pairs of them.
fn convolve_windows<T: Factor>(
    plan: &Convolution,
    x: &[T],
    filter: &[T],
    y: &mut [T::Compute],
    finish: Option<&Finish<'_, T::Compute>>,
) {
    let (pairs, tile) = plan.with_tile::<T>();
    let (x, elements) = match pairs {
        None => (T::widened(x), T::widened(filter)),
        Some(_) => (
            T::pairs_of_rows(x, plan.channels()),
            T::pairs_of_columns(filter, plan.filters),
        ),
    };
    let filter = Filter {
        tile,
        elements: &elements,
        is_reversed: false,
    };
    direct::forward(pairs.as_ref().unwrap_or(plan), &x, filter, y, finish);
}

/// Computes the gradient of the input before rounding.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn backprop_input<T: Factor>(
    plan: &Convolution,
    filter: &[T],
    dy: &[T],
    dx: &mut [T::Compute],
) {
    plan.check(dx, filter, dy);
    if plan.is_trivial() || dx.is_empty() {
        return dx.fill(T::Compute::ZERO);
    }
    if plan.is_pointwise() {
        let Product { m, k, n, .. } = plan.product();
        let product = Product {
            m,
            k: n,
            n: k,
            transpose_a: false,
            transpose_b: true,
        };
        return T::multiply(product, dy, filter, dx, None);
    }
    match direct::input_gradient(plan) {
        Some(gradient) if !plan.is_depthwise() => convolve_reversed(&gradient, filter, dy, dx),
        _ => {
            let (filter, dy) = (T::widened(filter), T::widened(dy));
            match plan.is_depthwise() {
                true => depthwise::backprop_input(plan, &filter, &dy, dx),
                false => patches::backprop_input(plan, &filter, &dy, dx),
            }
        }
    }
}

/// Computes the gradient of an input, whose plan is that of a convolution with the reversed filter.
fn convolve_reversed<T: Factor>(plan: &Convolution, filter: &[T], dy: &[T], dx: &mut [T::Compute]) {
    let (pairs, tile) = plan.with_tile::<T>();
    // The rows of the filter as it is stored have the elements of the gradient's windows.
    let (dy, elements) = match pairs {
        None => (T::widened(dy), T::widened(filter)),
        Some(_) => (
            T::pairs_of_rows(dy, plan.channels()),
            T::pairs_of_rows(filter, plan.channels()),
        ),
    };
    let filter = Filter {
        tile,
        elements: &elements,
        is_reversed: true,
    };
    direct::forward(pairs.as_ref().unwrap_or(plan), &dy, filter, dx, None);
}

/// Computes the gradient of the filter before rounding.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn backprop_filter<T: Factor>(plan: &Convolution, x: &[T], dy: &[T], df: &mut [T::Compute]) {
    plan.check(x, df, dy);
    if plan.is_trivial() {
        return df.fill(T::Compute::ZERO);
    }
    if plan.is_pointwise() {
        let Product { m, k, n, .. } = plan.product();
        let product = Product {
            m: k,
            k: m,
            n,
            transpose_a: true,
            transpose_b: false,
        };
        return T::multiply(product, x, dy, df, None);
    }
    let (x, dy) = (T::widened(x), T::widened(dy));
    match plan.is_depthwise() {
        true => depthwise::backprop_filter(plan, &x, &dy, df),
        false => direct::backprop_filter(plan, &x, &dy, df),
    }
}

/// Leaves out the one plane of images.
fn without_planes([batch, _, rows, columns, channels]: [usize; 5]) -> [usize; 4] {
    [batch, rows, columns, channels]
}
