//! The lines that kernels have in the library's section: the functions of the host that they need.

use sp_plugin::Result;
use sp_plugin::kernel::{
    HostIn, HostOut, In, Kernel, Out, TensorValue, Text, Variable, kernel, kernels,
};

#[kernel(Relu, T = [f32])]
fn relu(features: In<'_, f32>, activations: Out<'_, f32>) -> Result<()> {
    activations.zeroed(features.dims()).map(drop)
}

#[kernel(AssignVariableOp, dtype = [f32])]
fn assign(resource: Variable<'_, f32>, value: In<'_, f32>) -> Result<()> {
    drop((resource, value));
    Ok(())
}

#[kernel(Const, dtype = [f32])]
fn constant(value: &TensorValue, output: Out<'_, f32>) -> Result<()> {
    output.zeroed(value.dims()).map(drop)
}

#[kernel(StringLower)]
fn lower(input: HostIn<'_, Text>, output: HostOut<'_, Text>) -> Result<()> {
    output.empty_strings(input.dims()).map(drop)
}

/// Returns the line of the table's only kernel.
fn line(table: &[&'static Kernel]) -> &'static str {
    assert_eq!(table.len(), 1);
    table[0].optional_functions()
}

#[test]
fn section_has_the_functions_of_arguments_and_attributes() {
    assert_eq!(line(&kernels![relu]), "");
    let variable = "kernel AssignVariableOp TF_GetInputTensorFromVariable TF_AssignVariable ";
    assert!(line(&kernels![assign]).starts_with(variable));
    let constant = "kernel Const TF_OpKernelConstruction_GetAttrTensor\n";
    assert_eq!(line(&kernels![constant]), constant);
    let strings = "kernel StringLower TF_StringGetDataPointer TF_StringGetSize TF_StringCopy\n";
    assert_eq!(line(&kernels![lower]), strings);
}
