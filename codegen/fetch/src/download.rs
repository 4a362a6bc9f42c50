//! Whole wheels, compared with the sha256 that the index states. Of a wheel that is read in parts this
//! cannot be checked; its headers are compared with the lock.

use super::error::FetchError;
use super::http::{Client, Remote};
use super::link::Found;
use super::range::{LENGTH_MOST, RangeError};
use super::url::Url;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::sync::Arc;

const BLOCK: usize = 1 << 20;
/// The largest index page that is read; that of `tensorflow` has 1 MiB.
const PAGE_MOST: u64 = 64 << 20;
/// An index page as data: <https://packaging.python.org/en/latest/specifications/simple-repository-api/>.
const JSON: &str = "application/vnd.pypi.simple.v1+json";

/// A wheel in an unnamed temporary file.
#[derive(Debug)]
pub struct Download {
    /// The file, at its start.
    pub file: File,
    /// Its size in bytes.
    pub length: u64,
    /// True if the index stated a sha256, which was compared.
    pub is_stated: bool,
}

/// Fetches a wheel in blocks.
///
/// # Errors
/// Returns an error if the wheel cannot be fetched, is larger than any wheel, or has another sha256 than
/// the link or its page states.
pub fn fetch(link: &Found, client: &Arc<Client>) -> Result<Download, FetchError> {
    let failed = |error| FetchError::from_server(&link.url, error);
    let url = Url::parse(&link.url).ok_or_else(|| failed(unreadable_url()))?;
    let body = Remote::new(client.clone(), url)
        .open(None)
        .map_err(failed)?;
    let mut file = tempfile::tempfile().map_err(|error| FetchError::StoreUnwritable {
        path: std::env::temp_dir().display().to_string(),
        detail: error.to_string(),
    })?;
    let (length, found) = copy(body, &mut file).map_err(failed)?;
    let stated = link.sha256.clone().or_else(|| stated_on_page(link, client));
    match stated {
        Some(stated) if stated != found => Err(FetchError::WheelDiffers {
            wheel: file_name(link).to_owned(),
            stated,
            found,
        }),
        stated => Ok(Download {
            file,
            length,
            is_stated: stated.is_some(),
        }),
    }
}

/// Copies a body into a file; returns its length and its sha256.
fn copy(body: impl Read, file: &mut File) -> Result<(u64, String), RangeError> {
    let away = |error: io::Error| RangeError::Away(error.to_string());
    let mut body = body.take(LENGTH_MOST + 1);
    let (mut digest, mut block, mut length) = (Sha256::new(), vec![0; BLOCK], 0);
    loop {
        let count = body.read(&mut block).map_err(away)?;
        if count == 0 {
            break;
        }
        length += count as u64;
        if length > LENGTH_MOST {
            let detail = format!("the server sends more than {LENGTH_MOST} bytes");
            return Err(RangeError::Invalid(detail));
        }
        digest.update(&block[..count]);
        file.write_all(&block[..count]).map_err(away)?;
    }
    file.rewind().map_err(away)?;
    Ok((length, hexadecimal(&digest.finalize())))
}

/// Returns bytes as hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A page of an index; other keys are ignored.
#[derive(Deserialize)]
struct Page {
    files: Vec<PageFile>,
}

#[derive(Deserialize)]
struct PageFile {
    filename: String,
    hashes: BTreeMap<String, String>,
}

/// Returns the sha256 of the wheel on the page that links to it. pip does not print it if the page is JSON.
fn stated_on_page(link: &Found, client: &Arc<Client>) -> Option<String> {
    let page = Url::parse(link.page.as_deref()?)?;
    let body = Remote::new(client.clone(), page).open(Some(JSON)).ok()?;
    let page: Page = serde_json::from_reader(body.take(PAGE_MOST)).ok()?;
    let mut files = page.files.into_iter();
    let file = files.find(|file| file.filename == file_name(link))?;
    file.hashes
        .get("sha256")
        .map(|hash| hash.to_ascii_lowercase())
}

fn file_name(link: &Found) -> &str {
    link.url.rsplit('/').next().unwrap_or(&link.url)
}

fn unreadable_url() -> RangeError {
    RangeError::Invalid("the index links to it with a URL that cannot be read".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::links;
    use sp_tests::http::{Response, Server};

    const NAME: &str = "tensorflow_cpu-2.21.0-cp311-cp311-manylinux_2_27_x86_64.whl";

    fn sha256(bytes: &[u8]) -> String {
        hexadecimal(&Sha256::digest(bytes))
    }

    /// Fetches a wheel of one byte, where the link and the JSON page state these hashes.
    fn fetch_stated(fragment: Option<&str>, on_page: Option<&str>) -> Result<Download, FetchError> {
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
        let link = links("tensorflow-cpu", &line).0.remove(0);
        fetch(&link, &Arc::new(Client::new(true)))
    }

    #[test]
    fn compares_the_hash_of_the_link_and_else_of_the_page() {
        let (right, wrong) = (sha256(b"x"), sha256(b"y"));
        assert!(fetch_stated(Some(&right), None).unwrap().is_stated);
        assert!(fetch_stated(None, Some(&right)).unwrap().is_stated);
        assert!(!fetch_stated(None, None).unwrap().is_stated);
        for differs in [
            fetch_stated(Some(&wrong), Some(&right)),
            fetch_stated(None, Some(&wrong)),
        ] {
            assert!(matches!(differs, Err(FetchError::WheelDiffers { .. })));
        }
    }
}
