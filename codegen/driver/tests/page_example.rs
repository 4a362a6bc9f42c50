//! The example of `codegen/docs/driver.md` without a contract.

mod compilers;

use compilers::{assert_success, bind, compile, library_of_c};

const PAGE: &str = include_str!("../../docs/driver.md");

/// The part of sp_plugin that the example uses.
const SP_PLUGIN: &str = "mod sp_plugin {
    #[derive(Debug, PartialEq)]
    #[allow(non_camel_case_types)]
    pub enum Code { UNAVAILABLE, RESOURCE_EXHAUSTED, INTERNAL }
    #[derive(Debug, PartialEq)]
    pub struct Error(pub Code, pub String);
    impl Error {
        pub fn new(code: Code, message: String) -> Self {
            Self(code, message)
        }
    }
    pub type Result<T> = std::result::Result<T, Error>;
}";

/// The driver calls the function of its next command, of the next call.
const CODE: &str = "static void (*pending)(void*);\n\
    static void *pending_data;\n\
    struct qk_queue { int used; };\n\
    static qk_queue queue;\n\
    static void flush(void) { if (pending) pending(pending_data); pending = 0; }\n\
    qk_status qk_queue_create(int device, qk_queue **out) { *out = &queue; return device ? QK_NO_MEMORY : QK_OK; }\n\
    qk_status qk_queue_destroy(qk_queue *it) { flush(); return QK_OK; }\n\
    qk_status qk_enqueue(qk_queue *it, void (*function)(void *), void *data) {\n\
      flush();\n\
      if (++it->used > 2) return QK_BAD;\n\
      pending = function;\n\
      pending_data = data;\n\
      return QK_OK;\n\
    }\n";

const PROGRAM: &str = "fn main() {
    use std::sync::Arc;
    let queue = page::Queue::new(0).unwrap();
    let counter = Arc::new(());
    let owned = || Arc::clone(&counter);
    let (first, second, third) = (owned(), owned(), owned());
    queue.host_function(Box::new(move || drop(first))).unwrap();
    queue.host_function(Box::new(move || { let _second = second; panic!(\"expected\") })).unwrap();
    assert_eq!(Arc::strong_count(&counter), 3);
    let error = queue.host_function(Box::new(move || drop(third))).unwrap_err();
    assert_eq!(error.0, sp_plugin::Code::INTERNAL);
    assert_eq!(Arc::strong_count(&counter), 1);
    std::thread::spawn(move || drop(queue)).join().unwrap();
    let error = page::Queue::new(1).err().unwrap();
    assert_eq!(error.0, sp_plugin::Code::RESOURCE_EXHAUSTED);
}";

/// Returns the first block in a language after the heading of the example.
fn block(language: &str) -> &'static str {
    let (_, part) = PAGE
        .split_once("\n### Without a contract\n")
        .expect("the heading");
    let (_, block) = part
        .split_once(&format!("```{language}\n"))
        .expect("a block");
    block.split_once("```").expect("the end of the block").0
}

#[test]
fn example_without_a_contract_runs() {
    let header = block("c");
    let Some(bindings) = bind(header) else { return };
    let code = format!(
        "{SP_PLUGIN}\nmod page {{\n{}}}\n{PROGRAM}",
        block("rust").replace("use sp_plugin", "use crate::sp_plugin")
    );
    let built = compile(&bindings.text, &code);
    let library = library_of_c(&format!("{header}\n{CODE}"), built.path());
    let mut command = std::process::Command::new(built.path().join("program"));
    let output = command.env("DEMO_LIBRARY", library).output();
    assert_success(&output.expect("the program runs"));
}
