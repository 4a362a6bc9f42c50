//! Elementwise ops in one pass over memory. The SDK's fusion of graphs writes the op, which has no function in Python. A
//! result has the bits of the single ops.

use super::prelude::*;
use crate::compute::steps::{Body, Function, Steps};
use sp_plugin::kernel::{Attributes, InList, Kernel, Prepare, kernels};

mod ops {
    use sp_plugin::Result;
    use sp_plugin::op::{Dim, Shape, op};

    /// Computes elementwise ops of `inputs`, which broadcast to the shape of all results.
    #[op(SpElementwise(inputs: N * T) -> (output: T), T: {f32}, N: int >= 1, steps: list(string) >= 1)]
    pub fn elementwise(inputs: Vec<Shape>) -> Result<Shape> {
        let Some(shapes) = inputs.iter().map(Shape::dims).collect::<Option<Vec<_>>>() else {
            return Ok(Shape::unknown());
        };
        let rank = shapes.iter().map(|it| it.len()).max().unwrap_or(0);
        let dims = (1..=rank).rev().map(|from_end| {
            let dims = shapes
                .iter()
                .filter_map(|it| it.get(it.len().checked_sub(from_end)?));
            broadcast(dims)
        });
        Ok(Shape::new(dims.collect::<Vec<Dim>>()))
    }

    /// Returns the dimension to which these broadcast: the only one that may differ from 1, or one that does.
    fn broadcast<'a>(dims: impl Iterator<Item = &'a Dim>) -> Dim {
        let mut others = dims.filter(|it| it.size() != Some(1));
        let first = others.next().copied().unwrap_or(Dim::new(1));
        let mut others = others.copied().peekable();
        match others.peek() {
            None => first,
            Some(_) if first.size().is_some() => first,
            Some(_) => others
                .find(|it| it.size().is_some())
                .unwrap_or(Dim::UNKNOWN),
        }
    }
}

/// The steps as text.
#[derive(Attributes)]
struct StepsAttributes {
    #[attribute("N")]
    count: i64,
    steps: Vec<String>,
}

/// The planned steps.
struct Planned(Steps);

impl Prepare for Planned {
    type Attributes = StepsAttributes;

    fn prepare(it: StepsAttributes) -> Result<Self> {
        let inputs = usize::try_from(it.count).unwrap_or(0);
        let functions = it
            .steps
            .iter()
            .map(|text| parse(text))
            .collect::<Option<Vec<_>>>();
        let steps = functions.and_then(|functions| Steps::new(inputs, &functions));
        steps.map(Self).ok_or_else(|| {
            let message = format!(
                "steps {:?} of {inputs} inputs are not valid: expected an op and the numbers of inputs or earlier steps for each, and all are read",
                it.steps
            );
            Error::invalid_argument(message)
        })
    }
}

/// Parses a step: an op, and the numbers of its operands.
fn parse(text: &str) -> Option<(Function, [usize; 2])> {
    let mut words = text.split(' ');
    let function = Function::of_op(words.next()?)?;
    let operands = words
        .map(|it| it.parse().ok())
        .collect::<Option<InlineList<usize>>>()?;
    match (function.body, &operands[..]) {
        (Body::One(_), &[x]) => Some((function, [x, x])),
        (Body::Two(_) | Body::TwoOfOneShape(_), &[x, y]) => Some((function, [x, y])),
        _ => None,
    }
}

#[kernel(ops::SpElementwise, T = [f32])]
fn elementwise(
    #[state] steps: &Planned,
    inputs: InList<'_, f32>,
    output: Out<'_, f32>,
) -> Result<()> {
    let inputs = inputs.fetch()?;
    let dims = steps.0.result_dims(inputs.iter().map(In::dims))?;
    let inputs: Vec<(&[usize], &[f32])> = inputs.iter().map(|it| (it.dims(), it.data())).collect();
    let mut output = output.unspecified(&dims)?;
    steps.0.run(&inputs, &dims, &mut output);
    Ok(())
}

/// Returns the kernels of this file.
pub fn table() -> Vec<&'static Kernel> {
    kernels![elementwise]
}
