//! The steps that the survey and the sessions decide.

use super::answer::{JaxSession, JaxStage, JaxSurvey};
use crate::doctor::session::not_reached;
use crate::doctor::session::{advice_of_loader, by_type};
use crate::doctor::{ByType, Step, StepKind};
use sp_data::demand::{self, Demand};

/// The variable that selects platforms.
const VARIABLE: &str = "JAX_PLATFORMS";

/// Returns the step of JAX itself.
pub fn jax(survey: &JaxSurvey) -> Step {
    let kind = StepKind::Jax;
    match (&survey.jax, &survey.jaxlib) {
        (Some(jax), Some(jaxlib)) => {
            let detail = format!("jax {jax}, jaxlib {jaxlib}, Python {}", survey.python);
            Step::ok(kind, &detail)
        }
        (jax, _) => {
            let absent = if jax.is_none() { "jax" } else { "jaxlib" };
            let detail = format!("Python {} has no package `{absent}`", survey.python);
            let advice = "name the Python that has it, `sp-gen doctor --jax venv/bin/python`, or install jax there";
            Step::failed(kind, &detail, advice)
        }
    }
}

/// Returns the step of the modules of plugins.
pub fn plugins(survey: &JaxSurvey) -> Step {
    let kind = StepKind::Plugins;
    if !survey.modules.is_empty() {
        return Step::ok(kind, &survey.modules.join(", "));
    }
    let detail = match survey.folders.is_empty() {
        true => {
            "no package has an entry point of the group `jax_plugins`, and there is no folder `jax_plugins`"
                .to_owned()
        }
        false => format!("{} has no module", survey.folders.join(", ")),
    };
    let advice = "install the plugin with this Python; its package names its module as an entry point of the group \
                  `jax_plugins`, or has it in a folder `jax_plugins` without __init__.py";
    Step::failed(kind, &detail, advice)
}

/// Returns the step of the module's `initialize`, which registers a library.
pub fn initialize(session: &JaxSession) -> Step {
    let kind = StepKind::Initialize;
    if let Some(reason) = session.failure(JaxStage::Start, JaxStage::Import) {
        return Step::failed(
            kind,
            &format!("JAX cannot be imported: {reason}"),
            "repair the installation of JAX first",
        );
    }
    if let Some(reason) = session.failure(JaxStage::Module, JaxStage::Initialize) {
        let advice = "correct the module: its initialize() calls jax._src.xla_bridge.register_plugin; JAX prints such an \
                      error in its log only";
        return Step::failed(kind, &reason, advice);
    }
    let registered = session.counts.registered.as_deref().unwrap_or_default();
    let library = session.counts.library.as_deref();
    let library = library.unwrap_or("no library: it is linked to JAX, or the plugin loads it");
    Step::ok(kind, &format!("it registers `{registered}`: {library}"))
}

/// Returns the step of the dynamic loader and of `GetPjrtApi`.
pub fn load(session: &JaxSession) -> Step {
    let kind = StepKind::Load;
    match session.failure(JaxStage::Load, JaxStage::Table) {
        Some(reason) => Step::failed(kind, &reason, advice_of_loader(&reason)),
        None if session.counts.stage < JaxStage::Register => not_reached(kind),
        None if session.counts.library.is_none() => no_library(kind),
        None => Step::ok(
            kind,
            "the dynamic loader loads it, and GetPjrtApi returns a table",
        ),
    }
}

/// Returns the step of a plugin that names no library, so that none was loaded.
fn no_library(kind: StepKind) -> Step {
    Step::unknown(kind, "initialize() registers no library", "")
}

/// Returns the measured demand of the installed jaxlib, or of the newest patch of its minor release.
fn demand_of(survey: &JaxSurvey) -> Option<Demand> {
    let release = survey.jaxlib.as_deref()?;
    let mut parts = release.splitn(3, '.');
    let minor = format!("{}.{}", parts.next()?, parts.next()?);
    let found = demand::find("jaxlib", release);
    found.or_else(|_| demand::find("jaxlib", &minor)).ok()
}

/// Returns the step of the table's version, by the measured demand of jaxlib.
pub fn version(survey: &JaxSurvey, session: &JaxSession) -> Step {
    let kind = StepKind::Version;
    let Some(table) = &session.counts.table else {
        return match session.counts.library {
            None if session.counts.stage >= JaxStage::Register => no_library(kind),
            _ => not_reached(kind),
        };
    };
    let version = format!("{}.{}, {} bytes", table.major, table.minor, table.size);
    let Some(demand) = demand_of(survey) else {
        let jaxlib = survey.jaxlib.as_deref().unwrap_or_default();
        return Step::unknown(
            kind,
            &format!("{version}; jaxlib {jaxlib} was not measured"),
            "",
        );
    };
    match demand.reason_to_decline(table.major, table.minor) {
        None => {
            let detail = format!("{version}; jaxlib {} accepts it", demand.release);
            Step::ok(kind, &detail)
        }
        Some(reason) => Step::failed(
            kind,
            &reason,
            "build the plugin with a header that this jaxlib accepts, or install another jaxlib: \
             `sp-gen history pjrt --host jaxlib`",
        ),
    }
}

/// Returns the step of the slots that are null and that jaxlib calls, or `None` if it was not measured.
pub fn slots(survey: &JaxSurvey, session: &JaxSession) -> Option<Step> {
    let (kind, demand) = (StepKind::Slots, demand_of(survey)?);
    let table = session.counts.table.as_ref()?;
    let lacking = demand.lacking(table);
    let described = lacking
        .iter()
        .map(|(name, null)| format!("{name} ({})", null.describe()));
    let lacking: Vec<String> = described.collect();
    Some(match lacking.is_empty() {
        true => Step::ok(kind, "jaxlib calls no slot that is null"),
        false => Step::failed(
            kind,
            &format!(
                "jaxlib {} calls slots that are null: {}",
                demand.release,
                lacking.join(", ")
            ),
            "fill them: a function that the plugin does not offer returns UNIMPLEMENTED",
        ),
    })
}

/// Returns the step of the client and its devices.
pub fn devices(survey: &JaxSurvey, session: &JaxSession) -> Step {
    let kind = StepKind::Devices;
    if let Some(reason) = session.failure(JaxStage::Register, JaxStage::Devices) {
        let verify = "run `sp-gen verify LIBRARY --host jaxlib:RELEASE`, which reports the violated contract";
        let advice = match advice_of_tables(survey, session) {
            Some(advice) => format!("{advice}; {verify}"),
            None => verify.to_owned(),
        };
        return Step::failed(kind, &reason, &advice);
    }
    match session.counts.stage {
        JaxStage::Done => Step::ok(kind, &by_type(&session.counts.devices)),
        _ => not_reached(kind),
    }
}

/// Returns the advice for a plugin that ended the process, and whose objects jaxlib reads as tables of functions.
fn advice_of_tables(survey: &JaxSurvey, session: &JaxSession) -> Option<String> {
    let (demand, table) = (demand_of(survey)?, session.counts.table.as_ref()?);
    let functions = demand.called_tables(table.minor);
    let is_ended = session.counts.error.is_none() && !functions.is_empty();
    is_ended.then(|| {
        format!(
            "this jaxlib calls {} of a plugin of version 0.{}: begin the objects with a pointer to a filled table, or state \
             an older minor version",
            functions.join(", "),
            table.minor
        )
    })
}

/// Returns the step of the plugin's platform and the variable that selects platforms.
pub fn platform(survey: &JaxSurvey, session: &JaxSession) -> Step {
    let kind = StepKind::Platform;
    let Some(registered) = session.counts.registered.as_deref() else {
        return not_reached(kind);
    };
    if let Some(selected) = excluding(survey, registered) {
        return Step::failed(
            kind,
            &format!("{VARIABLE}={selected} does not name `{registered}`"),
            &format!("unset {VARIABLE}, or add `{registered}` to it"),
        );
    }
    let selection = match survey.platforms.as_deref() {
        None | Some("") => format!("{VARIABLE} is not set"),
        Some(selected) => format!("{VARIABLE}={selected}"),
    };
    match session.counts.platform.as_deref() {
        Some(platform) if platform != registered => Step::unknown(
            kind,
            &format!(
                "it is registered as `{registered}`, its devices state `{platform}`; {selection}"
            ),
            "register the plugin by the name that PJRT_Client_PlatformName returns",
        ),
        _ => Step::ok(kind, &format!("{registered}; {selection}")),
    }
}

/// Returns the value of the variable if it selects platforms without this one.
fn excluding<'a>(survey: &'a JaxSurvey, platform: &str) -> Option<&'a str> {
    let selected = survey.platforms.as_deref().filter(|it| !it.is_empty())?;
    let mut names = selected.split(',');
    (!names.any(|name| name.trim() == platform)).then_some(selected)
}

/// Returns the step of `import jax` with all plugins. `working` are the devices of those that work alone.
pub fn together(survey: &JaxSurvey, session: &JaxSession, working: &ByType) -> Step {
    let kind = StepKind::Import;
    if let Some(reason) = session.failure(JaxStage::Start, JaxStage::Devices) {
        return Step::failed(
            kind,
            &format!("`jax.devices()` with all plugins: {reason}"),
            "remove the plugin whose steps failed; a name in JAX_PLATFORMS must be that of a plugin",
        );
    }
    let found = &session.counts.devices;
    let is_absent = |name: &&String| !found.contains_key(*name);
    let absent = working.keys().filter(is_absent);
    let absent: Vec<&str> = absent.map(String::as_str).collect();
    let selected = survey.platforms.as_deref().filter(|it| !it.is_empty());
    let selected = selected.map(|it| format!(" ({VARIABLE}={it})"));
    let listed = format!(
        "it lists {}{}",
        by_type(found),
        selected.unwrap_or_default()
    );
    match absent.is_empty() {
        true => Step::ok(kind, &listed),
        false => Step::failed(
            kind,
            &format!("{listed}, and not {}", absent.join(", ")),
            "each works alone: see the step `platform`, and remove the other plugins one by one",
        ),
    }
}
