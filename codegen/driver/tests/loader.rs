//! Libraries that the bindings do not load.

mod compilers;

use compilers::{bind, library_of_c, run};

#[test]
fn plugin_of_tensorflow_is_no_driver() {
    let Some(bindings) = bind("int acc_count(void);\n") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let code = "int acc_count(void) { return 1; }\nvoid SE_InitPlugin(void) {}\n";
    let library = library_of_c(code, folder.path());
    let code = format!(
        "fn main() {{
            // SAFETY: the library has the function of the header.
            let error = unsafe {{ driver::Driver::load_from({library:?}) }}.err().unwrap();
            let expected = {:?};
            assert_eq!(error.to_string(), expected);
        }}",
        format!(
            "the driver cannot be loaded: {} is a plugin of TensorFlow, not the driver",
            library.display()
        )
    );
    run(&bindings.text, &code);
}
