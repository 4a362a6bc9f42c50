//! Executions: results, several of them, donation, wrong arguments, and deleted executables.

use sp_host::child_checks::{CheckResult, Stop, expect_no_growth};

use crate::buffer::{Buffer, HostArray, ensure, expect_error};
use crate::program::{DONATES, DOUBLE, TWO_RESULTS};
use crate::session::{Session, list};

fn doubled() -> HostArray {
    HostArray::floats(&[2, 3], &[2.0, 4.0, 6.0, 8.0, 10.0, 12.0])
}

/// A program computes, and its argument is as before.
pub(super) fn one_result(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let executable = device.compile(DOUBLE)?;
    let array = HostArray::counting(&[2, 3]);
    let x = device.put(&array)?;
    for _ in 0..3 {
        let results = executable.execute(&[x], 1)?;
        let result = results[0];
        ensure(result.wait()?.is_ok(), || {
            "the event of a result has an error".into()
        })?;
        result.expect(&doubled(), "x + x")?;
        let found = result.call("Buffer_Device", &[])?.get("device")?;
        ensure(found == device.handle, || {
            "the result is on another device".into()
        })?;
        result.destroy()?;
        ensure(!x.is_deleted()?, || {
            "an argument is deleted that was not donated".into()
        })?;
        x.expect(&array, "an argument after the execution")?;
    }
    x.destroy()?;
    executable.destroy()?;
    Ok("x + x, 3 times".into())
}

/// A program with two results returns both in order.
pub(super) fn two_results(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let executable = device.compile(TWO_RESULTS)?;
    let x = device.put(&HostArray::counting(&[2, 3]))?;
    let y = device.put(&HostArray::floats(&[2, 3], &[10.0; 6]))?;
    let results = executable.execute(&[x, y], 2)?;
    let sums = [11.0, 12.0, 13.0, 14.0, 15.0, 16.0];
    let products = [10.0, 20.0, 30.0, 40.0, 50.0, 60.0];
    results[0].expect(&HostArray::floats(&[2, 3], &sums), "x + y")?;
    results[1].expect(&HostArray::floats(&[2, 3], &products), "x * y")?;
    [x, y, results[0], results[1]]
        .iter()
        .try_for_each(Buffer::destroy)?;
    executable.destroy()?;
    Ok("x + y and x * y".into())
}

/// The result of one execution is the argument of the next, without a wait.
pub(super) fn chained(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let executable = device.compile(DOUBLE)?;
    let mut x = device.put(&HostArray::floats(&[2, 3], &[1.0; 6]))?;
    for _ in 0..10 {
        let result = executable.execute(&[x], 1)?[0];
        x.destroy()?;
        x = result;
    }
    x.expect(
        &HostArray::floats(&[2, 3], &[1024.0; 6]),
        "1 doubled 10 times",
    )?;
    x.destroy()?;
    executable.destroy()?;
    Ok("10 executions".into())
}

/// An argument that the program may overwrite is deleted.
pub(super) fn donated_argument(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let executable = device.compile(DONATES)?;
    let x = device.put(&HostArray::counting(&[2, 3]))?;
    let result = executable.execute(&[x], 1)?[0];
    result.expect(&doubled(), "x + x of a donated argument")?;
    let is_deleted = x.is_deleted()?;
    x.destroy()?;
    result.destroy()?;
    executable.destroy()?;
    Ok(match is_deleted {
        true => "the argument is deleted".into(),
        false => "the argument is copied".into(),
    })
}

/// Wrong arguments are an error: too few, another shape, a deleted buffer.
pub(super) fn wrong_arguments(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let executable = device.compile(DOUBLE)?;
    let deleted = device.put(&HostArray::counting(&[2, 3]))?;
    deleted.delete()?;
    let other = device.put(&HostArray::counting(&[7]))?;
    for (arguments, what) in [
        (vec![], "an execution without its argument"),
        (
            vec![other.handle],
            "an execution with an argument of another shape",
        ),
        (vec![deleted.handle], "an execution with a deleted argument"),
    ] {
        let error = match executable.try_execute(&arguments, 1)? {
            Err(error) => error,
            Ok(results) => {
                let error = results[0].wait()?.err();
                error.ok_or_else(|| Stop::Fail(format!("{what} is no error")))?
            }
        };
        expect_error(Err(error), what)?;
    }
    let x = device.put(&HostArray::counting(&[2, 3]))?;
    executable.execute(&[x], 1)?[0].expect(&doubled(), "x + x after wrong arguments")?;
    Ok("3 errors".into())
}

/// A deleted executable reports that, and its execution does not end the process.
pub(super) fn deleted_executable(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let executable = device.compile(DOUBLE)?;
    let is_deleted = || executable.loaded("IsDeleted", &[])?.flag("is_deleted");
    ensure(!is_deleted()?, || "a new executable is deleted".into())?;
    executable.loaded("Delete", &[])?;
    ensure(is_deleted()?, || {
        "is_deleted is false after PJRT_LoadedExecutable_Delete".into()
    })?;
    let x = device.put(&HostArray::counting(&[2, 3]))?;
    // The header leaves it undefined. A crash is caught by the process of this check.
    let text = match executable.try_execute(&[x.handle], 1)? {
        Err(error) => {
            let text = format!("its execution is {error}");
            expect_error(Err(error), "the execution of a deleted executable")?;
            text
        }
        Ok(_) => "it still computes".into(),
    };
    executable.destroy()?;
    x.destroy()?;
    Ok(text)
}

/// The devices of an executable are addressable devices of the client.
pub(super) fn devices(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let executable = device.compile(DOUBLE)?;
    let set = [("executable", executable.handle)];
    let function = "LoadedExecutable_AddressableDevices";
    let found = list(device.plugin(), function, &set, "addressable_devices")?;
    let own = device
        .client
        .list("Client_AddressableDevices", "addressable_devices")?;
    ensure(found.len() == 1 && own.contains(&found[0]), || {
        format!(
            "an executable of one replica has {} devices of the client",
            found.len()
        )
    })?;
    executable.destroy()?;
    Ok("1 device".into())
}

/// A result outlives its executable.
pub(super) fn result_outlives_executable(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let executable = device.compile(DOUBLE)?;
    let x = device.put(&HostArray::counting(&[2, 3]))?;
    let result = executable.execute(&[x], 1)?[0];
    executable.destroy()?;
    x.destroy()?;
    result.expect(&doubled(), "a result whose executable was destroyed")?;
    result.destroy()?;
    Ok("24 bytes".into())
}

/// Eight threads execute one executable at once.
pub(super) fn threads(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let executable = device.compile(DOUBLE)?;
    super::lifetime::on_threads(|thread| {
        for round in 0..20 {
            let number = (thread * 100 + round) as f32;
            let x = device.put(&HostArray::floats(&[2, 3], &[number; 6]))?;
            let result = executable.execute(&[x], 1)?[0];
            let expected = HostArray::floats(&[2, 3], &[2.0 * number; 6]);
            result.expect(&expected, "the result of one of eight threads")?;
            result.destroy()?;
            x.destroy()?;
        }
        Ok(())
    })?;
    executable.destroy()?;
    Ok("8 threads, 20 executions each".into())
}

/// Execution and destruction leave no memory behind.
pub(super) fn leaks(session: &Session<'_>) -> CheckResult {
    let device = session.device()?;
    let executable = device.compile(DOUBLE)?;
    let x = device.put(&HostArray::counting(&[2, 3]))?;
    expect_no_growth("a result", 200, || {
        let result = executable.execute(&[x], 1)?[0];
        result.destroy()
    })?;
    Ok("200 executions".into())
}
