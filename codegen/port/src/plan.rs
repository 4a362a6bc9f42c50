//! Groups registrations: those of one op that differ in types only are one kernel in Rust, a function with lists of types.

mod definition;
mod names;
mod tuples;

use crate::registration::{KernelRegistration, OpRegistration, Registrations};
use sp_ops::{DataType, Op};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) use definition::{ArgumentDefinition, AttributeDefinition, Definition};
use names::{UniqueNames, is_identifier};
pub(crate) use names::{camel_case, is_snake_case, snake_case};
pub(crate) use tuples::{ElementClass, class_of};
use tuples::{Tuples, products};

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

/// What the kernels of one function have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    op: String,
    device: String,
    /// True if registrations for several types of devices become skeletons.
    is_one_of_several: bool,
    label: Option<String>,
    priority: Option<i32>,
    host_memory: BTreeSet<String>,
    attributes: Vec<String>,
    is_asynchronous: bool,
}

impl Plan {
    /// Plans the functions of `registrations`.
    pub fn new(registrations: &Registrations, options: &Options) -> Self {
        let mut names = UniqueNames::new(["table"]);
        let ops = plan_ops(&registrations.ops);
        let mut planner = Planner {
            own: own_ops(&registrations.ops, &ops),
            rejected: rejected_ops(&registrations.ops, &ops),
            options,
            omitted: BTreeMap::new(),
            groups: Vec::new(),
        };
        planner.collect(&registrations.kernels);
        let kernels = planner.finish(&mut names);
        Self {
            kernels,
            ops,
            omitted: planner.omitted,
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

/// Returns the ops that have a definition in Rust.
fn own_ops(ops: &[OpRegistration], planned: &[PlannedOp]) -> BTreeMap<String, Op> {
    let defined = planned.iter().filter(|it| it.function.is_ok());
    let ops = defined.map(|it| &ops[it.registration].definition);
    ops.map(|it| (it.name.clone(), definition::in_all_releases(it)))
        .collect()
}

/// Returns the reasons why ops have no definition in Rust.
fn rejected_ops(ops: &[OpRegistration], planned: &[PlannedOp]) -> BTreeMap<String, String> {
    let rejected = planned.iter().filter_map(|it| {
        let name = &ops[it.registration].definition.name;
        Some((name.clone(), it.function.as_ref().err()?.clone()))
    });
    rejected.collect()
}

struct Planner<'a> {
    own: BTreeMap<String, Op>,
    /// The reasons why ops of the sources have no definition in Rust.
    rejected: BTreeMap<String, String>,
    options: &'a Options,
    omitted: BTreeMap<usize, String>,
    /// In the order of the first registrations.
    groups: Vec<(Group, Tuples, Vec<(usize, Tuples)>)>,
}

impl Planner<'_> {
    fn collect(&mut self, kernels: &[KernelRegistration]) {
        let selected = self.selected_devices(kernels);
        let mut taken: BTreeSet<(String, Option<String>, Vec<String>, Vec<DataType>)> =
            BTreeSet::new();
        for (index, kernel) in kernels.iter().enumerate() {
            let device = &selected[&kernel.op];
            if !device.contains(&kernel.device) {
                let devices = device.iter().cloned().collect::<Vec<_>>().join("`, `");
                let reason = format!(
                    "for `{}`: the skeleton is that of `{devices}`",
                    kernel.device
                );
                self.omitted.insert(index, reason);
                continue;
            }
            match self.read(kernel, &selected[&kernel.op]) {
                Ok((group, tuples)) => {
                    let key = |tuple: &Vec<DataType>| {
                        let attributes = group.attributes.clone();
                        (
                            group.op.clone(),
                            group.label.clone(),
                            attributes,
                            tuple.clone(),
                        )
                    };
                    let own = self.groups.iter().find(|(known, ..)| *known == group);
                    let own = own.map(|(_, tuples, _)| tuples.clone()).unwrap_or_default();
                    let is_new = |it: &Vec<DataType>| own.contains(it) || taken.insert(key(it));
                    let tuples: Tuples = tuples.into_iter().filter(is_new).collect();
                    self.add(index, group, tuples);
                }
                Err(reason) => drop(self.omitted.insert(index, reason)),
            }
        }
    }

    fn add(&mut self, index: usize, group: Group, tuples: Tuples) {
        if tuples.is_empty() {
            let reason = "another registration has these types".to_owned();
            self.omitted.insert(index, reason);
            return;
        }
        match self.groups.iter_mut().find(|(known, ..)| *known == group) {
            Some((_, known, registrations)) => {
                registrations.push((index, tuples.clone()));
                known.extend(tuples);
            }
            None => self
                .groups
                .push((group, tuples.clone(), vec![(index, tuples)])),
        }
    }

    /// Returns the types of devices of each op whose registrations become skeletons.
    fn selected_devices(
        &self,
        kernels: &[KernelRegistration],
    ) -> BTreeMap<String, BTreeSet<String>> {
        let mut devices: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for kernel in kernels {
            let known = devices.entry(kernel.op.clone()).or_default();
            known.insert(kernel.device.clone());
        }
        for selected in devices.values_mut() {
            match &self.options.device_type {
                Some(wanted) => *selected = BTreeSet::from([wanted.clone()]),
                None if selected.len() > 1 => drop(selected.remove("CPU")),
                None => {}
            }
        }
        devices
    }

    /// Returns the group of a registration, and its combinations of types.
    fn read(
        &self,
        kernel: &KernelRegistration,
        devices: &BTreeSet<String>,
    ) -> Result<(Group, Tuples), String> {
        let (op, _) = self.find(&kernel.op)?;
        let mut constraints: Vec<(&str, Vec<DataType>)> = Vec::new();
        for (attribute, types) in &kernel.types {
            if definition::is_type_attribute(&op, attribute)? {
                let allowed = definition::registrable_types(&op, attribute, types)?;
                constraints.retain(|(name, _)| name != attribute);
                constraints.push((attribute, allowed));
            }
        }
        // The order of the op, so that registrations in another order are of one group.
        let position = |name: &str| op.attributes.iter().position(|it| it.item.name == name);
        constraints.sort_by_key(|(name, _)| position(name));
        definition::check_references(&op, &constraints)?;
        let tuples = tuples::combine(constraints.iter().map(|(_, types)| types))?;
        let group = Group {
            op: kernel.op.clone(),
            device: kernel.device.clone(),
            is_one_of_several: devices.len() > 1,
            label: kernel.label.clone().filter(|it| !it.is_empty()),
            priority: kernel.priority.filter(|it| *it != 0),
            host_memory: kernel.host_memory.iter().cloned().collect(),
            attributes: constraints
                .iter()
                .map(|(name, _)| (*name).to_owned())
                .collect(),
            is_asynchronous: kernel.is_asynchronous,
        };
        Ok((group, tuples))
    }

    fn find(&self, name: &str) -> Result<(Op, bool), String> {
        if let Some(op) = sp_ops::find(name) {
            return match is_identifier(name) {
                true => Ok((op, false)),
                false => Err("the op's name is no identifier in Rust".to_owned()),
            };
        }
        if let Some(op) = self.own.get(name) {
            return Ok((op.clone(), true));
        }
        Err(match self.rejected.get(name) {
            Some(reason) => format!("the op has no definition in Rust: {reason}"),
            None => "neither TensorFlow nor these sources define the op: name the source with its `REGISTER_OP` too".to_owned(),
        })
    }

    /// Returns a kernel for each product of types of each group.
    fn finish(&mut self, names: &mut UniqueNames) -> Vec<PlannedKernel> {
        let mut kernels = Vec::new();
        for (group, tuples, registrations) in std::mem::take(&mut self.groups) {
            let Ok((op, is_own)) = self.find(&group.op) else {
                continue;
            };
            let is_on_device =
                self.options.device.is_some() && !matches!(&*group.device, "CPU" | "DEFAULT");
            for types in products(&tuples) {
                let suffix = match group.is_one_of_several {
                    true => format!("_{}", snake_case(&group.device)),
                    false => String::new(),
                };
                let has = |tuple: &Vec<DataType>| {
                    tuple.iter().zip(&types).all(|(ty, list)| list.contains(ty))
                };
                let registrations = registrations
                    .iter()
                    .filter(|(_, tuples)| tuples.iter().any(has));
                let registrations = registrations.map(|(index, _)| *index).collect();
                kernels.push(PlannedKernel {
                    function: names.unique(&format!("{}{suffix}", snake_case(&group.op))),
                    definition: Definition::new(&op),
                    is_own,
                    types: group.attributes.iter().cloned().zip(types).collect(),
                    host_memory: group.host_memory.clone(),
                    label: group.label.clone(),
                    priority: group.priority,
                    is_asynchronous: group.is_asynchronous,
                    is_on_device,
                    registrations,
                });
            }
        }
        kernels
    }
}
