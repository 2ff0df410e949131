//! What the page is made of besides its document: it has its content's digest in its name, so browsers keep it, and it is compressed
//! once.

use std::io::Write as _;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

use tabiya_base::bytes::hex;

pub(in super::super) const FOLDER: &str = "/page/";

/// Bytes of the digest that are in a name: enough to tell versions apart.
const DIGEST_LEN: usize = 8;

/// A file that never changes under its name.
pub(super) struct Asset {
    /// Its name: the digest of its content, and the ending of its kind.
    pub(super) name: String,
    kind: &'static str,
    plain: Vec<u8>,
    compressed: Vec<u8>,
}

impl Asset {
    /// A file of this content.
    pub(super) fn new(ending: &str, kind: &'static str, content: String) -> Self {
        let digest = Sha256::digest(content.as_bytes());
        let plain = content.into_bytes();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        // Writing into memory does not fail; whoever asks is sent it as it is otherwise.
        let compressed = encoder.write_all(&plain).and_then(|()| encoder.finish()).unwrap_or_default();
        Self { name: format!("{}.{ending}", hex(digest.iter().take(DIGEST_LEN))), kind, plain, compressed }
    }

    /// Bytes that it is sent as.
    #[cfg(test)]
    pub(super) fn compressed_len(&self) -> usize {
        self.compressed.len()
    }

    pub(super) fn address(&self) -> String {
        format!("{FOLDER}{}", self.name)
    }

    /// The answer to a request with these headers.
    pub(super) fn answer(&self, asked: &HeaderMap) -> Response {
        let tag = format!("\"{}\"", self.name);
        let has = |name: HeaderName, word: &str| {
            let values = asked.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
            values.flat_map(|value| value.split(',')).any(|part| {
                let part = part.trim();
                // A quality of 0 refuses what it is given to.
                let (name, quality) = part.split_once(';').unwrap_or((part, ""));
                name.trim().trim_start_matches("W/") == word
                    && !matches!(&*quality.replace(' ', ""), "q=0" | "q=0.0" | "q=0.00" | "q=0.000")
            })
        };
        let zipped = !self.compressed.is_empty() && has(header::ACCEPT_ENCODING, "gzip");
        let is_known = has(header::IF_NONE_MATCH, &tag);
        let body = match (is_known, zipped) {
            (true, _) => Body::empty(),
            (false, true) => Body::from(self.compressed.clone()),
            (false, false) => Body::from(self.plain.clone()),
        };
        let mut response = Response::new(body);
        let headers = response.headers_mut();
        headers.extend(HeaderValue::from_str(&tag).map(|tag| (header::ETAG, tag)));
        for (name, value) in [
            (header::CONTENT_TYPE, self.kind),
            (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
            (header::VARY, "Accept-Encoding"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        if is_known {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else if zipped {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(asset: &Asset, asked: &[(HeaderName, &str)]) -> (u16, bool, bool) {
        let mut headers = HeaderMap::new();
        for (name, value) in asked {
            headers.append(name, value.parse().unwrap());
        }
        let answer = asset.answer(&headers);
        let zipped = answer.headers().get(header::CONTENT_ENCODING).is_some();
        (answer.status().as_u16(), zipped, answer.headers().contains_key(header::ETAG))
    }

    #[test]
    fn an_asset_is_sent_once_and_compressed_for_those_who_can_read_that() {
        let asset = Asset::new("js", "text/javascript", "let a = 1;\n".repeat(100));
        let tag = format!("\"{}\"", asset.name);
        let gzip = |value| (header::ACCEPT_ENCODING, value);
        assert_eq!(answered(&asset, &[]), (200, false, true));
        assert_eq!(answered(&asset, &[gzip("gzip, deflate, br")]), (200, true, true));
        assert_eq!(answered(&asset, &[gzip("br;q=1, gzip;q=0.5")]), (200, true, true));
        assert_eq!(answered(&asset, &[gzip("gzip;q=0")]), (200, false, true));
        assert_eq!(answered(&asset, &[(header::IF_NONE_MATCH, &tag)]), (304, false, true));
        assert_eq!(
            answered(&asset, &[(header::IF_NONE_MATCH, &format!("\"x\", W/{tag}"))]),
            (304, false, true)
        );
        assert_eq!(answered(&asset, &[(header::IF_NONE_MATCH, "\"x\"")]), (200, false, true));
        assert!(asset.compressed.len() < asset.plain.len() / 5);
        assert_ne!(asset.name, Asset::new("js", "", "let a = 2;".to_owned()).name);
    }
}
