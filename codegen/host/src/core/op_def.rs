//! Ops that a plugin defines through ops.h, and serialized definitions of these ops and of core's.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::argument::{Arg, CStringArgument};
use super::attr_text::AttrText;
use super::functions::functions;
use super::known_op;
use super::op_definition::{OpDefinition, ShapeFunction};
use super::status::{StatusObject, report};
use crate::objects::{self, HostObject, ObjectKind, Owner};
use crate::{StatusCode, proto};

/// The object behind `TF_OpDefinitionBuilder*`.
struct OpDefinitionBuilder(Mutex<OpDefinition>);

impl HostObject for OpDefinitionBuilder {
    const KIND: ObjectKind = ObjectKind::OpDefinitionBuilder;
}

impl OpDefinitionBuilder {
    fn definition(&self) -> MutexGuard<'_, OpDefinition> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

static DEFINED: Mutex<Vec<OpDefinition>> = Mutex::new(Vec::new());

/// Returns the ops that plugins defined in this process.
pub(crate) fn defined() -> Vec<OpDefinition> {
    DEFINED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone()
}

/// Returns the serialized `OpDef` of an op that core or a plugin defines.
pub(super) fn bytes(name: &str) -> Option<Vec<u8>> {
    let own = defined().into_iter().find(|op| op.name == name);
    own.or_else(|| known_op::definition(name))
        .map(|op| op.bytes())
}

/// Returns the `OpList` of all these ops.
pub(super) fn all() -> Vec<u8> {
    let own = defined().into_iter().map(|op| op.name);
    let names = own.chain(known_op::names().map(str::to_owned));
    let ops = names.filter_map(|name| bytes(&name));
    ops.flat_map(|op| proto::bytes_field(1, op)).collect()
}

/// Parses `name: rest` without the spaces.
fn named(spec: &str) -> Option<(String, String)> {
    let (name, rest) = spec.split_once(':')?;
    let name = name.trim();
    let good = name.starts_with(|first: char| first.is_ascii_alphabetic());
    good.then(|| (name.to_owned(), rest.trim().to_owned()))
}

fn flag(call: &str, builder: &Arg<OpDefinitionBuilder>, field: u32, set: bool) {
    if let Some(builder) = builder.get(call) {
        let mut definition = builder.definition();
        definition.flags.retain(|flag| *flag != field);
        definition.flags.extend(set.then_some(field));
    }
}

fn add(
    call: &str,
    builder: &Arg<OpDefinitionBuilder>,
    spec: &CStringArgument,
    list: impl Fn(&mut OpDefinition) -> &mut Vec<(String, String)>,
) {
    let Some(builder) = builder.get(call) else {
        return;
    };
    let mut definition = builder.definition();
    match named(&spec.string()) {
        Some(entry) => list(&mut definition).push(entry),
        None => definition.malformed = Some(spec.string()),
    }
}

fn register(definition: OpDefinition) -> Result<(), (StatusCode, String)> {
    let name = &definition.name;
    if let Some(spec) = &definition.malformed {
        return Err((
            StatusCode::INVALID_ARGUMENT,
            format!("{name}: cannot parse {spec:?}"),
        ));
    }
    if bytes(name).is_some() {
        return Err((
            StatusCode::ALREADY_EXISTS,
            format!("there is an op {name} already"),
        ));
    }
    DEFINED
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(definition);
    Ok(())
}

functions! {
    fn TF_NewOpDefinitionBuilder(name: CStringArgument) -> *mut OpDefinitionBuilder {
        let definition = OpDefinition { name: name.string(), ..OpDefinition::default() };
        objects::create(OpDefinitionBuilder(Mutex::new(definition)), Owner::Plugin)
    }

    fn TF_DeleteOpDefinitionBuilder(builder: Arg<OpDefinitionBuilder>) {
        drop(builder.take(CALL));
    }

    fn TF_RegisterOpDefinition(builder: Arg<OpDefinitionBuilder>, status: Arg<StatusObject>) {
        let Some(builder) = builder.take(CALL) else { return };
        let definition = builder.definition().clone();
        let registered = register(definition);
        // Once its registry is in use, TensorFlow ends the process and reports nothing.
        if let Err((_, text)) = &registered {
            objects::record_fault(format!("{CALL}: {text}; TensorFlow ends the process"));
        }
        report(&status, CALL, registered);
    }

    fn TF_OpDefinitionBuilderAddInput(builder: Arg<OpDefinitionBuilder>, spec: CStringArgument) {
        add(CALL, &builder, &spec, |op| &mut op.inputs);
    }

    fn TF_OpDefinitionBuilderAddOutput(builder: Arg<OpDefinitionBuilder>, spec: CStringArgument) {
        add(CALL, &builder, &spec, |op| &mut op.outputs);
    }

    fn TF_OpDefinitionBuilderAddAttr(builder: Arg<OpDefinitionBuilder>, spec: CStringArgument) {
        let is_valid = named(&spec.string()).is_some_and(|(_, text)| AttrText::parse(&text).is_some());
        match builder.get(CALL) {
            Some(builder) if !is_valid => builder.definition().malformed = Some(spec.string()),
            _ => add(CALL, &builder, &spec, |op| &mut op.attrs),
        }
    }

    fn TF_OpDefinitionBuilderDeprecated(builder: Arg<OpDefinitionBuilder>, _version: i32, _why: CStringArgument) {
        builder.get(CALL);
    }

    fn TF_OpDefinitionBuilderSetIsAggregate(builder: Arg<OpDefinitionBuilder>, set: bool) {
        flag(CALL, &builder, 16, set);
    }

    fn TF_OpDefinitionBuilderSetIsStateful(builder: Arg<OpDefinitionBuilder>, set: bool) {
        flag(CALL, &builder, 17, set);
    }

    fn TF_OpDefinitionBuilderSetIsCommutative(builder: Arg<OpDefinitionBuilder>, set: bool) {
        flag(CALL, &builder, 18, set);
    }

    fn TF_OpDefinitionBuilderSetAllowsUninitializedInput(builder: Arg<OpDefinitionBuilder>, set: bool) {
        flag(CALL, &builder, 19, set);
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
            name: name.into(),
            ..OpDefinition::default()
        };
        assert!(register(op("OpDefTest")).is_ok());
        assert_eq!(
            register(op("OpDefTest")).unwrap_err().0,
            StatusCode::ALREADY_EXISTS
        );
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
