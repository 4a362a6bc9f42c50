//! The calls of a capture as text: a line for each.

use super::ReplayError;
use super::values::types;
use crate::coverage::CapturedKernels;
use miette::Result;
use sp_host::escape_control;
use sp_layer::capture::CaptureReader;
use sp_layer::runtime::capture::format::{Computed, Record, size_text};
use std::fmt::Write;
use std::path::Path;

/// Returns the lines. Each has the number, the op, the node, types and shapes, the author of the kernel, and the reason if the call
/// cannot be repeated.
///
/// # Errors
/// Returns an error if the file is no complete capture, or if it has no call.
pub fn list(path: &Path) -> Result<String> {
    let mut kernels = CapturedKernels::read(path)?;
    let mut reader = CaptureReader::open(path)?;
    let (mut text, mut number) = (String::new(), 0);
    while let Some((record, _)) = reader.next_record()? {
        match &record {
            Record::Computed(call) => {
                number += 1;
                push_call(number, call, &kernels, &mut text);
            }
            Record::Cut(limit) => {
                let limit = size_text(*limit);
                // Writing to a String does not fail.
                let _ = writeln!(text, "the capture of this process was cut at {limit}");
            }
            other => kernels.add(other),
        }
    }
    match number {
        0 => Err(ReplayError::Empty(path.to_owned()).into()),
        _ => Ok(text),
    }
}

fn push_call(number: u64, call: &Computed, kernels: &CapturedKernels, text: &mut String) {
    let (op, node) = (escape_control(&call.op), escape_control(&call.node));
    let inputs = types(&call.inputs);
    let outputs = types(call.outputs.iter().flatten());
    let class = kernels.class(call).map_or("unknown", |it| it.name());
    let _ = write!(
        text,
        "{number} {op} \"{node}\" ({inputs}) -> ({outputs}) {class}"
    );
    if !call.omitted.is_empty() {
        let _ = write!(text, ", not captured: {}", escape_control(&call.omitted));
    }
    if let Some((_, message)) = &call.failure {
        let _ = write!(text, ", failed: {}", escape_control(message));
    }
    text.push('\n');
}
