//! Indexes that need credentials, redirect, use plain http or state a wrong sha256.

use super::lock::valid_header;
use super::scene::{Scene, assert_rejected, import_scene, stderr};
use sp_system::hash::sha256;
use sp_tests::http::{Request, Response, Server};
use sp_tests::{assert_contains, read_files};
use std::io::{Cursor, Write};
use std::process::Output;
use std::sync::Arc;
use zip::write::SimpleFileOptions;

pub const WHEEL: &str = "tensorflow_cpu-2.98.0-cp311-cp311-manylinux_2_27_x86_64.whl";
/// User and password in a URL, and the Authorization header for them.
const USER: &str = "me:s3cr%40t";
const BASIC: &str = "Basic bWU6czNjckB0";

/// Returns a wheel with this header of `tensorflow/c`.
pub fn wheel(name: &str, header: &str) -> Vec<u8> {
    let name = format!("tensorflow/include/tensorflow/c/{name}");
    let metadata = "Name: tensorflow-cpu\nVersion: 2.98.0\n";
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in [
        (&*name, header),
        ("tensorflow_cpu-2.98.0.dist-info/METADATA", metadata),
    ] {
        let options = SimpleFileOptions::default();
        writer.start_file(name, options).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

pub fn valid_wheel() -> Vec<u8> {
    wheel("tf_buffer.h", &valid_header())
}

/// Returns an index page with one link.
pub fn page(link: &str) -> Response {
    let html = format!("<!DOCTYPE html><html><body><a href=\"{link}\">{WHEEL}</a></body></html>");
    Response::new(200, html).with("Content-Type", "text/html")
}

fn is_authorized(request: &Request) -> bool {
    let request = request.headers.get("authorization");
    request.is_some_and(|value| value == BASIC)
}

fn unauthorized() -> Response {
    Response::new(401, "").with("WWW-Authenticate", "Basic realm=\"x\"")
}

/// Starts an index whose page and files need credentials, and that states no sha256. `respond` returns the response for the
/// wheel.
fn private_index(respond: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Server {
    Server::start(move |request| match request.path.as_str() {
        _ if !is_authorized(request) => unauthorized(),
        "/simple/tensorflow-cpu/" => page(&format!("/files/{WHEEL}")),
        path if path.starts_with("/files/") => respond(request),
        _ => Response::new(404, ""),
    })
}

fn private_index_of_wheel() -> Server {
    let bytes = valid_wheel();
    private_index(move |request| Response::part(request, &bytes))
}

fn import(scene: &Scene, index: &str, options: &[&str]) -> Output {
    let arguments = [&["import", "tensorflow", "2.98"], options].concat();
    let mut command = scene.command(&arguments);
    command
        .env_remove("PIP_NO_INDEX")
        .env("PIP_INDEX_URL", index);
    command.output().unwrap()
}

fn with_user(url: &str) -> String {
    url.replace("http://", &format!("http://{USER}@"))
}

/// Panics if the output or a file in sp-gen's cache has the password.
fn assert_hidden(scene: &Scene, output: &Output) {
    let secrets = ["s3cr", "bWU6czNj"];
    let printed = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        stderr(output)
    );
    let (mut texts, cache) = (vec![printed], scene.path("cache/sp-gen"));
    if cache.is_dir() {
        let files = read_files(&cache).into_values();
        texts.extend(files.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()));
    }
    for text in texts {
        assert!(
            !secrets.iter().any(|secret| text.contains(secret)),
            "{text}"
        );
    }
}

#[test]
fn uses_and_hides_credentials_of_index_url() {
    let Some(scene) = import_scene() else { return };
    let index = private_index_of_wheel();
    let output = import(&scene, &with_user(&index.url("/simple")), &["--allow-http"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(scene.path("cache/sp-gen/store/2.98.0").is_dir());
    assert_hidden(&scene, &output);
}

#[test]
fn uses_and_hides_credentials_of_netrc() {
    let Some(scene) = import_scene() else { return };
    scene.write(
        "home/.netrc",
        "machine 127.0.0.1 login me password s3cr@t\n",
    );
    let index = private_index_of_wheel();
    let output = import(&scene, &index.url("/simple"), &["--allow-http"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_hidden(&scene, &output);
}

#[test]
fn sends_no_credentials_after_redirect_to_another_origin() {
    let Some(scene) = import_scene() else { return };
    let bytes = valid_wheel();
    let files = Arc::new(Server::start(move |request| {
        Response::part(request, &bytes)
    }));
    let target = files.url(&format!("/blob/{WHEEL}?signature=sig"));
    let index = private_index(move |_| Response::new(302, "").with("Location", &target));
    let output = import(&scene, &with_user(&index.url("/simple")), &["--allow-http"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let requests = files.requests();
    assert!(!requests.is_empty());
    for request in requests {
        assert_eq!(request.headers.get("authorization"), None);
    }
    assert_hidden(&scene, &output);
}

#[test]
fn sends_no_credentials_to_other_hosts() {
    let Some(scene) = import_scene() else { return };
    scene.write("home/.netrc", "default login me password s3cr@t\n");
    let files = Arc::new(Server::start(|_| unauthorized()));
    let link = files.url(&format!("/{WHEEL}"));
    let index = Server::start(move |request| match is_authorized(request) {
        true => page(&link),
        false => unauthorized(),
    });
    let output = import(&scene, &with_user(&index.url("/simple")), &["--allow-http"]);
    let expected = format!("{} answers with status 401", files.host());
    assert_rejected(&output, &expected);
    assert!(!files.requests().is_empty());
    for request in files.requests() {
        assert_eq!(request.headers.get("authorization"), None);
    }
    assert_hidden(&scene, &output);
}

#[test]
fn rejects_plain_http_unless_allowed() {
    let Some(scene) = import_scene() else { return };
    let index = private_index_of_wheel();
    let output = import(&scene, &with_user(&index.url("/simple")), &[]);
    assert_rejected(&output, "sp_gen::import::plain_http");
    let is_file = |request: &Request| request.path.starts_with("/files/");
    assert!(!index.requests().iter().any(is_file));
    assert_hidden(&scene, &output);
}

/// Writes a page with a link to a wheel, and returns the URL of the page.
fn write_links(scene: &Scene, fragment: &str) -> String {
    scene.write(&format!("links/{WHEEL}"), valid_wheel());
    let wheel = scene.path("links").join(WHEEL);
    let link = format!("file://{}{fragment}", wheel.display());
    let page = format!("<html><body><a href=\"{link}\">{WHEEL}</a></body></html>");
    scene.write("links.html", page);
    format!("file://{}", scene.path("links.html").display())
}

#[test]
fn rejects_wheel_that_differs_from_hash_of_link() {
    let Some(scene) = import_scene() else { return };
    let links = write_links(&scene, &format!("#sha256={}", "00".repeat(32)));
    let mut command = scene.command(&["import", "tensorflow", "2.98"]);
    command.env("PIP_FIND_LINKS", links);
    let output = command.output().unwrap();
    assert_rejected(&output, "sp_gen::import::wheel_hash_mismatch");
    assert!(!scene.path("cache/sp-gen/store").exists());
}

#[test]
fn rejects_server_that_states_excessive_length() {
    let Some(scene) = import_scene() else { return };
    let index = private_index(|request| {
        let range = request.range().unwrap_or(0..1);
        let stated = format!("bytes {}-{}/{}", range.start, range.end - 1, u64::MAX);
        Response::new(206, vec![0; range.len()]).with("Content-Range", stated)
    });
    let output = import(&scene, &with_user(&index.url("/simple")), &["--allow-http"]);
    assert_rejected(&output, "states a length of");
}

/// Returns an index page in JSON, which states a sha256 and does not restrict the version of Python.
fn json_page(sha256: &str) -> Response {
    let file = format!(
        "{{\"filename\": \"{WHEEL}\", \"url\": \"/files/{WHEEL}\", \"hashes\": {{\"sha256\": \"{sha256}\"}}}}"
    );
    let json = format!(
        "{{\"meta\": {{\"api-version\": \"1.0\"}}, \"name\": \"tensorflow-cpu\", \"files\": [{file}]}}"
    );
    Response::new(200, json).with("Content-Type", "application/vnd.pypi.simple.v1+json")
}

/// Starts an index whose server supports no range requests. sp-gen and pip get the pages that `respond` returns.
fn whole_index(respond: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Server {
    let bytes = valid_wheel();
    Server::start(move |request| match request.path.as_str() {
        "/simple/tensorflow-cpu/" => respond(request),
        path if path.starts_with("/files/") => Response::new(200, bytes.clone()),
        _ => Response::new(404, ""),
    })
}

#[test]
fn downloads_whole_wheel_from_server_without_range_requests() {
    let Some(scene) = import_scene() else { return };
    let index = whole_index(|_| json_page(&sha256(valid_wheel())));
    let url = index.url("/simple");
    let rejected = import(&scene, &url, &["--allow-http"]);
    assert_contains(&stderr(&rejected), "`--whole` downloads");
    let output = import(&scene, &url, &["--allow-http", "--whole"]);
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(scene.path("cache/sp-gen/store/2.98.0").is_dir());
}

#[test]
fn whole_wheel_that_cannot_be_verified_is_an_error() {
    type Respond = fn(&Request) -> Response;
    let is_pip = |request: &Request| request.headers["user-agent"].starts_with("pip");
    let cases: [(Respond, &str); 3] = [
        (|_| json_page(&"00".repeat(32)), "wheel_hash_mismatch"),
        (
            |_| page(&format!("/files/{WHEEL}")),
            "wheel_hash_not_stated",
        ),
        (
            |request| match request.headers["user-agent"].starts_with("pip") {
                true => json_page(&"00".repeat(32)),
                false => Response::new(500, ""),
            },
            "request_failed",
        ),
    ];
    for (respond, code) in cases {
        for options in [&["--whole"][..], &["--whole", "--symbols", "-q"]] {
            let Some(scene) = import_scene() else { return };
            let index = whole_index(respond);
            let options = [&["--allow-http"], options].concat();
            let output = import(&scene, &index.url("/simple"), &options);
            assert_rejected(&output, &format!("sp_gen::import::{code}"));
            for name in ["store", "symbols", "sources.toml"] {
                let path = scene.path("cache/sp-gen").join(name);
                assert!(!path.exists(), "{name}: {code}");
            }
            assert!(index.requests().iter().any(is_pip));
        }
    }
}

#[test]
fn local_wheel_without_hash_is_an_error_with_whole() {
    let Some(scene) = import_scene() else { return };
    let links = write_links(&scene, "");
    let import = |options: &[&str]| {
        let arguments = [&["import", "tensorflow", "2.98"], options].concat();
        let mut command = scene.command(&arguments);
        command.env("PIP_FIND_LINKS", &links).output().unwrap()
    };
    let rejected = import(&["--whole"]);
    assert_rejected(&rejected, "wheel_hash_not_stated");
    assert!(!scene.path("cache/sp-gen/store").exists());
    let output = import(&[]);
    assert!(output.status.success(), "{}", stderr(&output));
}
