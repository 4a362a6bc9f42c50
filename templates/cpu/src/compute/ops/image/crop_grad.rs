//! The gradients of parts of images.

use super::Interpolation;
use super::crop::Crop;
use crate::compute::len;
use crate::compute::loops::cast::Cast;

/// The rows or columns between which a position is, and the weight of the second one.
struct Between {
    first: usize,
    second: usize,
    weight: f32,
}

impl Between {
    fn new(position: f32, count: usize) -> Self {
        // The last position may be rounded up to the next one.
        let index = |it: f32| (it as usize).min(count - 1);
        Self {
            first: index(position.floor()),
            second: index(position.ceil()),
            weight: position - position.floor(),
        }
    }

    fn nearest(position: f32, count: usize) -> Self {
        let first = (position.round() as usize).min(count - 1);
        Self {
            first,
            second: first,
            weight: 0.0,
        }
    }
}

impl Crop<'_> {
    /// Calls `visit(part, [row, column], positions in the image, gradient of the channels)` for each element of a part that
    /// is in the image.
    fn for_each_inside(
        &self,
        grads: &[f32],
        mut visit: impl FnMut(usize, [usize; 2], [f32; 2], &[f32]),
    ) {
        let ([rows, columns], channels) = (self.size, self.images[3]);
        assert_eq!(
            grads.len(),
            len(&self.output()),
            "a gradient differs in length from the plan"
        );
        if channels == 0 {
            return;
        }
        for (at, grads) in grads.chunks_exact(channels).enumerate() {
            let (line, column) = (at / columns, at % columns);
            let (part, row) = (line / rows, line % rows);
            let position = (self.position(part, 0, row), self.position(part, 1, column));
            if let (Some(y), Some(x)) = position {
                visit(part, [row, column], [y, x], grads);
            }
        }
    }

    /// Returns the index of the first channel of an element of the image of a part.
    fn first_channel(&self, part: usize, row: usize, column: usize) -> usize {
        let [_, rows, columns, channels] = self.images;
        ((self.indices[part] as usize * rows + row) * columns + column) * channels
    }
}

/// Adds the gradient of the images to `dx`.
///
/// # Panics
/// Panics if an index is not an image, or if a slice has another length than the plan.
pub fn add_image_gradient<T: Copy + std::ops::AddAssign>(
    plan: &Crop<'_>,
    grads: &[f32],
    dx: &mut [T],
) where
    f32: Cast<T>,
{
    let between = match plan.interpolation {
        Interpolation::Bilinear => Between::new,
        Interpolation::Nearest => Between::nearest,
    };
    plan.for_each_inside(grads, |part, _, [y, x], grads| {
        let (y, x) = (between(y, plan.images[1]), between(x, plan.images[2]));
        let rows = [(y.first, 1.0 - y.weight), (y.second, y.weight)];
        for (row, row_weight) in rows {
            for (column, weight) in [(x.first, 1.0 - x.weight), (x.second, x.weight)] {
                let first = plan.first_channel(part, row, column);
                for (dx, grad) in dx[first..].iter_mut().zip(grads) {
                    *dx += (weight * (row_weight * grad)).cast();
                }
            }
        }
    });
}

/// Adds the gradient of the edges of bilinear parts to `d_boxes`.
///
/// # Panics
/// Panics if an index is not an image, or if a slice has another length than the plan.
pub fn add_box_gradient<T: Cast<f32>>(
    plan: &Crop<'_>,
    grads: &[f32],
    image: &[T],
    d_boxes: &mut [f32],
) {
    plan.for_each_inside(grads, |part, at, [y, x], grads| {
        let (y, x) = (
            Between::new(y, plan.images[1]),
            Between::new(x, plan.images[2]),
        );
        let pixel = |row, column, channel: usize| -> f32 {
            image[plan.first_channel(part, row, column) + channel].cast()
        };
        for (channel, grad) in grads.iter().enumerate() {
            let (upper_left, upper_right) = (
                pixel(y.first, x.first, channel),
                pixel(y.first, x.second, channel),
            );
            let (left, right) = (
                pixel(y.second, x.first, channel),
                pixel(y.second, x.second, channel),
            );
            let down = (1.0 - x.weight) * (left - upper_left) + x.weight * (right - upper_right);
            let across = (1.0 - y.weight) * (upper_right - upper_left) + y.weight * (right - left);
            for (axis, slope) in [down * grad, across * grad].into_iter().enumerate() {
                let [to_first, to_last] = plan.shares(axis, at[axis]);
                d_boxes[part * 4 + axis] += slope * to_first;
                d_boxes[part * 4 + axis + 2] += slope * to_last;
            }
        }
    });
}

impl Crop<'_> {
    /// Returns the derivatives of the position of a row (axis 0) or column (axis 1) by the first and the last edge.
    fn shares(&self, axis: usize, index: usize) -> [f32; 2] {
        let (limit, count) = ((self.images[axis + 1] - 1) as f32, self.size[axis]);
        match count > 1 {
            true => {
                let share = index as f32 * (limit / (count - 1) as f32);
                [limit - share, share]
            }
            false => [0.5 * limit; 2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::ops::image::crop::crop_and_resize;
    use proptest::prelude::*;

    fn plan(
        images: [usize; 4],
        size: [usize; 2],
        boxes: &[f32],
        interpolation: Interpolation,
    ) -> Crop<'_> {
        Crop {
            images,
            size,
            boxes,
            indices: &[0],
            interpolation,
            outside: 0.0,
        }
    }

    proptest! {
        #[test]
        fn gradients_match_differences(
            rows in 2..5_usize, columns in 2..5_usize, size in [1..4_usize, 1..4_usize], edges in [0.05..0.95_f32, 0.05..0.95_f32, 0.05..0.95_f32, 0.05..0.95_f32], is_nearest in any::<bool>(),
        ) {
            let interpolation = if is_nearest { Interpolation::Nearest } else { Interpolation::Bilinear };
            let images = [1, rows, columns, 2];
            let x: Vec<f32> = (0..rows * columns * 2).map(|i| (i * i % 17) as f32).collect();
            let grads: Vec<f32> = (0..size[0] * size[1] * 2).map(|i| (i % 5) as f32 - 1.5).collect();
            let loss = |x: &[f32], boxes: &[f32]| {
                let mut out = vec![0.0; grads.len()];
                crop_and_resize(&plan(images, size, boxes, interpolation), x, &mut out);
                out.iter().zip(&grads).map(|(x, dx)| f64::from(x * dx)).sum::<f64>()
            };
            let mut dx = vec![0.0_f32; x.len()];
            add_image_gradient(&plan(images, size, &edges, interpolation), &grads, &mut dx);
            for i in 0..x.len() {
                let mut moved = x.clone();
                moved[i] += 1.0;
                let slope = loss(&moved, &edges) - loss(&x, &edges);
                prop_assert!((slope - f64::from(dx[i])).abs() < 1e-3, "{i}: {} {slope}", dx[i]);
            }
            if is_nearest { return Ok(()) }
            let mut found = [0.0; 4];
            add_box_gradient(&plan(images, size, &edges, interpolation), &grads, &x, &mut found);
            for i in 0..4 {
                let (mut up, mut down) = (edges, edges);
                (up[i], down[i]) = (up[i] + 1e-3, down[i] - 1e-3);
                let (after, before, here) = (loss(&x, &up), loss(&x, &down), loss(&x, &edges));
                // At an element of the image the slope has a step. One that is not found here changes it by at most 0.05.
                if (after + before - 2.0 * here).abs() > 1e-4 { continue }
                let slope = (after - before) / 2e-3;
                prop_assert!((slope - f64::from(found[i])).abs() < 0.05 * (2.0 + slope.abs()), "{i}: {} {slope}", found[i]);
            }
        }
    }
}
