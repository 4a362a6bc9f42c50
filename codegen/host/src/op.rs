//! An op in a test: name, attributes, and the names and types of its arguments. Known ops have
//! their arguments and default attributes.

use std::collections::BTreeMap;

use crate::core::{ArgumentPlacement, Attr, KnownOp, OpDefinition, defined};
use crate::{DType, Error, Tensor};

/// One op to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Op {
    pub(crate) name: String,
    pub(crate) attrs: BTreeMap<String, Attr>,
    inputs: Vec<OpArgument>,
    outputs: Vec<OpArgument>,
    pub(crate) keeps_inputs: bool,
    pub(crate) shares_equal_inputs: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct OpArgument {
    name: String,
    dtype: OpArgumentType,
}

/// The element type of an argument.
#[derive(Debug, Clone, PartialEq)]
enum OpArgumentType {
    Attr(String),
    Fixed(DType),
}

impl Op {
    /// Returns the op `name`. If it is neither a known op nor defined by a loaded plugin, add its arguments with
    /// [`Op::input`] and [`Op::output`].
    pub fn new(name: &str) -> Self {
        let empty = Self {
            name: name.to_owned(),
            attrs: BTreeMap::new(),
            inputs: vec![],
            outputs: vec![],
            keeps_inputs: false,
            shares_equal_inputs: false,
        };
        if let Some(known) = KnownOp::find(name) {
            let op = empty.with_definition(&known.definition());
            return known
                .defaults()
                .fold(op, |op, (attr, value)| op.attr(attr, value));
        }
        match defined().iter().find(|definition| definition.name == name) {
            Some(definition) => {
                let op = empty.with_definition(definition);
                let defaults = definition.defaults();
                defaults.fold(op, |op, (name, value)| op.attr(name, value))
            }
            None => empty,
        }
    }

    fn with_definition(mut self, definition: &OpDefinition) -> Self {
        for (name, ty) in &definition.inputs {
            self = match DType::from_name(ty) {
                Some(dtype) => self.input_with_dtype(name, dtype),
                None => self.input(name, ty),
            };
        }
        for (name, ty) in &definition.outputs {
            self = match DType::from_name(ty) {
                Some(dtype) => self.output_with_dtype(name, dtype),
                None => self.output(name, ty),
            };
        }
        self
    }

    /// Sets an attribute.
    pub fn attr(mut self, name: &str, value: impl Into<Attr>) -> Self {
        self.attrs.insert(name.to_owned(), value.into());
        self
    }

    /// Adds an input whose element type is the attribute `type_attr`.
    pub fn input(mut self, name: &str, type_attr: &str) -> Self {
        self.inputs.push(OpArgument {
            name: name.to_owned(),
            dtype: OpArgumentType::Attr(type_attr.to_owned()),
        });
        self
    }

    /// Adds an output whose element type is the attribute `type_attr`.
    pub fn output(mut self, name: &str, type_attr: &str) -> Self {
        self.outputs.push(OpArgument {
            name: name.to_owned(),
            dtype: OpArgumentType::Attr(type_attr.to_owned()),
        });
        self
    }

    /// Adds an input of one element type.
    pub fn input_with_dtype(mut self, name: &str, dtype: DType) -> Self {
        self.inputs.push(OpArgument {
            name: name.to_owned(),
            dtype: OpArgumentType::Fixed(dtype),
        });
        self
    }

    /// Adds an output of one element type.
    pub fn output_with_dtype(mut self, name: &str, dtype: DType) -> Self {
        self.outputs.push(OpArgument {
            name: name.to_owned(),
            dtype: OpArgumentType::Fixed(dtype),
        });
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

    /// Returns the op with the type attributes of `inputs`.
    pub(crate) fn with_types_of(&self, inputs: &[Tensor]) -> Result<Self, Error> {
        if inputs.len() != self.inputs.len() {
            let (wanted, given) = (self.inputs.len(), inputs.len());
            let text = format!("{} takes {wanted} inputs, not {given}", self.name);
            return Err(Error::Misuse(text));
        }
        let mut bound = self.clone();
        for (argument, tensor) in self.inputs.iter().zip(inputs) {
            bound.bind(argument, tensor.dtype())?;
        }
        Ok(bound)
    }

    fn bind(&mut self, argument: &OpArgument, dtype: DType) -> Result<(), Error> {
        let wanted = match &argument.dtype {
            OpArgumentType::Fixed(wanted) => *wanted,
            OpArgumentType::Attr(attr) => {
                let bound = self.attrs.entry(attr.clone()).or_insert(Attr::Type(dtype));
                if let Attr::Type(wanted) = bound {
                    *wanted
                } else {
                    dtype
                }
            }
        };
        match wanted == dtype {
            true => Ok(()),
            false => Err(Error::Misuse(format!(
                "{} takes {wanted} for {}, not {dtype}",
                self.name, argument.name
            ))),
        }
    }

    /// Returns the inputs, those in `host_memory` in host memory.
    pub(crate) fn input_placements(
        &self,
        host_memory: &[String],
    ) -> Result<Vec<ArgumentPlacement>, Error> {
        self.placements(&self.inputs, host_memory)
    }

    /// Returns the outputs, those in `host_memory` in host memory.
    pub(crate) fn output_placements(
        &self,
        host_memory: &[String],
    ) -> Result<Vec<ArgumentPlacement>, Error> {
        self.placements(&self.outputs, host_memory)
    }

    fn placements(
        &self,
        arguments: &[OpArgument],
        host_memory: &[String],
    ) -> Result<Vec<ArgumentPlacement>, Error> {
        let placement = |argument: &OpArgument| {
            let name = argument.name.clone();
            let dtype = self.dtype(argument)?;
            // Resource handles, strings and variants are always in host memory.
            let always = [DType::RESOURCE, DType::STRING, DType::VARIANT];
            let on_host = host_memory.contains(&name) || always.contains(&dtype);
            Ok(ArgumentPlacement {
                name,
                dtype,
                on_host,
            })
        };
        arguments.iter().map(placement).collect()
    }

    fn dtype(&self, argument: &OpArgument) -> Result<DType, Error> {
        match &argument.dtype {
            OpArgumentType::Fixed(dtype) => Ok(*dtype),
            OpArgumentType::Attr(attr) => match self.attrs.get(attr) {
                Some(Attr::Type(dtype)) => Ok(*dtype),
                _ => Err(Error::Misuse(format!(
                    "{} needs its type attribute {attr}",
                    self.name
                ))),
            },
        }
    }

    /// Returns true if the op has an argument of this name.
    pub(crate) fn has_argument(&self, name: &str) -> bool {
        self.inputs
            .iter()
            .chain(&self.outputs)
            .any(|argument| argument.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_attributes_are_those_of_inputs() {
        let inputs = [Tensor::from([1], &[1f32]), Tensor::from([1], &[0i32])];
        let op = Op::new("Sum").with_types_of(&inputs).unwrap();
        assert_eq!(op.attrs["T"], Attr::Type(DType::FLOAT));
        assert_eq!(op.attrs["Tidx"], Attr::Type(DType::INT32));
        assert_eq!(op.attrs["keep_dims"], Attr::Bool(false));
        let placements = op.input_placements(&["reduction_indices".into()]).unwrap();
        assert!(!placements[0].on_host && placements[1].on_host);
    }

    #[test]
    fn rejects_two_types_for_one_attribute() {
        let inputs = [Tensor::from([1], &[1f32]), Tensor::from([1], &[1f64])];
        let error = Op::new("AddV2").with_types_of(&inputs).unwrap_err();
        assert!(error.to_string().contains("takes FLOAT for y"), "{error}");
    }

    #[test]
    fn requires_type_attribute_that_no_input_has() {
        let inputs = [Tensor::from([1], &[1f32])];
        let op = Op::new("Cast").with_types_of(&inputs).unwrap();
        assert!(op.output_placements(&[]).is_err());
        let op = Op::new("Cast")
            .attr("DstT", DType::INT32)
            .with_types_of(&inputs)
            .unwrap();
        assert_eq!(op.output_placements(&[]).unwrap()[0].dtype, DType::INT32);
    }
}
