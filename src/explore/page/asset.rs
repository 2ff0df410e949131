//! What the page is made of besides its document: a folder with the digest of its content as its name, so browsers keep what
//! is in it, and compressed once.

use std::io::Write as _;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest as _, Sha256};

/// Where these are.
pub(in super::super) const FOLDER: &str = "/page/";

/// Bytes of the digest that are in a name: enough to tell versions apart.
const DIGEST_LEN: usize = 8;

/// A file that never changes at its address.
pub(super) struct Asset {
    /// Where it is: in a folder that is named by the digest of all of them, so that modules find each other beside themselves.
    pub(super) address: String,
    /// The digest of its content, in quotes.
    tag: String,
    kind: &'static str,
    plain: &'static [u8],
    compressed: Vec<u8>,
}

/// Files of these names, kinds and contents.
pub(super) fn folder(files: &[(&str, &'static str, &'static str)]) -> Vec<Asset> {
    // No content has the byte that ends one.
    let contents = files.iter().flat_map(|(_, _, content)| [content.as_bytes(), &[0xff]]);
    let folder = format!("{FOLDER}{}", digest(contents));
    let asset = |(name, kind, content): &(&str, &'static str, &'static str)| Asset {
        address: format!("{folder}/{name}"),
        tag: format!("\"{}\"", digest([content.as_bytes()])),
        kind,
        plain: content.as_bytes(),
        compressed: compress(content.as_bytes()),
    };
    files.iter().map(asset).collect()
}

fn digest<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let digest = parts.into_iter().fold(Sha256::new(), Sha256::chain_update).finalize();
    digest.iter().take(DIGEST_LEN).map(|byte| format!("{byte:02x}")).collect()
}

/// These bytes in gzip; none if that fails, which writing into memory does not.
pub(super) fn compress(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).and_then(|()| encoder.finish()).unwrap_or_default()
}

impl Asset {
    /// Bytes that it is sent as.
    #[cfg(test)]
    pub(super) fn compressed_len(&self) -> usize {
        self.compressed.len()
    }

    /// The answer to a request with these headers.
    pub(super) fn answer(&self, asked: &HeaderMap) -> Response {
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
        let is_known = has(header::IF_NONE_MATCH, &self.tag);
        let body = match (is_known, zipped) {
            (true, _) => Body::empty(),
            (false, true) => Body::from(self.compressed.clone()),
            (false, false) => Body::from(self.plain),
        };
        let mut response = Response::new(body);
        let headers = response.headers_mut();
        headers.extend(HeaderValue::from_str(&self.tag).map(|tag| (header::ETAG, tag)));
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
        const LONG: &str = include_str!("style.css");
        let assets = folder(&[("a.css", "text/css", LONG), ("b.js", "text/javascript", "let a = 1;\n")]);
        let [asset, other] = &*assets else { panic!("there are two") };
        let tag = asset.tag.clone();
        let gzip = |value| (header::ACCEPT_ENCODING, value);
        assert_eq!(answered(asset, &[]), (200, false, true));
        assert_eq!(answered(asset, &[gzip("gzip, deflate, br")]), (200, true, true));
        assert_eq!(answered(asset, &[gzip("br;q=1, gzip;q=0.5")]), (200, true, true));
        assert_eq!(answered(asset, &[gzip("gzip;q=0")]), (200, false, true));
        assert_eq!(answered(asset, &[(header::IF_NONE_MATCH, &tag)]), (304, false, true));
        assert_eq!(
            answered(asset, &[(header::IF_NONE_MATCH, &format!("\"x\", W/{tag}"))]),
            (304, false, true)
        );
        assert_eq!(answered(asset, &[(header::IF_NONE_MATCH, "\"x\"")]), (200, false, true));
        assert!(asset.compressed.len() < asset.plain.len() / 2);
        assert_eq!(asset.address.rsplit_once('/').unwrap().0, other.address.rsplit_once('/').unwrap().0);
        let changed = folder(&[("a.css", "text/css", LONG), ("b.js", "text/javascript", "let a = 2;\n")]);
        assert!(
            changed[0].address != asset.address && changed[0].tag == asset.tag && changed[1].tag != other.tag
        );
    }
}
