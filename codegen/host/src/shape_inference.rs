//! Calls of a plugin's shape functions.

use crate::core::{OpDefinition, ShapeInference, TensorShape};
use crate::objects::{self, Owner};
use crate::{Error, call, fault};

impl OpDefinition {
    /// Calls the shape function on `inputs` and returns the shapes of the outputs, or `None` if the op has no
    /// shape function.
    pub fn infer(&self, inputs: Vec<TensorShape>) -> Result<Option<Vec<TensorShape>>, Error> {
        let Some(function) = self.shape_function else {
            return Ok(None);
        };
        let types = self.attr_names().map(str::to_owned).collect();
        let inference = ShapeInference::new(inputs, self.outputs.len(), types);
        let context = objects::create(inference, Owner::Host);
        let ran =
            call::call_with_status(&format!("the shape function of {}", self.name), |status| {
                fault::set_current_call(&"a shape function");
                // SAFETY: the plugin registered this function with this signature, and both objects are alive until
                // the calls below.
                unsafe { function(context, status) };
                Ok(())
            });
        let outputs = objects::take(context).map(|context| context.outputs());
        ran.map(|()| outputs)
    }
}
