//! Groups of registrations that differ in types only.

use super::definition::{self, Definition};
use super::known_ops::KnownOps;
use super::names::{UniqueNames, snake_case};
use super::tuples::{Tuples, combine, products};
use super::{Options, PlannedKernel};
use crate::registration::KernelRegistration;
use sp_ops::{DataType, Op};
use std::collections::{BTreeMap, BTreeSet};

/// The properties that the kernels of one function have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shared {
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

/// The combinations of types of one registration.
struct Member {
    registration: usize,
    tuples: Tuples,
}

/// Registrations that differ in types only.
pub struct Group {
    shared: Shared,
    op: Op,
    is_own: bool,
    is_on_device: bool,
    members: Vec<Member>,
}

/// A node for which a kernel is registered: op, label, attributes, and their types.
type Node = (String, Option<String>, Vec<String>, Vec<DataType>);

/// The reasons why registrations have no skeleton, by their numbers.
type Omitted = BTreeMap<usize, String>;

/// The types of devices of each op whose registrations become skeletons.
type Devices = BTreeMap<String, BTreeSet<String>>;

/// Groups registrations, in the order of the first one of each group.
pub fn group(
    kernels: &[KernelRegistration],
    ops: &KnownOps,
    options: &Options,
) -> (Vec<Group>, Omitted) {
    let devices = selected_devices(kernels, options);
    let mut grouping = Grouping {
        ops,
        options,
        groups: Vec::new(),
        nodes: BTreeSet::new(),
    };
    let mut omitted = Omitted::new();
    for (registration, kernel) in kernels.iter().enumerate() {
        let added = grouping.add(registration, kernel, &devices[&kernel.op]);
        if let Err(reason) = added {
            omitted.insert(registration, reason);
        }
    }
    (grouping.groups, omitted)
}

fn selected_devices(kernels: &[KernelRegistration], options: &Options) -> Devices {
    let mut devices = Devices::new();
    for kernel in kernels {
        let known = devices.entry(kernel.op.clone()).or_default();
        known.insert(kernel.device.clone());
    }
    for selected in devices.values_mut() {
        match &options.device_type {
            Some(wanted) => *selected = BTreeSet::from([wanted.clone()]),
            None if selected.len() > 1 => drop(selected.remove("CPU")),
            None => {}
        }
    }
    devices
}

struct Grouping<'a> {
    ops: &'a KnownOps,
    options: &'a Options,
    groups: Vec<Group>,
    /// The nodes that have a kernel.
    nodes: BTreeSet<Node>,
}

impl Grouping<'_> {
    fn add(
        &mut self,
        registration: usize,
        kernel: &KernelRegistration,
        devices: &BTreeSet<String>,
    ) -> Result<(), String> {
        check_device(&kernel.device, devices)?;
        let (op, is_own) = self.ops.find(&kernel.op)?;
        let types = constraints(&op, kernel)?;
        let tuples = combine(types.iter().map(|(_, types)| types))?;
        let shared = shared(kernel, &types, devices);
        let known = self.groups.iter().position(|it| it.shared == shared);
        let tuples = self.without_others(&shared, known, tuples);
        if tuples.is_empty() {
            return Err("another registration has these types".to_owned());
        }
        let member = Member {
            registration,
            tuples,
        };
        match known {
            Some(index) => self.groups[index].members.push(member),
            None => self.groups.push(Group {
                is_on_device: self.options.device.is_some()
                    && !matches!(&*shared.device, "CPU" | "DEFAULT"),
                shared,
                op,
                is_own,
                members: vec![member],
            }),
        }
        Ok(())
    }

    /// Returns the combinations that no other group has.
    fn without_others(&mut self, shared: &Shared, known: Option<usize>, tuples: Tuples) -> Tuples {
        let group = known.map(|index| &self.groups[index]);
        let is_own = |tuple: &Vec<DataType>| {
            group.is_some_and(|it| it.members.iter().any(|it| it.tuples.contains(tuple)))
        };
        let mut is_new = |tuple: &Vec<DataType>| {
            let (op, label) = (shared.op.clone(), shared.label.clone());
            let node = (op, label, shared.attributes.clone(), tuple.clone());
            is_own(tuple) || self.nodes.insert(node)
        };
        tuples.into_iter().filter(|it| is_new(it)).collect()
    }
}

fn check_device(device: &str, selected: &BTreeSet<String>) -> Result<(), String> {
    if selected.contains(device) {
        return Ok(());
    }
    let selected: Vec<&str> = selected.iter().map(String::as_str).collect();
    let selected = selected.join("`, `");
    Err(format!(
        "for `{device}`: the skeleton is that of `{selected}`"
    ))
}

/// Returns the types of each type attribute, in the order of the op.
fn constraints<'a>(
    op: &Op,
    kernel: &'a KernelRegistration,
) -> Result<Vec<(&'a str, Vec<DataType>)>, String> {
    let mut found: Vec<(&str, Vec<DataType>)> = Vec::new();
    for (attribute, types) in &kernel.types {
        if definition::is_type_attribute(op, attribute)? {
            let types = definition::registrable_types(op, attribute, types)?;
            found.retain(|(name, _)| name != attribute);
            found.push((attribute, types));
        }
    }
    let position = |name: &str| op.attributes.iter().position(|it| it.item.name == name);
    found.sort_by_key(|(name, _)| position(name));
    definition::check_references(op, &found)?;
    Ok(found)
}

fn shared(
    kernel: &KernelRegistration,
    types: &[(&str, Vec<DataType>)],
    devices: &BTreeSet<String>,
) -> Shared {
    Shared {
        op: kernel.op.clone(),
        device: kernel.device.clone(),
        is_one_of_several: devices.len() > 1,
        label: kernel.label.clone().filter(|it| !it.is_empty()),
        priority: kernel.priority.filter(|it| *it != 0),
        host_memory: kernel.host_memory.iter().cloned().collect(),
        attributes: types.iter().map(|(name, _)| (*name).to_owned()).collect(),
        is_asynchronous: kernel.is_asynchronous,
    }
}

impl Group {
    /// Returns a kernel for each product of lists of types.
    pub fn into_kernels(self, names: &mut UniqueNames) -> Vec<PlannedKernel> {
        let all = self.members.iter().flat_map(|it| it.tuples.clone());
        let all: Tuples = all.collect();
        let kernels = products(&all).into_iter();
        kernels.map(|types| self.kernel(types, names)).collect()
    }

    fn kernel(&self, types: Vec<Vec<DataType>>, names: &mut UniqueNames) -> PlannedKernel {
        let shared = &self.shared;
        let has =
            |tuple: &Vec<DataType>| tuple.iter().zip(&types).all(|(ty, list)| list.contains(ty));
        let members = self.members.iter().filter(|it| it.tuples.iter().any(has));
        PlannedKernel {
            function: names.unique(&self.function()),
            definition: Definition::new(&self.op),
            is_own: self.is_own,
            registrations: members.map(|it| it.registration).collect(),
            types: shared.attributes.iter().cloned().zip(types).collect(),
            host_memory: shared.host_memory.clone(),
            label: shared.label.clone(),
            priority: shared.priority,
            is_asynchronous: shared.is_asynchronous,
            is_on_device: self.is_on_device,
        }
    }

    fn function(&self) -> String {
        let name = snake_case(&self.shared.op);
        match self.shared.is_one_of_several {
            true => format!("{name}_{}", snake_case(&self.shared.device)),
            false => name,
        }
    }
}
