{
    type Stream;
    fn create_stream(&self) -> Result<Self::Stream>;
    fn destroy_stream(&self, stream: Self::Stream);
    unsafe fn copy(&self, stream: &Self::Stream, from: *const c_void, size: u64) -> Result<()>;
    #[optional]
    fn flush(&self) -> Result<()>;
    #[optional]
    fn numa_node(&self) -> i32;
}
[fallback = self.reference: CpuDevice]
impl Table for Mine {
    type Stream = Queue;
    fn create_stream(&self) -> Result<Queue> {
        Queue::new()
    }
    fn flush(&self) -> Result<()> {
        self.queue.flush()
    }
}
