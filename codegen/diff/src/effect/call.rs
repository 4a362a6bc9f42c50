//! Effects of calls whose caller and callee have different signatures.

use sp_ir::{Side, Signature, Type};

use super::{PluginOnHost, uniform};
use crate::change::CallChange;
use crate::finding::{Effect, Outcome};
use crate::pair::SurfacePair;

/// Returns the effect of a call whose signature changed.
pub fn changed_call(pair: &SurfacePair, case: PluginOnHost, call: &CallChange) -> Effect {
    let (plugin, host) = case.plugin_and_host(call.signature);
    let (caller, callee, caller_name, callee_name) = match call.caller {
        Side::Plugin => (plugin, host, "the plugin", "the host"),
        Side::Core => (host, plugin, "the host", "the plugin"),
    };
    let caller_is_old = case.plugin_is_old == (call.caller == Side::Plugin);
    let compare = |caller: &Type, callee: &Type| match caller_is_old {
        true => pair.compare_types(caller, callee),
        false => pair.compare_types(callee, caller),
    };
    let compare_parameters = |caller: &Type, callee: &Type| match caller_is_old {
        true => pair.compare_parameters(caller, callee),
        false => pair.compare_parameters(callee, caller),
    };
    if caller.convention != callee.convention {
        let why =
            format!("{caller_name} passes arguments where {callee_name} does not look for them");
        return uniform(Outcome::WrongArguments, why);
    }
    let fits = caller.params.len() >= callee.params.len()
        && callee
            .params
            .iter()
            .zip(&caller.params)
            .all(|(expected, passed)| {
                compare_parameters(&passed.ty, &expected.ty).is_binary_compatible()
            });
    if !fits || is_reordered(caller, callee) {
        let why = format!(
            "{caller_name} passes {}, {callee_name} expects {}",
            arguments(caller),
            arguments(callee)
        );
        return uniform(Outcome::WrongArguments, why);
    }
    if !compare(&caller.ret, &callee.ret).is_binary_compatible() && caller.ret != Type::Void {
        let why =
            format!("{caller_name} reads the result as another type than {callee_name} returns");
        return uniform(Outcome::MisreadsValue, why);
    }
    match caller.params.len() > callee.params.len() {
        true => uniform(
            Outcome::WorksWithout,
            format!(
                "{caller_name} passes additional arguments at the end, which {callee_name} ignores"
            ),
        ),
        false => uniform(
            Outcome::Works,
            format!("{callee_name} gets all arguments that it expects"),
        ),
    }
}

/// Returns true if a parameter has another position in the other signature, according to the names.
fn is_reordered(caller: &Signature, callee: &Signature) -> bool {
    let mut params = callee.params.iter().zip(&caller.params);
    params.any(|(expected, passed)| {
        let contains = |signature: &Signature, name: &str| {
            signature.params.iter().any(|param| param.name == name)
        };
        let differ =
            expected.name != passed.name && !expected.name.is_empty() && !passed.name.is_empty();
        differ && (contains(caller, &expected.name) || contains(callee, &passed.name))
    })
}

fn arguments(signature: &Signature) -> String {
    match signature.params.len() {
        0 => "no arguments".into(),
        1 => "1 argument".into(),
        count => format!("{count} arguments"),
    }
}
