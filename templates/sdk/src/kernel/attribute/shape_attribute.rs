//! Shapes as attributes of an op.

use std::ffi::CStr;

use sp_abi::kernels::TF_OpKernelConstruction_GetNodeDef; // since 2.11
use sp_abi::kernels_experimental::TF_OpKernelConstruction_GetAttrTensorShape; // since 2.6
use sp_runtime::{HostFunction, UnavailableFunction};

use super::shape::{FullShape, PartialShape};
use super::{AttributeParameter, Construction, FromAttribute, no_default};
use crate::Result;
use crate::kernel::marker;
use crate::kernel::spec::optional::reads_by; // since 2.11
use crate::kernel::spec::{DefaultValue, Kind};

impl FromAttribute for PartialShape {
    const KIND: Kind = Kind::Shape;

    fn read(construction: &Construction<'_>, name: &CStr) -> Result<Self> {
        let raw = construction.raw;
        // since 2.11
        if TF_OpKernelConstruction_GetNodeDef.check_available().is_ok() {
            return raw.node_def()?.shape(name);
        }
        raw.shape(name)
    }

    fn from_default(value: DefaultValue) -> Result<Self> {
        match value {
            DefaultValue::Shape(Some(sizes)) => Self::from_sizes(sizes),
            DefaultValue::Shape(None) => Ok(Self::unknown_rank()),
            _ => Err(no_default()),
        }
    }

    fn check_available() -> Result<(), UnavailableFunction> {
        // since 2.11
        if TF_OpKernelConstruction_GetNodeDef.check_available().is_ok() {
            return Ok(());
        }
        TF_OpKernelConstruction_GetAttrTensorShape.check_available()
    }
}

impl FromAttribute for FullShape {
    const KIND: Kind = Kind::Shape;

    fn read(construction: &Construction<'_>, name: &CStr) -> Result<Self> {
        PartialShape::read(construction, name)?.try_into()
    }

    fn from_default(value: DefaultValue) -> Result<Self> {
        PartialShape::from_default(value)?.try_into()
    }

    fn check_available() -> Result<(), UnavailableFunction> {
        PartialShape::check_available()
    }
}

borrowed_parameter!(PartialShape as PartialShape: marker::Shape);
borrowed_parameter!(FullShape as [usize]: marker::Shape);

// since 2.11
list_attribute!(PartialShape: ShapeList, marker::Shape, TF_OpKernelConstruction_GetNodeDef, |raw, name| {
    raw.node_def()?.shapes(name)
});

// since 2.11
list_attribute!(FullShape: ShapeList, marker::Shape, TF_OpKernelConstruction_GetNodeDef, |raw, name| {
    let shapes = raw.node_def()?.shapes(name)?;
    shapes.into_iter().map(FullShape::try_from).collect()
});
