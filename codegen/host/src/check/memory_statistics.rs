//! The check of `SP_AllocatorStats`: its fields are consistent, and follow an allocation and its end.

use super::session::{CheckSession, CheckedDevice, ensure};
use crate::outcome::{CheckResult, Stop};
use crate::record::GuardedStruct;

const SIZE: i64 = 1 << 20;

/// Each flag of a limit, and the limit.
const LIMITS: [(&str, &str); 2] = [
    ("has_bytes_limit", "bytes_limit"),
    ("has_bytes_reservable_limit", "bytes_reservable_limit"),
];

/// Pairs of fields of which the first is not above the second.
const ORDERED: [(&str, &str); 6] = [
    ("bytes_in_use", "peak_bytes_in_use"),
    ("largest_alloc_size", "peak_bytes_in_use"),
    ("bytes_in_use", "bytes_reserved"),
    ("bytes_reserved", "peak_bytes_reserved"),
    ("peak_bytes_in_use", "bytes_limit"),
    ("peak_bytes_reserved", "bytes_reservable_limit"),
];

/// Fields that a device may leave 0 because it does not count them.
const OPTIONAL: [&str; 6] = [
    "num_allocs",
    "largest_alloc_size",
    "bytes_limit",
    "bytes_reserved",
    "bytes_reservable_limit",
    "largest_free_block_bytes",
];

/// The filled struct.
struct Statistics(GuardedStruct);

/// The statistics are consistent before, during and after the life of a block, and count it.
pub(super) fn stats(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    let Some(before) = Statistics::read(&device)? else {
        return Ok("the plugin reports no statistics".into());
    };
    before.expect_consistent(&device)?;
    let block = device.block(SIZE as usize)?;
    let during = Statistics::read_again(&device)?;
    during.expect_block(&before)?;
    during.expect_consistent(&device)?;
    device.executor.free(block)?;
    let after = Statistics::read_again(&device)?;
    after.expect_end(&before, &during)?;
    after.expect_consistent(&device)?;
    Ok(format!(
        "the statistics count an allocation of {SIZE} bytes and its end{}",
        during.uncounted()
    ))
}

impl Statistics {
    fn read(device: &CheckedDevice) -> Result<Option<Self>, Stop> {
        Ok(device.executor.stats()?.map(Self))
    }

    /// Reads the statistics of a device that has reported some before.
    fn read_again(device: &CheckedDevice) -> Result<Self, Stop> {
        let none =
            || Stop::Fail("get_allocator_stats returned true, and false in a later call".into());
        Self::read(device)?.ok_or_else(none)
    }

    fn get(&self, field: &str) -> i64 {
        self.0.get(field).unwrap_or(0).cast_signed()
    }

    /// Returns true if the field is counted: it is not 0, or is a limit whose flag is set.
    fn has(&self, field: &str) -> bool {
        let flag = LIMITS.iter().find(|(_, limit)| *limit == field);
        self.get(flag.map_or(field, |(flag, _)| flag)) != 0
    }

    /// Returns true if the value of the field counts in comparisons.
    fn is_compared(&self, field: &str) -> bool {
        !OPTIONAL.contains(&field) || self.has(field)
    }

    fn expect_consistent(&self, device: &CheckedDevice) -> Result<(), Stop> {
        for (flag, limit) in LIMITS {
            ensure(self.has(limit) || self.get(limit) == 0, || {
                let value = self.get(limit);
                format!("{limit} is {value}, which TensorFlow ignores since {flag} is 0")
            })?;
        }
        for (lower, upper) in ORDERED {
            let (low, high) = (self.get(lower), self.get(upper));
            ensure(low <= high || !self.is_compared(upper), || {
                format!("{upper} is {high}, below {lower} of {low}")
            })?;
        }
        self.expect_free_block_fits(device)
    }

    /// Fails the check if the largest free block is above the memory that is not in use.
    fn expect_free_block_fits(&self, device: &CheckedDevice) -> Result<(), Stop> {
        let total = match self.has("bytes_limit") {
            true => self.get("bytes_limit"),
            false => device
                .executor
                .usage()?
                .map_or(i64::MAX, |(_, total)| total),
        };
        let rest = total.saturating_sub(self.get("bytes_in_use"));
        let free = self.get("largest_free_block_bytes");
        ensure(free <= rest, || {
            format!(
                "largest_free_block_bytes is {free}, above the {rest} bytes that are not in use"
            )
        })
    }

    /// Fails the check unless the statistics count a new block of [`SIZE`] bytes.
    fn expect_block(&self, before: &Self) -> Result<(), Stop> {
        let (old, new) = (before.get("bytes_in_use"), self.get("bytes_in_use"));
        ensure(new >= old.saturating_add(SIZE), || {
            format!("bytes_in_use was {old}, and is {new} after allocating {SIZE}")
        })?;
        let (old, new) = (before.get("num_allocs"), self.get("num_allocs"));
        ensure(new > old || !self.has("num_allocs"), || {
            format!("num_allocs was {old}, and is {new} after an allocation")
        })?;
        let largest = self.get("largest_alloc_size");
        ensure(largest >= SIZE || !self.has("largest_alloc_size"), || {
            format!("largest_alloc_size is {largest} after allocating {SIZE}")
        })
    }

    /// Fails the check unless the statistics count the end of the block that was there `during`.
    fn expect_end(&self, before: &Self, during: &Self) -> Result<(), Stop> {
        let (old, new) = (before.get("bytes_in_use"), self.get("bytes_in_use"));
        ensure(new == old, || {
            format!("bytes_in_use was {old}, and is {new} after all was freed")
        })?;
        for field in [
            "peak_bytes_in_use",
            "peak_bytes_reserved",
            "largest_alloc_size",
        ] {
            let (old, new) = (during.get(field), self.get(field));
            ensure(new >= old, || {
                format!("{field} was {old}, and is {new} after a block was freed")
            })?;
        }
        Ok(())
    }

    /// Returns the end of a sentence that lists the fields that the device does not count.
    fn uncounted(&self) -> String {
        let fields: Vec<&str> = OPTIONAL
            .into_iter()
            .filter(|field| !self.has(field))
            .collect();
        match fields.is_empty() {
            true => String::new(),
            false => format!("; not counted: {}", fields.join(", ")),
        }
    }
}
