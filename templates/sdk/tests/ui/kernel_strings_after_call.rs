use std::cell::RefCell;

use sp_plugin::Result;
use sp_plugin::kernel::{HostOut, OutStrings, Text, kernel};

thread_local! {
    static LAST: RefCell<Option<OutStrings<'static>>> = const { RefCell::new(None) };
}

#[kernel(StringUpper, ignore = [input])]
fn keeps_strings_after_call(output: HostOut<'_, Text>) -> Result<()> {
    let strings = output.empty_strings(&[1])?;
    LAST.set(Some(strings));
    Ok(())
}

fn main() {}
