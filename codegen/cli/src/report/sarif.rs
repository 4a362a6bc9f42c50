//! A diff as SARIF 2.1.0, for code scanning. Places are relative to the include roots of both sides,
//! which are named; a finding's fingerprint is its rule, API, item and target, so that it is the same
//! finding in the next run.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use sp_ir::Loc;

use super::{Report, word};
use sp_diff::finding::{Finding, Impact, Shown};
use sp_diff::rules::{RULES, Rule};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// Where the C APIs are: the place of what has no line of its own. The usual code scanning refuses a
/// whole log for one result without a file.
const FOLDER: &str = "tensorflow/c";

/// The log, ending in one newline.
pub fn sarif(report: &Report) -> String {
    let diff = &report.diff;
    let open = diff.findings.iter().map(|finding| result(finding, None));
    let suppressed = report.suppressed.iter();
    let suppressed = suppressed.map(|one| result(&one.finding, Some(&one.reason)));
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "sp-gen",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": RULES.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
            }},
            "originalUriBaseIds": {
                "OLD": base(&diff.old),
                "NEW": base(&diff.new),
            },
            "columnKind": "unicodeCodePoints",
            "results": open.chain(suppressed).collect::<Vec<_>>(),
            "properties": {
                "old": diff.old,
                "new": diff.new,
                "target": diff.target,
                "verdict": diff.verdict,
                "bump": diff.bump,
            },
        }],
    });
    serde_json::to_string_pretty(&log).expect("plain data always serializes") + "\n"
}

fn base(label: &str) -> Value {
    json!({"description": {"text": format!("the include root of {label}")}})
}

fn descriptor(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.explanation},
        "help": {"text": format!("{}\n\n{}", rule.explanation, rule.reference)},
        "defaultConfiguration": {"level": level(rule.impact)},
        "properties": {"impact": rule.impact, "bump": rule.bump},
    })
}

fn level(impact: Impact) -> &'static str {
    match impact {
        Impact::Breaking => "error",
        Impact::SourceOnly => "warning",
        Impact::Compatible => "note",
    }
}

fn result(finding: &Finding, reason: Option<&str>) -> Value {
    let (place, other) = match (&finding.after, &finding.before) {
        (Some(after), before) => (
            Some(("NEW", after)),
            before.as_ref().map(|one| ("OLD", one)),
        ),
        (None, before) => (before.as_ref().map(|one| ("OLD", one)), None),
    };
    let mut result = json!({
        "ruleId": finding.rule,
        "level": level(finding.impact),
        "message": {"text": message(finding)},
        "locations": [location(finding, place)],
        "partialFingerprints": {"spGenFinding/v1": fingerprint(finding)},
        "properties": {
            "api": finding.api,
            "impact": finding.impact,
            "bump": finding.bump,
            "directions": finding.directions,
        },
    });
    if let Some(index) = RULES.iter().position(|rule| rule.id == finding.rule) {
        result["ruleIndex"] = json!(index);
    }
    if let Some((base, shown)) = other {
        let physical = physical(base, &shown.loc);
        let text = without_links(&format!("before: {}", shown.text));
        result["relatedLocations"] =
            json!([{"id": 1, "physicalLocation": physical, "message": {"text": text}}]);
    }
    // An empty list says that it was looked at and nothing is suppressed.
    result["suppressions"] = match reason {
        Some(reason) => {
            json!([{"kind": "external", "status": "accepted", "justification": reason}])
        }
        None => json!([]),
    };
    result
}

fn message(finding: &Finding) -> String {
    let both = &finding.directions;
    let effects = [
        ("A plugin built for OLD, on NEW", &both.old_on_new),
        ("A plugin built for NEW, on OLD", &both.new_on_old),
    ];
    let effects =
        effects.map(|(who, effect)| format!("{who}: {}: {}.", word(effect.outcome), effect.why));
    let target = finding.target.as_ref();
    let target = target.map_or_else(String::new, |target| format!(" (on {target})"));
    let remedy = match finding.remedy.is_empty() {
        true => String::new(),
        false => format!(" What to do: {}.", finding.remedy),
    };
    let text = format!(
        "{}: {}{target}. {}{remedy}",
        finding.item,
        finding.message,
        effects.join(" ")
    );
    without_links(&text)
}

/// Escapes what SARIF takes for an embedded link, `[text](url)`.
fn without_links(text: &str) -> String {
    text.replace("](", "\\](")
}

fn location(finding: &Finding, place: Option<(&str, &Shown)>) -> Value {
    let mut location = json!({
        "logicalLocations": [{
            "name": finding.path().next_back(),
            "fullyQualifiedName": format!("{}::{}", finding.api, finding.item),
        }],
    });
    location["physicalLocation"] = match place {
        Some((base, shown)) => physical(base, &shown.loc),
        None => json!({"artifactLocation": {"uri": FOLDER, "uriBaseId": "NEW"}}),
    };
    location
}

fn physical(base: &str, loc: &Loc) -> Value {
    json!({
        "artifactLocation": {"uri": relative_uri(&loc.file), "uriBaseId": base},
        "region": {"startLine": loc.line.max(1)},
    })
}

/// Returns a path as a relative URI: what could be a scheme, a query or a fragment is escaped.
fn relative_uri(path: &str) -> String {
    let escape = |byte: u8| match byte {
        b'/' | b'.' | b'_' | b'-' | b'~' | b'+' => char::from(byte).to_string(),
        _ if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    path.trim_start_matches('/').bytes().map(escape).collect()
}

fn fingerprint(finding: &Finding) -> String {
    let target = finding.target.as_deref().unwrap_or_default();
    let parts = [finding.rule, &finding.api, &finding.item, target];
    let hash = Sha256::digest(parts.join("\0"));
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}
