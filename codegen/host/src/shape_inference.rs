//! Calls of a plugin's shape functions.

use crate::core::{Inference, OpDef, Shape};
use crate::objects::{self, Owner};
use crate::{Error, call, fault};

impl OpDef {
    /// What the shape function makes of inputs of these shapes; nothing where there is none.
    pub fn infer(&self, inputs: Vec<Shape>) -> Result<Option<Vec<Shape>>, Error> {
        let Some(function) = self.shape_function else {
            return Ok(None);
        };
        let types = self.attr_names().map(str::to_owned).collect();
        let inference = Inference::new(inputs, self.outputs.len(), types);
        let context = objects::give(inference, Owner::Host);
        let ran = call::checked(&format!("the shape function of {}", self.name), |status| {
            fault::entering(&"a shape function");
            // SAFETY: the plugin registered this function to be called so.
            unsafe { function(context, status) };
            Ok(())
        });
        let outputs = objects::take(context).map(|context| context.outputs());
        ran.map(|()| outputs)
    }
}
