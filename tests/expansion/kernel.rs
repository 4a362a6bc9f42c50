#[kernel(Sum, T = [f32, i64], Tidx: I = [i32], priority = 2)]
fn sum<T: Element + Number, I: Element>(
    input: In<'_, T>,
    reduction_indices: HostIn<'_, I>,
    output: Out<'_, T>,
    keep_dims: bool,
) -> Result<()> {
    reduce::<T, I>(input, reduction_indices, output, keep_dims)
}
