//! Einstein summation: any equation of one or two operands, as copies with strides, sums and one batch of matrix
//! products.
//!
//! Labels are sorted by where they occur: in both operands and the result (a batch), in both operands only (summed by
//! the product), in one operand and the result (rows or columns), in one operand only (summed before). An operand is
//! copied only if its dims are not in the order of a matrix or of its transpose; a label that occurs twice is a stride
//! along the diagonal.

use crate::compute::loops::reduce::Reduction;
use crate::compute::loops::strided::{gather, scatter, strides};
use crate::compute::machine::inline::InlineList;
use crate::compute::machine::shape::len;
use crate::compute::machine::workspace::zeroed;
use crate::compute::ops::matmul::{Batch, Multiply, Product, multiply_batch};
use crate::compute::{Error, Result};
use std::borrow::Cow;

/// A label of the equation, or a dim of the ellipsis, counted from the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Label {
    Named(char),
    Ellipsis(usize),
}

impl Default for Label {
    fn default() -> Self {
        Self::Ellipsis(0)
    }
}

/// Labels in order.
type Labels = InlineList<Label>;

fn joined(parts: &[&[Label]]) -> Labels {
    parts.iter().flat_map(|it| it.iter().copied()).collect()
}

/// The subscripts of a tensor.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Subscripts {
    /// The labels before the ellipsis; all of them if there is none.
    front: Vec<char>,
    /// The labels after the ellipsis, if there is one.
    back: Option<Vec<char>>,
}

/// An equation, such as `"...ij,jk->...ik"`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Equation {
    inputs: Vec<Subscripts>,
    output: Subscripts,
}

fn error(reason: impl Into<String>) -> Error {
    Error::Equation(reason.into())
}

impl Subscripts {
    fn parse(text: &str) -> Result<Self> {
        let mut parts = text.split("...").map(|part| part.chars().collect());
        let (front, back): (Vec<char>, Option<Vec<char>>) =
            (parts.next().unwrap_or_default(), parts.next());
        let is_valid = |labels: &[char]| !labels.iter().any(|it| ".,->".contains(*it));
        match parts.next().is_none() && is_valid(&front) && back.as_deref().is_none_or(is_valid) {
            true => Ok(Self { front, back }),
            false => Err(error(format!("invalid subscripts {text:?}"))),
        }
    }

    /// Returns the label of each dim, with this many dims in the ellipsis.
    fn labels(&self, ellipsis: usize) -> Labels {
        let front = self.front.iter().map(|it| Label::Named(*it));
        let Some(back) = &self.back else {
            return front.collect();
        };
        let ellipsis = (0..ellipsis).rev().map(Label::Ellipsis);
        let back = back.iter().map(|it| Label::Named(*it));
        front.chain(ellipsis).chain(back).collect()
    }

    /// Returns the number of dims of the ellipsis in a tensor of this rank.
    fn ellipsis(&self, rank: usize) -> Result<usize> {
        let named = self.front.len() + self.back.as_ref().map_or(0, Vec::len);
        match (rank.checked_sub(named), &self.back) {
            (Some(0), None) => Ok(0),
            (Some(rest), Some(_)) => Ok(rest),
            _ => Err(error(format!(
                "subscripts of {named} labels do not match an operand of {rank} dimensions"
            ))),
        }
    }
}

impl Equation {
    /// Parses an equation. As in TensorFlow's kernel a space is a label; `tf.einsum` removes it.
    ///
    /// # Errors
    /// Returns [`Error::Equation`] if it is malformed, or has other than one or two operands.
    pub fn parse(text: &str) -> Result<Self> {
        let mut sides = text.split("->");
        let (Some(inputs), Some(output), None) = (sides.next(), sides.next(), sides.next()) else {
            return Err(error(format!("equation {text:?} must have one \"->\"")));
        };
        let inputs: Vec<Subscripts> = inputs
            .split(',')
            .map(Subscripts::parse)
            .collect::<Result<_>>()?;
        if inputs.len() > 2 {
            return Err(error(format!(
                "equation {text:?} has {} operands; one or two are supported",
                inputs.len()
            )));
        }
        // TensorFlow ignores a comma at the end of the result.
        let output = Subscripts::parse(output.trim_end_matches(','))?;
        Ok(Self { inputs, output })
    }

    /// Returns the number of operands.
    pub fn operands(&self) -> usize {
        self.inputs.len()
    }
}

/// An equation with the dims of its operands.
#[derive(Clone, Debug)]
pub struct Einsum {
    /// The operands; the second one has no labels if there is only one.
    operands: [Axes; 2],
    /// The labels of the result, each once.
    result: Labels,
    /// The dims of the result, and its strides by the labels of `result`.
    output_dims: InlineList<usize>,
    output_strides: InlineList<usize>,
    sizes: InlineList<(Label, usize)>,
}

/// The distinct labels of an operand, with their strides.
#[derive(Clone, Debug)]
struct Axes(InlineList<(Label, usize)>);

impl Axes {
    fn has(&self, label: Label) -> bool {
        self.0.iter().any(|(it, _)| *it == label)
    }

    fn labels(&self) -> impl Iterator<Item = Label> {
        self.0.iter().map(|(label, _)| *label)
    }

    fn stride(&self, label: Label) -> usize {
        self.0
            .iter()
            .find(|(it, _)| *it == label)
            .map_or(0, |(_, stride)| *stride)
    }
}

impl Einsum {
    /// Creates the plan for operands with these dims.
    ///
    /// # Errors
    /// Returns [`Error::Equation`] if dims do not match the equation.
    pub fn new(equation: &Equation, dims: &[&[usize]]) -> Result<Self> {
        if dims.len() != equation.inputs.len() {
            return Err(error(format!(
                "the equation has {} operands, but there are {}",
                equation.inputs.len(),
                dims.len()
            )));
        }
        let mut labels = [joined(&[]), joined(&[])];
        let mut ellipsis = 0;
        for ((labels, subscripts), dims) in labels.iter_mut().zip(&equation.inputs).zip(dims) {
            let count = subscripts.ellipsis(dims.len())?;
            ellipsis = ellipsis.max(count);
            *labels = subscripts.labels(count);
        }
        if ellipsis > 0 && equation.output.back.is_none() {
            return Err(error(format!(
                "the result has no ellipsis for {ellipsis} dimensions"
            )));
        }
        let sizes = sizes(&labels, dims)?;
        let operands = std::array::from_fn(|index| {
            let dims = dims.get(index).copied().unwrap_or_default();
            axes(&labels[index], dims, &sizes)
        });
        // TensorFlow leaves out labels of the result that no operand has.
        let is_known = |label: &&Label| sizes.iter().any(|(it, _)| it == *label);
        let output = equation.output.labels(ellipsis);
        let output: Labels = output.iter().filter(is_known).copied().collect();
        let output_dims: InlineList<usize> =
            output.iter().map(|label| size(&sizes, *label)).collect();
        let axes = self::axes(&output, &output_dims, &sizes);
        Ok(Self {
            operands,
            result: axes.labels().collect(),
            output_dims,
            output_strides: axes.0.iter().map(|(_, stride)| *stride).collect(),
            sizes,
        })
    }

    /// Returns the dims of the result.
    pub fn dims(&self) -> &[usize] {
        &self.output_dims
    }

    fn dims_of(&self, labels: &[Label]) -> InlineList<usize> {
        labels
            .iter()
            .map(|label| size(&self.sizes, *label))
            .collect()
    }

    fn len_of(&self, labels: &[Label]) -> usize {
        len(&self.dims_of(labels))
    }

    /// Returns true if an operand is contiguous in the order of these labels.
    fn is_contiguous(&self, axes: &Axes, order: &[Label]) -> bool {
        let contiguous = strides(&self.dims_of(order));
        axes.0.len() == order.len()
            && order
                .iter()
                .zip(&*contiguous)
                .all(|(label, stride)| axes.stride(*label) == *stride)
    }

    /// Returns an operand in the order of these labels; the others are summed.
    fn arrange<'x, T: Multiply>(
        &self,
        operand: usize,
        order: &[Label],
        x: &'x [T],
    ) -> Cow<'x, [T]> {
        let axes = &self.operands[operand];
        if self.is_contiguous(axes, order) {
            return Cow::Borrowed(x);
        }
        let summed: Labels = axes
            .labels()
            .filter(|label| !order.contains(label))
            .collect();
        let all = joined(&[order, &summed]);
        let strides: InlineList<usize> = all.iter().map(|label| axes.stride(*label)).collect();
        let mut copy = zeroed(self.len_of(&all));
        gather(&self.dims_of(&all), &strides, x, &mut copy);
        if summed.is_empty() {
            return Cow::Owned(copy);
        }
        let mut sums = zeroed(self.len_of(order));
        sum_rows(&copy, self.len_of(&summed), &mut sums);
        Cow::Owned(sums)
    }

    /// Returns an operand as matrices, and true if they are transposed.
    fn matrices<'x, T: Multiply>(
        &self,
        operand: usize,
        [batch, outer, inner]: [&[Label]; 3],
        x: &'x [T],
    ) -> (Cow<'x, [T]>, bool) {
        let transposed = joined(&[batch, inner, outer]);
        match self.is_contiguous(&self.operands[operand], &transposed) {
            true => (Cow::Borrowed(x), true),
            false => (
                self.arrange(operand, &joined(&[batch, outer, inner]), x),
                false,
            ),
        }
    }
}

/// Sums each row of `width` elements.
fn sum_rows<T: Multiply>(x: &[T], width: usize, sums: &mut [T]) {
    if let Ok(plan) = Reduction::new(&[sums.len(), width], &[1]) {
        T::sum_rows(&plan, x, sums);
    }
}

/// Computes the summation.
///
/// # Panics
/// Panics if a slice has another length than the plan.
pub fn einsum<T: Multiply>(plan: &Einsum, operands: &[&[T]], out: &mut [T]) {
    assert_eq!(
        out.len(),
        len(&plan.output_dims),
        "the result differs in length from the plan"
    );
    // The other dims of an empty operand may be of any size. Its sums are 0, so no loop runs.
    if operands.iter().any(|it| it.is_empty()) {
        return out.fill(T::default());
    }
    let is_repeated = plan.result.len() < plan.output_dims.len();
    let result = match operands {
        [x] => plan.arrange(0, &plan.result, x),
        [x, y] => return multiply(plan, x, y, out),
        _ => return,
    };
    match is_repeated {
        true => scatter(
            &plan.dims_of(&plan.result),
            &plan.output_strides,
            &result,
            out,
        ),
        false => out.copy_from_slice(&result),
    }
}

/// Computes the summation of two operands; `out` is zeroed if labels of the result are repeated.
fn multiply<T: Multiply>(plan: &Einsum, x: &[T], y: &[T], out: &mut [T]) {
    let [a, b] = [&plan.operands[0], &plan.operands[1]];
    let of_result = |in_a: bool, in_b: bool| -> Labels {
        let is_such = |label: &&Label| a.has(**label) == in_a && b.has(**label) == in_b;
        plan.result.iter().filter(is_such).copied().collect()
    };
    let (batch, rows, columns) = (
        of_result(true, true),
        of_result(true, false),
        of_result(false, true),
    );
    let inner: Labels = a
        .labels()
        .filter(|label| b.has(*label) && !plan.result.contains(label))
        .collect();
    let (left, transpose_a) = plan.matrices(0, [&batch, &rows, &inner], x);
    let (right, is_plain) = plan.matrices(1, [&batch, &columns, &inner], y);
    let [m, k, n] = [&rows, &inner, &columns].map(|labels| plan.len_of(labels));
    let count = plan.len_of(&batch);
    let product = Product {
        m,
        k,
        n,
        transpose_a,
        transpose_b: !is_plain,
    };
    if is_ordered(plan, &joined(&[&batch, &rows, &columns])) {
        return multiply_batch(&Batch::new(count, product), &left, &right, out);
    }
    if is_ordered(plan, &joined(&[&batch, &columns, &rows])) {
        // The transposed result is the product of the transposed operands in the other order.
        let swapped = Product {
            m: n,
            k,
            n: m,
            transpose_a: is_plain,
            transpose_b: !transpose_a,
        };
        return multiply_batch(&Batch::new(count, swapped), &right, &left, out);
    }
    let mut result = zeroed(count * m * n);
    multiply_batch(&Batch::new(count, product), &left, &right, &mut result);
    write_result(plan, &joined(&[&batch, &rows, &columns]), &result, out);
}

/// Returns true if the result's elements are in the order of these labels.
fn is_ordered(plan: &Einsum, order: &[Label]) -> bool {
    *plan.result == *order && plan.result.len() == plan.output_dims.len()
}

/// Copies the result, whose dims are in the order of these labels.
fn write_result<T: Multiply>(plan: &Einsum, order: &[Label], result: &[T], out: &mut [T]) {
    let position = |label: &Label| plan.result.iter().position(|it| it == label).unwrap_or(0);
    if plan.result.len() < plan.output_dims.len() {
        let strides: InlineList<usize> = order
            .iter()
            .map(|label| plan.output_strides[position(label)])
            .collect();
        return scatter(&plan.dims_of(order), &strides, result, out);
    }
    let contiguous = strides(&plan.dims_of(order));
    let stride = |label: &Label| {
        order
            .iter()
            .position(|it| it == label)
            .map_or(0, |i| contiguous[i])
    };
    let strides: InlineList<usize> = plan.result.iter().map(stride).collect();
    gather(&plan.output_dims, &strides, result, out);
}

/// Returns the size of each label. Only dims of an ellipsis broadcast.
fn sizes(labels: &[Labels], dims: &[&[usize]]) -> Result<InlineList<(Label, usize)>> {
    let mut sizes = InlineList::new((Label::default(), 0));
    for (label, dim) in labels
        .iter()
        .zip(dims)
        .flat_map(|(labels, dims)| labels.iter().zip(*dims))
    {
        match sizes.iter_mut().find(|(it, _)| it == label) {
            None => sizes.push((*label, *dim)),
            Some((_, known)) if known == dim => {}
            Some((Label::Ellipsis(_), _)) if *dim == 1 => {}
            Some((Label::Ellipsis(_), known)) if *known == 1 => *known = *dim,
            Some((_, known)) => {
                return Err(error(format!(
                    "Expected dimension {known}, that of the same label, but got dimension {dim}: operands of shapes {dims:?}"
                )));
            }
        }
    }
    Ok(sizes)
}

fn size(sizes: &[(Label, usize)], label: Label) -> usize {
    sizes
        .iter()
        .find(|(it, _)| *it == label)
        .map_or(1, |(_, size)| *size)
}

/// Returns the distinct labels of a tensor. One that is broadcast is left out: the tensor does not depend on it.
fn axes(labels: &[Label], dims: &[usize], sizes: &[(Label, usize)]) -> Axes {
    let mut axes = InlineList::new((Label::default(), 0));
    for ((label, dim), stride) in labels.iter().zip(dims).zip(&*strides(dims)) {
        match axes.iter_mut().find(|(it, _)| it == label) {
            Some((_, sum)) => *sum += stride,
            None if *dim == size(sizes, *label) => axes.push((*label, *stride)),
            None => {}
        }
    }
    Axes(axes)
}
