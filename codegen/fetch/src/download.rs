//! Downloads whole wheels and compares them with the sha256 that the index states. A wheel that is read in parts cannot
//! be compared; its headers are compared with the lock.

use super::error::FetchError;
use super::http::{Client, RemoteFile};
use super::link::WheelLink;
use super::range::{MAX_FILE_LENGTH, RangeError};
use super::url::Url;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::sync::Arc;

const BLOCK_LENGTH: usize = 1 << 20;
/// Maximum size of an index page in bytes. The page of `tensorflow` has 1 MiB.
const MAX_PAGE_LENGTH: u64 = 64 << 20;
/// Media type of an index page in JSON: <https://packaging.python.org/en/latest/specifications/simple-repository-api/>.
const JSON: &str = "application/vnd.pypi.simple.v1+json";

/// A wheel in an unnamed temporary file.
#[derive(Debug)]
pub struct Download {
    /// The file, positioned at its start.
    pub file: File,
    /// Its size in bytes.
    pub length: u64,
    /// True if the index states a sha256, which is that of the file.
    pub is_verified: bool,
}

/// Downloads a wheel.
///
/// # Errors
/// Returns an error if the wheel cannot be downloaded, is larger than [`MAX_FILE_LENGTH`], or has another sha256 than
/// the link or its page states.
pub fn fetch(link: &WheelLink, client: &Arc<Client>) -> Result<Download, FetchError> {
    let failed = |error| FetchError::from_server(&link.url, error);
    let url = Url::parse(&link.url).ok_or_else(|| failed(invalid_url()))?;
    let body = RemoteFile::new(client.clone(), url)
        .open(None)
        .map_err(failed)?;
    let mut file = tempfile::tempfile().map_err(|error| FetchError::StoreUnwritable {
        path: std::env::temp_dir().display().to_string(),
        detail: error.to_string(),
    })?;
    let copied = copy(body, &mut file).map_err(|error| copy_error(&error));
    let (length, found) = copied.map_err(failed)?;
    let stated = link.sha256.clone().or_else(|| find_page_hash(link, client));
    match stated {
        Some(stated) if stated != found => Err(FetchError::WheelHashMismatch {
            wheel: file_name(link).to_owned(),
            stated,
            found,
        }),
        stated => Ok(Download {
            file,
            length,
            is_verified: stated.is_some(),
        }),
    }
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

/// Converts bytes to hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
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

/// Returns the sha256 that the page with the link states. pip does not print it for a page in JSON.
fn find_page_hash(link: &WheelLink, client: &Arc<Client>) -> Option<String> {
    let page = Url::parse(link.page.as_deref()?)?;
    let body = RemoteFile::new(client.clone(), page)
        .open(Some(JSON))
        .ok()?;
    let page: JsonPage = serde_json::from_reader(body.take(MAX_PAGE_LENGTH)).ok()?;
    let mut files = page.files.into_iter();
    let file = files.find(|file| file.filename == file_name(link))?;
    file.hashes
        .get("sha256")
        .map(|hash| hash.to_ascii_lowercase())
}

fn file_name(link: &WheelLink) -> &str {
    link.url.rsplit('/').next().unwrap_or(&link.url)
}

fn invalid_url() -> RangeError {
    RangeError::InvalidResponse("the index links to it with an invalid URL".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::parse_links;
    use sp_tests::http::{Response, Server};

    const NAME: &str = "tensorflow_cpu-2.21.0-cp311-cp311-manylinux_2_27_x86_64.whl";

    fn sha256(bytes: &[u8]) -> String {
        hexadecimal(&Sha256::digest(bytes))
    }

    /// Downloads a wheel of one byte whose link and JSON page state the given hashes.
    fn fetch_with_hashes(
        fragment: Option<&str>,
        on_page: Option<&str>,
    ) -> Result<Download, FetchError> {
        let hashes = on_page.map_or_else(String::new, |hash| format!("\"sha256\": \"{hash}\""));
        let json = format!(
            "{{\"files\": [{{\"filename\": \"{NAME}\", \"hashes\": {{{hashes}}}, \"size\": 1}}]}}"
        );
        let server = Server::start(move |request| match request.path.as_str() {
            "/simple/" if request.headers["accept"] == JSON => Response::new(200, json.clone()),
            _ => Response::new(200, "x"),
        });
        let fragment = fragment.map_or_else(String::new, |hash| format!("#sha256={hash}"));
        let (file, page) = (server.url(&format!("/{NAME}")), server.url("/simple/"));
        let line = format!("Found link {file}{fragment} (from {page})");
        let link = parse_links("tensorflow-cpu", &line).0.remove(0);
        fetch(&link, &Arc::new(Client::new(true)))
    }

    #[test]
    fn compares_hash_of_link_or_else_of_page() {
        let (right, wrong) = (sha256(b"x"), sha256(b"y"));
        assert!(fetch_with_hashes(Some(&right), None).unwrap().is_verified);
        assert!(fetch_with_hashes(None, Some(&right)).unwrap().is_verified);
        assert!(!fetch_with_hashes(None, None).unwrap().is_verified);
        for result in [
            fetch_with_hashes(Some(&wrong), Some(&right)),
            fetch_with_hashes(None, Some(&wrong)),
        ] {
            assert!(matches!(result, Err(FetchError::WheelHashMismatch { .. })));
        }
    }
}
