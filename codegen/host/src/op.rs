//! An op as a test writes it: name, attributes, and the names and types of its arguments. Known ops have
//! their arguments and default attributes.

use std::collections::BTreeMap;

use crate::core::{Attr, KnownOp, OpDef, Placement, defined};
use crate::{DType, Error, Tensor};

/// One op to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Op {
    pub(crate) name: String,
    pub(crate) attrs: BTreeMap<String, Attr>,
    inputs: Vec<Argument>,
    outputs: Vec<Argument>,
    pub(crate) keeps_inputs: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Argument {
    name: String,
    of: Of,
}

/// How an argument's element type is known.
#[derive(Debug, Clone, PartialEq)]
enum Of {
    Attr(String),
    Fixed(DType),
}

impl Op {
    /// The op called `name`. Of an op that neither the table has nor a loaded plugin defined, say its
    /// arguments with [`Op::input`] and [`Op::output`].
    pub fn new(name: &str) -> Self {
        let empty = Self {
            name: name.to_owned(),
            attrs: BTreeMap::new(),
            inputs: vec![],
            outputs: vec![],
            keeps_inputs: false,
        };
        if let Some(known) = KnownOp::find(name) {
            let op = empty.with_definition(&known.definition());
            return known
                .defaults()
                .fold(op, |op, (attr, value)| op.attr(attr, value));
        }
        match defined().iter().find(|definition| definition.name == name) {
            Some(definition) => empty.with_definition(definition),
            None => empty,
        }
    }

    fn with_definition(mut self, definition: &OpDef) -> Self {
        for (name, ty) in &definition.inputs {
            self = match DType::named(ty) {
                Some(dtype) => self.input_of(name, dtype),
                None => self.input(name, ty),
            };
        }
        for (name, ty) in &definition.outputs {
            self = match DType::named(ty) {
                Some(dtype) => self.output_of(name, dtype),
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
        self.inputs.push(Argument {
            name: name.to_owned(),
            of: Of::Attr(type_attr.to_owned()),
        });
        self
    }

    /// Adds an output whose element type is the attribute `type_attr`.
    pub fn output(mut self, name: &str, type_attr: &str) -> Self {
        self.outputs.push(Argument {
            name: name.to_owned(),
            of: Of::Attr(type_attr.to_owned()),
        });
        self
    }

    /// Adds an input of one element type.
    pub fn input_of(mut self, name: &str, dtype: DType) -> Self {
        self.inputs.push(Argument {
            name: name.to_owned(),
            of: Of::Fixed(dtype),
        });
        self
    }

    /// Adds an output of one element type.
    pub fn output_of(mut self, name: &str, dtype: DType) -> Self {
        self.outputs.push(Argument {
            name: name.to_owned(),
            of: Of::Fixed(dtype),
        });
        self
    }

    /// Somebody else still uses the inputs, as in an eager call, so that none may be forwarded to an
    /// output. Otherwise the kernel may compute in place, as inside a graph.
    pub fn keep_inputs(mut self) -> Self {
        self.keeps_inputs = true;
        self
    }

    /// The op with its type attributes taken from `inputs`.
    pub(crate) fn bound(&self, inputs: &[Tensor]) -> Result<Self, Error> {
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

    fn bind(&mut self, argument: &Argument, dtype: DType) -> Result<(), Error> {
        let wanted = match &argument.of {
            Of::Fixed(wanted) => *wanted,
            Of::Attr(attr) => {
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
                "{} wants {wanted} for {}, not {dtype}",
                self.name, argument.name
            ))),
        }
    }

    /// The inputs, each in host memory where `host_memory` names it.
    pub(crate) fn placed_inputs(&self, host_memory: &[String]) -> Result<Vec<Placement>, Error> {
        self.placed(&self.inputs, host_memory)
    }

    /// The outputs, each in host memory where `host_memory` names it.
    pub(crate) fn placed_outputs(&self, host_memory: &[String]) -> Result<Vec<Placement>, Error> {
        self.placed(&self.outputs, host_memory)
    }

    fn placed(
        &self,
        arguments: &[Argument],
        host_memory: &[String],
    ) -> Result<Vec<Placement>, Error> {
        let place = |argument: &Argument| {
            let name = argument.name.clone();
            let dtype = self.dtype(argument)?;
            // A handle is the host's own, wherever the variable is.
            let on_host = host_memory.contains(&name) || dtype == DType::RESOURCE;
            Ok(Placement {
                name,
                dtype,
                on_host,
            })
        };
        arguments.iter().map(place).collect()
    }

    fn dtype(&self, argument: &Argument) -> Result<DType, Error> {
        match &argument.of {
            Of::Fixed(dtype) => Ok(*dtype),
            Of::Attr(attr) => match self.attrs.get(attr) {
                Some(Attr::Type(dtype)) => Ok(*dtype),
                _ => Err(Error::Misuse(format!(
                    "{} needs its type attribute {attr}",
                    self.name
                ))),
            },
        }
    }

    /// Whether the op has an argument of that name.
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
    fn types_come_from_the_inputs() {
        let inputs = [Tensor::from([1], &[1f32]), Tensor::from([1], &[0i32])];
        let op = Op::new("Sum").bound(&inputs).unwrap();
        assert_eq!(op.attrs["T"], Attr::Type(DType::FLOAT));
        assert_eq!(op.attrs["Tidx"], Attr::Type(DType::INT32));
        assert_eq!(op.attrs["keep_dims"], Attr::Bool(false));
        let placed = op.placed_inputs(&["reduction_indices".into()]).unwrap();
        assert!(!placed[0].on_host && placed[1].on_host);
    }

    #[test]
    fn two_types_for_one_attribute_are_refused() {
        let inputs = [Tensor::from([1], &[1f32]), Tensor::from([1], &[1f64])];
        let error = Op::new("AddV2").bound(&inputs).unwrap_err();
        assert!(error.to_string().contains("wants FLOAT for y"), "{error}");
    }

    #[test]
    fn a_type_that_no_input_has_must_be_said() {
        let inputs = [Tensor::from([1], &[1f32])];
        let op = Op::new("Cast").bound(&inputs).unwrap();
        assert!(op.placed_outputs(&[]).is_err());
        let op = Op::new("Cast")
            .attr("DstT", DType::INT32)
            .bound(&inputs)
            .unwrap();
        assert_eq!(op.placed_outputs(&[]).unwrap()[0].dtype, DType::INT32);
    }
}
