//! Groups registrations: those of one op that differ in types only are one kernel in Rust, a function with lists of types.

mod definition;
mod groups;
mod known_ops;
mod names;
mod tuples;

use crate::registration::{OpRegistration, Registrations};
use sp_ops::DataType;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) use definition::{ArgumentDefinition, AttributeDefinition, Definition};
use groups::group;
use known_ops::KnownOps;
use names::UniqueNames;
pub(crate) use names::{camel_case, is_snake_case, snake_case};

/// The choices of a user.
#[derive(Clone, Default)]
pub struct Options {
    /// The path of the device's type in Rust, for kernels in device memory; without it kernels compute on the host.
    pub device: Option<syn::Path>,
    /// The type of the device whose registrations become skeletons: `GPU`. By default those of an accelerator, else
    /// those of `CPU`.
    pub device_type: Option<String>,
}

/// The functions that registrations become.
#[derive(Debug)]
pub struct Plan {
    /// The kernels, in the order of their first registrations.
    pub kernels: Vec<PlannedKernel>,
    /// The ops, in the order of the registrations.
    pub ops: Vec<PlannedOp>,
    /// The numbers of the kernels' registrations without a skeleton, each with the reason.
    pub omitted: BTreeMap<usize, String>,
}

/// A kernel in Rust.
#[derive(Debug)]
pub struct PlannedKernel {
    /// The function.
    pub function: String,
    /// The op.
    pub(crate) definition: Definition,
    /// True if the sources define the op.
    pub(crate) is_own: bool,
    /// The types of type attributes.
    pub types: Vec<(String, Vec<DataType>)>,
    /// The arguments in host memory.
    pub host_memory: BTreeSet<String>,
    /// The label.
    pub label: Option<String>,
    /// The priority.
    pub priority: Option<i32>,
    /// True if the class derives from `AsyncOpKernel`.
    pub is_asynchronous: bool,
    /// True if the tensors are in the memory of a device.
    pub is_on_device: bool,
    /// The numbers of the registrations.
    pub registrations: Vec<usize>,
}

/// An op in Rust.
#[derive(Debug)]
pub struct PlannedOp {
    /// The number of the registration.
    pub registration: usize,
    /// The shape function, or the reason why there is none.
    pub function: Result<String, String>,
}

impl Plan {
    /// Plans the functions of `registrations`.
    pub fn new(registrations: &Registrations, options: &Options) -> Self {
        let mut names = UniqueNames::new(["table"]);
        let ops = plan_ops(&registrations.ops);
        let known_ops = KnownOps::new(&registrations.ops, &ops);
        let (groups, omitted) = group(&registrations.kernels, &known_ops, options);
        let kernels = groups
            .into_iter()
            .flat_map(|it| it.into_kernels(&mut names));
        Self {
            kernels: kernels.collect(),
            ops,
            omitted,
        }
    }

    /// Returns the function of the kernels' registration with this number.
    pub fn function_of(&self, registration: usize) -> Option<&str> {
        let mut kernels = self.kernels.iter();
        let kernel = kernels.find(|it| it.registrations.contains(&registration));
        kernel.map(|it| it.function.as_str())
    }
}

fn plan_ops(ops: &[OpRegistration]) -> Vec<PlannedOp> {
    let mut names = UniqueNames::new([]);
    let mut defined = BTreeSet::new();
    let planned = ops.iter().enumerate().map(|(registration, op)| {
        let name = &op.definition.name;
        let function = match definition::find_obstacle(&op.definition) {
            Some(reason) => Err(reason),
            None if !defined.insert(name.clone()) => Err("the op is defined before".to_owned()),
            None => Ok(names.unique(&snake_case(name))),
        };
        PlannedOp {
            registration,
            function,
        }
    });
    planned.collect()
}
