//! Properties: a registry survives the table, and no text makes the parser panic.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use sp_ops::{
    AllowedValues, Argument, ArgumentType, Attribute, AttributeKind, AttributeType, DataType,
    ElementType, Flag, OpDef, Registry, Release, ReleaseOps, Shape, Table, Value,
};

/// An attribute of a type, whose values are of that type.
fn attribute(name: &'static str) -> impl Strategy<Value = Attribute> {
    let value = prop_oneof![
        any::<String>().prop_map(Value::String),
        any::<i64>().prop_map(Value::Int),
        any::<f32>()
            .prop_filter("NaN is not equal to itself", |it| !it.is_nan())
            .prop_map(Value::Float),
        any::<bool>().prop_map(Value::Bool),
        (1..40u32).prop_map(|it| Value::Type(DataType::from_number(it).unwrap())),
        option::of(vec(option::of(any::<u64>()), 0..3))
            .prop_map(|it| Value::Shape(it.map_or(Shape::UnknownRank, Shape::Dimensions))),
        vec(any::<u8>(), 0..5).prop_map(Value::Tensor),
        "[a-z]*".prop_map(Value::Function),
    ];
    (
        vec(value, 1..4),
        any::<[bool; 3]>(),
        option::of(any::<i64>()),
    )
        .prop_map(move |parts| {
            let (values, [is_list, has_default, is_restricted], minimum) = parts;
            let kind = values[0].kind().unwrap();
            let same = values.iter().filter(|it| it.kind() == Some(kind)).cloned();
            let same: Vec<Value> = same.collect();
            let default = match is_list {
                true => Value::List(same.clone()),
                false => values[0].clone(),
            };
            Attribute {
                name: name.to_owned(),
                ty: AttributeType { kind, is_list },
                minimum,
                default: has_default.then_some(default),
                allowed: match is_restricted {
                    true => allowed(&same),
                    false => AllowedValues::Any,
                },
            }
        })
}

fn allowed(values: &[Value]) -> AllowedValues {
    let strings = values.iter().filter_map(|value| match value {
        Value::String(text) => Some(text.clone()),
        _ => None,
    });
    let types = values.iter().filter_map(|value| match value {
        Value::Type(data_type) => Some(*data_type),
        _ => None,
    });
    match values[0].kind() {
        Some(AttributeKind::String) => AllowedValues::Strings(strings.collect()),
        Some(AttributeKind::Type) => AllowedValues::Types(types.collect()),
        _ => AllowedValues::Any,
    }
}

fn argument(name: &'static str) -> impl Strategy<Value = Argument> {
    let fixed = (1..40u32).prop_map(|it| ElementType::Fixed(DataType::from_number(it).unwrap()));
    let element = prop_oneof![fixed, Just(ElementType::Attribute("T".into()))];
    let ty = (element, 0..3).prop_map(|(element, kind)| match kind {
        0 => ArgumentType::Single(element),
        1 => ArgumentType::Repeated {
            count: "N".into(),
            element,
        },
        _ => ArgumentType::List("Tin".into()),
    });
    (ty, any::<bool>()).prop_map(move |(ty, is_ref)| Argument {
        name: name.to_owned(),
        ty,
        is_ref,
    })
}

/// The attributes that arguments refer to.
fn referenced() -> Vec<Attribute> {
    let attribute = |name: &str, kind, is_list| Attribute {
        name: name.to_owned(),
        ty: AttributeType { kind, is_list },
        minimum: None,
        default: None,
        allowed: AllowedValues::Any,
    };
    vec![
        attribute("T", AttributeKind::Type, false),
        attribute("N", AttributeKind::Int, false),
        attribute("Tin", AttributeKind::Type, true),
    ]
}

/// An op whose arguments and attributes are in any order.
fn op(name: &'static str) -> impl Strategy<Value = OpDef> {
    let arguments = || {
        let all = (
            option::of(argument("x")),
            option::of(argument("y")),
            option::of(argument("z")),
        );
        all.prop_map(|(x, y, z)| [x, y, z].into_iter().flatten().collect::<Vec<_>>())
            .prop_shuffle()
    };
    let attributes = (option::of(attribute("a")), option::of(attribute("b")))
        .prop_map(|(a, b)| {
            [a, b]
                .into_iter()
                .flatten()
                .chain(referenced())
                .collect::<Vec<_>>()
        })
        .prop_shuffle();
    let flags = prop_oneof![
        Just(vec![]),
        Just(vec![Flag::Stateful]),
        any::<i32>().prop_map(|version| vec![Flag::Commutative, Flag::Deprecated(version)]),
    ];
    (arguments(), arguments(), attributes, flags).prop_map(
        move |(inputs, outputs, attributes, flags)| OpDef {
            name: name.to_owned(),
            inputs,
            outputs,
            attributes,
            flags,
        },
    )
}

fn registry() -> impl Strategy<Value = Registry> {
    let ops = (
        option::of(op("B>x")),
        option::of(op("Ab")),
        option::of(op("_A")),
    );
    vec(ops, 0..5).prop_map(|releases| {
        let mut registry = Registry::default();
        for (minor, (first, second, third)) in (8..).zip(releases) {
            let version: Release = format!("2.{minor}.1").parse().unwrap();
            let ops = [first, second, third].into_iter().flatten();
            registry.insert(ReleaseOps::new(version, ops).unwrap());
        }
        registry
    })
}

proptest! {
    #[test]
    fn registries_round_trip(registry in registry()) {
        let text = registry.to_text();
        let table = Table::parse(&*text).unwrap();
        prop_assert_eq!(&Registry::from_table(&table), &registry);
        for name in table.names() {
            prop_assert_eq!(table.find(name).unwrap().name, name);
        }
    }

    #[test]
    fn any_text_is_parsed_or_rejected(text in any::<String>(), name in any::<String>()) {
        let _ = Table::parse(&*text).map(|table| table.find(&name));
    }

    #[test]
    fn damaged_tables_are_parsed_or_rejected(
        start in 0..400_000_usize,
        edits in vec((0..900_usize, "[ -~\n\u{e9}]{0,3}"), 1..6),
    ) {
        let text = include_str!("../src/ops.txt");
        let mut part: Vec<char> = text[start..start + 900].chars().collect();
        for (at, new) in edits {
            let end = (at + 2).min(part.len());
            part.splice(at.min(end)..end, new.chars());
        }
        let part: String = part.into_iter().collect();
        let text = format!("release 2.5 2.5.3\n{}", &part[part.find("op ").unwrap_or(0)..]);
        if let Ok(table) = Table::parse(&*text) {
            for name in table.names() {
                prop_assert!(table.find(name).is_some());
            }
        }
    }
}

#[test]
fn rejects_malformed_tables_with_their_line() {
    let header = "# heading\nrelease 2.5 2.5.3\n";
    for (text, line, message) in [
        ("release 2.5\n".to_owned(), 1, "release 2.21 2.21.0"),
        ("release 2.6 2.5.3\n".to_owned(), 1, "in order"),
        (format!("{header}release 2.5 2.5.3\n"), 3, "in order"),
        ("words\n".to_owned(), 1, "expected a line"),
        (format!("{header}op B\nop A\n"), 4, "`A` is not after `B`"),
        (
            format!("{header}op A\n  x\n"),
            4,
            "expected a flag, found `x`",
        ),
        (format!("{header}op A\n\n"), 4, "expected `  `"),
        (
            format!("{header}op A\nop B @ 2.6\n"),
            4,
            "invalid releases `2.6`",
        ),
        (format!("{header}op A\n  stateful \n"), 4, "expected ` @ `"),
        (
            format!("{header}op A\n  attr s: string = \"\u{e9}\"\n"),
            4,
            "not ASCII",
        ),
    ] {
        let error = Table::parse(&*text).unwrap_err();
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.message.contains(message), "{text}: {error}");
    }
}
