//! An op in a test: name, attributes, and the names and types of its arguments. An op of TensorFlow or of a loaded
//! plugin has those of its definition.

mod argument;
mod binding;
mod node_def;

use std::collections::BTreeMap;

use sp_ops::OpDef;

use self::argument::{ArgumentTypes, OpArgument};
use crate::DType;
use crate::core::{Attr, defined, find_core_op};

/// One op to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Op {
    pub(crate) name: String,
    /// The name of the node, if it matters.
    pub(crate) node: Option<String>,
    pub(crate) attrs: BTreeMap<String, Attr>,
    inputs: Vec<OpArgument>,
    outputs: Vec<OpArgument>,
    defaults: BTreeMap<String, Attr>,
    /// The attributes that each node must have. Empty if the arguments are not those of the definition.
    required: Vec<String>,
    source: ArgumentSource,
    pub(crate) keeps_inputs: bool,
    pub(crate) shares_equal_inputs: bool,
}

/// The source of an op's arguments.
#[derive(Debug, Clone, PartialEq)]
enum ArgumentSource {
    /// The definition of TensorFlow or of a plugin.
    Definition,
    /// The test that created the op.
    Test,
    /// None: the reason why there is no definition.
    Undefined(String),
}

impl Op {
    /// Returns the op `name` with the arguments and the default attributes of its definition, which is that of a loaded
    /// plugin, or of TensorFlow in the release that the host emulates. For another op, add the arguments with
    /// [`Op::input`] and [`Op::output`].
    pub fn new(name: &str) -> Self {
        let own = defined().into_iter().map(|it| it.op);
        let own = own.into_iter().find(|op| op.name == name);
        match own.map_or_else(|| find_core_op(name), Ok) {
            Ok(definition) => Self::from_definition(&definition),
            Err(reason) => Self {
                source: ArgumentSource::Undefined(reason),
                ..Self::from_definition(&OpDef {
                    name: name.to_owned(),
                    ..OpDef::default()
                })
            },
        }
    }

    fn from_definition(definition: &OpDef) -> Self {
        let attributes = definition.attributes.iter();
        let defaults = attributes.clone().filter_map(|it| {
            let value = Attr::from_definition(it.default.as_ref()?)?;
            Some((it.name.clone(), value))
        });
        let required = attributes.filter(|it| it.default.is_none());
        Self {
            name: definition.name.clone(),
            node: None,
            attrs: BTreeMap::new(),
            inputs: definition.inputs.iter().map(OpArgument::from).collect(),
            outputs: definition.outputs.iter().map(OpArgument::from).collect(),
            defaults: defaults.collect(),
            required: required.map(|it| it.name.clone()).collect(),
            source: ArgumentSource::Definition,
            keeps_inputs: false,
            shares_equal_inputs: false,
        }
    }

    /// Sets an attribute.
    pub fn attr(mut self, name: &str, value: impl Into<Attr>) -> Self {
        self.attrs.insert(name.to_owned(), value.into());
        self
    }

    /// Adds an input whose element type is the attribute `type_attr`. The first call of this or another method that adds
    /// an argument removes the arguments of the op's definition.
    pub fn input(self, name: &str, type_attr: &str) -> Self {
        self.with_input(name, ArgumentTypes::Attr(type_attr.to_owned()))
    }

    /// Adds an output whose element type is the attribute `type_attr`, as [`Op::input`] adds an input.
    pub fn output(self, name: &str, type_attr: &str) -> Self {
        self.with_output(name, ArgumentTypes::Attr(type_attr.to_owned()))
    }

    /// Adds an input of one element type, as [`Op::input`] does.
    pub fn input_with_dtype(self, name: &str, dtype: DType) -> Self {
        self.with_input(name, ArgumentTypes::Fixed(dtype))
    }

    /// Adds an output of one element type, as [`Op::input`] adds an input.
    pub fn output_with_dtype(self, name: &str, dtype: DType) -> Self {
        self.with_output(name, ArgumentTypes::Fixed(dtype))
    }

    fn with_input(self, name: &str, types: ArgumentTypes) -> Self {
        let mut op = self.without_definition();
        op.inputs.push(OpArgument::new(name, types));
        op
    }

    fn with_output(self, name: &str, types: ArgumentTypes) -> Self {
        let mut op = self.without_definition();
        op.outputs.push(OpArgument::new(name, types));
        op
    }

    /// Removes the arguments of the definition, so that the test states them.
    fn without_definition(mut self) -> Self {
        if self.source == ArgumentSource::Definition {
            self.inputs.clear();
            self.outputs.clear();
            self.required.clear();
        }
        self.source = ArgumentSource::Test;
        self
    }

    /// Keeps references to the inputs, as in an eager call, so that none can be forwarded to an output.
    /// Otherwise the kernel may compute in place, as inside a graph.
    pub fn keep_inputs(mut self) -> Self {
        self.keeps_inputs = true;
        self
    }

    /// Places equal inputs in one buffer, as TensorFlow does with a reference variable that is several inputs of an op.
    pub fn share_equal_inputs(mut self) -> Self {
        self.shares_equal_inputs = true;
        self
    }

    /// Returns true if the op has an argument of this name.
    pub(crate) fn has_argument(&self, name: &str) -> bool {
        let mut arguments = self.inputs.iter().chain(&self.outputs);
        arguments.any(|argument| argument.name == name)
    }
}
