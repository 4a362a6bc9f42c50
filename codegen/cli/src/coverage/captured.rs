//! The kernels of a capture: its rows, and the types and the author of each call.

use super::device_rows::counted_row;
use super::owners::KernelOwners;
use super::process::Types;
use super::row::{Class, Row};
use super::rows::merged;
use super::{CoverageReport, ReportSource};
use sp_host::{DType, Op, escape_control};
use sp_ir::Release;
use sp_layer::capture::{CaptureError, CaptureReader};
use sp_layer::runtime::capture::format::{Computed, Created, Record, size_text};
use sp_ops::{Argument, ArgumentType, DataType, ElementType};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The created kernels of the process whose records are read, and the owners of all processes.
#[derive(Debug, Default)]
pub struct CapturedKernels {
    release: String,
    created: BTreeMap<u64, Types>,
    /// The owners of each process, which are read first: a report is behind the calls.
    owners: Vec<KernelOwners>,
    process: usize,
}

impl CapturedKernels {
    /// Reads the owners of all processes.
    ///
    /// # Errors
    /// Returns an error if the file is no complete capture.
    pub fn read(path: &Path) -> Result<Self, CaptureError> {
        let mut owners = Vec::new();
        let mut reader = CaptureReader::open(path)?;
        while let Some((record, _)) = reader.next_record()? {
            match record {
                Record::Process(..) => owners.push(KernelOwners::default()),
                Record::Report(text) => {
                    if let Some(last) = owners.last_mut() {
                        *last = KernelOwners::from_report(&text);
                    }
                }
                _ => {}
            }
        }
        Ok(Self {
            owners,
            ..Self::default()
        })
    }

    /// Notes a record that does not compute.
    pub fn add(&mut self, record: &Record) {
        match record {
            Record::Process(_, release, _) => {
                self.process += 1;
                self.release.clone_from(release);
                self.created.clear();
            }
            Record::Created(it) => drop(self.created.insert(it.kernel, node_types(it))),
            _ => {}
        }
    }

    /// Returns the types of a call: those of its node, or else those of its inputs and outputs.
    pub fn types(&self, call: &Computed) -> Types {
        let created = self.created.get(&call.kernel);
        let created = created.filter(|it| !it.is_empty()).cloned();
        created.unwrap_or_else(|| argument_types(call, &self.release))
    }

    /// Returns the class of a call's kernel, or `None` if it is unknown.
    pub fn class(&self, call: &Computed) -> Option<Class> {
        let owners = self.owners.get(self.process.checked_sub(1)?)?;
        owners.class(&call.op, &self.types(call))
    }
}

/// Returns the types in the attributes of a node.
fn node_types(created: &Created) -> Types {
    let Ok(op) = Op::from_node_def(&created.node_def) else {
        return Types::new();
    };
    let types = op.type_attributes().map(|(name, types)| {
        let mut names: Vec<String> = Vec::new();
        for name in types.into_iter().map(type_name) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        (name.to_owned(), names.join(","))
    });
    types.collect()
}

fn type_name(dtype: DType) -> String {
    let known = DataType::from_number(dtype.0);
    known.map_or_else(|| format!("type{}", dtype.0), |it| it.to_string())
}

/// Returns the types of the attributes that the arguments of a call have, as far as their positions are known.
fn argument_types(call: &Computed, release: &str) -> Types {
    let definition = sp_ops::find(&call.op)
        .zip(release.parse::<Release>().ok())
        .and_then(|(op, release)| op.in_release(release));
    let Some(definition) = definition else {
        return Types::new();
    };
    let inputs = call.inputs.iter().map(|it| it.dtype);
    let inputs = single(&definition.inputs).zip(inputs);
    let outputs = single(&definition.outputs).zip(call.output_types.iter().copied());
    let arguments = inputs.chain(outputs);
    let types = arguments.filter_map(|(element, dtype)| match element {
        ElementType::Attribute(name) => Some((name.clone(), type_name(DType(dtype)))),
        ElementType::Fixed(_) => None,
    });
    types.collect()
}

/// Returns the element types of the arguments before the first one with several tensors.
fn single(arguments: &[Argument]) -> impl Iterator<Item = &ElementType> {
    arguments.iter().map_while(|it| match &it.ty {
        ArgumentType::Single(element) => Some(element),
        _ => None,
    })
}

/// The failure of a process that was ended by a signal, or by `os._exit`.
const UNKNOWN_OWNERS: &str = "the authors of the kernels of a process that did not end by itself; each counts as the plugin's author";

/// Calls and nanoseconds by process, op and types.
type Sums = BTreeMap<(usize, String, Types), (u64, u64)>;

/// Returns the report of a capture.
///
/// # Errors
/// Returns an error if the file is no complete capture.
pub fn read_capture(path: &Path) -> Result<CoverageReport, CaptureError> {
    let mut kernels = CapturedKernels::read(path)?;
    let (mut sums, mut device_types, mut failures) = (Sums::new(), BTreeSet::new(), Vec::new());
    let mut reader = CaptureReader::open(path)?;
    while let Some((record, _)) = reader.next_record()? {
        match &record {
            Record::Registered(it) => drop(device_types.insert(escape_control(&it.device))),
            Record::Computed(call) => {
                let key = (kernels.process, call.op.clone(), kernels.types(call));
                let sum = sums.entry(key).or_default();
                *sum = (sum.0 + 1, sum.1 + call.duration);
            }
            Record::Cut(limit) => failures.push(format!(
                "{}: the calls after its limit of {}",
                escape_control(&path.display().to_string()),
                size_text(*limit)
            )),
            other => kernels.add(other),
        }
    }
    if device_types.is_empty() {
        device_types.insert("unknown".into());
    }
    let rows = sums.into_iter().map(|(key, sums)| row(&kernels, key, sums));
    let unknown = kernels.owners.iter().filter(|it| it.are_unknown());
    failures.extend(unknown.map(|_| UNKNOWN_OWNERS.to_owned()));
    Ok(CoverageReport {
        source: ReportSource::Capture,
        rows: merged([rows.collect()].into_iter()),
        release: escape_control(&kernels.release),
        device_types,
        processes: kernels.owners.len(),
        failures,
    })
}

/// Returns the row of calls. A kernel of an unknown author counts as the author's.
fn row(
    kernels: &CapturedKernels,
    (process, op, types): (usize, String, Types),
    (calls, nanoseconds): (u64, u64),
) -> Row {
    let owners = process.checked_sub(1).and_then(|it| kernels.owners.get(it));
    let row = match owners.and_then(|it| it.find(&op, &types)) {
        Some(kernel) => Row {
            nanoseconds,
            ..counted_row(kernel, &types, calls)
        },
        None => Row::new(&op, &types, Class::Own, (calls, nanoseconds)),
    };
    Row {
        op: escape_control(&row.op),
        types: escape_control(&row.types),
        ..row
    }
}
