use sp_plugin::Result;
use sp_plugin::kernel::{AttributeValue, In, Out, kernel};

#[derive(Clone, Copy, AttributeValue)]
enum DataFormat {
    #[value("NHWC")]
    ChannelsLast,
    #[value("NCHV")]
    ChannelsFirst,
}

#[kernel(BiasAddGrad, T = [f32])]
fn bias_add_grad(out_backprop: In<'_, f32>, output: Out<'_, f32>, data_format: DataFormat) -> Result<()> {
    output.set(out_backprop)
}

fn main() {}
