//! Op definitions of TensorFlow's protocol buffers as those of sp-ops.

use super::message::attr_value::AttrValueKind;
use super::message::{
    ArgDef, AttrDef, AttrValue, ListValue, NameAttrList, OpDefMessage, TensorShape,
};
use sp_ops::{
    AllowedValues, Argument, ArgumentType, Attribute, AttributeKind, AttributeType, DataType,
    ElementType, Flag, InvalidOp, Shape, Value,
};

type Result<T> = std::result::Result<T, String>;

/// Converts an op definition.
pub(super) fn convert(op: OpDefMessage) -> std::result::Result<sp_ops::OpDef, InvalidOp> {
    let name = op.name.clone();
    convert_op(op).map_err(|reason| InvalidOp { op: name, reason })
}

fn convert_op(op: OpDefMessage) -> Result<sp_ops::OpDef> {
    let flags = flags(&op);
    Ok(sp_ops::OpDef {
        name: op.name,
        inputs: op
            .input_arg
            .into_iter()
            .map(argument)
            .collect::<Result<_>>()?,
        outputs: op
            .output_arg
            .into_iter()
            .map(argument)
            .collect::<Result<_>>()?,
        attributes: op.attr.into_iter().map(attribute).collect::<Result<_>>()?,
        flags,
    })
}

fn flags(op: &OpDefMessage) -> Vec<Flag> {
    let deprecation = op.deprecation.as_ref();
    let flags = [
        (op.is_commutative, Flag::Commutative),
        (op.is_aggregate, Flag::Aggregate),
        (op.is_stateful, Flag::Stateful),
        (
            op.allows_uninitialized_input,
            Flag::AllowsUninitializedInput,
        ),
        (
            op.is_distributed_communication,
            Flag::DistributedCommunication,
        ),
    ];
    let flags = flags.into_iter().filter(|(is_set, _)| *is_set);
    let deprecated = deprecation.map(|it| Flag::Deprecated(it.version));
    flags.map(|(_, flag)| flag).chain(deprecated).collect()
}

fn argument(argument: ArgDef) -> Result<Argument> {
    let ty = match &*argument.type_list_attr {
        "" => single_or_repeated(&argument)?,
        attribute => ArgumentType::List(attribute.to_owned()),
    };
    Ok(Argument {
        name: argument.name,
        ty,
        is_ref: argument.is_ref,
    })
}

fn single_or_repeated(argument: &ArgDef) -> Result<ArgumentType> {
    let element = match &*argument.type_attr {
        "" => ElementType::Fixed(data_type(argument.r#type)?),
        attribute => ElementType::Attribute(attribute.to_owned()),
    };
    Ok(match &*argument.number_attr {
        "" => ArgumentType::Single(element),
        count => ArgumentType::Repeated {
            count: count.to_owned(),
            element,
        },
    })
}

fn attribute(attribute: AttrDef) -> Result<Attribute> {
    let name = attribute.name;
    let of_attribute = |reason: String| format!("attribute `{}`: {reason}", name.escape_debug());
    let ty = AttributeType::from_name(&attribute.r#type);
    let ty = ty.ok_or_else(|| of_attribute(format!("unknown type {:?}", attribute.r#type)))?;
    let default = attribute.default_value.map(|it| value(it, ty)).transpose();
    let allowed = attribute
        .allowed_values
        .map(|it| allowed_values(it, ty.kind));
    Ok(Attribute {
        ty,
        minimum: attribute.has_minimum.then_some(attribute.minimum),
        default: default.map_err(of_attribute)?,
        allowed: allowed
            .transpose()
            .map_err(of_attribute)?
            .unwrap_or(AllowedValues::Any),
        name,
    })
}

fn allowed_values(value: AttrValue, kind: AttributeKind) -> Result<AllowedValues> {
    match (kind, value.value) {
        (AttributeKind::Type, Some(AttrValueKind::List(list))) => {
            let types = list.r#type.into_iter().map(data_type);
            let mut types = types.collect::<Result<Vec<_>>>()?;
            types.sort();
            types.dedup();
            Ok(AllowedValues::Types(types))
        }
        (AttributeKind::String, Some(AttrValueKind::List(list))) => {
            let strings = list.s.into_iter().map(string).collect::<Result<_>>()?;
            Ok(AllowedValues::Strings(strings))
        }
        _ => Err("its allowed values are neither types nor strings".into()),
    }
}

/// Converts a value. An empty list has no items that state its type.
fn value(value: AttrValue, ty: AttributeType) -> Result<Value> {
    Ok(match value.value {
        None => return Err("its default has no value".into()),
        Some(AttrValueKind::S(bytes)) => Value::String(string(bytes)?),
        Some(AttrValueKind::I(value)) => Value::Int(value),
        Some(AttrValueKind::F(value)) => Value::Float(value),
        Some(AttrValueKind::B(value)) => Value::Bool(value),
        Some(AttrValueKind::Type(number)) => Value::Type(data_type(number)?),
        Some(AttrValueKind::Shape(value)) => Value::Shape(shape(value)?),
        Some(AttrValueKind::Tensor(bytes)) => Value::Tensor(bytes),
        Some(AttrValueKind::Func(value)) => Value::Function(function(value)?),
        Some(AttrValueKind::List(values)) => Value::List(items(values, ty.kind)?),
    })
}

fn items(list: ListValue, kind: AttributeKind) -> Result<Vec<Value>> {
    Ok(match kind {
        AttributeKind::String => convert_all(list.s, |it| string(it).map(Value::String))?,
        AttributeKind::Int => list.i.into_iter().map(Value::Int).collect(),
        AttributeKind::Float => list.f.into_iter().map(Value::Float).collect(),
        AttributeKind::Bool => list.b.into_iter().map(Value::Bool).collect(),
        AttributeKind::Type => convert_all(list.r#type, |it| data_type(it).map(Value::Type))?,
        AttributeKind::Shape => convert_all(list.shape, |it| shape(it).map(Value::Shape))?,
        AttributeKind::Tensor => list.tensor.into_iter().map(Value::Tensor).collect(),
        AttributeKind::Function => convert_all(list.func, |it| function(it).map(Value::Function))?,
    })
}

fn convert_all<T>(items: Vec<T>, convert: impl Fn(T) -> Result<Value>) -> Result<Vec<Value>> {
    items.into_iter().map(convert).collect()
}

fn data_type(number: i32) -> Result<DataType> {
    let data_type = u32::try_from(number).ok().and_then(DataType::from_number);
    data_type.ok_or_else(|| format!("{number} is not the number of an element type"))
}

fn string(bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|_| "a string is not UTF-8".into())
}

fn function(value: NameAttrList) -> Result<String> {
    match value.attr.is_empty() {
        true => Ok(value.name),
        false => Err("a function has attributes of its own".into()),
    }
}

fn shape(shape: TensorShape) -> Result<Shape> {
    if shape.unknown_rank {
        return Ok(Shape::UnknownRank);
    }
    let dimension = |size: i64| match size {
        -1 => Ok(None),
        size => u64::try_from(size).map(Some),
    };
    let dimensions = shape.dim.into_iter().map(|it| dimension(it.size));
    let dimensions = dimensions.collect::<std::result::Result<_, _>>();
    dimensions
        .map(Shape::Dimensions)
        .map_err(|_| "a dimension is negative".into())
}
