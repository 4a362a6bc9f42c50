//! Random work on several streams, and a model of the bytes that it must leave.
//!
//! The streams wait for each other exactly where their work uses the same memory, as TensorFlow's do. So any order that the
//! contract permits gives the bytes of the model.

use std::collections::BTreeSet;
use std::time::Duration;

use super::callback::{Callback, CallbackAction};
use crate::Error;
use crate::check::session::{block, ensure, expect_equal, pattern};
use crate::executor::{DeviceMemoryBlock, EventHandle, Executor, StreamHandle};
use crate::hold::StreamHold;
use crate::host_bytes::HostBytes;
use crate::outcome::Stop;

const SIZE: usize = 10_000;

/// The time that one step may wait for the held streams. Then they are released.
const PATIENCE: Duration = Duration::from_millis(100);

/// Blocks of each device.
const BLOCKS: usize = 5;

/// A stream of a device.
pub(super) struct Lane<'a> {
    pub executor: &'a Executor,
    pub stream: StreamHandle,
    /// The number of its device.
    pub device: usize,
}

impl<'a> Lane<'a> {
    fn executor_and_stream(&self) -> (&'a Executor, StreamHandle) {
        (self.executor, self.stream)
    }
}

/// The work that a schedule may contain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Features {
    pub dtod: bool,
    pub memset: bool,
    /// True if memory is deallocated while work uses it, as TensorFlow does without the BFC allocator.
    pub deallocate: bool,
    /// True if memory is copied between devices.
    pub peer_copies: bool,
}

/// The bytes of a block.
#[derive(Debug, Clone, Copy)]
enum Content {
    Undefined,
    Pattern(u8),
    Byte(u8),
}

impl Content {
    /// Returns `None` if the bytes are not known.
    fn bytes(self) -> Option<Vec<u8>> {
        match self {
            Self::Undefined => None,
            Self::Pattern(seed) => Some(pattern(SIZE, seed)),
            Self::Byte(byte) => Some(vec![byte; SIZE]),
        }
    }
}

/// A block, and the lanes whose work uses its memory.
struct ModelBlock {
    device: usize,
    memory: DeviceMemoryBlock,
    content: Content,
    writer: Option<usize>,
    readers: BTreeSet<usize>,
}

/// A copy to the host, and what it must give.
struct CopyOut {
    step: usize,
    lane: usize,
    target: HostBytes,
    content: Content,
}

/// Numbers that differ.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

/// The work, as far as it is enqueued.
pub(super) struct Schedule<'a> {
    lanes: &'a [Lane<'a>],
    features: Features,
    random: Random,
    seed: u64,
    blocks: Vec<ModelBlock>,
    copies_out: Vec<CopyOut>,
    callbacks: Vec<Callback>,
    events: Vec<(usize, EventHandle)>,
}

impl<'a> Schedule<'a> {
    /// Allocates the blocks. `seed` determines the work.
    pub fn new(lanes: &'a [Lane<'a>], features: Features, seed: u64) -> Result<Self, Stop> {
        let devices: BTreeSet<usize> = lanes.iter().map(|lane| lane.device).collect();
        let mut schedule = Self {
            lanes,
            features,
            random: Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
            seed,
            blocks: vec![],
            copies_out: vec![],
            callbacks: vec![],
            events: vec![],
        };
        for device in devices {
            for _ in 0..BLOCKS {
                let block = schedule.allocate(device)?;
                schedule.blocks.push(block);
            }
        }
        Ok(schedule)
    }

    fn allocate(&self, device: usize) -> Result<ModelBlock, Stop> {
        Ok(ModelBlock {
            device,
            memory: block(self.executor_of(device), SIZE)?,
            content: Content::Undefined,
            writer: None,
            readers: BTreeSet::new(),
        })
    }

    fn executor_of(&self, device: usize) -> &'a Executor {
        let lane = self.lanes.iter().find(|lane| lane.device == device);
        lane.expect("each device has a lane").executor
    }

    /// Enqueues the work, waits for it, and fails the check if any bytes differ from the model.
    pub fn run(mut self, steps: usize) -> Result<(), Stop> {
        let holds = self.hold_lanes()?;
        for step in 0..steps {
            holds.iter().for_each(StreamHold::start_patience);
            self.step(step)?;
        }
        drop(holds);
        for lane in self.lanes {
            lane.executor.poll(lane.stream)?;
        }
        self.expect_model()?;
        for (lane, event) in &self.events {
            self.lanes[*lane].executor.destroy_event(*event)?;
        }
        for block in &self.blocks {
            self.executor_of(block.device).free(block.memory)?;
        }
        Ok(())
    }

    /// Holds every stream of a device that can, so that all of the work is enqueued before any runs.
    fn hold_lanes(&self) -> Result<Vec<StreamHold>, Error> {
        let hold = |lane: &Lane<'_>| StreamHold::on(lane.executor, lane.stream, PATIENCE);
        let holds: Result<Vec<_>, Error> = self.lanes.iter().map(hold).collect();
        Ok(holds?.into_iter().flatten().collect())
    }

    fn step(&mut self, step: usize) -> Result<(), Stop> {
        let lane = self.random.below(self.lanes.len());
        match self.random.below(16) {
            0..4 => self.copy_in(lane),
            4..8 => self.copy(lane),
            8..10 => self.fill(lane),
            10..14 => self.copy_out(step, lane),
            14 => self.pause(lane),
            _ => self.deallocate(lane),
        }
    }

    /// Chooses a block of the lane's device.
    fn choose(&mut self, lane: usize) -> usize {
        let device = self.lanes[lane].device;
        loop {
            let block = self.random.below(self.blocks.len());
            if self.blocks[block].device == device {
                return block;
            }
        }
    }

    fn copy_in(&mut self, lane: usize) -> Result<(), Stop> {
        let (target, seed) = (self.choose(lane), self.random.below(256) as u8);
        let source = HostBytes::new(&pattern(SIZE, seed));
        self.begin(lane, &[], target)?;
        let (executor, stream) = self.lanes[lane].executor_and_stream();
        executor.htod(stream, self.blocks[target].memory, source)?;
        self.written(lane, target, Content::Pattern(seed));
        Ok(())
    }

    /// Copies a block to another one, which may be on another device.
    fn copy(&mut self, lane: usize) -> Result<(), Stop> {
        let source = self.choose(lane);
        let target = match self.features.peer_copies {
            true => self.random.below(self.blocks.len()),
            false => self.choose(lane),
        };
        if !self.features.dtod || source == target {
            return self.copy_in(lane);
        }
        self.begin(lane, &[source], target)?;
        let (executor, stream) = self.lanes[lane].executor_and_stream();
        let (to, from) = (self.blocks[target].memory, self.blocks[source].memory);
        executor.dtod(stream, to, from, SIZE as u64)?;
        self.blocks[source].readers.insert(lane);
        self.written(lane, target, self.blocks[source].content);
        Ok(())
    }

    fn fill(&mut self, lane: usize) -> Result<(), Stop> {
        if !self.features.memset {
            return self.copy_in(lane);
        }
        let (target, byte) = (self.choose(lane), self.random.below(256) as u8);
        self.begin(lane, &[], target)?;
        let (executor, stream) = self.lanes[lane].executor_and_stream();
        executor.memset(stream, self.blocks[target].memory, byte, SIZE as u64)?;
        self.written(lane, target, Content::Byte(byte));
        Ok(())
    }

    fn copy_out(&mut self, step: usize, lane: usize) -> Result<(), Stop> {
        let source = self.choose(lane);
        let ModelBlock {
            content,
            memory,
            writer,
            ..
        } = self.blocks[source];
        self.wait_for(lane, writer.into_iter().collect())?;
        let target = HostBytes::poisoned(SIZE);
        let (executor, stream) = self.lanes[lane].executor_and_stream();
        executor.dtoh(stream, target, memory)?;
        self.blocks[source].readers.insert(lane);
        self.copies_out.push(CopyOut {
            step,
            lane,
            target,
            content,
        });
        Ok(())
    }

    fn pause(&mut self, lane: usize) -> Result<(), Stop> {
        let pause = Duration::from_micros(self.random.below(300) as u64);
        let (executor, stream) = self.lanes[lane].executor_and_stream();
        let callback = Callback::enqueue(executor, stream, CallbackAction::Pause(pause))?;
        self.callbacks.push(callback);
        Ok(())
    }

    /// Deallocates a block whose memory work may still use, and allocates another one.
    fn deallocate(&mut self, lane: usize) -> Result<(), Stop> {
        if !self.features.deallocate {
            return self.pause(lane);
        }
        let number = self.choose(lane);
        let ModelBlock { device, memory, .. } = self.blocks[number];
        self.executor_of(device).deallocate(memory.opaque);
        self.blocks[number] = self.allocate(device)?;
        Ok(())
    }

    /// Makes a lane wait for all other work that uses the memory of its next work.
    fn begin(&mut self, lane: usize, sources: &[usize], target: usize) -> Result<(), Stop> {
        let writers = sources.iter().chain([&target]);
        let writers = writers.filter_map(|block| self.blocks[*block].writer);
        let readers = self.blocks[target].readers.iter().copied();
        let others: BTreeSet<usize> = writers.chain(readers).collect();
        self.wait_for(lane, others)
    }

    fn wait_for(&mut self, lane: usize, others: BTreeSet<usize>) -> Result<(), Stop> {
        for other in others.into_iter().filter(|other| *other != lane) {
            let (dependent, upstream) = (&self.lanes[lane], &self.lanes[other]);
            let is_same_device = dependent.device == upstream.device;
            match is_same_device && self.random.below(2) == 0 {
                true => {
                    let event = upstream.executor.create_event()?;
                    self.events.push((other, event));
                    upstream.executor.record_event(upstream.stream, event)?;
                    dependent.executor.wait_for_event(dependent.stream, event)?;
                }
                false => dependent
                    .executor
                    .depend(dependent.stream, upstream.stream)?,
            }
        }
        Ok(())
    }

    fn written(&mut self, lane: usize, target: usize, content: Content) {
        let block = &mut self.blocks[target];
        block.content = content;
        block.writer = Some(lane);
        block.readers.clear();
    }

    fn expect_model(&self) -> Result<(), Stop> {
        for CopyOut {
            step,
            lane,
            target,
            content,
        } in &self.copies_out
        {
            if let Some(bytes) = content.bytes() {
                let seed = self.seed;
                let what = format!(
                    "a copy to the host on stream {lane}, step {step} of the random work {seed} on several streams,"
                );
                expect_equal(&what, &target.to_vec(), &bytes)?;
            }
        }
        for block in &self.blocks {
            if let Some(bytes) = block.content.bytes() {
                let what = format!(
                    "a block after the random work {} on several streams",
                    self.seed
                );
                expect_equal(&what, &self.read(block)?, &bytes)?;
            }
        }
        let has_run = self.callbacks.iter().all(|callback| callback.has_run());
        ensure(has_run, || {
            "an event was complete before a host callback ahead of it on its stream had run".into()
        })
    }

    fn read(&self, block: &ModelBlock) -> Result<Vec<u8>, Error> {
        let bytes = HostBytes::poisoned(SIZE);
        let executor = self.executor_of(block.device);
        executor.sync_dtoh_to(bytes, block.memory)?;
        Ok(bytes.to_vec())
    }
}
