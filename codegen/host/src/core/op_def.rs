//! Ops that a plugin defines through ops.h, and serialized definitions of these ops and of core's.

use std::sync::{Mutex, MutexGuard};

use super::argument::{Arg, CStringArgument};
use sp_ops::{Flag, OpDef};

use super::core_ops;
use super::failure::{CallError, StatusResult, invalid};
use super::functions::functions;
use super::op_definition::{self, OpDefinition, ShapeFunction};
use super::op_text::{parse_argument, parse_attribute};
use crate::lock;
use crate::objects::{self, HostObject, ObjectKind, Owner};
use crate::{StatusCode, proto};

/// The object behind `TF_OpDefinitionBuilder*`.
struct OpDefinitionBuilder(Mutex<OpDefinition>);

impl HostObject for OpDefinitionBuilder {
    const KIND: ObjectKind = ObjectKind::OpDefinitionBuilder;
}

impl OpDefinitionBuilder {
    fn definition(&self) -> MutexGuard<'_, OpDefinition> {
        lock(&self.0)
    }
}

static DEFINED: Mutex<Vec<OpDefinition>> = Mutex::new(Vec::new());

/// Returns the ops that plugins defined in this process.
pub(crate) fn defined() -> Vec<OpDefinition> {
    lock(&DEFINED).clone()
}

/// Returns the serialized `OpDef` of an op that core or a plugin defines.
pub(super) fn bytes(name: &str) -> Option<Vec<u8>> {
    let own = defined().into_iter().map(|it| it.op);
    let own = own.into_iter().find(|op| op.name == name);
    let op = own.or_else(|| core_ops::find(name).ok())?;
    Some(op_definition::bytes(&op))
}

/// Returns the `OpList` of all these ops.
pub(super) fn all() -> Vec<u8> {
    let own = defined().into_iter().map(|it| it.op);
    let ops = own
        .chain(core_ops::all())
        .map(|op| op_definition::bytes(&op));
    ops.flat_map(|op| proto::bytes_field(1, op)).collect()
}

fn flag(call: &str, builder: &Arg<OpDefinitionBuilder>, flag: Flag, set: bool) {
    if let Some(builder) = builder.get(call) {
        let flags = &mut builder.definition().op.flags;
        flags.retain(|it| *it != flag);
        flags.extend(set.then_some(flag));
    }
}

/// Appends what `parse` returns for `spec` to a list of the definition.
fn add<T>(
    call: &str,
    builder: &Arg<OpDefinitionBuilder>,
    spec: &CStringArgument,
    parse: impl Fn(&str) -> Option<T>,
    list: impl Fn(&mut OpDef) -> &mut Vec<T>,
) {
    let Some(builder) = builder.get(call) else {
        return;
    };
    let mut definition = builder.definition();
    match parse(&spec.string()) {
        Some(entry) => list(&mut definition.op).push(entry),
        None => definition.malformed = Some(spec.string()),
    }
}

fn register(mut definition: OpDefinition) -> StatusResult<()> {
    let name = &definition.op.name;
    if let Some(spec) = &definition.malformed {
        return Err(invalid(format!("{name}: cannot parse {spec:?}")));
    }
    if bytes(name).is_some() {
        let text = format!("there is an op {name} already");
        return Err((StatusCode::ALREADY_EXISTS, text));
    }
    definition.op.resolve_lists();
    lock(&DEFINED).push(definition);
    Ok(())
}

functions! {
    fn TF_NewOpDefinitionBuilder(name: CStringArgument) -> *mut OpDefinitionBuilder {
        let op = OpDef { name: name.string(), ..OpDef::default() };
        let definition = OpDefinition { op, ..OpDefinition::default() };
        objects::create(OpDefinitionBuilder(Mutex::new(definition)), Owner::Plugin)
    }

    fn TF_DeleteOpDefinitionBuilder(builder: Arg<OpDefinitionBuilder>) {
        drop(builder.take(CALL));
    }

    fn TF_RegisterOpDefinition(builder: Arg<OpDefinitionBuilder>; status) {
        let builder = builder.take(CALL).ok_or(CallError::Recorded)?;
        let definition = builder.definition().clone();
        let registered = register(definition);
        // Once its registry is in use, TensorFlow ends the process and reports nothing.
        if let Err((_, text)) = &registered {
            objects::record_fault(format!("{CALL}: {text}; TensorFlow ends the process"));
        }
        Ok(registered?)
    }

    fn TF_OpDefinitionBuilderAddInput(builder: Arg<OpDefinitionBuilder>, spec: CStringArgument) {
        add(CALL, &builder, &spec, parse_argument, |op| &mut op.inputs);
    }

    fn TF_OpDefinitionBuilderAddOutput(builder: Arg<OpDefinitionBuilder>, spec: CStringArgument) {
        add(CALL, &builder, &spec, parse_argument, |op| &mut op.outputs);
    }

    fn TF_OpDefinitionBuilderAddAttr(builder: Arg<OpDefinitionBuilder>, spec: CStringArgument) {
        add(CALL, &builder, &spec, parse_attribute, |op| &mut op.attributes);
    }

    fn TF_OpDefinitionBuilderDeprecated(builder: Arg<OpDefinitionBuilder>, _version: i32, _why: CStringArgument) {
        builder.get(CALL);
    }

    fn TF_OpDefinitionBuilderSetIsAggregate(builder: Arg<OpDefinitionBuilder>, set: bool) {
        flag(CALL, &builder, Flag::Aggregate, set);
    }

    fn TF_OpDefinitionBuilderSetIsStateful(builder: Arg<OpDefinitionBuilder>, set: bool) {
        flag(CALL, &builder, Flag::Stateful, set);
    }

    fn TF_OpDefinitionBuilderSetIsCommutative(builder: Arg<OpDefinitionBuilder>, set: bool) {
        flag(CALL, &builder, Flag::Commutative, set);
    }

    fn TF_OpDefinitionBuilderSetAllowsUninitializedInput(builder: Arg<OpDefinitionBuilder>, set: bool) {
        flag(CALL, &builder, Flag::AllowsUninitializedInput, set);
    }

    fn TF_OpDefinitionBuilderSetShapeInferenceFunction(
        builder: Arg<OpDefinitionBuilder>,
        function: Option<ShapeFunction>,
    ) {
        if let Some(builder) = builder.get(CALL) {
            builder.definition().shape_function = function;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_duplicate_and_invalid_ops() {
        let op = |name: &str| OpDefinition {
            op: OpDef {
                name: name.into(),
                ..OpDef::default()
            },
            ..OpDefinition::default()
        };
        assert!(register(op("OpDefTest")).is_ok());
        let expected = StatusCode::ALREADY_EXISTS;
        assert_eq!(register(op("OpDefTest")).unwrap_err().0, expected);
        assert_eq!(
            register(op("MatMul")).unwrap_err().0,
            StatusCode::ALREADY_EXISTS
        );
        let malformed = OpDefinition {
            malformed: Some("x".into()),
            ..op("Other")
        };
        assert_eq!(
            register(malformed).unwrap_err().0,
            StatusCode::INVALID_ARGUMENT
        );
    }
}
