//! BiasAdd: adds one bias to each channel.

use super::elementwise::broadcast;
use super::prelude::*;
use crate::compute::nn::bias::{ChannelLayout, bias_broadcast};

/// The op's attribute for the position of the channels.
#[derive(Attributes)]
pub struct DataFormat {
    data_format: String,
}

impl DataFormat {
    /// Returns the layout that the attribute names.
    ///
    /// # Errors
    /// Returns an error if the name is neither `NHWC` nor `NCHW`.
    pub fn layout(&self) -> Result<ChannelLayout> {
        match self.data_format.as_str() {
            "NHWC" => Ok(ChannelLayout::ChannelsLast),
            "NCHW" => Ok(ChannelLayout::ChannelsFirst),
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
    let plan = bias_broadcast(dims, format.layout()?, bias.data().len())?;
    broadcast(
        Cost::Cheap,
        cx,
        &plan,
        [value.data(), bias.data()],
        arith::add,
    )
}
