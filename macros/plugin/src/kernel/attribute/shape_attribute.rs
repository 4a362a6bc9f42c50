//! Shapes as attributes of an op.

use std::ffi::CStr;

use sp_abi::kernels::TF_OpKernelConstruction_GetNodeDef; // since 2.11
use sp_abi::kernels_experimental::TF_OpKernelConstruction_GetAttrTensorShape; // since 2.6
use sp_runtime::{HostFunction, UnavailableFunction};

use super::list_from_default; // since 2.11
use super::shape::{PartialShape, Shape};
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

impl FromAttribute for Shape {
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

// since 2.11
impl FromAttribute for Vec<PartialShape> {
    const KIND: Kind = Kind::ShapeList;

    fn read(construction: &Construction<'_>, name: &CStr) -> Result<Self> {
        construction.raw.node_def()?.shapes(name)
    }

    fn from_default(value: DefaultValue) -> Result<Self> {
        list_from_default(value)
    }

    reads_by!(TF_OpKernelConstruction_GetNodeDef);
}

// since 2.11
impl FromAttribute for Vec<Shape> {
    const KIND: Kind = Kind::ShapeList;

    fn read(construction: &Construction<'_>, name: &CStr) -> Result<Self> {
        let shapes = Vec::<PartialShape>::read(construction, name)?;
        shapes.into_iter().map(Shape::try_from).collect()
    }

    fn from_default(value: DefaultValue) -> Result<Self> {
        list_from_default(value)
    }

    reads_by!(TF_OpKernelConstruction_GetNodeDef);
}

impl<'c> AttributeParameter<'c, marker::Shape> for &'c PartialShape {
    type Stored = PartialShape;

    fn from_stored(stored: &'c PartialShape) -> Self {
        stored
    }
}

impl<'c> AttributeParameter<'c, marker::Shape> for &'c [usize] {
    type Stored = Shape;

    fn from_stored(stored: &'c Shape) -> Self {
        stored
    }
}

// since 2.11
impl<'c> AttributeParameter<'c, marker::ListOf<marker::Shape>> for &'c [PartialShape] {
    type Stored = Vec<PartialShape>;

    fn from_stored(stored: &'c Vec<PartialShape>) -> Self {
        stored
    }
}

// since 2.11
impl<'c> AttributeParameter<'c, marker::ListOf<marker::Shape>> for &'c [Shape] {
    type Stored = Vec<Shape>;

    fn from_stored(stored: &'c Vec<Shape>) -> Self {
        stored
    }
}
