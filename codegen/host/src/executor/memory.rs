//! Memory of the device, of the host, and unified memory; statistics.

use super::{DeviceMemoryBlock, Executor};
use crate::Error;
use crate::call::{Ptr, call};
use crate::contract_watch::record_breach;
use crate::record::GuardedStruct;

/// Initial value of a variable that a slot must set.
const UNSET: i64 = i64::MIN + 0x5a5a;

impl Executor {
    pub(super) fn memory(&self, block: DeviceMemoryBlock) -> Result<GuardedStruct, Error> {
        let mut record = self.shapes.record("SP_DeviceMemoryBase")?;
        record.set_pointer("opaque", block.opaque);
        record.set("size", block.size);
        Ok(record)
    }

    /// Allocates device memory. `opaque` is null if the plugin has none left.
    pub fn allocate(&self, size: u64) -> Result<DeviceMemoryBlock, Error> {
        let memory = self.shapes.record("SP_DeviceMemoryBase")?;
        call!(self.table, "allocate", (self.device(), size, 0, memory.address()): (Ptr, u64, i64, Ptr));
        let block = DeviceMemoryBlock {
            opaque: memory.pointer("opaque"),
            size: memory.get("size").unwrap_or(0),
        };
        if !block.opaque.is_null() && block.size < size {
            let text = format!(
                "SP_StreamExecutor.allocate of {size} bytes described a block of {}",
                block.size
            );
            record_breach("SP_StreamExecutor.allocate size", text);
        }
        Ok(block)
    }

    /// Frees a block as TensorFlow does without the BFC allocator: with size 0.
    pub fn deallocate(&self, opaque: Ptr) {
        let result = self.free(DeviceMemoryBlock { opaque, size: 0 });
        debug_assert!(result.is_ok(), "the slot was called before");
    }

    pub fn free(&self, block: DeviceMemoryBlock) -> Result<(), Error> {
        let memory = self.memory(block)?;
        call!(self.table, "deallocate", (self.device(), memory.address()): (Ptr, Ptr));
        Ok(())
    }

    pub fn host_allocate(&self, size: u64) -> Result<Ptr, Error> {
        Ok(call!(self.table, "host_memory_allocate", (self.device(), size): (Ptr, u64) -> Ptr))
    }

    pub fn host_deallocate(&self, memory: Ptr) -> Result<(), Error> {
        call!(self.table, "host_memory_deallocate", (self.device(), memory): (Ptr, Ptr));
        Ok(())
    }

    pub fn unified_allocate(&self, size: u64) -> Result<Ptr, Error> {
        Ok(call!(self.table, "unified_memory_allocate", (self.device(), size): (Ptr, u64) -> Ptr))
    }

    pub fn unified_deallocate(&self, memory: Ptr) -> Result<(), Error> {
        call!(self.table, "unified_memory_deallocate", (self.device(), memory): (Ptr, Ptr));
        Ok(())
    }

    /// Returns the structs that slots fill: that of a block, and the statistics if there are any.
    pub fn filled(&self) -> Result<Vec<GuardedStruct>, Error> {
        let memory = self.shapes.record("SP_DeviceMemoryBase")?;
        call!(self.table, "allocate", (self.device(), 64, 0, memory.address()): (Ptr, u64, i64, Ptr));
        self.free(DeviceMemoryBlock {
            opaque: memory.pointer("opaque"),
            size: 64,
        })?;
        Ok([memory].into_iter().chain(self.stats()?).collect())
    }

    /// Returns the statistics, or `None` if the plugin has none.
    pub fn stats(&self) -> Result<Option<GuardedStruct>, Error> {
        let stats = self.shapes.record("SP_AllocatorStats")?;
        let has = call!(self.table, "get_allocator_stats", (self.device(), stats.address()): (Ptr, Ptr) -> u8);
        let has = has != 0;
        for field in stats.negative().filter(|_| has) {
            let text = format!(
                "SP_StreamExecutor.get_allocator_stats left SP_AllocatorStats.{field} negative"
            );
            record_breach(&text.clone(), text);
        }
        Ok(has.then_some(stats))
    }

    /// Returns free and total bytes, or `None` if the plugin reports none.
    pub fn usage(&self) -> Result<Option<(i64, i64)>, Error> {
        // TensorFlow does not initialize them either.
        let (mut free, mut total) = (UNSET, UNSET);
        let known = call!(
            self.table, "device_memory_usage",
            (self.device(), &mut free, &mut total): (Ptr, *mut i64, *mut i64) -> u8
        );
        if known != 0 && !(0 <= free && free <= total && total > 0) {
            let named = |bytes| match bytes {
                UNSET => "unset".to_owned(),
                bytes => bytes.to_string(),
            };
            let text = format!(
                "SP_StreamExecutor.device_memory_usage reported success and left `free` {} and `total` {}",
                named(free),
                named(total)
            );
            record_breach("SP_StreamExecutor.device_memory_usage", text);
        }
        Ok((known != 0).then_some((free, total)))
    }
}
