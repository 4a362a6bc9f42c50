use super::message::attr_value::AttrValueKind;
use super::message::{
    ArgDef, AttrDef, AttrValue, Dim, ListValue, NameAttrList, OpDefMessage, OpDeprecation, OpList,
    TensorShape,
};
use super::{OpImportError, decode};
use prost::Message as _;
use sp_ops::{Registry, Release};

const VERSION: Release = Release {
    patch: Some(1),
    ..Release::from_minor(2, 12)
};

fn attribute(ty: &str, default: Option<AttrValueKind>) -> AttrDef {
    AttrDef {
        name: "a".into(),
        r#type: ty.into(),
        default_value: default.map(|value| AttrValue { value: Some(value) }),
        ..AttrDef::default()
    }
}

fn op(attr: Vec<AttrDef>) -> OpDefMessage {
    OpDefMessage {
        name: "X".into(),
        attr,
        ..OpDefMessage::default()
    }
}

/// Returns the lines of the table for a list with this op, or the reason why it is rejected.
fn lines(op: OpDefMessage) -> Result<String, String> {
    let list = OpList { op: vec![op] }.encode_to_vec();
    let ops = decode(VERSION, &list).map_err(|error| match error {
        OpImportError::Malformed { detail, .. } => detail,
        error => panic!("{error}"),
    })?;
    let mut registry = Registry::default();
    registry.insert(ops);
    let text = registry.to_text();
    let (_, op) = text.split_once("op X\n").unwrap();
    Ok(op.to_owned())
}

/// The value of a list: `list!(FIELD: VALUES)`, or an empty one.
macro_rules! list {
    ($($field:ident: $values:expr)?) => {
        AttrValueKind::List(ListValue { $($field: $values,)? ..ListValue::default() })
    };
}

fn shape(sizes: &[i64]) -> TensorShape {
    TensorShape {
        dim: sizes.iter().map(|size| Dim { size: *size }).collect(),
        unknown_rank: false,
    }
}

fn function(name: &str) -> NameAttrList {
    NameAttrList {
        name: name.into(),
        attr: Vec::new(),
    }
}

#[test]
fn converts_defaults_of_every_type() {
    let unknown = TensorShape {
        dim: Vec::new(),
        unknown_rank: true,
    };
    for (ty, default, text) in [
        ("string", AttrValueKind::S(b"a\n".to_vec()), "\"a\\u{a}\""),
        ("int", AttrValueKind::I(-7), "-7"),
        ("float", AttrValueKind::F(1e-7), "1e-7"),
        ("bool", AttrValueKind::B(true), "true"),
        ("type", AttrValueKind::Type(19), "half"),
        ("type", AttrValueKind::Type(100), "type100"),
        ("shape", AttrValueKind::Shape(shape(&[2, -1])), "[2, ?]"),
        ("shape", AttrValueKind::Shape(unknown), "?"),
        ("tensor", AttrValueKind::Tensor(vec![8, 3]), "0x0803"),
        ("func", AttrValueKind::Func(function("f")), "\"f\""),
        ("list(int)", list!(), "[]"),
        ("list(int)", list!(i: vec![1, 2]), "[1, 2]"),
        ("list(float)", list!(f: vec![0.5]), "[0.5]"),
        ("list(bool)", list!(b: vec![true]), "[true]"),
        ("list(type)", list!(r#type: vec![1]), "[float]"),
        ("list(string)", list!(s: vec![b"x".to_vec()]), "[\"x\"]"),
        ("list(shape)", list!(shape: vec![shape(&[])]), "[[]]"),
        ("list(tensor)", list!(tensor: vec![vec![1]]), "[0x01]"),
        ("list(func)", list!(func: vec![function("g")]), "[\"g\"]"),
    ] {
        let op = op(vec![attribute(ty, Some(default))]);
        assert_eq!(lines(op), Ok(format!("  attr a: {ty} = {text}\n")));
    }
}

#[test]
fn converts_arguments_flags_and_allowed_values() {
    let argument = |name: &str| ArgDef {
        name: name.into(),
        ..ArgDef::default()
    };
    let types = ListValue {
        r#type: vec![19, 1, 19],
        ..ListValue::default()
    };
    let allowed = |list| {
        Some(AttrValue {
            value: Some(AttrValueKind::List(list)),
        })
    };
    let strings = ListValue {
        s: vec![b"b".to_vec(), b"a".to_vec()],
        ..ListValue::default()
    };
    let attribute = |name: &str, ty| AttrDef {
        name: name.into(),
        ..attribute(ty, None)
    };
    let op = OpDefMessage {
        input_arg: vec![
            ArgDef {
                type_attr: "T".into(),
                number_attr: "N".into(),
                ..argument("x")
            },
            ArgDef {
                type_list_attr: "Tin".into(),
                ..argument("y")
            },
        ],
        output_arg: vec![ArgDef {
            r#type: 9,
            is_ref: true,
            ..argument("z")
        }],
        attr: vec![
            AttrDef {
                allowed_values: allowed(types),
                ..attribute("T", "type")
            },
            AttrDef {
                has_minimum: true,
                minimum: 1,
                ..attribute("N", "int")
            },
            attribute("Tin", "list(type)"),
            AttrDef {
                allowed_values: allowed(strings),
                ..attribute("s", "string")
            },
        ],
        deprecation: Some(OpDeprecation { version: 26 }),
        is_aggregate: true,
        is_stateful: true,
        is_commutative: true,
        allows_uninitialized_input: true,
        is_distributed_communication: true,
        ..op(Vec::new())
    };
    let expected = [
        "input x: N * T",
        "input y: list(Tin)",
        "output z: Ref(int64)",
        "attr T: type in float half",
        "attr N: int >= 1",
        "attr Tin: list(type)",
        "attr s: string in \"b\" \"a\"",
        "commutative",
        "aggregate",
        "stateful",
        "allows_uninitialized_input",
        "distributed_communication",
        "deprecated 26",
    ];
    let expected: String = expected.iter().map(|line| format!("  {line}\n")).collect();
    assert_eq!(lines(op), Ok(expected));
}

#[test]
fn rejects_values_that_no_op_has() {
    let with_attributes = NameAttrList {
        attr: vec![Vec::new()],
        ..function("f")
    };
    let output = ArgDef {
        name: "y".into(),
        r#type: 101,
        ..ArgDef::default()
    };
    for (ty, default, words) in [
        ("string", AttrValueKind::S(vec![0xff]), "not UTF-8"),
        ("type", AttrValueKind::Type(0), "0 is not the number"),
        ("type", AttrValueKind::Type(-3), "-3 is not the number"),
        (
            "shape",
            AttrValueKind::Shape(shape(&[-2])),
            "a dimension is negative",
        ),
        (
            "func",
            AttrValueKind::Func(with_attributes),
            "attributes of its own",
        ),
        ("int", AttrValueKind::F(1.0), "not of its type"),
        ("int", list!(), "not of its type"),
        ("list(int)", AttrValueKind::I(1), "not of its type"),
    ] {
        assert_rejected(op(vec![attribute(ty, Some(default))]), words);
    }
    let plain = || attribute("int", None);
    assert_rejected(op(vec![plain(), plain()]), "`a` occurs twice");
    let named_as_type = AttrDef {
        name: "float".into(),
        ..plain()
    };
    assert_rejected(op(vec![named_as_type]), "the name of a type");
    let with_allowed_integers = AttrDef {
        allowed_values: Some(AttrValue {
            value: Some(list!()),
        }),
        ..plain()
    };
    let words = "neither types nor strings";
    assert_rejected(op(vec![with_allowed_integers]), words);
    let with_output = OpDefMessage {
        output_arg: vec![output],
        ..op(Vec::new())
    };
    assert_rejected(with_output, "101 is not the number");
}

#[track_caller]
fn assert_rejected(op: OpDefMessage, words: &str) {
    let reason = lines(op).unwrap_err();
    assert!(
        reason.starts_with("op `X`: ") && reason.contains(words),
        "{words}: {reason}"
    );
}

#[test]
fn damaged_lists_are_decoded_or_rejected() {
    let default = AttrValueKind::List(ListValue {
        i: vec![1, 300],
        ..ListValue::default()
    });
    let list = OpList {
        op: vec![op(vec![attribute("list(int)", Some(default))])],
    }
    .encode_to_vec();
    let mut rejected = 0;
    for at in 0..list.len() {
        for byte in [0, 1, 0x7f, 0x80, 0xff, list[at] ^ 8] {
            let mut damaged = list.clone();
            damaged[at] = byte;
            rejected += usize::from(decode(VERSION, &damaged).is_err());
        }
        rejected += usize::from(decode(VERSION, &list[..at]).is_err());
    }
    assert!(rejected > list.len(), "{rejected}");
}
