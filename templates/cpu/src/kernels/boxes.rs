//! Selection of boxes with high scores that overlap little.

use super::prelude::*;
use crate::compute::image::suppression::Suppression;

/// Reads the inputs that state which boxes are selected. Without a threshold a box may have any score, and scores do not
/// decay.
///
/// # Errors
/// Returns an error if a number is no scalar, or out of range.
fn read_suppression<T: Element + Float + Cast<f64>, U: Element + Cast<T>>(
    max_output_size: &HostIn<'_, i32>,
    iou_threshold: &HostIn<'_, U>,
    score_threshold: Option<&HostIn<'_, U>>,
) -> Result<Suppression<T>> {
    let size = read_scalar("max_output_size", max_output_size)?;
    let overlap: T = read_scalar("iou_threshold", iou_threshold)?.cast();
    let score = score_threshold.map(|it| read_scalar("score_threshold", it));
    let score = score.transpose()?.map(Cast::cast);
    let Ok(limit) = usize::try_from(size) else {
        return invalid!("max_output_size must be non-negative, got {size}");
    };
    let is_ratio = overlap >= T::ZERO && overlap <= T::ONE;
    if !is_ratio {
        return invalid!("iou_threshold must be in [0, 1], but is {}", overlap.cast());
    }
    Ok(Suppression {
        limit,
        overlap,
        score,
        sigma: T::ZERO,
    })
}

/// Returns the indices and scores of the selected boxes.
///
/// # Errors
/// Returns an error if the shapes of boxes and scores differ.
fn select<T: Element + Float>(
    plan: &Suppression<T>,
    boxes: &In<'_, T>,
    scores: &In<'_, T>,
) -> Result<Vec<(usize, T)>> {
    match (boxes.dims(), scores.dims()) {
        (&[count, 4], &[found]) if count == found => Ok(plan.select(boxes.data(), scores.data())),
        (boxes, scores) => invalid!(
            "{}: boxes has shape {} and scores {}",
            match boxes {
                [_, 4] => "scores has incompatible shape",
                [_, _] => "boxes must have 4 columns",
                _ => "boxes must be 2-D",
            },
            Dims(boxes),
            Dims(scores)
        ),
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
fn suppression_v2<T: Element + Float + Cast<f64>, U: Element + Cast<T>>(
    boxes: In<'_, T>,
    scores: In<'_, T>,
    max_output_size: HostIn<'_, i32>,
    iou_threshold: HostIn<'_, U>,
    selected_indices: Out<'_, i32>,
) -> Result<()> {
    let plan = read_suppression(&max_output_size, &iou_threshold, None)?;
    let found = select(&plan, &boxes, &scores)?;
    write_selected(&found, found.len(), selected_indices)
}

#[kernel(NonMaxSuppressionV3, T = [F16, f32], T_threshold: U = [F16, f32])]
fn suppression_v3<T: Element + Float + Cast<f64>, U: Element + Cast<T>>(
    boxes: In<'_, T>,
    scores: In<'_, T>,
    max_output_size: HostIn<'_, i32>,
    iou_threshold: HostIn<'_, U>,
    score_threshold: HostIn<'_, U>,
    selected_indices: Out<'_, i32>,
) -> Result<()> {
    let plan = read_suppression(&max_output_size, &iou_threshold, Some(&score_threshold))?;
    let found = select(&plan, &boxes, &scores)?;
    write_selected(&found, found.len(), selected_indices)
}

#[kernel(NonMaxSuppressionV4, T = [F16, f32], T_threshold: U = [F16, f32])]
fn suppression_v4<T: Element + Float + Cast<f64>, U: Element + Cast<T>>(
    boxes: In<'_, T>,
    scores: In<'_, T>,
    max_output_size: HostIn<'_, i32>,
    iou_threshold: HostIn<'_, U>,
    score_threshold: HostIn<'_, U>,
    selected_indices: Out<'_, i32>,
    valid_outputs: Out<'_, i32>,
    pad_to_max_output_size: bool,
) -> Result<()> {
    let plan = read_suppression(&max_output_size, &iou_threshold, Some(&score_threshold))?;
    let found = select(&plan, &boxes, &scores)?;
    let size = write_count(&plan, found.len(), pad_to_max_output_size, valid_outputs)?;
    write_selected(&found, size, selected_indices)
}

#[kernel(NonMaxSuppressionV5, T = [F16, f32])]
fn suppression_v5<T: Element + Float + Cast<T> + Cast<f64>>(
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
    let plan = read_suppression(&max_output_size, &iou_threshold, Some(&score_threshold))?;
    let plan = with_sigma(plan, read_scalar("soft_nms_sigma", &soft_nms_sigma)?)?;
    let found = select(&plan, &boxes, &scores)?;
    let size = write_count(&plan, found.len(), pad_to_max_output_size, valid_outputs)?;
    write_padded(found.iter().map(|it| it.1), size, selected_scores)?;
    write_selected(&found, size, selected_indices)
}

/// Returns a selection whose scores decay by a curve of the deviation `sigma`.
///
/// # Errors
/// Returns an error if it is negative or NaN.
fn with_sigma<T: Float + Cast<f64>>(plan: Suppression<T>, sigma: T) -> Result<Suppression<T>> {
    match sigma >= T::ZERO {
        true => Ok(Suppression { sigma, ..plan }),
        false => {
            let sigma: f64 = sigma.cast();
            invalid!("soft_nms_sigma must be non-negative, got {sigma}")
        }
    }
}

table! { suppression_v2, suppression_v3, suppression_v4, suppression_v5 }
