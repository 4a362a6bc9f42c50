//! Images: other sizes, projective transforms and colors. Tensors are in the order batch, rows, columns, channels.

mod bilinear;
pub mod color;
pub mod crop;
pub mod crop_grad;
pub mod projection;
pub mod resize;
pub mod suppression;

/// The computation of an element between the elements of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Interpolation {
    /// The nearest element.
    Nearest,
    /// The average of the four elements around, weighted by their distances.
    Bilinear,
}

/// Returns the number between `from` and `to` at `weight`, which is from 0 to 1.
#[inline(always)]
fn blend(from: f32, to: f32, weight: f32) -> f32 {
    from + (to - from) * weight
}
