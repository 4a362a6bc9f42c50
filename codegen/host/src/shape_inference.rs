//! Calls of a plugin's shape functions.

use std::collections::BTreeMap;

use crate::core::{Attr, OpDefinition, ShapeInference, TensorShape, defined};
use crate::dtype::DType;
use crate::host::Host;
use crate::objects::BorrowedObject;
use crate::quirks::{Quirk, Quirks};
use crate::{Error, Op, call, fault};

impl Host {
    /// Returns the names of the ops that plugins have defined in this process.
    pub fn defined_ops(&self) -> Vec<String> {
        defined().into_iter().map(|it| it.op.name).collect()
    }

    /// Calls the shape function of an op that the plugin defines, and returns the shapes of the outputs. In a shape,
    /// `None` is an unknown rank and -1 an unknown dimension. Type attributes that `op` does not set have the first
    /// type that the op allows.
    ///
    /// # Errors
    /// Returns an error if there is no such op, or if the shape function reports one.
    pub fn infer_shapes(
        &self,
        op: &Op,
        inputs: &[Option<Vec<i64>>],
    ) -> Result<Vec<Option<Vec<i64>>>, Error> {
        let definition = defined().into_iter().find(|it| it.op.name == op.name);
        let absent = || Error::Misuse(format!("no plugin defines {}", op.name));
        let definition = definition.ok_or_else(absent)?;
        let types = definition
            .type_attrs()
            .map(|(name, allowed)| match op.attrs.get(name) {
                Some(Attr::Type(dtype)) => (name.to_owned(), *dtype),
                _ => (name.to_owned(), allowed[0]),
            });
        let shapes = definition.infer(inputs.to_vec(), types.collect(), self.quirks)?;
        shapes.ok_or_else(|| Error::Misuse(format!("{} has no shape function", op.name)))
    }
}

impl OpDefinition {
    /// Calls the shape function on `inputs` and returns the shapes of the outputs, or `None` if the op has no
    /// shape function.
    pub fn infer(
        &self,
        inputs: Vec<TensorShape>,
        types: BTreeMap<String, DType>,
        quirks: Quirks,
    ) -> Result<Option<Vec<TensorShape>>, Error> {
        let Some(function) = self.shape_function else {
            return Ok(None);
        };
        let list = inputs.len().saturating_sub(self.tensor_counts(0).0);
        let (_, outputs) = self.tensor_counts(list);
        let first_only = quirks.has(Quirk::FirstShapeOnly);
        let inference = ShapeInference::new(inputs, outputs, types, first_only);
        let context = BorrowedObject::new(inference);
        let ran = call::call_with_status(
            &format!("the shape function of {}", self.op.name),
            |status| {
                fault::set_current_call(&"a shape function");
                // SAFETY: the plugin registered this function with this signature, and both objects are alive until
                // the calls below.
                unsafe { function(context.address(), status) };
                Ok(())
            },
        );
        let outputs = context.take().map(|context| context.outputs());
        ran.map(|()| outputs)
    }
}
