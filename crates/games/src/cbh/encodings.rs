//! The encodings with one byte for each character that pages name.

use std::borrow::Cow;

use textcode::{Iso8859_2, Iso8859_4, Iso8859_5, Iso8859_7, Iso8859_9, Iso8859_13, Iso8859_15};
use yore::CodePage as _;
use yore::code_pages::{CP1250, CP1251, CP1252, CP1253, CP1254, CP1255, CP1256, CP1257, CP1258};

/// Turns bytes into text. What is no character there becomes U+FFFD, or is left out.
type Decode = for<'a> fn(&'a [u8]) -> Cow<'a, str>;

/// Encodings by the names that are registered at IANA, in lower case. What says that it is Latin-1 is Windows-1252, as for browsers.
const ENCODINGS: [(&[u8], Decode); 17] = [
    (b"iso-8859-1", |text| CP1252.decode_lossy(text)),
    (b"iso-8859-2", |text| textcode::decode::<Iso8859_2>(text).into()),
    (b"iso-8859-4", |text| textcode::decode::<Iso8859_4>(text).into()),
    (b"iso-8859-5", |text| textcode::decode::<Iso8859_5>(text).into()),
    (b"iso-8859-7", |text| textcode::decode::<Iso8859_7>(text).into()),
    (b"iso-8859-9", |text| textcode::decode::<Iso8859_9>(text).into()),
    (b"iso-8859-13", |text| textcode::decode::<Iso8859_13>(text).into()),
    (b"iso-8859-15", |text| textcode::decode::<Iso8859_15>(text).into()),
    (b"windows-1250", |text| CP1250.decode_lossy(text)),
    (b"windows-1251", |text| CP1251.decode_lossy(text)),
    (b"windows-1252", |text| CP1252.decode_lossy(text)),
    (b"windows-1253", |text| CP1253.decode_lossy(text)),
    (b"windows-1254", |text| CP1254.decode_lossy(text)),
    (b"windows-1255", |text| CP1255.decode_lossy(text)),
    (b"windows-1256", |text| CP1256.decode_lossy(text)),
    (b"windows-1257", |text| CP1257.decode_lossy(text)),
    (b"windows-1258", |text| CP1258.decode_lossy(text)),
];

/// Decodes what is in the encoding with this name, in lower case. `None` if the encoding is not known.
pub(super) fn decode_as<'a>(name: &[u8], text: &'a [u8]) -> Option<Cow<'a, str>> {
    ENCODINGS.iter().find(|(known, _)| *known == name).map(|(_, decode)| decode(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_found_by_their_names() {
        let decoded = |name: &str, text: &'static [u8]| decode_as(name.as_bytes(), text);
        assert_eq!(decoded("windows-1251", b"\xca\xe0\xf0\xef\xee\xe2").as_deref(), Some("Карпов"));
        assert_eq!(decoded("iso-8859-5", b"\xba\xd0\xe0\xdf\xde\xd2").as_deref(), Some("Карпов"));
        assert_eq!(decoded("windows-1250", b"Ft\xe1\xe8n\xedk \xb9").as_deref(), Some("Ftáčník ą"));
        assert_eq!(decoded("iso-8859-2", b"Ft\xe1\xe8n\xedk \xb1").as_deref(), Some("Ftáčník ą"));
        assert_eq!(decoded("iso-8859-1", b"\x80").as_deref(), Some("€"));
        assert!(["windows-12", "1252", "gb2312", ""].iter().all(|name| decoded(name, b"").is_none()));
    }
}
