//! The fewest calls of a capture with which one still fails.

use super::process::{Replayed, ReplayedCalls, replay};
use super::{ReplayError, ReplayOptions};
use miette::Result;
use sp_layer::capture::{CaptureError, CaptureReader, CaptureWriter};
use sp_layer::runtime::capture::format::Record;
use std::collections::BTreeSet;
use std::path::Path;

/// The most replays that a reduction makes.
const MAX_TRIALS: usize = 400;

/// Writes the calls that the failure of call `failed` needs to the new file `output`; returns their number.
///
/// # Errors
/// Returns an error if the failure does not happen again, or if the file cannot be written.
pub fn reduce(
    options: &ReplayOptions,
    replayed: &Replayed,
    failed: u64,
    output: &Path,
) -> Result<usize> {
    let calls = find_calls(options, replayed, failed)?;
    write(&options.capture, &calls, output)?;
    Ok(calls.len())
}

/// Returns true if `failed` still fails after `before`.
fn fails(options: &ReplayOptions, before: &[u64], failed: u64) -> Result<bool> {
    let calls = [before, &[failed]].concat();
    let replayed = replay(options, ReplayedCalls::Trial(&calls))?;
    Ok(replayed.is_some_and(|it| it.failures().any(|it| it.call == failed)))
}

fn find_calls(options: &ReplayOptions, replayed: &Replayed, failed: u64) -> Result<BTreeSet<u64>> {
    let mut before = Vec::new();
    if !fails(options, &before, failed)? {
        let calls = replayed.outcomes.iter().map(|it| it.call);
        before = calls.filter(|it| *it < failed).collect();
        if !fails(options, &before, failed)? {
            return Err(ReplayError::NotRepeated(failed).into());
        }
        before = minimize(before, |before| fails(options, before, failed))?;
    }
    Ok(before.into_iter().chain([failed]).collect())
}

/// Removes parts of `items`, from halves to single ones, as long as `fails` holds for the rest.
fn minimize(
    mut items: Vec<u64>,
    mut fails: impl FnMut(&[u64]) -> Result<bool>,
) -> Result<Vec<u64>> {
    let mut size = items.len().div_ceil(2);
    let mut trials = 0;
    while size > 0 {
        let (mut start, mut has_removed) = (0, false);
        while start < items.len() && trials < MAX_TRIALS {
            let end = (start + size).min(items.len());
            let rest = [&items[..start], &items[end..]].concat();
            trials += 1;
            match fails(&rest)? {
                true => (items, has_removed) = (rest, true),
                false => start = end,
            }
        }
        if trials >= MAX_TRIALS {
            break;
        }
        size = match size {
            1 if !has_removed => 0,
            1 => 1,
            size => size.div_ceil(2),
        };
    }
    Ok(items)
}

/// Copies the records of `calls`.
fn write(capture: &Path, calls: &BTreeSet<u64>, output: &Path) -> Result<(), CaptureError> {
    let (kernels, ops) = used(capture, calls)?;
    let mut reader = CaptureReader::open(capture)?;
    let mut writer = CaptureWriter::create(output)?;
    let (mut number, mut process) = (0, 0);
    while let Some((record, mut bytes)) = reader.next_record()? {
        let is_needed = match &record {
            Record::Process(..) => {
                process += 1;
                true
            }
            Record::Report(report) => {
                bytes = Record::Report(lines_of(&ops, report)).to_bytes();
                true
            }
            Record::Registered(it) => ops.contains(&it.op),
            Record::Created(it) => kernels.contains(&(process, it.kernel)),
            Record::Deleted(it) => kernels.contains(&(process, *it)),
            Record::Computed(_) => {
                number += 1;
                calls.contains(&number)
            }
            Record::Cut(_) | Record::End(_) => false,
        };
        if is_needed {
            writer.append(&bytes)?;
        }
    }
    writer.end()
}

/// Returns the lines of a plugin's report about these ops.
fn lines_of(ops: &Ops, report: &str) -> String {
    let op = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    let lines = report.lines().filter(|it| ops.contains(&op(it)));
    lines.map(|it| format!("{it}\n")).collect()
}

/// Kernels, each with the position of its process.
type Kernels = BTreeSet<(u64, u64)>;
type Ops = BTreeSet<String>;

/// Returns the kernels of `calls` and their ops.
fn used(capture: &Path, calls: &BTreeSet<u64>) -> Result<(Kernels, Ops), CaptureError> {
    let (mut kernels, mut ops) = (Kernels::new(), Ops::new());
    let mut reader = CaptureReader::open(capture)?;
    let (mut number, mut process) = (0, 0);
    while let Some((record, _)) = reader.next_record()? {
        match record {
            Record::Process(..) => process += 1,
            Record::Computed(call) => {
                number += 1;
                if calls.contains(&number) {
                    kernels.insert((process, call.kernel));
                    ops.insert(call.op);
                }
            }
            _ => {}
        }
    }
    Ok((kernels, ops))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_calls_that_a_failure_needs_remain() {
        let needed = |calls: &[u64]| Ok(calls.contains(&3) && calls.contains(&17));
        let all: Vec<u64> = (1..=40).collect();
        assert_eq!(minimize(all, needed).unwrap(), [3, 17]);
        assert_eq!(minimize(vec![5], |_| Ok(true)).unwrap(), [0; 0]);
        let pair = |calls: &[u64]| Ok(calls.len() >= 2);
        assert_eq!(minimize((1..=9).collect(), pair).unwrap().len(), 2);
    }
}
