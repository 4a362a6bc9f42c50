//! A diff as SARIF 2.1.0, for code scanning. Locations are relative to the include roots of both sides. The fingerprint
//! of a finding is its rule, API, item and target, so that the next run reports the same finding.

use serde_json::{Value, json};
use sp_ir::Loc;
use sp_system::hash::sha256;

use super::{DiffReport, display_name};
use sp_diff::Rule;
use sp_diff::finding::{DeclarationText, Finding, Impact};

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The folder of the C APIs, as the location of findings without a line: code scanning rejects a log if a result has no
/// file.
const FOLDER: &str = "tensorflow/c";

/// Returns the log, which ends with one newline.
pub fn sarif(report: &DiffReport) -> String {
    let diff = &report.diff;
    let findings = diff.findings.iter().map(|finding| result(finding, None));
    let suppressed = report.suppressed.iter();
    let suppressed =
        suppressed.map(|suppressed| result(&suppressed.finding, Some(&suppressed.reason)));
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "sp-gen",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": sp_diff::all_rules().map(descriptor).collect::<Vec<_>>(),
            }},
            "originalUriBaseIds": {
                "OLD": base(&diff.old),
                "NEW": base(&diff.new),
            },
            "columnKind": "unicodeCodePoints",
            "results": findings.chain(suppressed).collect::<Vec<_>>(),
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
        "shortDescription": {"text": rule.summary()},
        "fullDescription": {"text": rule.explanation()},
        "help": {"text": format!("{}\n\n{}", rule.explanation(), rule.reference)},
        "defaultConfiguration": {"level": level(rule.impact)},
        "properties": {"impact": rule.impact, "bump": rule.bump},
    })
}

fn level(impact: Impact) -> &'static str {
    match impact {
        Impact::Breaking => "error",
        Impact::Reduced | Impact::SourceOnly => "warning",
        Impact::Compatible => "note",
    }
}

fn result(finding: &Finding, reason: Option<&str>) -> Value {
    let before = finding.before.as_ref().map(|before| ("OLD", before));
    let (primary, related) = match &finding.after {
        Some(after) => (Some(("NEW", after)), before),
        None => (before, None),
    };
    let mut result = json!({
        "ruleId": finding.rule,
        "level": level(finding.impact),
        "message": {"text": message(finding)},
        "locations": [location(finding, primary)],
        "partialFingerprints": {"spGenFinding/v1": fingerprint(finding)},
        "properties": {
            "api": finding.api,
            "impact": finding.impact,
            "bump": finding.bump,
            "directions": finding.directions,
        },
    });
    if let Some(index) = sp_diff::all_rules().position(|rule| rule.id == finding.rule) {
        result["ruleIndex"] = json!(index);
    }
    if let Some((base, declaration)) = related {
        let physical = physical_location(base, &declaration.loc);
        let text = without_links(&format!("before: {}", declaration.text));
        result["relatedLocations"] =
            json!([{"id": 1, "physicalLocation": physical, "message": {"text": text}}]);
    }
    // An empty list states that suppressions were evaluated.
    result["suppressions"] = match reason {
        Some(reason) => {
            json!([{"kind": "external", "status": "accepted", "justification": reason}])
        }
        None => json!([]),
    };
    result
}

fn message(finding: &Finding) -> String {
    let directions = &finding.directions;
    let effects = [
        ("A plugin built for OLD on NEW", &directions.old_on_new),
        ("A plugin built for NEW on OLD", &directions.new_on_old),
    ];
    let effects = effects.map(|(plugin, effect)| {
        let outcome = display_name(effect.outcome);
        format!("{plugin}: {outcome}: {}.", effect.why)
    });
    let target = finding.target.as_ref();
    let target = target.map_or_else(String::new, |target| format!(" (on {target})"));
    let remedy = match finding.remedy.is_empty() {
        true => String::new(),
        false => format!(" Remedy: {}.", finding.remedy),
    };
    let text = format!(
        "{}: {}{target}. {}{remedy}",
        finding.item,
        finding.message,
        effects.join(" ")
    );
    without_links(&text)
}

/// Escapes text that SARIF would read as an embedded link, `[text](url)`.
fn without_links(text: &str) -> String {
    text.replace("](", "\\](")
}

fn location(finding: &Finding, declaration: Option<(&str, &DeclarationText)>) -> Value {
    let mut location = json!({
        "logicalLocations": [{
            "name": finding.path().next_back(),
            "fullyQualifiedName": format!("{}::{}", finding.api, finding.item),
        }],
    });
    location["physicalLocation"] = match declaration {
        Some((base, declaration)) => physical_location(base, &declaration.loc),
        None => json!({"artifactLocation": {"uri": FOLDER, "uriBaseId": "NEW"}}),
    };
    location
}

fn physical_location(base: &str, loc: &Loc) -> Value {
    json!({
        "artifactLocation": {"uri": relative_uri(&loc.file), "uriBaseId": base},
        "region": {"startLine": loc.line.max(1)},
    })
}

/// Returns a path as a relative URI. Characters of a scheme, a query or a fragment are escaped.
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
    sha256(parts.join("\0"))
}
