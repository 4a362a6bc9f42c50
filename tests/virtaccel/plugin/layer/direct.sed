# Edits of the page's src/device.rs: it copies through `direct.rs`.
/^    type Queue = va_queue;/a\
\
    fn host_allocate(&self, bytes: usize) -> Result<sp_plugin::accelerator::HostMemory> {\
        crate::direct::host_allocate(bytes)\
    }
/let bytes = source.as_bytes().to_vec();/c\
        let driver = crate::direct::raw_driver()?;
s/self.va_copy_to_device(address(target), bytes)/crate::direct::copy_in(driver, self, address(target), source)/
/let copied = self.va_copy_to_host/i\
        let driver = crate::direct::raw_driver()?;
s/self.va_copy_to_host(target.into_writer(), address(source), source.len())/crate::direct::copy_out(driver, self, target, address(source))/
# The default method is not for a queue whose commands use TensorFlow's memory.
/^impl Queue<Virtaccel> for va_queue/a\
    fn late_copies(&self) -> Option<&dyn sp_plugin::accelerator::LateCopies<Virtaccel>> {\
        Some(self)\
    }\
\
    fn synchronize(&self) -> Result<()> {\
        checked(self, self.va_queue_synchronize())\
    }\

