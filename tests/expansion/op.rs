#[op(FusedScale(x: T, biases: N * f32) -> (y: T, sums: N * f32), T: {f32, f64} = f32, N: int >= 1, stateful)]
/// Multiplies, adds and sums.
pub fn fused_scale(x: Shape, biases: Vec<Shape>, #[op("T")] ty: DataType) -> Result<(Shape, Vec<Shape>)> {
    infer(x, biases, ty)
}
