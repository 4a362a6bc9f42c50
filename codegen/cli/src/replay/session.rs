//! The kernels of a replay, and one call of one.

use super::compare::difference;
use super::outcome::Verdict;
use super::values;
use sp_host::{CreatedKernel, DType, Error, Host, Op, StatusCode, Tensor, Variable};
use sp_ir::Release;
use sp_layer::runtime::capture::format::{Computed, Content, Created};
use std::collections::HashMap;
use std::time::Duration;

/// The verdict of a call, with its text and the time of the kernel.
pub type CallVerdict = (Verdict, String, Duration);

/// The kernels that the capture has created and not deleted.
pub struct Session<'h> {
    host: &'h Host,
    release: Release,
    tolerance: Option<f64>,
    created: HashMap<u64, Created>,
    kernels: HashMap<u64, CreatedKernel<'h>>,
}

/// The variables of one call, by their inputs.
type Variables<'h> = Vec<(u32, Variable<'h>)>;

impl<'h> Session<'h> {
    /// Returns a session without kernels.
    pub fn new(host: &'h Host, release: Release, tolerance: Option<f64>) -> Self {
        Self {
            host,
            release,
            tolerance,
            created: HashMap::new(),
            kernels: HashMap::new(),
        }
    }

    /// Forgets all kernels: the capture of another process begins.
    pub fn clear(&mut self) {
        self.kernels.clear();
        self.created.clear();
    }

    /// Adds a kernel, which is created at its first call.
    pub fn add(&mut self, created: Created) {
        self.created.insert(created.kernel, created);
    }

    /// Deletes a kernel.
    pub fn delete(&mut self, kernel: u64) {
        self.kernels.remove(&kernel);
        self.created.remove(&kernel);
    }

    /// Repeats a call and compares what it has computed.
    pub fn replay(&mut self, call: &Computed) -> CallVerdict {
        match self.run(call) {
            Ok((verdict, text, duration)) => (verdict, text, duration),
            Err(reason) => (Verdict::NotCompared, reason, Duration::ZERO),
        }
    }

    fn run(&mut self, call: &Computed) -> Result<CallVerdict, String> {
        if !call.omitted.is_empty() {
            return Err(format!("not captured: {}", call.omitted));
        }
        if call.failure.is_none() && call.outputs.iter().any(Option::is_none) {
            return Err("the kernel left an output unset".into());
        }
        let host = self.host;
        let (inputs, variables) = inputs(host, call)?;
        let computed = match self.kernel(call, &inputs)? {
            Ok(kernel) => kernel.run_timed(&inputs),
            Err(error) => Err(error),
        };
        let duration = computed.as_ref().map_or(Duration::ZERO, |it| it.1);
        let outputs = computed.map(|it| it.0);
        if is_random(&call.op, self.release) && outputs.is_ok() {
            return Ok((
                Verdict::NotCompared,
                "its result is random".into(),
                duration,
            ));
        }
        let (verdict, text) = self.compare(call, outputs, &variables)?;
        Ok((verdict, text, duration))
    }

    /// Returns the kernel of a call. The inner error is that of the plugin.
    fn kernel(
        &mut self,
        call: &Computed,
        inputs: &[Tensor],
    ) -> Result<Result<&CreatedKernel<'h>, Error>, String> {
        if call.kernel != 0 && self.kernels.contains_key(&call.kernel) {
            return Ok(Ok(&self.kernels[&call.kernel]));
        }
        let op = self.op(call)?;
        let kernel = match self.host.create_kernel(&op, inputs) {
            Ok(kernel) => kernel,
            Err(error @ Error::Misuse(_)) => return Err(error.to_string()),
            Err(error) => return Ok(Err(error)),
        };
        // A kernel without a number has no state: another one replaces it.
        self.kernels.insert(call.kernel, kernel);
        Ok(Ok(&self.kernels[&call.kernel]))
    }

    fn op(&self, call: &Computed) -> Result<Op, String> {
        let types: Vec<DType> = call.output_types.iter().copied().map(DType).collect();
        match self.created.get(&call.kernel) {
            None if call.kernel != 0 => Err("the capture does not have its creation".into()),
            None => Ok(Op::new(&call.op).with_output_types(&types).node(&call.node)),
            Some(created) if created.node_def.is_empty() => {
                Err("not captured: TensorFlow before 2.11 does not state its attributes".into())
            }
            Some(created) => Op::from_node_def(&created.node_def).map_err(|it| it.to_string()),
        }
    }

    fn compare(
        &self,
        call: &Computed,
        outputs: Result<Vec<Tensor>, Error>,
        variables: &Variables<'h>,
    ) -> Result<(Verdict, String), String> {
        match (outputs, &call.failure) {
            (Err(error), Some((code, _))) if error.code() == Some(StatusCode(*code)) => {
                Ok((Verdict::Equal, String::new()))
            }
            (Err(Error::NoKernel(_)), Some((code, _)))
                if StatusCode(*code) == StatusCode::UNIMPLEMENTED =>
            {
                Err("it was not implemented when it was captured, and is not now".into())
            }
            (Err(error), Some((_, message))) => Ok((
                Verdict::Different,
                format!("{error}; it failed with {message} when it was captured"),
            )),
            (Err(error @ Error::NoKernel(_)), None) => Err(error.to_string()),
            (Err(error), None) => Ok((Verdict::Failed, error.to_string())),
            (Ok(_), Some((_, message))) => Ok((
                Verdict::Different,
                format!("no failure; it failed with {message} when it was captured"),
            )),
            (Ok(outputs), None) => self.compare_values(call, &outputs, variables),
        }
    }

    fn compare_values(
        &self,
        call: &Computed,
        outputs: &[Tensor],
        variables: &Variables<'h>,
    ) -> Result<(Verdict, String), String> {
        let mut compared = 0;
        for (index, (captured, found)) in call.outputs.iter().zip(outputs).enumerate() {
            let Some(captured) = captured.as_ref().filter(|it| is_comparable(&it.content)) else {
                continue;
            };
            compared += 1;
            values::check(captured)?;
            if let Some(text) = difference(captured, found, self.tolerance) {
                return Ok((Verdict::Different, format!("output {index} {text}")));
            }
        }
        for used in &call.variables {
            let Some(captured) = used.after.as_ref().filter(|it| is_comparable(&it.content)) else {
                continue;
            };
            let variable = variables.iter().find(|(input, _)| *input == used.input);
            let value = variable.map(|(_, it)| it.value()).transpose();
            let Some(found) = value.map_err(|it| it.to_string())?.flatten() else {
                let text = format!("the variable of input {} has no value", used.input);
                return Ok((Verdict::Different, text));
            };
            compared += 1;
            values::check(captured)?;
            if let Some(text) = difference(captured, &found, self.tolerance) {
                let text = format!("the variable of input {} {text}", used.input);
                return Ok((Verdict::Different, text));
            }
        }
        match compared {
            0 => Err("it has no output that was captured".into()),
            _ => Ok((Verdict::Equal, String::new())),
        }
    }
}

fn is_comparable(content: &Content) -> bool {
    matches!(content, Content::Bytes(_) | Content::Strings(_))
}

/// Returns the inputs, and the variables of those that are handles, with the values before the call.
fn inputs<'h>(host: &'h Host, call: &Computed) -> Result<(Vec<Tensor>, Variables<'h>), String> {
    let (mut inputs, mut variables) = (Vec::new(), Variables::new());
    for (index, captured) in call.inputs.iter().enumerate() {
        let Content::Resource(handle) = &captured.content else {
            inputs.push(values::tensor(captured)?);
            continue;
        };
        if let Some(known) = earlier(call, index, handle) {
            inputs.push(inputs[known].clone());
            continue;
        }
        let variable = host.variable();
        let used = call.variables.iter().find(|it| it.input as usize == index);
        if let Some(value) = used.and_then(|it| it.before.as_ref()) {
            let value = values::tensor(value)?;
            variable.assign(&value).map_err(|it| it.to_string())?;
        }
        inputs.push(variable.handle());
        variables.push((index as u32, variable));
    }
    Ok((inputs, variables))
}

/// Returns the first input with the same handle, if it is before `index`.
fn earlier(call: &Computed, index: usize, handle: &[u8]) -> Option<usize> {
    let is_same = |content: &Content| matches!(content, Content::Resource(it) if it == handle);
    let mut earlier = call.inputs[..index].iter();
    earlier
        .position(|it| is_same(&it.content))
        .filter(|_| !handle.is_empty())
}

/// Returns true if the op draws random numbers whose seed the kernel may choose.
fn is_random(op: &str, release: Release) -> bool {
    let definition = sp_ops::find(op).and_then(|it| it.in_release(release));
    definition.is_some_and(|it| {
        it.is_stateful() && it.attribute("seed").is_some() && it.attribute("seed2").is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_with_a_seed_and_a_state_are_random() {
        let release = "2.21".parse().unwrap();
        for (op, expected) in [
            ("RandomUniform", true),
            ("RandomShuffle", true),
            ("StatelessRandomUniform", false),
            ("MatMul", false),
        ] {
            assert_eq!(is_random(op, release), expected, "{op}");
        }
    }
}
