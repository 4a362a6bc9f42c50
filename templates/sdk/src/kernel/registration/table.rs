//! From tables of kernels to TensorFlow's registry.
//!
//! Tables are filtered by release and by the host's exports before one table takes precedence over another. What the
//! running release's op lacks is left out: constraints, host arguments and types. A release that is not known has
//! what the newest known one has.
//!
//! The overlap of two kernels is computed here and, again, in sp-host, which shares no code with the SDK that it
//! tests. Both run the cases of `tests/kernel_overlap.txt`.

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CStr;

use sp_runtime::{Host, UnavailableFunction};

use super::builder::new_builder;
use super::cuda_build; // since 2.11
use super::registered_kernels;
use super::rejected; // since 2.6
use crate::functions::functions;
use crate::kernel::compare;
use crate::kernel::definition::Kernel;
use crate::kernel::spec::Constraint;
use crate::lacking::{self, Lacking};
use crate::op::{self, OpDefinition};
use crate::platform;
use crate::plugin_info::PluginInfo;
use crate::{Device, Error, Result, registered, settings};

/// Difference in priority between the kernels of a table and those of the next table.
const TABLE_PRIORITY: i32 = 1000;

/// A kernel as the running release has it: what its op lacks is left out.
struct Registration {
    kernel: &'static Kernel,
    constraints: Vec<&'static Constraint>,
    priority: i32,
    /// The position of the kernel's table.
    table: usize,
}

/// Registers the kernels of all tables, those of earlier tables with a higher priority.
///
/// A kernel that this host cannot run is left out before it can take the place of another one. Of the
/// others, a kernel of a later table is left out if one of an earlier table serves all of its nodes. What
/// TensorFlow rejects is reported and left out. Returns false if the host is declined, or another one has the kernels.
///
/// # Safety
/// - Each device of the type that `info` states is a `D` of this library: kernels find the device by its stream.
pub unsafe fn register<D: Device>(
    info: &PluginInfo,
    tables: impl FnOnce() -> Vec<Vec<&'static Kernel>>,
) -> bool {
    let known = &sp_abi::KNOWN_RELEASES;
    // SAFETY: sp-abi has the facts of TensorFlow's headers, and no struct is evidence here.
    let host = unsafe { Host::get_or_decide(&info.requirements(), known, Vec::new) };
    // The reason why a host is declined was reported with the device, which it does not get.
    if host.check_accepted().is_err() {
        return false;
    }
    if !registered::is_first_call("kernels") {
        return false;
    }
    if compare::is_enabled() {
        compare::install();
    }
    settings::set("compare", compare::mode_name());
    cuda_build::record_build(); // since 2.11
    // Looked up here, since a thread may call a kernel in a process that was forked while another thread held the lock.
    // A call reports the error.
    let _ = functions();
    let mut tables = tables();
    define_ops(&mut tables);
    tables
        .iter()
        .flatten()
        .for_each(|it| it.record_fused_uses());
    let tables = runnable::<D>(tables);
    if compare::is_enabled() {
        compare::set_pairs(&kernels_of(&tables));
    }
    let registrations = select(tables, lowest_rank(info.device_type));
    report_ambiguous(&registrations);
    let count = registrations.len();
    sp_runtime::report!(Debug, "registers {count} kernels with {}", host.name());
    let register = |it: &Registration| {
        let error = it.register::<D>(info.device_type).err()?;
        Some((it.kernel.label(), error))
    };
    report_failed(
        &registrations
            .iter()
            .filter_map(register)
            .collect::<Vec<_>>(),
    );
    platform::set_open_hook(on_open::<D>, info.device_type);
    true
}

/// Reports and registers what is known as soon as a device is opened.
fn on_open<D: Device>(device_type: &'static CStr) {
    lacking::report_count();
    rejected::register::<D>(device_type); // since 2.6
    cuda_build::register(device_type); // since 2.11
}

impl Registration {
    fn new(kernel: &'static Kernel, table: usize) -> Self {
        Self {
            kernel,
            table,
            constraints: kernel.spec.running_constraints().collect(),
            priority: kernel.spec.options.priority,
        }
    }

    /// Returns true if this kernel serves every node that `other` serves: each constraint of this one is
    /// one of the other's.
    fn covers(&self, other: &Self) -> bool {
        self.kernel.spec.is_of_same_nodes(&other.kernel.spec)
            && self
                .constraints
                .iter()
                .all(|it| other.constraints.contains(it))
    }

    /// Registers the kernel for devices of this type.
    fn register<D: Device>(&self, device_type: &CStr) -> Result<()> {
        let builder = new_builder::<D>(self.kernel, device_type)?;
        for it in &self.constraints {
            builder.constrain(it.attribute, it.dtype)?;
        }
        for argument in self
            .kernel
            .spec
            .arguments()
            .filter(|it| it.parameter.is_host)
        {
            builder.place_in_host_memory(argument.name)?;
        }
        if self.priority != 0 {
            builder.set_priority(self.priority)?;
        }
        if let Some(label) = self.kernel.spec.options.label {
            builder.set_label(label)?; // since 2.11
        }
        if let Some(configure) = self.kernel.spec.options.configure {
            configure(&builder)?;
        }
        builder.register(self.kernel.op())?;
        registered_kernels::add(self.kernel, self.table);
        Ok(())
    }
}

/// Registers the ops that the plugin defines, and removes the kernels of those that cannot be registered.
fn define_ops(tables: &mut [Vec<&'static Kernel>]) {
    let definitions = first_definitions(tables);
    remove_other_definitions(tables, &definitions);
    let definitions: Vec<_> = definitions.into_values().collect();
    let registered = op::register(&definitions);
    let has_op = |it: &&Kernel| it.spec.op.definition.is_none() || registered.contains(&it.op());
    tables.iter_mut().for_each(|table| table.retain(has_op));
}

/// Returns the first definition of each op.
fn first_definitions(
    tables: &[Vec<&'static Kernel>],
) -> BTreeMap<&'static CStr, &'static OpDefinition> {
    let mut first = BTreeMap::new();
    for definition in tables
        .iter()
        .flatten()
        .filter_map(|it| it.spec.op.definition)
    {
        first.entry(definition.name()).or_insert(definition);
    }
    first
}

/// Removes the kernels of a second op of one name: they would read tensors of the first one by another definition.
fn remove_other_definitions(
    tables: &mut [Vec<&'static Kernel>],
    definitions: &BTreeMap<&'static CStr, &'static OpDefinition>,
) {
    let mut reported = BTreeSet::new();
    let mut is_first = |kernel: &&'static Kernel| {
        let name = kernel.op();
        let (first, own) = (definitions.get(name), kernel.spec.op.definition);
        let is_same = own.zip(first).is_none_or(|(own, first)| own.is_same(first));
        if !is_same && reported.insert(name) {
            let name = name.to_string_lossy();
            sp_runtime::report!(
                Warn,
                "{name} has kernels for two definitions; those of the second one are not registered"
            );
        }
        is_same
    };
    tables
        .iter_mut()
        .for_each(|table| table.retain(&mut is_first));
}

/// Returns the kernels that this host can run, and reports the ops that are left without one.
fn runnable<D: Device>(tables: Vec<Vec<&'static Kernel>>) -> Vec<Vec<Registration>> {
    let mut lacking: Vec<Lacking> = Vec::new();
    let mut can_run = |kernel: &&'static Kernel| {
        if !kernel.spec.is_in_running_release() {
            return false;
        }
        if !is_for_device::<D>(kernel) {
            let label = kernel.label();
            sp_runtime::report!(
                Warn,
                "{label} is not registered: it is a kernel of another device"
            );
            return false;
        }
        let missing = unavailable_function(kernel);
        lacking.extend(missing.map(|it| (it.to_string(), kernel.op())));
        missing.is_none()
    };
    let mut tables = tables;
    tables.iter_mut().for_each(|it| it.retain(&mut can_run));
    let served: BTreeSet<&CStr> = tables.iter().flatten().map(|it| it.op()).collect();
    lacking.retain(|(_, op)| !served.contains(op));
    lacking::add(&lacking);
    let lacking = rejected::defer_report(lacking); // since 2.6
    lacking::report(&lacking, "left to TensorFlow's own kernels");
    let registrations = |(index, table): (usize, Vec<&'static Kernel>)| {
        let table = table.into_iter();
        table.map(|it| Registration::new(it, index)).collect()
    };
    tables.into_iter().enumerate().map(registrations).collect()
}

/// Returns the kernels of each table.
fn kernels_of(tables: &[Vec<Registration>]) -> Vec<Vec<&'static Kernel>> {
    let kernels = |table: &Vec<Registration>| table.iter().map(|it| it.kernel).collect();
    tables.iter().map(kernels).collect()
}

/// Returns the first function that the kernel or one of its attributes needs, and the host lacks.
fn unavailable_function(kernel: &Kernel) -> Option<UnavailableFunction> {
    let missing = kernel
        .spec
        .needs()
        .find_map(|it| it.check_available().err());
    let mut checks = kernel.spec.options.attribute_checks.iter();
    missing.or_else(|| checks.find_map(|check| check().err()))
}

/// Returns the rank of the last table: 1 for type `GPU`, of which core has kernels of its own, such as Reshape. TensorFlow
/// fails the nodes that two kernels of one priority serve.
fn lowest_rank(device_type: &CStr) -> i32 {
    i32::from(device_type == c"GPU")
}

/// Returns the kernels to register, each with the priority of its table added to its own.
fn select(tables: Vec<Vec<Registration>>, lowest_rank: i32) -> Vec<Registration> {
    let mut selected: Vec<Registration> = Vec::new();
    let ranks = (lowest_rank..).take(tables.len()).collect::<Vec<_>>();
    for (mut table, rank) in tables.into_iter().zip(ranks.into_iter().rev()) {
        table.retain(|it| !selected.iter().any(|earlier| earlier.covers(it)));
        let raise = rank.saturating_mul(TABLE_PRIORITY);
        table
            .iter_mut()
            .for_each(|it| it.priority = it.priority.saturating_add(raise));
        selected.extend(table);
    }
    selected
}

/// Reports the kernels that TensorFlow does not register: one warning, and a line of level debug for each.
fn report_failed(failed: &[(&str, Error)]) {
    for (label, error) in failed {
        sp_runtime::report!(Debug, "{label} is not registered: {error}");
    }
    match failed {
        [] => {}
        [(label, error)] => sp_runtime::report!(Warn, "{label} is not registered: {error}"),
        [(label, error), ..] => sp_runtime::report!(
            Warn,
            "{} kernels are not registered (SP_LOG=debug lists them), the first is {label}: {error}",
            failed.len()
        ),
    }
}

/// Reports the pairs of kernels that TensorFlow cannot choose between; it fails the nodes of both.
fn report_ambiguous(registrations: &[Registration]) {
    for (n, it) in registrations.iter().enumerate() {
        let mut earlier = registrations[..n]
            .iter()
            .filter(|earlier| earlier.priority == it.priority);
        if let Some(earlier) = earlier.find(|earlier| earlier.kernel.overlaps(it.kernel)) {
            let (first, second) = (earlier.kernel.label(), it.kernel.label());
            sp_runtime::report!(
                Warn,
                "{first} and {second} serve the same nodes with the same priority; TensorFlow runs neither there"
            );
        }
    }
}

/// Returns true if the kernel can run on `D`.
fn is_for_device<D: Device>(kernel: &Kernel) -> bool {
    kernel
        .spec
        .options
        .device
        .is_none_or(|device| device() == TypeId::of::<D>())
}

#[cfg(test)]
mod tests {
    use sp_runtime::Releases;

    use super::*;
    use crate::kernel::definition::KernelTable;
    use crate::kernel::spec::{OpSpec, Options};
    use crate::op::expansion::DefinedOp;
    use crate::op::{Shape, ShapeContext};

    /// Declares an op `Scale` with an input of this type, and a table with a kernel of it.
    macro_rules! scale {
        ($name:ident: $input:literal) => {
            struct $name;

            // SAFETY: no kernel reads the text.
            unsafe impl DefinedOp for $name {
                const DEFINITION: &'static OpDefinition =
                    &OpDefinition::new::<Self>(c"Scale", [&[$input], &[], &[]], [false; 4], None);
                const TEXT: &'static str = "";

                fn infer(_: &ShapeContext<'_>) -> Result<Vec<Vec<Shape>>> {
                    Ok(Vec::new())
                }
            }

            impl KernelTable for $name {
                fn kernels() -> &'static [Kernel] {
                    static OP: OpSpec = OpSpec {
                        name: c"Scale",
                        releases: &[Releases::ALL],
                        attributes: &[],
                        definition: Some($name::DEFINITION),
                    };
                    static OPTIONS: Options = Options::new("sp_plugin");
                    // SAFETY: nobody calls the functions, which read no argument.
                    static KERNELS: [Kernel; 1] = [unsafe {
                        Kernel::new::<$name, 0>(
                            &OP,
                            &[],
                            [&[], &[]],
                            &OPTIONS,
                            (|_| Ok(Box::new(())), |_| Ok(())),
                        )
                    }];
                    &KERNELS
                }
            }
        };
    }

    scale!(OfFloats: c"x: float");
    scale!(AgainOfFloats: c"x: float");
    scale!(OfDoubles: c"x: double");

    #[test]
    fn kernels_of_second_definition_of_an_op_are_removed() {
        let [floats, again, doubles] = [
            &OfFloats::kernels()[0],
            &AgainOfFloats::kernels()[0],
            &OfDoubles::kernels()[0],
        ];
        let mut tables = [vec![floats], vec![doubles, again], vec![doubles]];
        let definitions = first_definitions(&tables);
        assert!(definitions[c"Scale"].is_same(OfFloats::DEFINITION));
        remove_other_definitions(&mut tables, &definitions);
        let is_left =
            |table: &Vec<&Kernel>, kernel| table.iter().any(|it| std::ptr::eq(*it, kernel));
        assert!(is_left(&tables[0], floats) && is_left(&tables[1], again));
        assert_eq!(tables.map(|it| it.len()), [1, 1, 0]);
    }
}
