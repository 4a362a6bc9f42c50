//! Compares two snapshots with hostile texts and numbers: they are rejected with one line, or every report, history
//! and generated file is free of control characters, and of markup and code from the texts.

#![no_main]

use arbitrary::{Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use sp_data::symbols::Symbols;
use sp_diff::Surface;
use sp_fuzz::{c, edit, html, markdown, rust, scene, text};
use sp_gen::history::{self, FunctionExporters, Paint, Subject};
use sp_gen::report::{self, DiffReport, SideHeaders, Suppressed, TextStyle};
use sp_gen::{lint, tree};
use sp_ir::{Api, History};
use sp_parse::clang::DEFAULT_TARGET;

fuzz_target!(|bytes: &[u8]| {
    // Input that ends early gives no pair.
    let _ = run(&mut Unstructured::new(bytes));
});

fn run(u: &mut Unstructured<'_>) -> Result<()> {
    let scene = u.choose(scene::all())?;
    let mut sides = scene.sides.clone();
    scene::restrict(&mut sides, u)?;
    edit_both(&mut sides, u)?;
    let [Some(old), Some(new)] = sides.each_ref().map(read) else {
        return Ok(());
    };
    let labels = match u.ratio(1, 4)? {
        true => [edit::label(u)?, edit::label(u)?],
        false => ["2.6".into(), "2.7".into()],
    };
    let sides = [(old, 0), (new, 1)].map(|(api, side)| [&[api], &scene.others[side][..]].concat());
    check_snapshots(&sides);
    check_diff(&sides, labels);
    check_history(&sides);
    check_code(&sides);
    Ok(())
}

fn edit_both(sides: &mut [Value; 2], u: &mut Unstructured<'_>) -> Result<()> {
    for _ in 0..u.int_in_range(1..=6)? {
        match u.int_in_range(0..=2)? {
            // The same edit of both, so that both releases have it.
            0 => {
                let bytes = u.bytes(u.len().min(12))?;
                for side in &mut *sides {
                    edit::edit(side, &mut Unstructured::new(bytes))?;
                }
            }
            1 => edit::edit(&mut sides[0], u)?,
            _ => edit::edit(&mut sides[1], u)?,
        }
    }
    Ok(())
}

/// Returns the snapshot, or `None` if it is rejected.
fn read(side: &Value) -> Option<Api> {
    match Api::from_json(&side.to_string()) {
        Ok(api) => Some(api),
        Err(error) => {
            let error = error.to_string();
            text::check("error", &error);
            assert!(!error.contains('\n'), "{error:?}");
            None
        }
    }
}

fn check_snapshots(sides: &[Vec<Api>; 2]) {
    for side in sides {
        let api = &side[0];
        text::check("tree", &tree::format_api(api));
        text::check("snapshot", &api.to_json());
        let history = History::from_apis(side);
        for lint in lint::find_all(api, &history, &Symbols::default()) {
            text::check(
                "lint",
                &format!("{} {} {}", lint.item, lint.message, lint.loc.file),
            );
        }
    }
}

fn check_diff(sides: &[Vec<Api>; 2], labels: [String; 2]) {
    let [old, new] = [0, 1].map(|side| Surface {
        label: labels[side].clone(),
        apis: sides[side].clone(),
        ..Surface::default()
    });
    let diff = sp_diff::diff(&old, &new, DEFAULT_TARGET);
    let mut index = 0;
    let (diff, others) = diff.partition(|_| {
        index += 1;
        index % 4 != 0
    });
    let suppressed = others.into_iter().map(|finding| Suppressed {
        reason: "known".into(),
        finding,
    });
    let suppressed = suppressed.collect();
    let plugin = None;
    check_reports(&DiffReport {
        unread: Vec::new(),
        diff,
        suppressed,
        plugin,
    });
}

fn check_reports(report: &DiffReport) {
    let draw =
        |paint, width| report::text(report, &SideHeaders::default(), TextStyle { paint, width });
    for width in [40, 100] {
        let plain = draw(Paint::Plain, width);
        text::check("diff as text", &plain);
        assert_eq!(text::without_colours(&draw(Paint::Ansi, width)), plain);
    }
    let page = report::markdown(report).expect("the template renders");
    text::check("diff as Markdown", &page);
    markdown::check(&page);
    let page = report::html(report).expect("the template renders");
    text::check("diff as HTML", &page);
    html::check(&page);
    let json = report::json(report);
    text::check("diff as JSON", &json);
    let value: Value = serde_json::from_str(&json).expect("a report is JSON");
    assert_eq!(Some(value), serde_json::to_value(report).ok());
    check_sarif(&report::sarif(report));
}

fn check_sarif(log: &str) {
    text::check("diff as SARIF", log);
    let log: Value = serde_json::from_str(log).expect("SARIF is JSON");
    for result in log["runs"][0]["results"].as_array().expect("results") {
        let message = result["message"]["text"].as_str().expect("a message");
        assert!(!message.contains("]("), "an embedded link: {message}");
        let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        let uri = uri.as_str().expect("a place");
        let is_allowed = |it: u8| it.is_ascii_alphanumeric() || b"/._~-%+".contains(&it);
        assert!(uri.bytes().all(is_allowed), "{uri:?}");
    }
}

fn check_history(sides: &[Vec<Api>; 2]) {
    let apis = sides.concat();
    let history = History::from_apis(&apis);
    let exports = FunctionExporters::find(&apis, &Symbols::default());
    let names = history.items.keys().map(String::as_str);
    let names = names.filter(|name| sides[0][0].items.contains_key(*name));
    for name in names.map(Some).chain([None]) {
        let subject = Subject::find(&history, name).expect("a name of it");
        let draw = |paint| history::text(&history, &exports, &subject, paint);
        let plain = draw(Paint::Plain);
        text::check("history as text", &plain);
        assert_eq!(text::without_colours(&draw(Paint::Ansi)), plain);
        let page = history::page(&history, &exports, &subject).expect("the template renders");
        text::check("history as HTML", &page);
        html::check(&page);
        let json = history::json(&history, &exports, &subject);
        text::check("history as JSON", &json);
        serde_json::from_str::<Value>(&json).expect("a history is JSON");
    }
}

fn check_code(sides: &[Vec<Api>; 2]) {
    let apis = sides.concat();
    let symbols = Symbols::default();
    match sp_emit::emit_rust(&apis, &symbols) {
        Ok(files) => {
            for (path, code) in files {
                text::check(&path, &code);
                if path.ends_with(".rs") {
                    rust::check(&path, &code);
                }
            }
        }
        Err(refused) => text::check("refused", &refused.to_string()),
    }
    for (path, code) in sp_emit::emit_c(&apis, &symbols).into_iter().flatten() {
        text::check(&path, &code);
        c::check(&path, &code);
    }
}
