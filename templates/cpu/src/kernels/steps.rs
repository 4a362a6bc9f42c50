//! Elementwise ops in one pass over memory. The SDK's fusion of graphs writes the op, which has no function in Python. A
//! result has the bits of the single ops.

use super::prelude::*;
use crate::compute::steps::{Body, Function, Steps};
use sp_plugin::kernel::{OutList, step_function};

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

    /// Computes elementwise ops of `inputs`, of which several are results.
    #[op(SpElementwiseResults(inputs: N * T) -> (outputs: M * T), T: {f32}, N: int >= 1, M: int >= 1, steps: list(string) >= 1, results: list(int) >= 1)]
    pub fn elementwise_results(inputs: Vec<Shape>) -> Result<Vec<Shape>> {
        // A result may have another shape than the last one, and the number of results is not an input.
        let _ = inputs;
        Ok(Vec::new())
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

/// The planned steps, whose last one is the result.
struct Planned(Steps);

impl Prepare for Planned {
    type Attributes = StepsAttributes;

    fn prepare(it: StepsAttributes) -> Result<Self> {
        let last = it.steps.len().saturating_sub(1);
        plan(it.count, &it.steps, &[last as i64]).map(Self)
    }
}

/// The steps as text, and the numbers of those that are results.
#[derive(Attributes)]
struct ResultsAttributes {
    #[attribute("N")]
    count: i64,
    steps: Vec<String>,
    results: Vec<i64>,
}

/// The planned steps, of which several are results.
struct PlannedResults(Steps);

impl Prepare for PlannedResults {
    type Attributes = ResultsAttributes;

    fn prepare(it: ResultsAttributes) -> Result<Self> {
        plan(it.count, &it.steps, &it.results).map(Self)
    }
}

/// Plans steps of so many inputs.
fn plan(inputs: i64, steps: &[String], results: &[i64]) -> Result<Steps> {
    let functions: Option<Vec<_>> = steps.iter().map(|text| parse(text)).collect();
    let numbers: Option<Vec<usize>> = results.iter().map(|it| (*it).try_into().ok()).collect();
    let count = usize::try_from(inputs).unwrap_or(0);
    let planned = functions.zip(numbers);
    let planned = planned.and_then(|(functions, numbers)| Steps::new(count, &functions, &numbers));
    planned.ok_or_else(|| {
        Error::invalid_argument(format!(
            "steps {steps:?} of {inputs} inputs with the results {results:?} are not valid: expected an op and the numbers of inputs or earlier steps for each, and all are read or results"
        ))
    })
}

/// Parses a step: an op, and the numbers of its operands.
fn parse(text: &str) -> Option<(Function, [usize; 2])> {
    let mut words = text.split(' ');
    let op = words.next()?;
    let function = Function::of_op(op).or_else(|| step_function(op).copied())?;
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
    let mut output = output.unspecified(&dims[0])?;
    steps
        .0
        .run(&operands(inputs.iter()), &dims[0], &mut [&mut output]);
    Ok(())
}

#[kernel(ops::SpElementwiseResults, T = [f32])]
fn elementwise_results(
    #[state] steps: &PlannedResults,
    inputs: InList<'_, f32>,
    outputs: OutList<'_, f32>,
) -> Result<()> {
    let (steps, inputs) = (&steps.0, inputs.fetch()?);
    if outputs.len() != steps.results() {
        return invalid!("{} outputs of {} results", outputs.len(), steps.results());
    }
    let dims = steps.result_dims(inputs.iter().map(In::dims))?;
    let outputs = outputs.zip(&dims).map(|(it, dims)| it.unspecified(dims));
    let mut outputs = outputs.collect::<Result<Vec<_>>>()?;
    let mut outs: Vec<&mut [f32]> = outputs.iter_mut().map(|it| &mut it[..]).collect();
    let inputs = operands(inputs.iter());
    if dims.iter().all(|it| *it == dims[0]) {
        steps.run(&inputs, &dims[0], &mut outs);
        return Ok(());
    }
    for (result, (out, dims)) in outs.iter_mut().zip(&dims).enumerate() {
        let (steps, read) = steps.restricted_to(result);
        let inputs: Vec<_> = read.iter().map(|it| inputs[*it]).collect();
        steps.run(&inputs, dims, &mut [&mut **out]);
    }
    Ok(())
}

/// Returns the shapes and elements of the inputs.
fn operands<'a>(inputs: impl Iterator<Item = &'a In<'a, f32>>) -> Vec<(&'a [usize], &'a [f32])> {
    inputs.map(|it| (it.dims(), it.data())).collect()
}

table! { elementwise, elementwise_results }
