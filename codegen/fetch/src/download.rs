//! Downloads whole wheels and compares them with the sha256 that the index states. A wheel that is read in parts cannot
//! be compared; its headers are compared with the lock.

use super::error::FetchError;
use super::http::{Client, RemoteFile};
use super::link::WheelLink;
use super::range::{MAX_FILE_LENGTH, RangeError};
use super::url::Url;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use sp_system::hash::hexadecimal;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::sync::Arc;

const BLOCK_LENGTH: usize = 1 << 20;
/// Maximum size of an index page in bytes. The page of `tensorflow` has 1 MiB.
const MAX_PAGE_LENGTH: u64 = 64 << 20;
/// Media type of an index page in JSON: <https://packaging.python.org/en/latest/specifications/simple-repository-api/>.
const JSON: &str = "application/vnd.pypi.simple.v1+json";

/// A wheel in an unnamed temporary file. It has the sha256 that the index states.
#[derive(Debug)]
pub struct Download {
    /// The file, positioned at its start.
    pub file: File,
    /// Its size in bytes.
    pub length: u64,
}

/// Downloads a wheel.
///
/// # Errors
/// Returns an error if neither the link nor its page states a sha256, or if the wheel cannot be downloaded, is larger than
/// [`MAX_FILE_LENGTH`], or has another sha256.
pub fn fetch(link: &WheelLink, client: &Arc<Client>) -> Result<Download, FetchError> {
    let stated = find_hash(link, client)?;
    let failed = |error| FetchError::from_server(&link.url, error);
    let invalid =
        || RangeError::InvalidResponse("the index links to it with an invalid URL".into());
    let url = Url::parse(&link.url).ok_or_else(|| failed(invalid()))?;
    let body = RemoteFile::new(client.clone(), url)
        .open(None)
        .map_err(failed)?;
    let mut file = tempfile::tempfile().map_err(|error| FetchError::StoreUnwritable {
        path: std::env::temp_dir().display().to_string(),
        detail: error.to_string(),
    })?;
    let copied = copy(body, &mut file).map_err(|error| copy_error(&error));
    let (length, found) = copied.map_err(failed)?;
    match stated == found {
        true => Ok(Download { file, length }),
        false => Err(FetchError::WheelHashMismatch {
            wheel: file_name(link).to_owned(),
            stated,
            found,
        }),
    }
}

/// Returns the sha256 of a wheel that its link states, or else the page with the link. pip does not print it for a page in
/// JSON.
///
/// # Errors
/// Returns an error if neither states it, or if the page cannot be read.
pub fn find_hash(link: &WheelLink, client: &Arc<Client>) -> Result<String, FetchError> {
    let stated = match &link.sha256 {
        Some(stated) => Some(stated.clone()),
        None => find_page_hash(link, client)?,
    };
    stated.ok_or_else(|| FetchError::WheelHashNotStated(file_name(link).to_owned()))
}

/// Copies `file` to an unnamed temporary file, which is positioned at its start. Returns it with its sha256.
///
/// # Errors
/// Returns an error if `file` cannot be read, is larger than [`MAX_FILE_LENGTH`], or cannot be copied.
pub fn copy_file(file: File) -> io::Result<(File, String)> {
    let mut copied = tempfile::tempfile()?;
    let (_, sha256) = copy(file, &mut copied)?;
    Ok((copied, sha256))
}

/// Copies a response body or a file to a file. Returns its length and its sha256.
fn copy(source: impl Read, file: &mut File) -> io::Result<(u64, String)> {
    let mut source = source.take(MAX_FILE_LENGTH + 1);
    let (mut digest, mut block, mut length) = (Sha256::new(), vec![0; BLOCK_LENGTH], 0);
    loop {
        let count = source.read(&mut block)?;
        if count == 0 {
            break;
        }
        length += count as u64;
        if length > MAX_FILE_LENGTH {
            let detail = format!("it has more than {MAX_FILE_LENGTH} bytes");
            return Err(io::Error::new(ErrorKind::FileTooLarge, detail));
        }
        digest.update(&block[..count]);
        file.write_all(&block[..count])?;
    }
    file.rewind()?;
    Ok((length, hexadecimal(&digest.finalize())))
}

fn copy_error(error: &io::Error) -> RangeError {
    match error.kind() {
        ErrorKind::FileTooLarge => RangeError::InvalidResponse(error.to_string()),
        _ => RangeError::Unreachable(error.to_string()),
    }
}

/// An index page in JSON. Other keys are ignored.
#[derive(Deserialize)]
struct JsonPage {
    files: Vec<JsonFile>,
}

#[derive(Deserialize)]
struct JsonFile {
    filename: String,
    hashes: BTreeMap<String, String>,
}

/// Returns the sha256 that the page with the link states, or `None` if it is not a page in JSON that states one.
fn find_page_hash(link: &WheelLink, client: &Arc<Client>) -> Result<Option<String>, FetchError> {
    let Some(page) = &link.page else {
        return Ok(None);
    };
    let failed = |error| FetchError::from_server(page.trim_end_matches('/'), error);
    let Some(url) = Url::parse(page) else {
        return Ok(None);
    };
    let body = RemoteFile::new(client.clone(), url).open(Some(JSON));
    let mut text = Vec::new();
    let read = body
        .map_err(failed)?
        .take(MAX_PAGE_LENGTH)
        .read_to_end(&mut text);
    read.map_err(|error| failed(RangeError::Unreachable(error.to_string())))?;
    let page = serde_json::from_slice::<JsonPage>(&text).ok();
    let files = page.into_iter().flat_map(|page| page.files);
    let mut wheels = files.filter(|file| file.filename == file_name(link));
    let hash = wheels.find_map(|file| file.hashes.get("sha256").cloned());
    Ok(hash.map(|hash| hash.to_ascii_lowercase()))
}

fn file_name(link: &WheelLink) -> &str {
    link.url.rsplit('/').next().unwrap_or(&link.url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::parse_links;
    use sp_system::hash::sha256;
    use sp_tests::http::{Response, Server};

    const NAME: &str = "tensorflow_cpu-2.21.0-cp311-cp311-manylinux_2_27_x86_64.whl";

    /// Downloads a wheel of one byte whose link has `fragment`, from an index whose page is `page`.
    fn fetch_from(fragment: &str, page: Response) -> Result<Download, FetchError> {
        let server = Server::start(move |request| match request.path.as_str() {
            "/simple/" if request.headers["accept"] == JSON => page.clone(),
            "/simple/" => Response::new(200, ""),
            _ => Response::new(200, "x"),
        });
        let (file, page) = (server.url(&format!("/{NAME}")), server.url("/simple/"));
        let line = format!("Found link {file}{fragment} (from {page}), version: 2.21.0");
        let link = parse_links("tensorflow-cpu", &line).0.remove(0);
        fetch(&link, &Arc::new(Client::new(true)))
    }

    fn page(hashes: &str) -> Response {
        let file = format!("{{\"filename\": \"{NAME}\", \"hashes\": {{{hashes}}}, \"size\": 1}}");
        Response::new(200, format!("{{\"files\": [{file}]}}"))
    }

    #[test]
    fn compares_hash_of_link_or_else_of_page() {
        let fragment = |bytes: &[u8]| format!("#sha256={}", sha256(bytes));
        let on_page = |bytes: &[u8]| page(&format!("\"sha256\": \"{}\"", sha256(bytes)));
        assert_eq!(fetch_from(&fragment(b"x"), page("")).unwrap().length, 1);
        assert_eq!(fetch_from("", on_page(b"x")).unwrap().length, 1);
        for result in [
            fetch_from(&fragment(b"y"), on_page(b"x")),
            fetch_from("", on_page(b"y")),
        ] {
            assert!(matches!(result, Err(FetchError::WheelHashMismatch { .. })));
        }
    }

    #[test]
    fn rejects_wheel_without_hash_and_unreadable_page() {
        for page in [
            page(""),
            page("\"md5\": \"00\""),
            Response::new(200, "<html>"),
        ] {
            let result = fetch_from("", page);
            assert!(matches!(result, Err(FetchError::WheelHashNotStated(..))));
        }
        let result = fetch_from("", Response::new(500, ""));
        assert!(matches!(result, Err(FetchError::RequestFailed { .. })));
    }
}
