//! Functions as attributes, by name.

use std::ffi::CStr;

use sp_abi::kernels::TF_OpKernelConstruction_GetNodeDef;

use super::{AttributeParameter, Construction, FromAttribute, no_default};
use crate::Result;
use crate::kernel::marker;
use crate::kernel::spec::optional::reads_by;
use crate::kernel::spec::{DefaultValue, Kind};

/// The name of a function in the graph's library, such as the branch of an If.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionName(String);

impl FunctionName {
    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromAttribute for FunctionName {
    const KIND: Kind = Kind::Function;

    fn read(construction: &Construction<'_>, name: &CStr) -> Result<Self> {
        construction.raw.node_def()?.function(name).map(Self)
    }

    fn from_default(value: DefaultValue) -> Result<Self> {
        match value {
            DefaultValue::Text(name) => Ok(Self(name.to_owned())),
            _ => Err(no_default()),
        }
    }

    reads_by!(TF_OpKernelConstruction_GetNodeDef);
}

borrowed_parameter!(FunctionName as FunctionName: marker::Function);

list_attribute!(FunctionName: FunctionList, marker::Function, TF_OpKernelConstruction_GetNodeDef, |raw, name| {
    let names = raw.node_def()?.functions(name)?;
    Ok(names.into_iter().map(FunctionName).collect())
});
