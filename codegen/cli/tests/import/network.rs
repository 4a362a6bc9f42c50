//! Indexes that need credentials, redirect, use plain http or link to other bytes than they state.

use super::scene::{Scene, import_scene, stderr};
use sp_tests::http::{Request, Response, Server};
use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;
use std::process::Output;
use std::sync::Arc;
use zip::write::SimpleFileOptions;

pub const WHEEL: &str = "tensorflow_cpu-2.98.0-cp311-cp311-manylinux_2_27_x86_64.whl";
/// User, password in a URL, and both as the header has them.
const USER: &str = "me:s3cr%40t";
const BASIC: &str = "Basic bWU6czNjckB0";

pub fn wheel() -> Vec<u8> {
    let header = "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint TF_Demo(int x);\n\
                  #ifdef __cplusplus\n}\n#endif\n";
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in [
        ("tensorflow/include/tensorflow/c/c_api.h", header),
        (
            "tensorflow_cpu-2.98.0.dist-info/METADATA",
            "Name: tensorflow-cpu\nVersion: 2.98.0\n",
        ),
    ] {
        writer
            .start_file(name, SimpleFileOptions::default())
            .unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// An index page with one link.
pub fn page(link: &str) -> Response {
    let html = format!("<!DOCTYPE html><html><body><a href=\"{link}\">{WHEEL}</a></body></html>");
    Response::new(200, html).with("Content-Type", "text/html")
}

fn is_authorized(request: &Request) -> bool {
    request
        .headers
        .get("authorization")
        .is_some_and(|value| value == BASIC)
}

fn unauthorized() -> Response {
    Response::new(401, "").with("WWW-Authenticate", "Basic realm=\"x\"")
}

/// An index whose page and files need credentials; the wheel is what `answer` returns for it.
fn private_index(answer: impl Fn(&Request) -> Response + Send + Sync + 'static) -> Server {
    Server::start(move |request| match request.path.as_str() {
        _ if !is_authorized(request) => unauthorized(),
        "/simple/tensorflow-cpu/" => page(&format!("/files/{WHEEL}")),
        path if path.starts_with("/files/") => answer(request),
        _ => Response::new(404, ""),
    })
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

/// Fails if what was printed or any file of sp-gen's cache has the password.
fn assert_hidden(scene: &Scene, done: &Output) {
    let secrets = ["s3cr", "bWU6czNj"];
    let printed = format!("{}{}", String::from_utf8_lossy(&done.stdout), stderr(done));
    let mut texts = vec![printed];
    collect(&scene.path("cache/sp-gen"), &mut texts);
    for text in texts {
        assert!(
            !secrets.iter().any(|secret| text.contains(secret)),
            "{text}"
        );
    }
}

fn collect(folder: &Path, texts: &mut Vec<String>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => collect(&path, texts),
            path => texts.push(String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()),
        }
    }
}

#[test]
fn credentials_of_the_index_url_are_used_and_hidden() {
    let Some(scene) = import_scene() else { return };
    let bytes = wheel();
    let index = private_index(move |request| Response::part(request, &bytes));
    let done = import(&scene, &with_user(&index.url("/simple")), &["--allow-http"]);
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(scene.path("cache/sp-gen/store/2.98.0").is_dir());
    assert_hidden(&scene, &done);
}

#[test]
fn credentials_of_netrc_are_used_and_hidden() {
    let Some(scene) = import_scene() else { return };
    scene.write(
        "home/.netrc",
        "machine 127.0.0.1 login me password s3cr@t\n",
    );
    let bytes = wheel();
    let index = private_index(move |request| Response::part(request, &bytes));
    let done = import(&scene, &index.url("/simple"), &["--allow-http"]);
    assert!(done.status.success(), "{}", stderr(&done));
    assert_hidden(&scene, &done);
}

#[test]
fn credentials_do_not_follow_a_redirect_to_another_origin() {
    let Some(scene) = import_scene() else { return };
    let bytes = wheel();
    let files = Arc::new(Server::start(move |request| {
        Response::part(request, &bytes)
    }));
    let target = files.url(&format!("/blob/{WHEEL}?signature=sig"));
    let index = private_index(move |_| Response::new(302, "").with("Location", &target));
    let done = import(&scene, &with_user(&index.url("/simple")), &["--allow-http"]);
    assert!(done.status.success(), "{}", stderr(&done));
    let requests = files.requests();
    assert!(!requests.is_empty());
    for request in requests {
        assert_eq!(request.headers.get("authorization"), None);
    }
    assert_hidden(&scene, &done);
}

#[test]
fn credentials_do_not_reach_another_host_that_asks_for_them() {
    let Some(scene) = import_scene() else { return };
    scene.write("home/.netrc", "default login me password s3cr@t\n");
    let files = Arc::new(Server::start(|_| unauthorized()));
    let link = files.url(&format!("/{WHEEL}"));
    let index = Server::start(move |request| match is_authorized(request) {
        true => page(&link),
        false => unauthorized(),
    });
    let done = import(&scene, &with_user(&index.url("/simple")), &["--allow-http"]);
    assert_eq!(done.status.code(), Some(2));
    let expected = format!("{} answers with status 401", files.host());
    assert!(stderr(&done).contains(&expected), "{}", stderr(&done));
    assert!(!files.requests().is_empty());
    for request in files.requests() {
        assert_eq!(request.headers.get("authorization"), None);
    }
    assert_hidden(&scene, &done);
}

#[test]
fn plain_http_is_rejected_unless_allowed() {
    let Some(scene) = import_scene() else { return };
    let bytes = wheel();
    let index = private_index(move |request| Response::part(request, &bytes));
    let done = import(&scene, &with_user(&index.url("/simple")), &[]);
    assert_eq!(done.status.code(), Some(2));
    let told = stderr(&done);
    assert!(told.contains("sp_gen::import::plain_http"), "{told}");
    assert!(
        index
            .requests()
            .iter()
            .all(|request| !request.path.starts_with("/files/"))
    );
    assert_hidden(&scene, &done);
}

#[test]
fn a_wheel_that_differs_from_its_link_is_rejected() {
    let Some(scene) = import_scene() else { return };
    scene.write(&format!("links/{WHEEL}"), wheel());
    let path = scene.path(&format!("links/{WHEEL}"));
    let link = format!("file://{}#sha256={}", path.display(), "00".repeat(32));
    scene.write(
        "links.html",
        format!("<html><body><a href=\"{link}\">{WHEEL}</a></body></html>"),
    );
    let mut command = scene.command(&["import", "tensorflow", "2.98"]);
    command.env(
        "PIP_FIND_LINKS",
        format!("file://{}", scene.path("links.html").display()),
    );
    let done = command.output().unwrap();
    assert_eq!(done.status.code(), Some(2), "{}", stderr(&done));
    assert!(
        stderr(&done).contains("sp_gen::import::wheel_differs"),
        "{}",
        stderr(&done)
    );
    assert!(!scene.path("cache/sp-gen/store").exists());
}

#[test]
fn a_server_that_states_an_endless_wheel_is_rejected() {
    let Some(scene) = import_scene() else { return };
    let index = private_index(|request| {
        let range = request.range().unwrap_or(0..1);
        let stated = format!("bytes {}-{}/{}", range.start, range.end - 1, u64::MAX);
        Response::new(206, vec![0; range.len()]).with("Content-Range", stated)
    });
    let done = import(&scene, &with_user(&index.url("/simple")), &["--allow-http"]);
    assert_eq!(done.status.code(), Some(2), "{}", stderr(&done));
    assert!(
        stderr(&done).contains("states a length of"),
        "{}",
        stderr(&done)
    );
}

#[test]
fn a_whole_wheel_is_fetched_from_a_server_without_parts() {
    let Some(scene) = import_scene() else { return };
    let bytes = wheel();
    let index = private_index(move |_| Response::new(200, bytes.clone()));
    let url = with_user(&index.url("/simple"));
    let refused = import(&scene, &url, &["--allow-http"]);
    assert!(
        stderr(&refused).contains("`--whole` fetches"),
        "{}",
        stderr(&refused)
    );
    let done = import(&scene, &url, &["--allow-http", "--whole"]);
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(
        stderr(&done).contains("the index states no sha256"),
        "{}",
        stderr(&done)
    );
    assert_hidden(&scene, &done);
}
