//! `TF_OpDefinitionBuilder`: an op's description until TensorFlow registers it.

use std::ffi::CStr;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use sp_abi::ops::{
    TF_DeleteOpDefinitionBuilder, TF_NewOpDefinitionBuilder, TF_OpDefinitionBuilder,
    TF_OpDefinitionBuilderAddAttr, TF_OpDefinitionBuilderAddInput, TF_OpDefinitionBuilderAddOutput,
    TF_OpDefinitionBuilderDeprecated, TF_OpDefinitionBuilderSetAllowsUninitializedInput,
    TF_OpDefinitionBuilderSetIsAggregate, TF_OpDefinitionBuilderSetIsCommutative,
    TF_OpDefinitionBuilderSetIsStateful, TF_OpDefinitionBuilderSetShapeInferenceFunction,
    TF_RegisterOpDefinition,
};
use sp_runtime::Status;

use super::definition::OpDefinition;
use crate::{Error, Result};

/// An owned builder. Dropping it deletes it; [`register`](Builder::register) transfers it to TensorFlow.
pub(super) struct Builder(NonNull<TF_OpDefinitionBuilder>);

impl Builder {
    /// Creates the description of an op.
    ///
    /// # Errors
    /// Returns an error if the running TensorFlow lacks a function.
    pub fn new(op: &OpDefinition) -> Result<Self> {
        let new = TF_NewOpDefinitionBuilder.get()?;
        // SAFETY: the name is a C string, which TensorFlow copies.
        let builder = NonNull::new(unsafe { new(op.name.as_ptr()) }).map(Self);
        let none = || Error::resource_exhausted("TensorFlow created no op definition builder");
        let builder = builder.ok_or_else(none)?;
        builder.add_declarations(op)?;
        builder.set_properties(op)?;
        builder.set_shape_function(op)?;
        Ok(builder)
    }

    fn add_declarations(&self, op: &OpDefinition) -> Result<()> {
        let builder = self.0.as_ptr();
        let (add_input, add_output, add_attribute) = (
            TF_OpDefinitionBuilderAddInput.get()?,
            TF_OpDefinitionBuilderAddOutput.get()?,
            TF_OpDefinitionBuilderAddAttr.get()?,
        );
        // TensorFlow's order: an attribute precedes the arguments that name it.
        for text in op.attributes {
            // SAFETY: the builder is live, and TensorFlow copies the text.
            unsafe { add_attribute(builder, text.as_ptr()) };
        }
        for text in op.inputs {
            // SAFETY: as above.
            unsafe { add_input(builder, text.as_ptr()) };
        }
        for text in op.outputs {
            // SAFETY: as above.
            unsafe { add_output(builder, text.as_ptr()) };
        }
        Ok(())
    }

    /// Sets the properties that the op has. TensorFlow ignores the argument of these functions: each sets its property.
    fn set_properties(&self, op: &OpDefinition) -> Result<()> {
        let setters = [
            &TF_OpDefinitionBuilderSetIsStateful,
            &TF_OpDefinitionBuilderSetIsCommutative,
            &TF_OpDefinitionBuilderSetIsAggregate,
            &TF_OpDefinitionBuilderSetAllowsUninitializedInput,
        ];
        for (set, _) in setters
            .iter()
            .zip(op.properties)
            .filter(|(_, is_set)| *is_set)
        {
            let set = set.get()?;
            // SAFETY: the builder is live.
            unsafe { set(self.0.as_ptr(), true) };
        }
        if let Some((version, reason)) = op.deprecation {
            let deprecate = TF_OpDefinitionBuilderDeprecated.get()?;
            // SAFETY: the builder is live, and TensorFlow copies the text.
            unsafe { deprecate(self.0.as_ptr(), version, reason.as_ptr()) };
        }
        Ok(())
    }

    fn set_shape_function(&self, op: &OpDefinition) -> Result<()> {
        let set = TF_OpDefinitionBuilderSetShapeInferenceFunction.get()?;
        // SAFETY: the builder is live, and the function stays in the process as long as TensorFlow.
        unsafe { set(self.0.as_ptr(), Some(op.infer)) };
        Ok(())
    }

    /// Registers the op.
    ///
    /// # Errors
    /// Returns an error if TensorFlow reports one. From 2.12 on at the latest it ends the process instead, if its
    /// registry is in use.
    pub fn register(self, name: &CStr) -> Result<()> {
        let (register, status) = (TF_RegisterOpDefinition.get()?, Status::new()?);
        let builder = ManuallyDrop::new(self);
        // SAFETY: builder and status are live. TensorFlow owns the builder from here on, also if it reports an error.
        unsafe { register(builder.0.as_ptr(), status.as_ptr()) };
        let text = name.to_string_lossy();
        status
            .check()
            .map_err(|error| Error::new(error.code(), format!("{text}: {}", error.message())))
    }
}

impl Drop for Builder {
    fn drop(&mut self) {
        if let Ok(delete) = TF_DeleteOpDefinitionBuilder.get() {
            // SAFETY: owned, live, and not used again.
            unsafe { delete(self.0.as_ptr()) }
        }
    }
}
