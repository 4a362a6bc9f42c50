//! Calls whose two ends see different signatures.

use sp_ir::{Side, Signature, Type};

use super::{Meeting, plain};
use crate::change::Called;
use crate::finding::{Effect, Outcome};
use crate::pair::Pair;

/// A call whose signature differs.
pub fn called(pair: &Pair, meeting: Meeting, called: &Called) -> Effect {
    let (plugin, host) = meeting.sort(called.signature);
    let (caller, callee) = match called.caller {
        Side::Plugin => (plugin, host),
        Side::Core => (host, plugin),
    };
    let (who, whom) = match called.caller {
        Side::Plugin => ("the plugin", "the host"),
        Side::Core => ("the host", "the plugin"),
    };
    let caller_is_old = meeting.plugin_is_old == (called.caller == Side::Plugin);
    let like = |caller: &Type, callee: &Type| match caller_is_old {
        true => pair.like(caller, callee),
        false => pair.like(callee, caller),
    };
    let fits = caller.params.len() >= callee.params.len()
        && callee
            .params
            .iter()
            .zip(&caller.params)
            .all(|(one, two)| like(&two.ty, &one.ty).is_binary());
    if !fits || crossed(caller, callee) {
        let why = format!(
            "{who} passes {}, {whom} expects {}",
            arguments(caller),
            arguments(callee)
        );
        return plain(Outcome::WrongArguments, why);
    }
    let returned = like(&caller.ret, &callee.ret);
    if !returned.is_binary() && caller.ret != Type::Void {
        let why = format!("{who} takes what comes back for another type than {whom} returns");
        return plain(Outcome::MisreadsValue, why);
    }
    match caller.params.len() > callee.params.len() {
        true => plain(
            Outcome::WorksWithout,
            format!("{who} passes more than {whom} looks at, at the end"),
        ),
        false => plain(Outcome::Works, format!("{whom} finds all that it expects")),
    }
}

/// Whether a parameter stands at another place of the two, as their names tell.
fn crossed(caller: &Signature, callee: &Signature) -> bool {
    let mut both = callee.params.iter().zip(&caller.params);
    both.any(|(one, two)| {
        let elsewhere = |all: &Signature, name: &str| all.params.iter().any(|it| it.name == name);
        let differ = one.name != two.name && !one.name.is_empty() && !two.name.is_empty();
        differ && (elsewhere(caller, &one.name) || elsewhere(callee, &two.name))
    })
}

fn arguments(signature: &Signature) -> String {
    match signature.params.len() {
        0 => "nothing".into(),
        1 => "1 argument".into(),
        many => format!("{many} arguments"),
    }
}
