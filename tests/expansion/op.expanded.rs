/// Multiplies, adds and sums.
pub fn fused_scale(
    x: Shape,
    biases: Vec<Shape>,
    ty: DataType,
) -> Result<(Shape, Vec<Shape>)> {
    infer(x, biases, ty)
}
/// Multiplies, adds and sums.
pub enum FusedScale {}
#[allow(unsafe_code, clippy::undocumented_unsafe_blocks)]
unsafe impl ::sp_plugin::__private::DefinedOp for FusedScale {
    const DEFINITION: &'static ::sp_plugin::__private::OpDefinition = &::sp_plugin::__private::OpDefinition::new::<
        Self,
    >(
        c"FusedScale",
        [
            &[c"x: T", c"biases: N * float"],
            &[c"y: T", c"sums: N * float"],
            &[c"T: {float, double} = DT_FLOAT", c"N: int >= 1"],
        ],
        [true, false, false, false],
        ::core::option::Option::None,
    );
    const TEXT: &'static str = "release 2.5 2.5\n\nop FusedScale\n  input x: T\n  input biases: N * float\n  output y: T\n  output sums: N * float\n  attr T: type = float in float double\n  attr N: int >= 1\n  stateful\n";
    #[allow(unused_variables)]
    fn infer(
        context: &::sp_plugin::op::ShapeContext<'_>,
    ) -> ::sp_plugin::Result<::std::vec::Vec<::std::vec::Vec<::sp_plugin::op::Shape>>> {
        let parameter_0: Shape = {
            let found: ::sp_plugin::op::Shape = context.input(0usize)?;
            found
        };
        let parameter_1: Vec<Shape> = {
            let found: ::std::vec::Vec<::sp_plugin::op::Shape> = context
                .input_list(1usize, 0usize)?;
            found
        };
        let parameter_2: DataType = {
            let found: ::sp_plugin::kernel::DataType = context.type_attribute(c"T")?;
            found
        };
        let inferred: ::sp_plugin::Result<
            (::sp_plugin::op::Shape, ::std::vec::Vec<::sp_plugin::op::Shape>),
        > = fused_scale(parameter_0, parameter_1, parameter_2);
        let (output_0, output_1) = inferred?;
        ::core::result::Result::Ok(::std::vec![::std::vec![output_0], output_1])
    }
}
macro_rules! __kernel_of_FusedScale {
    ($($kernel:tt)*) => {
        ::sp_plugin::__private::kernel_of_op! {
        "release 2.5 2.5\n\nop FusedScale\n  input x: T\n  input biases: N * float\n  output y: T\n  output sums: N * float\n  attr T: type = float in float double\n  attr N: int >= 1\n  stateful\n"
        $($kernel)* }
    };
}
#[allow(unused_imports)]
pub(crate) use __kernel_of_FusedScale as FusedScale;
