//! Tests of the expansion of `#[op(..)]` and of kernels of such ops.

use super::*;

fn expand_text(arguments: TokenStream, item: TokenStream) -> String {
    attribute(arguments, item).unwrap().to_string()
}

/// Returns the message of each error in an expansion.
fn messages(arguments: TokenStream, item: TokenStream) -> Vec<String> {
    let text = expand_text(arguments, item);
    let parts = text.split("compile_error ! { \"").skip(1);
    let parts = parts.filter_map(|it| it.split("\" }").next());
    parts.map(|it| it.replace("\\\"", "\"")).collect()
}

fn scale() -> TokenStream {
    quote!(
        fn scale(x: Shape) -> Result<Shape> {
            Ok(x)
        }
    )
}

#[test]
fn prints_definition_as_tensorflow_writes_it() {
    let text = expand_text(
        quote! {
            Many(x: N * T, other: f32, list: Types, variable: Ref(T)) -> (y: T),
            T: {f32, half, i64} = f32, N: int >= 1, Types: list({f32, string}) >= 0 = [f32],
            mode: {"SAME", "VALID"} = "SAME", alpha: float = -0.5, sizes: list(int) = [1, -1], stateful,
            deprecated(26, "use Scale")
        },
        quote! { fn many(other: Shape) -> Result<Shape> { Ok(other) } },
    );
    for part in [
        "c\"x: N * T\"",
        "c\"other: float\"",
        "c\"list: Types\"",
        "c\"variable: Ref(T)\"",
        "c\"T: {float, int64, half} = DT_FLOAT\"",
        "c\"N: int >= 1\"",
        "c\"Types: list({float, string}) >= 0 = [DT_FLOAT]\"",
        "c\"mode: {'SAME', 'VALID'} = \\\"SAME\\\"\"",
        "c\"alpha: float = -0.5\"",
        "c\"sizes: list(int) = [1, -1]\"",
        "[true , false , false , false]",
        "(26i32 , c\"use Scale\")",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn counts_inputs_after_a_list_from_the_last_one() {
    let text = expand_text(
        quote! { Join(axis: i32, values: N * T, bias: T) -> (y: T), T: type, N: int >= 1 },
        quote! { fn f(values: Vec<Shape>, bias: Shape, axis: Shape) -> Result<Shape> { todo() } },
    );
    for call in [
        "input_list (1usize , 1usize)",
        "input_from_last (1usize)",
        "input (0usize)",
    ] {
        assert!(text.contains(call), "{call}: {text}");
    }
}

#[test]
fn rejects_lists_that_cannot_be_distinguished() {
    let found = messages(
        quote! { Two(x: N * T, between: T, y: M * T, z: T) -> (), T: type, N: int, M: int },
        quote! { fn f(between: Shape, z: Shape) -> Result<()> { Ok(()) } },
    );
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].contains("of two lists, `between` is not known"),
        "{found:?}"
    );
}

#[test]
fn rejects_definitions_that_tensorflow_rejects() {
    for (arguments, expected) in [
        (
            quote! { scale(x: f32) -> (y: f32) },
            "write it in CamelCase",
        ),
        (quote! { MatMul(x: f32) -> (y: f32) }, "choose another name"),
        (
            quote! { SpElementwise(x: f64) -> (y: f64) },
            "the SDK has an op",
        ),
        (
            quote! { Scale(X: f32) -> (y: f32) },
            "begins with a lower-case letter",
        ),
        (quote! { Scale(x: f32) -> (x: f32) }, "`x` occurs twice"),
        (
            quote! { Scale(x: T) -> (y: T) },
            "needs an attribute `T` of type type",
        ),
        (
            quote! { Scale(x: N * f32), N: float },
            "`N` of type int, as in `N: int >= 1`",
        ),
        (
            quote! { Scale(x: f32), float: int },
            "the name of an element type",
        ),
    ] {
        let found = messages(arguments, quote! { fn f() -> Result<Shape> { todo() } });
        assert!(
            found.iter().any(|it| it.contains(expected)),
            "{expected}: {found:?}"
        );
    }
}

#[test]
fn rejects_malformed_arguments() {
    for (arguments, expected) in [
        (quote! {}, "begin with a signature"),
        (
            quote! { Scale(x: f32), T: {f33} },
            "`f33` is no element type",
        ),
        (quote! { Scale(x: f32), T: {} }, "list the values"),
        (
            quote! { Scale(x: f32), T: {f32} = f64 },
            "none of the allowed values: float",
        ),
        (
            quote! { Scale(x: f32), mode: {"A"} = "B" },
            "none of the allowed values: \"A\"",
        ),
        (
            quote! { Scale(x: f32), mode: {"A'"} },
            "without quotation marks",
        ),
        (
            quote! { Scale(x: f32), alpha: double },
            "`double` is no type of an attribute",
        ),
        (
            quote! { Scale(x: f32), statefull },
            "`statefull` is no property",
        ),
        (
            quote! { Scale(x: f32), shape: shape = 1 },
            "has no default here",
        ),
        (quote! { Scale(x: f32) stateful }, "expected `,`"),
    ] {
        let found = messages(arguments, scale());
        assert!(
            found.iter().any(|it| it.contains(expected)),
            "{expected}: {found:?}"
        );
    }
}

#[test]
fn rejects_parameters_that_a_shape_function_cannot_have() {
    for (item, expected) in [
        (
            quote! { fn f(z: Shape) -> Result<Shape> { todo() } },
            "no input `z`",
        ),
        (
            quote! { fn f(y: Shape) -> Result<Shape> { todo() } },
            "`y` is an output",
        ),
        (
            quote! { fn f(alpha: f32) -> Result<Shape> { todo() } },
            "cannot read `alpha` of type float",
        ),
        (
            quote! { fn f<T>(x: Shape) -> Result<Shape> { todo() } },
            "no type parameters",
        ),
        (
            quote! { fn f(#[state] x: Shape) -> Result<Shape> { todo() } },
            "has no state",
        ),
    ] {
        let found = messages(
            quote! { Scale(x: T) -> (y: T), T: type, alpha: float = 1 },
            item,
        );
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains(expected), "{expected}: {found:?}");
    }
}

#[test]
fn kernel_of_a_path_is_passed_to_its_macro_and_back() {
    let text = crate::kernel(
        quote! { ops::Scale, T = [f32] },
        quote! { fn scale(x: In<'_, f32>, y: Out<'_, f32>) -> Result<()> { todo() } },
    );
    let text = text.unwrap().to_string();
    assert!(
        text.starts_with("ops :: Scale ! { [ops :: Scale] [, T = [f32]] { fn scale"),
        "{text}"
    );

    let op: ParsedOp = syn::parse2(quote! { Scale(x: T) -> (y: T), T: {f32} }).unwrap();
    let table = op.table();
    let forwarded = |arguments: TokenStream| {
        let item = quote! { fn scale(x: In<'_, f32>, y: Out<'_, f32>) -> Result<()> { todo() } };
        crate::kernel_of_op(quote! { #table [ops::Scale] [#arguments] { #item } })
            .unwrap()
            .to_string()
    };
    let text = forwarded(quote! { , T = [f32] });
    assert!(
        text.contains(
            "Some (< ops :: Scale as :: sp_plugin :: __private :: DefinedOp > :: DEFINITION)"
        ),
        "{text}"
    );
    assert!(!text.contains("compile_error"), "{text}");
    assert!(forwarded(quote! { , T = [f64] }).contains("`Scale` has no kernels for `f64`"));
}

#[test]
fn kernel_of_an_op_with_errors_has_no_errors_of_its_own() {
    let table = sp_ops::Registry::default().to_text();
    let item = quote! { fn scale(x: In<'_, f32>) -> Result<()> { todo() } };
    let text = crate::kernel_of_op(quote! { #table [ops::Scale] [, T = [f32]] { #item } })
        .unwrap()
        .to_string();
    assert!(
        !text.contains("compile_error") && text.contains("__kernels_of_scale"),
        "{text}"
    );
}
