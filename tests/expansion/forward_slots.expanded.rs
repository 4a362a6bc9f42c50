impl Table for Mine {
    type Stream = Queue;
    fn create_stream(&self) -> Result<Queue> {
        Queue::new()
    }
    fn flush(&self) -> Result<()> {
        self.queue.flush()
    }
    fn destroy_stream(&self, stream: Self::Stream) {
        <CpuDevice as Table>::destroy_stream(&self.reference, stream)
    }
    #[deny(unsafe_op_in_unsafe_fn)]
    unsafe fn copy(
        &self,
        stream: &Self::Stream,
        from: *const c_void,
        size: u64,
    ) -> Result<()> {
        let __device: &CpuDevice = &self.reference;
        unsafe { <CpuDevice as Table>::copy(__device, stream, from, size) }
    }
    const HAS_FLUSH: bool = true;
    fn numa_node(&self) -> i32 {
        <CpuDevice as Table>::numa_node(&self.reference)
    }
    const HAS_NUMA_NODE: bool = <CpuDevice as Table>::HAS_NUMA_NODE;
}
