//! Registrations as JSON; the schema is `codegen/docs/port.schema.json`.

use serde_json::{Value as Json, json};
use sp_port::{
    KernelRegistration, OpRegistration, Plan, PlannedOp, Position, Registrations, Source, rules,
};

/// Version of the JSON format. Keys are added; the meaning of a key does not change.
const SCHEMA: u32 = 1;

/// Formats what sources register, with the skeletons in `rust`.
pub fn format(sources: &[Source], found: &Registrations, plan: &Plan, rust: &str) -> String {
    let kernels = found.kernels.iter().enumerate();
    let kernels = kernels.map(|(index, it)| kernel(it, plan.function_of(index), sources));
    let ops = plan.ops.iter();
    let ops = ops.map(|it| op(&found.ops[it.registration], it, sources));
    let document = json!({
        "schema": SCHEMA,
        "files": sources.iter().map(|it| &it.path).collect::<Vec<_>>(),
        "kernels": kernels.collect::<Vec<_>>(),
        "ops": ops.collect::<Vec<_>>(),
        "findings": findings(sources, found, plan),
        "rust": rust,
    });
    format!("{document:#}\n")
}

fn kernel(kernel: &KernelRegistration, function: Option<&str>, sources: &[Source]) -> Json {
    let types = kernel.types.iter().map(|(attribute, types)| {
        let types: Vec<String> = types.iter().map(ToString::to_string).collect();
        json!({"attribute": attribute, "types": types})
    });
    json!({
        "op": kernel.op,
        "device": kernel.device,
        "types": types.collect::<Vec<_>>(),
        "host_memory": kernel.host_memory,
        "label": kernel.label,
        "priority": kernel.priority,
        "class": kernel.class,
        "asynchronous": kernel.is_asynchronous,
        "file": path(sources, kernel.position),
        "line": kernel.position.line,
        "function": function,
    })
}

fn op(op: &OpRegistration, planned: &PlannedOp, sources: &[Source]) -> Json {
    let definition = &op.definition;
    json!({
        "name": definition.name,
        "inputs": texts(&definition.inputs),
        "outputs": texts(&definition.outputs),
        "attributes": texts(&definition.attributes),
        "flags": texts(&definition.flags),
        "shape_function": op.shape_function,
        "file": path(sources, op.position),
        "line": op.position.line,
        "function": planned.function.as_ref().ok(),
    })
}

fn texts<T: ToString>(items: &[T]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

fn path(sources: &[Source], position: Position) -> Option<&str> {
    sources.get(position.source).map(|it| it.path.as_str())
}

/// Returns what has no skeleton, in the order of the sources.
fn findings(sources: &[Source], found: &Registrations, plan: &Plan) -> Vec<Json> {
    let kernels = plan.omitted.iter().map(|(index, reason)| {
        let kernel = &found.kernels[*index];
        (
            kernel.position,
            rules::KERNEL_OMITTED,
            &*kernel.op,
            &**reason,
        )
    });
    let ops = plan.ops.iter().filter_map(|it| {
        let op = &found.ops[it.registration];
        let reason = it.function.as_ref().err()?;
        Some((
            op.position,
            rules::OP_OMITTED,
            &*op.definition.name,
            &**reason,
        ))
    });
    let unread = found.unread.iter();
    let unread = unread.map(|it| (it.position, rules::NOT_READ, &*it.what, &*it.reason));
    let mut findings: Vec<_> = kernels.chain(ops).chain(unread).collect();
    findings.sort();
    let finding = |(position, rule, item, reason): (Position, &str, &str, &str)| {
        json!({
            "rule": rule,
            "file": path(sources, position),
            "line": position.line,
            "item": item,
            "reason": reason,
        })
    };
    findings.into_iter().map(finding).collect()
}
