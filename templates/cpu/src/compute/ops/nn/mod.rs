//! Neural-network kernels: convolution, pools, batch normalization, bias, activations, softmax and cross entropy.

pub mod activation;
pub mod batch_norm;
pub mod bias;
pub mod conv;
pub mod cross_entropy;
pub mod ctc;
pub mod dilation;
pub mod epilogue;
pub mod lrn;
pub mod pool;
pub mod recurrent;
pub mod relu;
pub mod softmax;
pub mod window;
