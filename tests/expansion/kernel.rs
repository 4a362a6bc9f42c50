#[kernel(op = "Sum", T = [f32, i64], Tidx = [i32], host = ["reduction_indices"], priority = 2)]
fn sum<T: Element + Number, I: Element>(cx: &Host<'_>, attributes: &Sum) -> Result<()> {
    reduce::<T, I>(cx, attributes.keep_dims)
}
