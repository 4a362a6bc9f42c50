//! Declarations that cannot be compared.

use super::scene::clang_scene;

#[test]
fn declarations_that_cannot_be_compared_have_no_verdict() {
    let Some(scene) = clang_scene() else { return };
    let status = "extern \"C\" { typedef struct TF_Status TF_Status; }";
    for declaration in [
        "struct S { int x : 3; };",
        "void D_Run(long double x);",
        "void D_Run(int n, ...);",
    ] {
        for side in ["old", "new"] {
            scene.headers(side, declaration);
            scene.write(&format!("{side}/tensorflow/c/tf_status.h"), status);
        }
        let arguments = ["old", "new", "--format", "json"];
        let run = scene.diff(&arguments);
        assert_eq!(run.status, 2, "{declaration}: {}", run.stderr);
        let json: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(json["verdict"], "incomplete", "{declaration}");
        assert_eq!(
            json["unread"],
            serde_json::json!(["tf_buffer"]),
            "{declaration}"
        );
    }
}
