//! Reads the calls after `REGISTER_OP("Name")`.

use crate::chain::{Call, parse_chain, shorten, string};
use crate::kernel_builder::op_name;
use crate::names::Names;
use crate::op_text;
use crate::registration::{OpRegistration, Position};
use crate::token::{Token, join};
use sp_ops::{ArgumentType, ElementType, Flag, OpDef};

/// The calls that do not change a definition in Rust.
const WITHOUT_EFFECT: [&str; 5] = [
    "Doc",
    "SetTypeConstructor",
    "SetForwardTypeFn",
    "SetReverseTypeFn",
    "SetIsDistributedCommunication",
];

/// Reads a definition: `name` are the arguments of `REGISTER_OP`, `chain` is what follows.
///
/// # Errors
/// Returns the reason why it cannot be read.
pub fn parse(
    name: &[Token],
    chain: &[Token],
    names: &Names,
    position: Position,
) -> Result<OpRegistration, String> {
    let definition = OpDef {
        name: op_name(string(name, names)?)?,
        ..OpDef::default()
    };
    let mut op = OpRegistration {
        definition,
        deprecation: String::new(),
        shape_function: None,
        omitted_defaults: Vec::new(),
        position,
    };
    for call in parse_chain(chain)? {
        apply(&mut op, &call, names).map_err(|reason| format!("`{}`: {reason}", call.name))?;
    }
    op.definition.resolve_lists();
    check_references(&op.definition)?;
    op.definition.flags.sort_unstable();
    Ok(op)
}

fn apply(op: &mut OpRegistration, call: &Call<'_>, names: &Names) -> Result<(), String> {
    let OpRegistration { definition, .. } = op;
    let flag = match (call.name, &call.arguments[..]) {
        ("Input", [text]) => {
            definition
                .inputs
                .push(op_text::argument(&string(text, names)?)?);
            return Ok(());
        }
        ("Output", [text]) => {
            definition
                .outputs
                .push(op_text::argument(&string(text, names)?)?);
            return Ok(());
        }
        ("Attr", [text]) => {
            let (attribute, omitted) = op_text::attribute(&string(text, names)?)?;
            op.omitted_defaults
                .extend(omitted.map(|it| (attribute.name.clone(), it)));
            definition.attributes.push(attribute);
            return Ok(());
        }
        ("SetShapeFn", function) => {
            op.shape_function = Some(shape_function(function));
            return Ok(());
        }
        ("SetIsStateful", []) => Flag::Stateful,
        ("SetIsCommutative", []) => Flag::Commutative,
        ("SetIsAggregate", []) => Flag::Aggregate,
        ("SetAllowsUninitializedInput", []) => Flag::AllowsUninitializedInput,
        ("Deprecated", [version, reason]) => {
            op.deprecation = string(reason, names)?;
            let version = join(version);
            let version = version
                .parse()
                .map_err(|_| format!("`{}` is no number", shorten(&version)))?;
            Flag::Deprecated(version)
        }
        (name, _) if WITHOUT_EFFECT.contains(&name) => return Ok(()),
        _ => return Err("no call of an op's builder here".to_owned()),
    };
    op.definition.flags.push(flag);
    Ok(())
}

/// Returns the name of a shape function, or "" if it is written in place.
fn shape_function(arguments: &[&[Token]]) -> String {
    let text = arguments.first().map(|it| join(it)).unwrap_or_default();
    match text.starts_with('[') {
        true => String::new(),
        false => shorten(&text),
    }
}

/// Checks that the op has each attribute that an argument refers to.
fn check_references(definition: &OpDef) -> Result<(), String> {
    for argument in definition.inputs.iter().chain(&definition.outputs) {
        let names = match &argument.ty {
            ArgumentType::Single(element) => vec![element_attribute(element)],
            ArgumentType::Repeated { count, element } => {
                vec![Some(count.as_str()), element_attribute(element)]
            }
            ArgumentType::List(name) => vec![Some(name.as_str())],
        };
        for name in names.into_iter().flatten() {
            if definition.attribute(name).is_none() {
                return Err(format!(
                    "`{argument}` needs an attribute `{name}`, which the op does not have"
                ));
            }
        }
    }
    Ok(())
}

fn element_attribute(element: &ElementType) -> Option<&str> {
    match element {
        ElementType::Attribute(name) => Some(name),
        ElementType::Fixed(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::tokenize;
    use sp_system::budget::Budget;

    fn parse_text(name: &str, chain: &str) -> Result<OpRegistration, String> {
        let tokenize = |text: &str| {
            tokenize(text, &mut Budget::for_input(text.len()))
                .unwrap()
                .tokens
        };
        let position = Position { source: 0, line: 1 };
        parse(
            &tokenize(name),
            &tokenize(chain),
            &Names::default(),
            position,
        )
    }

    #[test]
    fn reads_each_call_of_a_builder() {
        let op = parse_text(
            "\"Sum\" \"All\"",
            ".Input(\"values: N * T\").Input(\"rest: U\").Output(\"sum: Ref(T)\").Attr(\"N: int >= 1\")
             .Attr(\"T: {float, half} = DT_FLOAT\").Attr(\"U: list(type)\").Attr(\"s: shape = {}\").SetIsStateful()
             .SetIsCommutative().Deprecated(26, \"old\").SetShapeFn(shape_inference::UnchangedShape).Doc(R\"doc(x)doc\")",
        );
        let op = op.unwrap();
        let definition = &op.definition;
        let text =
            |items: &[sp_ops::Argument]| items.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(text(&definition.inputs), ["values: N * T", "rest: list(U)"]);
        assert_eq!(text(&definition.outputs), ["sum: Ref(T)"]);
        let attributes = definition.attributes.iter().map(ToString::to_string);
        let attributes: Vec<String> = attributes.collect();
        let expected = [
            "N: int >= 1",
            "T: type = float in float half",
            "U: list(type)",
            "s: shape",
        ];
        assert_eq!(attributes, expected);
        assert_eq!(
            definition.flags,
            [Flag::Commutative, Flag::Stateful, Flag::Deprecated(26)]
        );
        assert_eq!(
            op.shape_function.as_deref(),
            Some("shape_inference::UnchangedShape")
        );
        assert_eq!(op.omitted_defaults, [("s".to_owned(), "{}".to_owned())]);
        assert_eq!(op.deprecation, "old");
    }

    #[test]
    fn functions_of_tensorflow_are_texts_of_attributes() {
        let op = parse_text("\"A\"", ".Attr(GetConvnetDataFormatAttrString())").unwrap();
        let text = op.definition.attributes[0].to_string();
        assert_eq!(text, "data_format: string = \"NHWC\" in \"NHWC\" \"NCHW\"");
    }

    #[test]
    fn shape_function_in_place_is_not_quoted() {
        let op = parse_text(
            "\"A\"",
            ".SetShapeFn([](InferenceContext* c) { return f(c, 1); })",
        )
        .unwrap();
        assert_eq!(op.shape_function.as_deref(), Some(""));
    }

    #[test]
    fn errors_name_what_cannot_be_read() {
        for (name, chain, expected) in [
            ("name", "", "`name` is no string of this source"),
            ("\"A\"", ".Input(\"x\")", "`Input`: "),
            ("\"A\"", ".Input(\"x: T\")", "needs an attribute `T`"),
            (
                "\"A\"",
                ".Attr(GetAttr())",
                "`Attr`: `GetAttr()` is no string",
            ),
            (
                "\"A\"",
                ".Attr(\"T: {flaot}\")",
                "`{flaot}` of `T: {flaot}`",
            ),
            ("\"A\"", ".SetNoSuch()", "`SetNoSuch`: no call"),
        ] {
            let error = parse_text(name, chain).unwrap_err();
            assert!(error.contains(expected), "{name}{chain}: {error}");
        }
    }
}
