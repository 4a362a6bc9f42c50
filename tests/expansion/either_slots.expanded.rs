impl Table for Mine {
    type Stream = Stream;
    fn create_stream(&self) -> Result<Self::Stream> {
        match (&self.0,) {
            (Mode::Inline(__device),) => {
                ::core::result::Result::map(
                    <Cpu as Table>::create_stream(__device),
                    |__value| Stream(Mode::Inline(__value)),
                )
            }
            (Mode::Queued(__device),) => {
                ::core::result::Result::map(
                    <Accelerator<Cpu> as Table>::create_stream(__device),
                    |__value| Stream(Mode::Queued(__value)),
                )
            }
        }
    }
    fn destroy_stream(&self, stream: Self::Stream) {
        match (&self.0, stream.0) {
            (Mode::Inline(__device), Mode::Inline(stream)) => {
                <Cpu as Table>::destroy_stream(__device, stream)
            }
            (Mode::Queued(__device), Mode::Queued(stream)) => {
                <Accelerator<Cpu> as Table>::destroy_stream(__device, stream)
            }
            _ => {}
        }
    }
    #[deny(unsafe_op_in_unsafe_fn)]
    unsafe fn copy(
        &self,
        stream: &Self::Stream,
        from: *const c_void,
        size: u64,
    ) -> Result<()> {
        match (&self.0, &stream.0) {
            (Mode::Inline(__device), Mode::Inline(stream)) => {
                unsafe { <Cpu as Table>::copy(__device, stream, from, size) }
            }
            (Mode::Queued(__device), Mode::Queued(stream)) => {
                unsafe {
                    <Accelerator<Cpu> as Table>::copy(__device, stream, from, size)
                }
            }
            _ => ::core::result::Result::Err(other_device()),
        }
    }
    fn numa_node(&self) -> i32 {
        match (&self.0,) {
            (Mode::Inline(__device),) => <Cpu as Table>::numa_node(__device),
            (Mode::Queued(__device),) => <Accelerator<Cpu> as Table>::numa_node(__device),
        }
    }
    const HAS_NUMA_NODE: bool = <Cpu as Table>::HAS_NUMA_NODE
        || <Accelerator<Cpu> as Table>::HAS_NUMA_NODE;
}
#[cfg(test)]
::core::compile_error! {
    "write `status`: the value that it returns for a handle of another device is not known"
}
#[cfg(test)]
::core::compile_error! {
    "write `name`: the value that it returns for a handle of another device is not known"
}
