//! Contexts of kernels, which end when the kernel has returned, or has called `done` if it is asynchronous.

use super::arguments::Arguments;
use super::finding::finding;
use crate::runtime::description::Kind;
use crate::runtime::log::thread_log;
use crate::runtime::shared::Shared;
use std::collections::HashMap;

/// The types of contexts.
const TYPES: [&str; 2] = ["TF_OpKernelContext", "TF_OpKernelConstruction"];
const DONE: &str = "TF_AsyncOpKernelDoneCallback";

/// The type of an object and its address.
type Object = (&'static str, u64);

struct Running {
    /// Number of calls of the plugin that have the context.
    calls: usize,
    thread: i32,
    /// The callback of an asynchronous kernel, or 0.
    done: u64,
}

#[derive(Default)]
struct Contexts {
    running: HashMap<Object, Running>,
    /// Contexts and callbacks that have ended, with the thread of their kernel.
    ended: HashMap<Object, i32>,
    /// True if kernels run that the layer does not see: their contexts may have the address of one that has ended.
    is_partial: bool,
}

static CONTEXTS: Shared<Contexts> = Shared::new();

/// Returns the argument whose type is a pointer to one of `types`.
fn find(call: &Arguments<'_>, types: &[&'static str]) -> Option<Object> {
    let mut parameters = call.function.parameters.iter().zip(call.values);
    parameters.find_map(|(parameter, address)| {
        let name = parameter.ty.pointed_opaque();
        let name = types.iter().find(|it| **it == name)?;
        Some((*name, *address))
    })
}

/// Notes the context of a kernel that begins, and checks that of a function of core.
pub fn before(call: &Arguments<'_>) {
    if !matches!(call.function.kind, Kind::Callback | Kind::Host) {
        return;
    }
    let log = thread_log();
    let (thread, is_in_plugin) = (log.thread(), log.is_in_plugin());
    drop(log);
    let done = find(call, &[DONE]).map_or(0, |it| it.1);
    let context = find(call, &TYPES);
    let problem = match (call.function.kind, context) {
        (Kind::Callback, Some(context)) => {
            let name = call.function.short_name();
            let is_begin = name.starts_with("compute") || name == "create_func";
            CONTEXTS.with(|it| it.begin(context, thread, done, is_begin));
            None
        }
        (Kind::Host, None) if done != 0 => CONTEXTS.with(|it| it.call_done(done)),
        (Kind::Host, Some(context)) => CONTEXTS.with(|it| it.check(context, thread, is_in_plugin)),
        _ => None,
    };
    if let Some((rule, detail)) = problem {
        finding(rule, call.function.name, &detail);
    }
}

/// Notes the end of a kernel that is not asynchronous.
pub fn after(call: &Arguments<'_>) {
    if call.function.kind == Kind::Callback
        && find(call, &[DONE]).is_none()
        && let Some(context) = find(call, &TYPES)
    {
        CONTEXTS.with(|it| it.leave(context));
    }
}

/// A rule and what breaks it.
type Problem = (&'static str, String);

impl Contexts {
    fn begin(&mut self, context: Object, thread: i32, done: u64, is_begin: bool) {
        self.ended.remove(&context);
        self.ended.remove(&(DONE, done));
        if is_begin {
            self.running.remove(&context);
        }
        let new = Running {
            calls: 0,
            thread,
            done,
        };
        self.running.entry(context).or_insert(new).calls += 1;
    }

    fn leave(&mut self, context: Object) {
        let Some(running) = self.running.get_mut(&context) else {
            return;
        };
        running.calls -= 1;
        if running.calls == 0 {
            let thread = running.thread;
            self.running.remove(&context);
            self.ended.insert(context, thread);
        }
    }

    fn call_done(&mut self, done: u64) -> Option<Problem> {
        let context = self.running.iter().find(|it| it.1.done == done);
        if let Some((&context, running)) = context {
            let thread = running.thread;
            self.running.remove(&context);
            self.ended
                .extend([(context, thread), ((DONE, done), thread)]);
            return None;
        }
        self.is_partial |= !self.ended.contains_key(&(DONE, done));
        let detail = || format!("the {DONE} {done:#x} was called before");
        (!self.is_partial).then(|| ("destroyed_twice", detail()))
    }

    /// Returns the problem of a context that has ended. Core has most contexts on the stack of the thread that runs the kernel.
    /// Outside of a known call that thread may run another kernel at the same address, which the layer does not see.
    fn check(&mut self, context: Object, thread: i32, is_in_plugin: bool) -> Option<Problem> {
        let Some(own) = self.ended.get(&context) else {
            self.is_partial |= !self.running.contains_key(&context);
            return None;
        };
        let is_certain = !self.is_partial && (is_in_plugin || *own != thread);
        let (name, address) = context;
        let detail = || format!("the {name} {address:#x} has ended with its kernel");
        is_certain.then(|| ("context_after_return", detail()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTEXT: Object = (TYPES[0], 0x1000);

    #[test]
    fn context_of_a_synchronous_kernel_ends_with_its_outermost_call() {
        let mut contexts = Contexts::default();
        contexts.begin(CONTEXT, 1, 0, true);
        contexts.begin(CONTEXT, 1, 0, false);
        contexts.leave(CONTEXT);
        assert_eq!(contexts.check(CONTEXT, 2, false), None);
        contexts.leave(CONTEXT);
        assert!(contexts.check(CONTEXT, 2, false).is_some());
        assert!(contexts.check(CONTEXT, 1, true).is_some());
        assert_eq!(contexts.check(CONTEXT, 1, false), None);
        contexts.begin(CONTEXT, 1, 0, true);
        assert_eq!(contexts.check(CONTEXT, 2, false), None);
    }

    #[test]
    fn context_of_an_asynchronous_kernel_ends_with_its_callback() {
        let mut contexts = Contexts::default();
        contexts.begin(CONTEXT, 1, 7, true);
        assert_eq!(contexts.check(CONTEXT, 2, false), None);
        assert_eq!(contexts.call_done(7), None);
        assert!(contexts.check(CONTEXT, 2, false).is_some());
        assert!(contexts.call_done(7).is_some());
        contexts.begin(CONTEXT, 1, 7, true);
        assert_eq!(contexts.call_done(7), None);
    }

    #[test]
    fn nothing_is_certain_if_a_kernel_is_not_seen() {
        let mut contexts = Contexts::default();
        contexts.begin(CONTEXT, 1, 7, true);
        assert_eq!(contexts.call_done(7), None);
        assert_eq!(contexts.check((TYPES[0], 0x2000), 1, false), None);
        assert_eq!(contexts.check(CONTEXT, 2, false), None);
        assert_eq!(contexts.call_done(7), None);
    }
}
