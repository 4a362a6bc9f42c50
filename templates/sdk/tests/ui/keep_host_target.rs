//! A queue cannot keep host memory for a later copy: it is the caller's after the method, but for a command.

use std::sync::Mutex;

use sp_plugin::Result;
use sp_plugin::accelerator::{Accelerator, HostTarget, LateCopies, LateSource, Region};

struct Later {
    targets: Mutex<Vec<HostTarget<'static>>>,
    sources: Mutex<Vec<LateSource<'static>>>,
}

impl Later {
    fn copy_out(&self, target: HostTarget<'_>) {
        self.targets.lock().unwrap().push(target);
    }
}

impl<A: Accelerator> LateCopies<A> for Later {
    fn copy_in_late(&self, _: &Region<A>, source: LateSource<'_>) -> Result<()> {
        self.sources.lock().unwrap().push(source);
        Ok(())
    }
}

fn main() {}
