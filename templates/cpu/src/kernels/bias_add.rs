//! BiasAdd: adds one bias to each channel.

use super::elementwise::broadcast;
use super::prelude::*;
use crate::compute::nn::bias::{Layout, plan};

/// Where the op's tensors have their channels.
#[derive(Attributes)]
pub struct DataFormat {
    data_format: String,
}

impl DataFormat {
    /// The layout that the name stands for.
    ///
    /// # Errors
    /// Where it is neither `NHWC` nor `NCHW`.
    pub fn layout(&self) -> Result<Layout> {
        match self.data_format.as_str() {
            "NHWC" => Ok(Layout::ChannelsLast),
            "NCHW" => Ok(Layout::ChannelsFirst),
            other => Err(Error::invalid_argument(format!("data_format is {other:?}"))),
        }
    }
}

#[kernel(op = "BiasAdd", T = [f32, f64, i64])]
fn bias_add<T: Element + Number>(cx: &Host<'_>, format: &DataFormat) -> Result<()> {
    let (value, bias) = (cx.input::<T>(0)?, cx.input::<T>(1)?);
    let (dims, bias_dims) = (value.dims(), bias.dims());
    if dims.len() < 2 || bias_dims.len() != 1 {
        let message =
            format!("expected a matrix and a vector of biases, got {dims:?}, {bias_dims:?}");
        return Err(Error::invalid_argument(message));
    }
    let plan = plan(dims, format.layout()?, bias.data().len())?;
    broadcast(
        Cost::Cheap,
        cx,
        &plan,
        [value.data(), bias.data()],
        arith::add,
    )
}
