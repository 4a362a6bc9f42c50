//! Reads the arguments of `REGISTER_KERNEL_BUILDER`: a chain of calls that begins with `Name`, and a class.

use crate::chain::{Call, parse_chain, shorten, string};
use crate::element::{from_enumerator, from_type};
use crate::names::Names;
use crate::registration::{KernelRegistration, Position};
use crate::token::{Kind, Token, join, split_arguments};
use sp_ops::DataType;

/// Reads a registration.
///
/// # Errors
/// Returns the reason why it cannot be read.
pub fn parse(
    arguments: &[Token],
    names: &Names,
    position: Position,
) -> Result<KernelRegistration, String> {
    let (builder, class) = split_class(arguments)?;
    let calls = parse_chain(builder)?;
    let class = join(class);
    let mut kernel = KernelRegistration {
        op: String::new(),
        device: String::new(),
        types: Vec::new(),
        host_memory: Vec::new(),
        label: None,
        priority: None,
        is_asynchronous: names.is_asynchronous(&class),
        class,
        position,
    };
    for call in &calls {
        apply(&mut kernel, call, names)?;
    }
    match kernel.op.is_empty() {
        true => Err("the chain has no `Name(..)`".to_owned()),
        false => Ok(kernel),
    }
}

/// Splits the arguments at the first comma. Commas after it are those of the class's arguments.
fn split_class(arguments: &[Token]) -> Result<(&[Token], &[Token]), String> {
    let builder = split_arguments(arguments)[0];
    let class = arguments.get(builder.len() + 1..);
    class
        .map(|class| (builder, class))
        .ok_or_else(|| "there is no class after the builder".to_owned())
}

fn apply(kernel: &mut KernelRegistration, call: &Call<'_>, names: &Names) -> Result<(), String> {
    match (call.name, &call.arguments[..]) {
        ("Name", [name]) => kernel.op = op_name(string(name, names)?)?,
        ("Device", [device]) => kernel.device = device_type(device, names),
        ("TypeConstraint", _) => kernel.types.push(type_constraint(call, names)?),
        ("HostMemory", [argument]) => kernel.host_memory.push(string(argument, names)?),
        ("Label", [label]) => kernel.label = Some(string(label, names)?),
        ("Priority", [priority]) => kernel.priority = Some(number(priority)?),
        (name, _) => {
            let count = call.arguments.len();
            return Err(format!(
                "`{name}` with {count} arguments is no call of a kernel's builder here"
            ));
        }
    }
    Ok(())
}

/// Returns the name of an op if it has the characters of one.
pub fn op_name(name: String) -> Result<String, String> {
    let is_part =
        |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | '>' | '/' | '-');
    match !name.is_empty() && name.chars().all(is_part) {
        true => Ok(name),
        false => Err(format!("`{}` is no name of an op", shorten(&name))),
    }
}

/// Returns the type of a device: of `DEVICE_GPU` the part after the underscore, of a string its value.
fn device_type(tokens: &[Token], names: &Names) -> String {
    let text = string(tokens, names).unwrap_or_else(|_| join(tokens));
    let name = text.rsplit("::").next().unwrap_or_default();
    name.strip_prefix("DEVICE_").unwrap_or(name).to_owned()
}

/// Reads `TypeConstraint<float>("T")`, `TypeConstraint("T", DT_FLOAT)` or `TypeConstraint("T", {DT_FLOAT, ..})`.
fn type_constraint(call: &Call<'_>, names: &Names) -> Result<(String, Vec<DataType>), String> {
    match call.arguments[..] {
        [attribute] if !call.template.is_empty() => {
            let ty = element_type(&join(call.template), names)?;
            Ok((string(attribute, names)?, vec![ty]))
        }
        [attribute, types] => {
            let types = match types {
                [open, inner @ .., close] if open.is("{") && close.is("}") => {
                    split_arguments(inner)
                }
                _ => vec![types],
            };
            let types = types.into_iter().filter(|it| !it.is_empty());
            let types = types
                .map(|it| enumerator(it, names))
                .collect::<Result<_, _>>()?;
            Ok((string(attribute, names)?, types))
        }
        _ => Err("`TypeConstraint` has neither a type nor a list of types".to_owned()),
    }
}

fn element_type(text: &str, names: &Names) -> Result<DataType, String> {
    from_type(names.resolve_type(text))
        .or_else(|| from_type(text))
        .ok_or_else(|| format!("`{}` is no element type", shorten(text)))
}

/// Returns the type of `DT_FLOAT`, `DataTypeToEnum<float>::value` or `DataTypeToEnum<float>::v()`.
fn enumerator(tokens: &[Token], names: &Names) -> Result<DataType, String> {
    let text = join(tokens);
    if let Some(ty) = from_enumerator(&text) {
        return Ok(ty);
    }
    let inner = text.split_once("DataTypeToEnum<").map(|(_, rest)| rest);
    let inner = inner.and_then(|rest| rest.rsplit_once(">::"));
    match inner {
        Some((ty, "value" | "v()")) => element_type(ty, names),
        _ => Err(format!("`{}` is no element type", shorten(&text))),
    }
}

fn number(tokens: &[Token]) -> Result<i32, String> {
    let text = join(tokens);
    let is_number = tokens
        .iter()
        .all(|it| it.kind == Kind::Literal || it.is("-"));
    let value = text.parse().ok().filter(|_| is_number);
    value.ok_or_else(|| format!("`{}` is no number", shorten(&text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::tokenize;
    use sp_system::budget::Budget;

    fn parse_text(text: &str) -> Result<KernelRegistration, String> {
        let tokens = tokenize(text, &mut Budget::for_input(text.len()));
        let position = Position { source: 0, line: 1 };
        parse(&tokens.unwrap().tokens, &Names::default(), position)
    }

    #[test]
    fn reads_each_call_of_a_builder() {
        let kernel = parse_text(
            "::tensorflow::Name(\"A\" \"bs\").Device(::tensorflow::DEVICE_GPU).TypeConstraint<Eigen::half>(\"T\")
             .template TypeConstraint<int>(\"I\").TypeConstraint(\"U\", {DT_INT8, DataTypeToEnum<bool>::v(),})
             .TypeConstraint(\"V\", DT_STRING).HostMemory(\"x\").Label(\"l\").Priority(-2), F<GPUDevice, float, 3>",
        );
        let kernel = kernel.unwrap();
        assert_eq!(
            (&*kernel.op, &*kernel.device, &*kernel.class),
            ("Abs", "GPU", "F<GPUDevice, float, 3>")
        );
        let expected = [
            ("T", vec![DataType::HALF]),
            ("I", vec![DataType::INT32]),
            ("U", vec![DataType::INT8, DataType::BOOL]),
            ("V", vec![DataType::STRING]),
        ];
        assert_eq!(
            kernel.types,
            expected.map(|(name, types)| (name.to_owned(), types))
        );
        assert_eq!(kernel.host_memory, ["x"]);
        assert_eq!(
            (kernel.label.as_deref(), kernel.priority),
            (Some("l"), Some(-2))
        );
    }

    #[test]
    fn errors_name_what_cannot_be_read() {
        for (text, expected) in [
            ("Name(\"A\").Device(DEVICE_CPU)", "no class"),
            ("Device(DEVICE_CPU), F", "no `Name(..)`"),
            ("Name(kName), F", "`kName` is no string of this source"),
            ("Name(\"a\\n\"), F", "is no name of an op"),
            (
                "Name(\"A\").TypeConstraint<U>(\"T\"), F",
                "`U` is no element type",
            ),
            (
                "Name(\"A\").TypeConstraint(\"T\", kTypes), F",
                "`kTypes` is no element type",
            ),
            ("Name(\"A\").TypeConstraint(\"T\"), F", "neither a type nor"),
            ("Name(\"A\").Priority(kHigh), F", "`kHigh` is no number"),
            (
                "Name(\"A\").AttrConstraint(\"N\", 1), F",
                "`AttrConstraint` with 2 arguments",
            ),
            ("builder, F", "`builder` is no call"),
            ("Name(\"A\").Device(), F", "`Device` with 0 arguments"),
        ] {
            let error = parse_text(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
