//! C functions that return protocol buffers: a kernel's node, functions, the session's configuration.

use std::ffi::c_int;

use super::argument::{Arg, CStringArgument};
use super::attr::Attr;
use super::buffer::{BufferObject, fill};
use super::builder::{BuilderHandle, record};
use super::construction::KernelConstruction;
use super::context::{ArgumentPlacement, Ctx, KernelContext};
use super::failure::{StatusResult, invalid};
use super::functions::functions;
use super::report::report;
use crate::Tensor;
use crate::dtype::DType;
use crate::objects::{self, Owner};
use crate::proto::{self, FieldValue};
use crate::status_object::StatusObject;

/// The struct that `TF_InputRange` fills.
#[repr(C)]
pub(super) struct InputRange {
    struct_size: usize,
    private: *mut std::ffi::c_void,
    start: c_int,
    stop: c_int,
    status: Arg<StatusObject>,
}

/// The `versions.producer` of graphs here: one that all supported releases read.
const PRODUCER: c_int = 440;

fn tensor(tensor: &Tensor) -> Vec<u8> {
    [
        proto::varint_field(1, u64::from(tensor.dtype().0)),
        proto::bytes_field(2, shape(Some(tensor.dims()))),
        proto::bytes_field(4, tensor.bytes()),
    ]
    .concat()
}

fn shape(dims: Option<&[i64]>) -> Vec<u8> {
    match dims {
        None => proto::varint_field(3, 1),
        Some(dims) => dims
            .iter()
            .flat_map(|dim| proto::bytes_field(2, proto::varint_field(1, *dim as u64)))
            .collect(),
    }
}

/// Field number of a function in an `AttrValue`, and in its list.
const FUNCTION: u32 = 10;
const LISTED_FUNCTION: u32 = 9;

/// The one field of an `AttrValue`; in its lists the fields have the same numbers, but for functions.
fn value(attr: &Attr, function: u32) -> Vec<u8> {
    match attr {
        Attr::Text(text) => proto::bytes_field(2, text),
        Attr::Int(value) => proto::varint_field(3, *value as u64),
        Attr::Float(value) => [&[4 << 3 | 5][..], &value.to_le_bytes()].concat(),
        Attr::Bool(value) => proto::varint_field(5, u64::from(*value)),
        Attr::Type(dtype) => proto::varint_field(6, u64::from(dtype.0)),
        Attr::Shape(dims) => proto::bytes_field(7, shape(dims.as_deref())),
        Attr::Tensor(found) => proto::bytes_field(8, tensor(found)),
        Attr::Function(name) => proto::bytes_field(function, proto::bytes_field(1, name)),
        Attr::List(items) => {
            let items = items.iter().flat_map(|it| value(it, LISTED_FUNCTION));
            proto::bytes_field(1, items.collect::<Vec<_>>())
        }
    }
}

fn node(construction: &KernelConstruction) -> Vec<u8> {
    let attrs = construction.attrs.iter().map(|(name, attr)| {
        let entry = [
            proto::bytes_field(1, name),
            proto::bytes_field(2, value(attr, FUNCTION)),
        ]
        .concat();
        proto::bytes_field(5, entry)
    });
    let names = [
        proto::bytes_field(1, &construction.name),
        proto::bytes_field(2, &construction.op),
    ];
    names.into_iter().chain(attrs).flatten().collect()
}

/// Returns the range of the inputs of this name, which are several for a list.
fn input_range(ctx: &KernelContext, name: &str) -> StatusResult<(c_int, c_int)> {
    let has_name = |input: &&ArgumentPlacement| input.name == name;
    let start = ctx.inputs.iter().position(|input| has_name(&input));
    let start = start.ok_or_else(|| invalid(format!("there is no input {name}")))?;
    let count = ctx.inputs[start..].iter().take_while(has_name).count();
    Ok((start as c_int, (start + count) as c_int))
}

/// The types that a `KernelDef.AttrConstraint` allows, one constraint for each.
fn constraints(constraint: &[u8]) -> Vec<(String, DType)> {
    let name = proto::field_values(constraint, 1).find_map(FieldValue::text);
    let values = proto::field_values(constraint, 2).filter_map(FieldValue::bytes);
    let lists =
        values.flat_map(|value| proto::field_values(value, 1).filter_map(FieldValue::bytes));
    let types = lists.flat_map(|list| proto::field_values(list, 6));
    types
        .filter_map(|ty| match ty {
            FieldValue::Number(number) => Some((name.clone()?, DType(number as u32))),
            _ => None,
        })
        .collect()
}

functions! {
    fn TF_OpKernelConstruction_GetNodeDef(ctx: Arg<KernelConstruction>; status) -> *mut BufferObject {
        Ok(objects::create(BufferObject::from_bytes(&node(ctx.live(CALL)?)), Owner::Plugin))
    }

    fn TF_OpKernelConstruction_GetAttrFunction(
        ctx: Arg<KernelConstruction>, name: CStringArgument; status
    ) -> *mut BufferObject {
        let (ctx, name) = (ctx.live(CALL)?, name.string());
        let text = match ctx.attrs.get(&name) {
            Some(Attr::Function(function)) => {
                let message = proto::bytes_field(1, function);
                return Ok(objects::create(BufferObject::from_bytes(&message), Owner::Plugin));
            }
            Some(attr) => format!("attribute {name} is a {}, not a function", attr.kind()),
            None => format!("{} has no attribute {name}", ctx.name),
        };
        Err(invalid(text).into())
    }

    fn TF_GetGraphDefVersion(ctx: Ctx) -> c_int {
        ctx.get(CALL).map_or(0, |_| PRODUCER)
    }

    // All settings at their defaults: an empty message.
    fn TF_GetSerializedConfigProto(ctx: Ctx, buffer: Arg<BufferObject>; status) {
        ctx.get(CALL);
        Ok(fill(&buffer, &[])?)
    }

    // A library without functions: an empty message.
    fn TF_GetSerializedFunctionDefLibrary(ctx: Ctx, buffer: Arg<BufferObject>; status) {
        ctx.get(CALL);
        Ok(fill(&buffer, &[])?)
    }

    fn TF_GetSerializedResourceHandleProto(ctx: Ctx, index: c_int, buffer: Arg<BufferObject>; status) {
        let ctx = ctx.live(CALL)?;
        let view = ctx.input(index)?;
        if view.dtype != DType::RESOURCE {
            return Err(invalid(format!("input {index} is {}", view.dtype)).into());
        }
        let number: Vec<String> = view.buffer.host_bytes().iter().map(u8::to_string).collect();
        let name = format!("variable_{}", number.join("_"));
        let text = (1..).zip([ctx.device.as_str(), "localhost", &name]);
        let handle: Vec<u8> = text.flat_map(|(field, text)| proto::bytes_field(field, text)).collect();
        Ok(fill(&buffer, &handle)?)
    }

    fn TF_InputRange(ctx: Ctx, name: CStringArgument, args: *mut InputRange) {
        let Some(ctx) = ctx.get(CALL) else { return };
        if args.is_null() {
            return objects::record_fault(format!("{CALL} without arguments"));
        }
        let found = input_range(ctx, &name.string());
        // SAFETY: the plugin's struct is valid for the call and has this layout in every release.
        let args = unsafe { &mut *args };
        if let Ok((start, stop)) = found {
            (args.start, args.stop) = (start, stop);
        }
        report(&args.status, CALL, found.map(|_| ()));
    }

    fn TF_RegisterKernelBuilderWithKernelDef(
        definition: CStringArgument, _name: CStringArgument, builder: Arg<BuilderHandle>; status
    ) {
        let builder = builder.take(CALL).ok_or_else(|| invalid("there is no such builder"))?;
        let definition = definition.bytes();
        let text = |field| proto::field_values(definition, field).find_map(FieldValue::text);
        let (Some(op), Some(device)) = (text(1), text(2)) else {
            return Err(invalid("the KernelDef names no op or no device").into());
        };
        let mut kernel = builder.kernel();
        (kernel.op, kernel.device) = (op, device);
        kernel.label = text(5).unwrap_or_default();
        kernel.host_memory = proto::field_values(definition, 4).filter_map(FieldValue::text).collect();
        let listed = proto::field_values(definition, 3).filter_map(FieldValue::bytes);
        kernel.constraints = listed.flat_map(constraints).collect();
        record(kernel);
        Ok(())
    }
}
