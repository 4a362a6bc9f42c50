//! Selection of boxes, and gradients of parts of images.

use super::image::{dims4, shape};
use super::prelude::*;
use super::resize::{Method, check_boxes, check_values};
use crate::compute::cast::Cast;
use crate::compute::image::Interpolation;
use crate::compute::image::crop::Crop;
use crate::compute::image::crop_grad::{add_box_gradient, add_image_gradient};
use crate::compute::image::suppression::Suppression;
use sp_plugin::kernel::{Kernel, kernels};

/// The inputs that state which boxes are selected.
struct Limits<T> {
    count: i32,
    overlap: T,
    score: Option<T>,
    sigma: T,
}

impl<T: Element + Float> Limits<T> {
    /// Reads the inputs that all versions have. Boxes of any score are selected, and scores do not decay.
    fn new<U: Element + Cast<T>>(
        max_output_size: &HostIn<'_, i32>,
        iou_threshold: &HostIn<'_, U>,
    ) -> Result<Self> {
        Ok(Self {
            count: number("max_output_size", max_output_size)?,
            overlap: number("iou_threshold", iou_threshold)?.cast(),
            score: None,
            sigma: T::ZERO,
        })
    }

    /// Reads the least score.
    fn with_score<U: Element + Cast<T>>(self, score_threshold: &HostIn<'_, U>) -> Result<Self> {
        let score = Some(number("score_threshold", score_threshold)?.cast());
        Ok(Self { score, ..self })
    }
}

/// Returns the plan of a selection.
///
/// # Errors
/// Returns an error if the shapes of boxes and scores differ, or a limit is out of range.
fn plan<T: Element + Float>(
    boxes: &In<'_, T>,
    scores: &In<'_, T>,
    limits: Limits<T>,
) -> Result<Suppression<T>> {
    let invalid = |text: String| Err(Error::invalid_argument(text));
    match (boxes.dims(), scores.dims()) {
        (&[count, 4], &[found]) if count == found => {}
        (boxes, scores) => {
            return invalid(format!(
                "boxes and scores must have shapes [n, 4] and [n], not {boxes:?} and {scores:?}"
            ));
        }
    }
    let Ok(count) = usize::try_from(limits.count) else {
        return invalid("output size must be non-negative".into());
    };
    let is_ratio = limits.overlap >= T::ZERO && limits.overlap <= T::ONE;
    if !is_ratio {
        return invalid("iou_threshold must be in [0, 1]".into());
    }
    let is_deviation = limits.sigma >= T::ZERO;
    if !is_deviation {
        return invalid("soft_nms_sigma must be >= 0".into());
    }
    Ok(Suppression {
        limit: count,
        overlap: limits.overlap,
        score: limits.score,
        sigma: limits.sigma,
    })
}

/// Returns the number of an input in host memory.
fn number<T: Element>(name: &str, value: &HostIn<'_, T>) -> Result<T> {
    match (value.dims(), value.data()) {
        ([], [value]) => Ok(*value),
        (dims, _) => Err(Error::invalid_argument(format!(
            "{name} must be 0-D, got shape {dims:?}"
        ))),
    }
}

/// Writes the numbers, and zeros up to `size` of them.
fn write_padded<T: Element + Number>(
    found: impl Iterator<Item = T>,
    size: usize,
    output: Out<'_, T>,
) -> Result<()> {
    let mut output = output.zeroed(&[size])?;
    output.iter_mut().zip(found).for_each(|(out, it)| *out = it);
    Ok(())
}

/// Writes the number of selected boxes, and returns the size of the outputs.
fn write_count<T>(
    plan: &Suppression<T>,
    found: usize,
    is_padded: bool,
    output: Out<'_, i32>,
) -> Result<usize> {
    output.uninit(&[])?.fill(found as i32);
    Ok(if is_padded { plan.limit } else { found })
}

/// Writes the indices of the selected boxes.
fn write_selected<T>(found: &[(usize, T)], size: usize, output: Out<'_, i32>) -> Result<()> {
    write_padded(found.iter().map(|it| it.0 as i32), size, output)
}

#[kernel(NonMaxSuppressionV2, T = [F16, f32], T_threshold: U = [F16, f32])]
fn suppression_v2<T: Element + Float, U: Element + Cast<T>>(
    boxes: In<'_, T>,
    scores: In<'_, T>,
    max_output_size: HostIn<'_, i32>,
    iou_threshold: HostIn<'_, U>,
    selected_indices: Out<'_, i32>,
) -> Result<()> {
    let limits = Limits::new(&max_output_size, &iou_threshold)?;
    let found = plan(&boxes, &scores, limits)?.select(boxes.data(), scores.data());
    write_selected(&found, found.len(), selected_indices)
}

#[kernel(NonMaxSuppressionV3, T = [F16, f32], T_threshold: U = [F16, f32])]
fn suppression_v3<T: Element + Float, U: Element + Cast<T>>(
    boxes: In<'_, T>,
    scores: In<'_, T>,
    max_output_size: HostIn<'_, i32>,
    iou_threshold: HostIn<'_, U>,
    score_threshold: HostIn<'_, U>,
    selected_indices: Out<'_, i32>,
) -> Result<()> {
    let limits = Limits::new(&max_output_size, &iou_threshold)?.with_score(&score_threshold)?;
    let found = plan(&boxes, &scores, limits)?.select(boxes.data(), scores.data());
    write_selected(&found, found.len(), selected_indices)
}

#[kernel(NonMaxSuppressionV4, T = [F16, f32], T_threshold: U = [F16, f32])]
fn suppression_v4<T: Element + Float, U: Element + Cast<T>>(
    boxes: In<'_, T>,
    scores: In<'_, T>,
    max_output_size: HostIn<'_, i32>,
    iou_threshold: HostIn<'_, U>,
    score_threshold: HostIn<'_, U>,
    selected_indices: Out<'_, i32>,
    valid_outputs: Out<'_, i32>,
    pad_to_max_output_size: bool,
) -> Result<()> {
    let limits = Limits::new(&max_output_size, &iou_threshold)?.with_score(&score_threshold)?;
    let plan = plan(&boxes, &scores, limits)?;
    let found = plan.select(boxes.data(), scores.data());
    let size = write_count(&plan, found.len(), pad_to_max_output_size, valid_outputs)?;
    write_selected(&found, size, selected_indices)
}

#[kernel(NonMaxSuppressionV5, T = [F16, f32])]
fn suppression_v5<T: Element + Float + Cast<T>>(
    boxes: In<'_, T>,
    scores: In<'_, T>,
    max_output_size: HostIn<'_, i32>,
    iou_threshold: HostIn<'_, T>,
    score_threshold: HostIn<'_, T>,
    soft_nms_sigma: HostIn<'_, T>,
    selected_indices: Out<'_, i32>,
    selected_scores: Out<'_, T>,
    valid_outputs: Out<'_, i32>,
    pad_to_max_output_size: bool,
) -> Result<()> {
    let limits = Limits::<T>::new(&max_output_size, &iou_threshold)?;
    let mut limits = limits.with_score(&score_threshold)?;
    limits.sigma = number("soft_nms_sigma", &soft_nms_sigma)?;
    let plan = plan(&boxes, &scores, limits)?;
    let found = plan.select(boxes.data(), scores.data());
    let size = write_count(&plan, found.len(), pad_to_max_output_size, valid_outputs)?;
    write_padded(found.iter().map(|it| it.1), size, selected_scores)?;
    write_selected(&found, size, selected_indices)
}

/// Returns the plan of the parts whose gradient an op gets.
fn parts<'a>(
    grads: &In<'_, f32>,
    images: [usize; 4],
    boxes: &'a In<'_, f32>,
    box_ind: &'a In<'_, i32>,
    method: Method,
) -> Result<Crop<'a>> {
    let [count, rows, columns, channels] = dims4("grads", grads.dims())?;
    check_boxes(boxes, box_ind)?;
    let invalid = |text: String| Err(Error::invalid_argument(text));
    if count != box_ind.len() || channels != images[3] {
        return invalid(format!(
            "grads {:?} must have an element for each of {} boxes, and the channels of images {images:?}",
            grads.dims(),
            box_ind.len()
        ));
    }
    if [rows, columns, images[1], images[2]].contains(&0) {
        return invalid(format!(
            "grads {:?} and images {images:?} must have rows and columns",
            grads.dims()
        ));
    }
    let plan = Crop {
        images,
        size: [rows, columns],
        boxes: if box_ind.is_empty() {
            &[]
        } else {
            boxes.data()
        },
        indices: box_ind.data(),
        interpolation: Interpolation::from(method),
        outside: 0.0,
    };
    check_values(&plan)?;
    Ok(plan)
}

#[kernel(CropAndResizeGradImage, T = [F16, f32, f64])]
fn crop_grad_image<T: Element + Precision<Compute: Number + std::ops::AddAssign>>(
    grads: In<'_, f32>,
    boxes: In<'_, f32>,
    box_ind: In<'_, i32>,
    image_size: HostIn<'_, i32>,
    output: Out<'_, T>,
    method: Method,
) -> Result<()>
where
    f32: Cast<T::Compute>,
{
    let images = dims4("the image", &shape("image_size", &image_size)?)?;
    let plan = parts(&grads, images, &boxes, &box_ind, method)?;
    let mut output = output.zeroed(&images)?;
    T::update(&mut output, |dx| {
        add_image_gradient(&plan, grads.data(), dx)
    });
    Ok(())
}

/// The op has no other method.
#[derive(Clone, Copy, AttributeValue)]
enum BilinearOnly {
    #[value("bilinear")]
    Bilinear,
}

#[kernel(CropAndResizeGradBoxes, T = [F16, f32, f64])]
fn crop_grad_boxes<T: Element + Cast<f32>>(
    grads: In<'_, f32>,
    image: In<'_, T>,
    boxes: In<'_, f32>,
    box_ind: In<'_, i32>,
    output: Out<'_, f32>,
    method: BilinearOnly,
) -> Result<()> {
    let BilinearOnly::Bilinear = method;
    let images = dims4("image", image.dims())?;
    let plan = parts(&grads, images, &boxes, &box_ind, Method::Bilinear)?;
    let mut output = output.zeroed(&[box_ind.len(), 4])?;
    add_box_gradient(&plan, grads.data(), image.data(), &mut output);
    Ok(())
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![
        suppression_v2,
        suppression_v3,
        suppression_v4,
        suppression_v5,
        crop_grad_image,
        crop_grad_boxes
    ]
}
