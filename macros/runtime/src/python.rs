//! The Python interpreter of this process, if there is one. A plugin does not link to Python: the functions are looked up, and
//! all of them belong to Python's stable ABI but `PyGILState_Check`, which is in each release since 3.4.
//!
//! `PyRun_SimpleString` would leave the names of a text in the user's `__main__`, and print tracebacks.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::symbol::find_symbol;

/// The reason why a text did not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PythonError {
    /// The process has no interpreter, or it is not initialized.
    NoInterpreter,
    /// The text raised an exception that it does not handle, or it is not valid in this version of Python.
    Exception,
    /// The text has set no global `outcome` of type `str`.
    NoOutcome,
}

impl fmt::Display for PythonError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoInterpreter => "the process has no Python interpreter",
            Self::Exception => "the text of the plugin raised an exception",
            Self::NoOutcome => "the text of the plugin has set no outcome",
        })
    }
}

/// A text in Python, and what it is run with.
#[derive(Debug, Clone, Copy)]
pub struct Text<'a> {
    /// The statements.
    pub source: &'a CStr,
    /// The name of the file in Python's tracebacks.
    pub file_name: &'a CStr,
    /// Globals of the text: names and values.
    pub constants: &'a [(&'a CStr, &'a CStr)],
}

impl Text<'_> {
    /// Runs the text in a namespace of its own, which its functions keep, and returns its global `outcome`.
    ///
    /// # Errors
    /// Returns an error if there is no interpreter, or if the text fails. No exception is left pending or printed.
    ///
    /// # Safety
    /// - The statements access no memory by its address, as `ctypes` can.
    /// - The calling thread holds no lock that a thread with the lock of the interpreter may wait for.
    pub unsafe fn run(&self) -> Result<String, PythonError> {
        let python = Functions::find().ok_or(PythonError::NoInterpreter)?;
        // SAFETY: the function has no obligations, also before Python is initialized.
        if unsafe { (python.is_initialized)() } == 0 {
            return Err(PythonError::NoInterpreter);
        }
        let lock = Lock::new(&python);
        let outcome = self.outcome(&lock);
        if outcome.is_err() {
            // SAFETY: `lock` holds the lock of the interpreter.
            unsafe { (python.clear_error)() }
        }
        outcome
    }

    fn outcome(&self, lock: &Lock<'_>) -> Result<String, PythonError> {
        let globals = self.globals(lock).ok_or(PythonError::Exception)?;
        let code = lock.compile(self).ok_or(PythonError::Exception)?;
        // SAFETY: code and dictionary are live objects, and `lock` holds the lock.
        let result =
            unsafe { (lock.python.evaluate)(code.as_ptr(), globals.as_ptr(), globals.as_ptr()) };
        lock.own(result).ok_or(PythonError::Exception)?;
        // SAFETY: as above. The result is borrowed from the dictionary, or null.
        let outcome = unsafe { (lock.python.dict_get)(globals.as_ptr(), c"outcome".as_ptr()) };
        let outcome = NonNull::new(outcome).and_then(|it| lock.text_of(it));
        outcome.ok_or(PythonError::NoOutcome)
    }

    /// Creates the namespace: the builtins and the constants.
    fn globals<'l>(&self, lock: &'l Lock<'_>) -> Option<Owned<'l>> {
        let python = lock.python;
        // SAFETY: `lock` holds the lock.
        let globals = lock.own(unsafe { (python.dict_new)() })?;
        // SAFETY: as above. The builtins are borrowed and not null: the thread has a state.
        let builtins = NonNull::new(unsafe { (python.builtins)() })?;
        globals.set(c"__builtins__", builtins)?;
        for (name, value) in self.constants {
            // SAFETY: the value is a C string, which Python copies.
            let value = lock.own(unsafe { (python.text_from)(value.as_ptr()) })?;
            globals.set(name, value.object)?;
        }
        Some(globals)
    }
}

/// Returns the name of the module whose function Python runs in this thread, or `None` if the thread does not hold the lock of an
/// interpreter. No code in Python runs, so no other thread gets the lock.
pub fn calling_module() -> Option<String> {
    let python = Functions::find()?;
    // SAFETY: the functions have no obligations.
    let has_lock = unsafe { (python.is_initialized)() != 0 && (python.has_lock)() == 1 };
    if !has_lock {
        return None;
    }
    let lock = Lock::new(&python);
    // SAFETY: the thread holds the lock. The result is borrowed from the running function, or null without one.
    let globals = NonNull::new(unsafe { (python.globals)() })?;
    // SAFETY: as above; the dictionary is live.
    let name = NonNull::new(unsafe { (python.dict_get)(globals.as_ptr(), c"__name__".as_ptr()) })?;
    let text = lock.text_of(name);
    if text.is_none() {
        // SAFETY: the thread holds the lock.
        unsafe { (python.clear_error)() }
    }
    text
}

/// An object of Python.
type Object = *mut c_void;

/// `Py_file_input`: a text of any number of statements.
const FILE_INPUT: c_int = 257;

macro_rules! functions {
    ($($field:ident: $symbol:literal = fn($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// Functions of Python's stable ABI.
        struct Functions {
            $($field: unsafe extern "C-unwind" fn($($argument),*) $(-> $result)?,)*
        }

        impl Functions {
            /// Returns the functions, or `None` if the process has no interpreter.
            fn find() -> Option<Self> {
                $(
                    let $field = find_symbol($symbol)?;
                    // SAFETY: Python's documentation states this signature of the function, as part of its stable ABI.
                    let $field = unsafe {
                        std::mem::transmute::<*mut c_void, unsafe extern "C-unwind" fn($($argument),*) $(-> $result)?>($field)
                    };
                )*
                Some(Self { $($field),* })
            }
        }
    };
}

functions! {
    is_initialized: c"Py_IsInitialized" = fn() -> c_int;
    ensure: c"PyGILState_Ensure" = fn() -> c_int;
    release: c"PyGILState_Release" = fn(c_int);
    has_lock: c"PyGILState_Check" = fn() -> c_int;
    globals: c"PyEval_GetGlobals" = fn() -> Object;
    compile: c"Py_CompileString" = fn(*const c_char, *const c_char, c_int) -> Object;
    evaluate: c"PyEval_EvalCode" = fn(Object, Object, Object) -> Object;
    builtins: c"PyEval_GetBuiltins" = fn() -> Object;
    dict_new: c"PyDict_New" = fn() -> Object;
    dict_set: c"PyDict_SetItemString" = fn(Object, *const c_char, Object) -> c_int;
    dict_get: c"PyDict_GetItemString" = fn(Object, *const c_char) -> Object;
    text_from: c"PyUnicode_FromString" = fn(*const c_char) -> Object;
    text_to_bytes: c"PyUnicode_AsUTF8String" = fn(Object) -> Object;
    bytes_start: c"PyBytes_AsString" = fn(Object) -> *const c_char;
    bytes_len: c"PyBytes_Size" = fn(Object) -> isize;
    decrease: c"Py_DecRef" = fn(Object);
    clear_error: c"PyErr_Clear" = fn();
}

/// The lock of the interpreter, which the thread holds until the value is dropped.
struct Lock<'p> {
    python: &'p Functions,
    state: c_int,
    /// Keeps the value in its thread.
    thread: PhantomData<*const ()>,
}

impl<'p> Lock<'p> {
    fn new(python: &'p Functions) -> Self {
        // SAFETY: Python is initialized. The thread may hold the lock already.
        let state = unsafe { (python.ensure)() };
        Self {
            python,
            state,
            thread: PhantomData,
        }
    }

    /// Takes ownership of a reference, or returns `None` if it is null: a function has failed.
    fn own(&self, object: Object) -> Option<Owned<'_>> {
        let python = self.python;
        NonNull::new(object).map(|object| Owned { python, object })
    }

    fn compile(&self, text: &Text<'_>) -> Option<Owned<'_>> {
        let (source, name) = (text.source.as_ptr(), text.file_name.as_ptr());
        // SAFETY: both are C strings, and the thread holds the lock.
        self.own(unsafe { (self.python.compile)(source, name, FILE_INPUT) })
    }

    /// Returns the text of a `str`, or `None` for another object.
    fn text_of(&self, object: NonNull<c_void>) -> Option<String> {
        // SAFETY: the object is live, and the thread holds the lock. Another type is an error.
        let bytes = self.own(unsafe { (self.python.text_to_bytes)(object.as_ptr()) })?;
        // SAFETY: `bytes` is a live `bytes` object, whose content does not change.
        let content = unsafe {
            let start = (self.python.bytes_start)(bytes.as_ptr());
            let len = usize::try_from((self.python.bytes_len)(bytes.as_ptr())).ok()?;
            std::slice::from_raw_parts(start.cast::<u8>(), len)
        };
        Some(String::from_utf8_lossy(content).into_owned())
    }
}

impl Drop for Lock<'_> {
    fn drop(&mut self) {
        // SAFETY: `state` is the result of `ensure` in this thread, which the value cannot leave.
        unsafe { (self.python.release)(self.state) }
    }
}

/// A reference to an object of Python, while the thread holds the lock.
struct Owned<'l> {
    python: &'l Functions,
    object: NonNull<c_void>,
}

impl Owned<'_> {
    fn as_ptr(&self) -> Object {
        self.object.as_ptr()
    }

    /// Sets an item of this dictionary.
    fn set(&self, name: &CStr, value: NonNull<c_void>) -> Option<()> {
        // SAFETY: both objects are live, the name is a C string, and the thread holds the lock.
        let failed =
            unsafe { (self.python.dict_set)(self.as_ptr(), name.as_ptr(), value.as_ptr()) };
        (failed == 0).then_some(())
    }
}

impl Drop for Owned<'_> {
    fn drop(&mut self) {
        // SAFETY: the value owns the reference, and the thread holds the lock.
        unsafe { (self.python.decrease)(self.as_ptr()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_does_not_run_without_interpreter() {
        let text = Text {
            source: c"outcome = 'installed'",
            file_name: c"<test>",
            constants: &[],
        };
        // SAFETY: the text accesses no memory by its address, and the thread holds no lock.
        let outcome = unsafe { text.run() };
        assert_eq!(outcome, Err(PythonError::NoInterpreter));
        assert_eq!(calling_module(), None);
    }
}
