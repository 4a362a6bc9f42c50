//! Reads any bytes as a wheel from a defective server: with wrong lengths, wrong ranges and truncated parts.
//! Every read returns the wheel's bytes or an error, and every request is bounded.

#![no_main]

use libfuzzer_sys::fuzz_target;
use sp_fetch::range::{RangeError, RangeResponse, Transport};
use sp_fetch::symbols;
use sp_fetch::wheel::Wheel;
use sp_parse::api_headers;
use sp_parse::source::{Source, is_safe_relative_path};
use std::ops::Range;

/// The largest number of bytes in a request.
const MAX_REQUEST: u64 = 2 << 20;

struct DefectiveServer {
    wheel: Vec<u8>,
    /// The defect of each answer, from the first on; later answers have none.
    defects: std::vec::IntoIter<u8>,
}

impl Transport for DefectiveServer {
    fn get(&mut self, range: Range<u64>) -> Result<RangeResponse, RangeError> {
        assert!(range.start < range.end && range.end - range.start <= MAX_REQUEST);
        let byte = |at| usize::try_from(at).ok().and_then(|at| self.wheel.get(at));
        let mut part = RangeResponse {
            bytes: range
                .clone()
                .map(|at| byte(at).copied().unwrap_or(0))
                .collect(),
            length: self.wheel.len() as u64,
            range,
        };
        match self.defects.next().unwrap_or(0) {
            1 => part.length = u64::MAX,
            2 => part.length += 70_000,
            3 => part.length /= 2,
            4 => part.bytes.truncate(part.bytes.len() / 2),
            5 => part.bytes.push(0),
            6 => part.range = part.range.start + 1..part.range.end + 1,
            7 => part.range = u64::MAX - 1..u64::MAX,
            8 => return Err(RangeError::Unreachable("gone".into())),
            9 => part.bytes.iter_mut().for_each(|byte| *byte ^= 0x40),
            _ => {}
        }
        Ok(part)
    }
}

// The input has a count, this many defects, and the wheel.
fuzz_target!(|bytes: &[u8]| {
    let Some((count, rest)) = bytes.split_first() else {
        return;
    };
    let (defects, wheel) = rest.split_at(rest.len().min((*count).into()));
    let server = DefectiveServer {
        wheel: wheel.to_vec(),
        defects: defects.to_vec().into_iter(),
    };
    let Ok(mut wheel) = Wheel::from_transport("fuzzed.whl".into(), server) else {
        return;
    };
    let _ = wheel.identity();
    if let Ok(found) = api_headers::find(&mut wheel, &mut |_| {}) {
        assert!(found.headers.keys().all(|name| is_safe_relative_path(name)));
    }
    for member in wheel.libraries().unwrap_or_default() {
        if let Ok(mut library) = wheel.library(&member) {
            let _ = symbols::exports(&mut library);
        }
    }
});
