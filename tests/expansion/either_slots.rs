{
    type Stream;
    fn create_stream(&self) -> Result<Self::Stream>;
    fn destroy_stream(&self, stream: Self::Stream);
    fn status(&self, stream: &Self::Stream) -> u8;
    unsafe fn copy(&self, stream: &Self::Stream, from: *const c_void, size: u64) -> Result<()>;
    fn name(device: &Device) -> u32;
    #[optional]
    fn numa_node(&self) -> i32;
}
[either = self.0: Mode { Inline: Cpu, Queued: Accelerator<Cpu> } else other_device()]
impl Table for Mine {
    type Stream = Stream;
}
