//! Maxima and averages over windows of images and volumes, and their gradients. Tensors are in the order batch, planes,
//! rows, columns, channels. An image is a volume of one plane.
//!
//! The rows of a window are folded before its columns (`folds`), so that the loops are long for few channels too.

mod folds;
mod forward;
mod gradient;
mod positions;
mod windows;

pub use self::forward::{average_pool, max_pool};
pub use self::gradient::{average_pool_grad, max_pool_3d_grad, max_pool_grad};
pub use self::positions::{find_largest, select_equal};
use super::window::{Slide, Windows};
use crate::compute::{Result, len};

/// The dims of a pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pool {
    batch: usize,
    planes: Windows,
    rows: Windows,
    columns: Windows,
    channels: usize,
}

impl Pool {
    /// Creates the plan for an input and windows of `size` rows and columns.
    ///
    /// # Errors
    /// Returns [`Error::WindowTooLarge`](crate::compute::Error).
    pub fn new(
        [batch, height, width, channels]: [usize; 4],
        size: [usize; 2],
        slides: [Slide; 2],
    ) -> Result<Self> {
        let [rows, columns] = slides;
        Self::new_3d(
            [batch, 1, height, width, channels],
            [1, size[0], size[1]],
            [Slide::NONE, rows, columns],
        )
    }

    /// Creates the plan for an input and windows of `size` planes, rows and columns.
    ///
    /// # Errors
    /// Returns [`Error::WindowTooLarge`](crate::compute::Error).
    pub fn new_3d(input: [usize; 5], size: [usize; 3], slides: [Slide; 3]) -> Result<Self> {
        let windows = |i: usize| Windows::new(input[i + 1], size[i], slides[i]);
        Ok(Self {
            batch: input[0],
            planes: windows(0)?,
            rows: windows(1)?,
            columns: windows(2)?,
            channels: input[4],
        })
    }

    /// Returns the dims of the result of images.
    pub fn output(&self) -> [usize; 4] {
        let [batch, _, rows, columns, channels] = self.output_3d();
        [batch, rows, columns, channels]
    }

    /// Returns the dims of the input images.
    pub fn input(&self) -> [usize; 4] {
        let [batch, _, rows, columns, channels] = self.input_3d();
        [batch, rows, columns, channels]
    }

    /// Returns the dims of the result.
    pub fn output_3d(&self) -> [usize; 5] {
        let [planes, rows, columns] = self.windows().map(|it| it.output);
        [self.batch, planes, rows, columns, self.channels]
    }

    /// Returns the dims of the input.
    pub fn input_3d(&self) -> [usize; 5] {
        let [planes, rows, columns] = self.windows().map(|it| it.input);
        [self.batch, planes, rows, columns, self.channels]
    }

    /// Returns the windows along the planes, rows and columns.
    pub fn windows(&self) -> [&Windows; 3] {
        [&self.planes, &self.rows, &self.columns]
    }

    fn check<T>(&self, x: &[T], y: &[T]) {
        let lens = [len(&self.input_3d()), len(&self.output_3d())];
        assert_eq!(
            [x.len(), y.len()],
            lens,
            "a tensor differs in length from the plan"
        );
    }

    /// Returns the number of elements of one row of windows.
    fn output_row(&self) -> usize {
        self.columns.output * self.channels
    }

    /// Returns the number of elements of an input image or volume.
    pub fn image(&self) -> usize {
        len(&self.input_3d()[1..])
    }
}
