//! Errors of streams.

use super::callback::{Callback, CallbackAction};
use crate::Error;
use crate::check::session::CheckSession;
use crate::outcome::{CheckResult, Stop};

/// A query of a stream's status does not remove an error, and reports the same as a synchronization.
pub(in crate::check) fn stream_errors(session: &CheckSession<'_>) -> CheckResult {
    let device = session.device()?;
    let (executor, stream) = (&device.executor, device.stream()?);
    executor.stream_status(stream)?;
    Callback::enqueue(executor, stream, CallbackAction::Fail)?;
    // The plugin has the error before it calls the next callback.
    Callback::enqueue(executor, stream, CallbackAction::None)?.wait()?;
    let mut results = vec![
        ("get_stream_status", executor.stream_status(stream)),
        ("a second get_stream_status", executor.stream_status(stream)),
    ];
    if executor.has("block_host_until_done") {
        let result = executor.block_until_done(stream);
        results.push(("block_host_until_done", result));
    }
    executor.destroy_stream(stream)?;
    expect_one_answer(&results)?;
    Ok(match &results[0].1 {
        Ok(()) => {
            "the plugin does not report errors of host callbacks, and nothing else fails here"
                .into()
        }
        Err(error) => format!("every query reported the error of a host callback: {error}"),
    })
}

/// Fails if one function reports an error and another one none.
fn expect_one_answer(results: &[(&str, Result<(), Error>)]) -> Result<(), Stop> {
    let failed = results.iter().find_map(|(_, result)| result.as_ref().err());
    let succeeded = results.iter().find(|(_, result)| result.is_ok());
    match (failed, succeeded) {
        (Some(error), Some((silent, _))) => Err(Stop::Fail(format!(
            "{silent} reported no error of a stream on which a host callback had failed, and another query did: {error}"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_agree_if_all_or_none_report_error() {
        let error = || Err(Error::Refused("failed".into()));
        let check = |first, second| expect_one_answer(&[("first", first), ("second", second)]);
        assert!(check(Ok(()), Ok(())).is_ok());
        assert!(check(error(), error()).is_ok());
        for (first, second) in [(Ok(()), error()), (error(), Ok(()))] {
            assert!(matches!(check(first, second), Err(Stop::Fail(_))));
        }
    }
}
