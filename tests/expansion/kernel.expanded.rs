fn sum<T: Element + Number, I: Element>(cx: &Host<'_>, attributes: &Sum) -> Result<()> {
    reduce::<T, I>(cx, attributes.keep_dims)
}
///The registrations of `Sum`.
pub fn entries<D: ::sp_plugin::Device>() -> ::std::vec::Vec<
    ::sp_plugin::kernel::Entry<D>,
> {
    struct Kernel0;
    impl ::sp_plugin::kernel::HostKernel for Kernel0 {
        type Attributes = Sum;
        #[allow(unused_variables)]
        fn compute(
            cx: &::sp_plugin::kernel::Host<'_>,
            attributes: &Sum,
        ) -> ::sp_plugin::Result<()> {
            sum::<f32, i32>(cx, attributes)
        }
    }
    struct Kernel1;
    impl ::sp_plugin::kernel::HostKernel for Kernel1 {
        type Attributes = Sum;
        #[allow(unused_variables)]
        fn compute(
            cx: &::sp_plugin::kernel::Host<'_>,
            attributes: &Sum,
        ) -> ::sp_plugin::Result<()> {
            sum::<i64, i32>(cx, attributes)
        }
    }
    ::std::vec![
        ::sp_plugin::kernel::Entry::new:: < ::sp_plugin::kernel::OnHost < Kernel0 > >
        (c"Sum").constrain:: < f32 > (c"T").constrain:: < i32 > (c"Tidx")
        .in_host_memory(c"reduction_indices").priority(2),
        ::sp_plugin::kernel::Entry::new:: < ::sp_plugin::kernel::OnHost < Kernel1 > >
        (c"Sum").constrain:: < i64 > (c"T").constrain:: < i32 > (c"Tidx")
        .in_host_memory(c"reduction_indices").priority(2)
    ]
}
