//! Ops as JSON; the schema is `codegen/docs/ops.schema.json`.

use serde_json::{Map, Value as Json, json};
use sp_data::release::Release;
use sp_ops::{
    AllowedValues, Argument, ArgumentType, Attribute, Declared, ElementType, Flag, Op, ReleaseSet,
    Shape, Value,
};

/// Version of the JSON format. Keys are added; the meaning of a key does not change.
const SCHEMA: u32 = 1;

/// Formats one op with its arguments, attributes and flags.
pub fn format_op(op: &Op, release: Option<Release>) -> String {
    document(vec![whole_op(op)], release)
}

/// Formats a list of ops: their names and releases.
pub fn format_names(ops: &[Op], release: Option<Release>) -> String {
    let entry = |op: &Op| json!({"name": op.name, "releases": runs(&op.releases)});
    document(ops.iter().map(entry).collect(), release)
}

fn document(ops: Vec<Json>, release: Option<Release>) -> String {
    let release = release.map(|release| release.to_string());
    let document = json!({"schema": SCHEMA, "release": release, "ops": ops});
    format!("{document:#}\n")
}

fn whole_op(op: &Op) -> Json {
    json!({
        "name": op.name,
        "releases": runs(&op.releases),
        "inputs": op.inputs.iter().map(argument).collect::<Vec<_>>(),
        "outputs": op.outputs.iter().map(argument).collect::<Vec<_>>(),
        "attributes": op.attributes.iter().map(attribute).collect::<Vec<_>>(),
        "flags": op.flags.iter().map(flag).collect::<Vec<_>>(),
    })
}

fn runs(releases: &ReleaseSet) -> Json {
    let run = |run: &sp_ops::ReleaseRun| json!({"first": run.first.to_string(), "last": run.last.map(|it| it.to_string())});
    releases.runs().iter().map(run).collect()
}

fn argument(declared: &Declared<Argument>) -> Json {
    let Argument { name, ty, is_ref } = &declared.item;
    let mut entry = json!({"name": name, "releases": runs(&declared.releases), "is_ref": is_ref});
    let element = match ty {
        ArgumentType::Single(element) => Some(element),
        ArgumentType::Repeated { count, element } => {
            entry["number_attribute"] = json!(count);
            Some(element)
        }
        ArgumentType::List(attribute) => {
            entry["type_list_attribute"] = json!(attribute);
            None
        }
    };
    match element {
        Some(ElementType::Fixed(data_type)) => entry["type"] = json!(data_type.to_string()),
        Some(ElementType::Attribute(name)) => entry["type_attribute"] = json!(name),
        None => {}
    }
    entry
}

fn attribute(declared: &Declared<Attribute>) -> Json {
    let attribute = &declared.item;
    let mut entry = Map::new();
    entry.insert("name".into(), json!(attribute.name));
    entry.insert("releases".into(), runs(&declared.releases));
    entry.insert("type".into(), json!(attribute.ty.to_string()));
    if let Some(minimum) = attribute.minimum {
        entry.insert("minimum".into(), json!(minimum));
    }
    if let Some(default) = &attribute.default {
        entry.insert("default".into(), value(default));
    }
    let allowed: Option<Vec<String>> = match &attribute.allowed {
        AllowedValues::Any => None,
        AllowedValues::Types(types) => Some(types.iter().map(ToString::to_string).collect()),
        AllowedValues::Strings(strings) => Some(strings.clone()),
    };
    if let Some(allowed) = allowed {
        entry.insert("allowed".into(), json!(allowed));
    }
    Json::Object(entry)
}

/// Returns a value. Numbers that JSON does not have, unknown ranks and tensors are text.
fn value(value: &Value) -> Json {
    match value {
        Value::String(text) | Value::Function(text) => json!(text),
        Value::Int(value) => json!(value),
        // A 32-bit number is printed with its own digits, not with those of the nearest 64-bit number.
        Value::Float(number) => match number.to_string().parse::<f64>() {
            Ok(number) if number.is_finite() => json!(number),
            _ => json!(value.to_string()),
        },
        Value::Bool(value) => json!(value),
        Value::Shape(Shape::Dimensions(dimensions)) => json!(dimensions),
        Value::Shape(Shape::UnknownRank) | Value::Type(_) | Value::Tensor(_) => {
            json!(value.to_string())
        }
        Value::List(values) => values.iter().map(self::value).collect(),
    }
}

fn flag(declared: &Declared<Flag>) -> Json {
    let mut entry = json!({
        "name": declared.item.name(),
        "releases": runs(&declared.releases),
    });
    if let Flag::Deprecated(version) = declared.item {
        entry["version"] = json!(version);
    }
    entry
}
