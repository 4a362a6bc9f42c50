//! A plugin with its own kernels and the reference's. Each of its own returns a constant, so that a result
//! shows which kernel ran.

use sp_cpu::CpuDevice;

/// Kernels that precede those of the reference backend. `#[kernel]` requires the type parameters.
#[allow(clippy::extra_unused_type_parameters)]
mod own {
    pub mod neg {
        use sp_plugin::Result;
        use sp_plugin::kernel::{Host, kernel};

        #[kernel(op = "Neg", T = [f32], releases = "2.6..2.8")]
        fn neg<T>(cx: &Host<'_>) -> Result<()> {
            let dims = cx.input::<f32>(0)?.dims().to_vec();
            cx.output::<f32>(0, &dims)?.fill(41.0);
            Ok(())
        }
    }

    pub mod relu {
        use sp_plugin::Result;
        use sp_plugin::kernel::{Host, kernel};

        #[kernel(op = "Relu", T = [f32])]
        fn relu<T>(cx: &Host<'_>) -> Result<()> {
            let dims = cx.input::<f32>(0)?.dims().to_vec();
            cx.output::<f32>(0, &dims)?.fill(42.0);
            Ok(())
        }
    }

    pub mod sum {
        use sp_plugin::Result;
        use sp_plugin::kernel::{Host, kernel};

        #[kernel(op = "Sum", T = [f32], Tidx = [i64], host = ["reduction_indices"])]
        fn sum<T, I>(cx: &Host<'_>) -> Result<()> {
            cx.output::<f32>(0, &[])?.fill(43.0);
            Ok(())
        }
    }
}

sp_plugin::plugin! {
    device: CpuDevice,
    device_type: c"TABLES",
    platform_name: c"TABLES",
    kernels: [own::neg::entries, own::relu::entries, own::sum::entries, sp_cpu::kernels::table],
}
