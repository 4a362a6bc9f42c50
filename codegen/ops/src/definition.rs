//! The definition of an op in one release.

use crate::DataType;
use crate::attribute::Attribute;
use crate::cursor::{LineCursor, ParseResult};
use crate::kind::AttributeKind;
use std::fmt;

/// The definition of an op in one release.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OpDef {
    /// The name.
    pub name: String,
    /// The inputs in order.
    pub inputs: Vec<Argument>,
    /// The outputs in order.
    pub outputs: Vec<Argument>,
    /// The attributes in TensorFlow's order.
    pub attributes: Vec<Attribute>,
    /// The flags in the order of [`Flag`].
    pub flags: Vec<Flag>,
}

impl OpDef {
    /// Returns the input `name`, or `None` if there is none.
    pub fn input(&self, name: &str) -> Option<&Argument> {
        self.inputs.iter().find(|it| it.name == name)
    }

    /// Returns the output `name`, or `None` if there is none.
    pub fn output(&self, name: &str) -> Option<&Argument> {
        self.outputs.iter().find(|it| it.name == name)
    }

    /// Returns the attribute `name`, or `None` if there is none.
    pub fn attribute(&self, name: &str) -> Option<&Attribute> {
        self.attributes.iter().find(|it| it.name == name)
    }

    /// Makes each argument whose type is an attribute of the type `list(type)` a list of tensors. The text of an argument
    /// does not distinguish them.
    pub fn resolve_lists(&mut self) {
        let is_list = |it: &&Attribute| it.ty.is_list && it.ty.kind == AttributeKind::Type;
        let lists = self.attributes.iter().filter(is_list);
        let lists: Vec<&String> = lists.map(|it| &it.name).collect();
        for argument in self.inputs.iter_mut().chain(&mut self.outputs) {
            if let ArgumentType::Single(ElementType::Attribute(name)) = &argument.ty
                && lists.contains(&name)
            {
                argument.ty = ArgumentType::List(name.clone());
            }
        }
    }

    /// Returns true if the op has state, so that TensorFlow neither removes nor merges its nodes.
    pub fn is_stateful(&self) -> bool {
        self.flags.contains(&Flag::Stateful)
    }

    /// Returns the version of graphs from which on the op is an error, or `None` if it is not deprecated.
    pub fn deprecated(&self) -> Option<i32> {
        self.flags.iter().find_map(|flag| match flag {
            Flag::Deprecated(version) => Some(*version),
            _ => None,
        })
    }
}

/// An input or output of an op.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Argument {
    /// The name.
    pub name: String,
    /// The tensors that it stands for, and their types.
    pub ty: ArgumentType,
    /// True for a reference to a tensor.
    pub is_ref: bool,
}

/// The number of tensors of an argument, and their types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentType {
    /// One tensor.
    Single(ElementType),
    /// Several tensors of one type; their number is the value of an attribute.
    Repeated {
        /// The integer attribute (`number_attr`).
        count: String,
        /// The type of each tensor.
        element: ElementType,
    },
    /// A tensor for each type in the value of this attribute (`type_list_attr`).
    List(String),
}

/// The element type of a tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElementType {
    /// The type is the same in all nodes.
    Fixed(DataType),
    /// The type is the value of this attribute (`type_attr`).
    Attribute(String),
}

/// A property of an op.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Flag {
    /// The inputs can be exchanged.
    Commutative,
    /// Nodes that add up can be merged (`is_aggregate`).
    Aggregate,
    /// The op has state.
    Stateful,
    /// The inputs may be tensors without a buffer (`allows_uninitialized_input`).
    AllowsUninitializedInput,
    /// Nodes communicate with each other (`is_distributed_communication`).
    DistributedCommunication,
    /// The op is an error in graphs of this version and later.
    Deprecated(i32),
}

impl Flag {
    const NAMES: [(Self, &'static str); 5] = [
        (Self::Commutative, "commutative"),
        (Self::Aggregate, "aggregate"),
        (Self::Stateful, "stateful"),
        (Self::AllowsUninitializedInput, "allows_uninitialized_input"),
        (Self::DistributedCommunication, "distributed_communication"),
    ];

    /// Returns the name, without the version of a deprecation.
    pub fn name(self) -> &'static str {
        let mut names = Self::NAMES.iter();
        names
            .find(|(flag, _)| *flag == self)
            .map_or("deprecated", |(_, name)| name)
    }

    pub(crate) fn parse(cursor: &mut LineCursor<'_>) -> ParseResult<Self> {
        let word = cursor.word("a flag")?;
        if word == "deprecated" {
            cursor.expect(" ")?;
            return cursor.number("a version of graphs").map(Self::Deprecated);
        }
        let mut names = Self::NAMES.iter();
        let found = names.find(|(_, name)| *name == word).map(|(flag, _)| *flag);
        found.ok_or_else(|| cursor.unexpected("a flag", word))
    }
}

impl Argument {
    pub(crate) fn parse(cursor: &mut LineCursor<'_>) -> ParseResult<Self> {
        let name = cursor.word("the name of an argument")?.to_owned();
        cursor.expect(": ")?;
        let is_ref = cursor.take("Ref(");
        let ty = ArgumentType::parse(cursor)?;
        if is_ref {
            cursor.expect(")")?;
        }
        Ok(Self { name, ty, is_ref })
    }
}

impl ArgumentType {
    fn parse(cursor: &mut LineCursor<'_>) -> ParseResult<Self> {
        if cursor.take("list(") {
            let attribute = cursor.word("the name of an attribute")?.to_owned();
            cursor.expect(")")?;
            return Ok(Self::List(attribute));
        }
        let word = cursor.word("the type of an argument")?;
        if !cursor.take(" * ") {
            return Ok(Self::Single(ElementType::from_name(word)));
        }
        let element = cursor.word("the type of an argument")?;
        Ok(Self::Repeated {
            count: word.to_owned(),
            element: ElementType::from_name(element),
        })
    }
}

impl ElementType {
    /// Returns the type of this name, else the attribute. No attribute has the name of a type.
    fn from_name(name: &str) -> Self {
        match DataType::from_name(name) {
            Some(data_type) => Self::Fixed(data_type),
            None => Self::Attribute(name.to_owned()),
        }
    }
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_ref {
            true => write!(f, "{}: Ref({})", self.name, self.ty),
            false => write!(f, "{}: {}", self.name, self.ty),
        }
    }
}

impl fmt::Display for ArgumentType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single(element) => write!(f, "{element}"),
            Self::Repeated { count, element } => write!(f, "{count} * {element}"),
            Self::List(attribute) => write!(f, "list({attribute})"),
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(data_type) => write!(f, "{data_type}"),
            Self::Attribute(name) => f.write_str(name),
        }
    }
}

impl fmt::Display for Flag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Deprecated(version) => write!(f, "{} {version}", self.name()),
            _ => f.write_str(self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_round_trip() {
        for text in [
            "x: T",
            "shape: int32",
            "values: N * T",
            "sizes: N * int64",
            "components: list(Toutput_types)",
            "ref: Ref(float)",
            "inputs: Ref(N * T)",
        ] {
            let mut cursor = LineCursor::new(text);
            let argument = Argument::parse(&mut cursor).unwrap();
            assert!(cursor.is_at_end(), "{text}");
            assert_eq!(argument.to_string(), text);
        }
    }

    #[test]
    fn rejects_malformed_arguments_and_flags() {
        for text in ["", "x", "x: ", "x: Ref(T", "x: list(T", "x: N * "] {
            assert!(
                Argument::parse(&mut LineCursor::new(text)).is_err(),
                "{text}"
            );
        }
        for text in ["", "statefull", "deprecated", "deprecated x"] {
            assert!(Flag::parse(&mut LineCursor::new(text)).is_err(), "{text}");
        }
    }

    #[test]
    fn flags_round_trip() {
        for text in [
            "commutative",
            "stateful",
            "allows_uninitialized_input",
            "deprecated 26",
        ] {
            assert_eq!(
                Flag::parse(&mut LineCursor::new(text)).unwrap().to_string(),
                text
            );
        }
    }
}
