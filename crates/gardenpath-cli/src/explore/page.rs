//! The page: three files that are part of the program.

use super::reply::{Reply, with_type};
use bytes::Bytes;
use hyper::StatusCode;
use hyper::header::{CACHE_CONTROL, HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest, Sha256};

const HTML: &str = include_str!("../../explorer/dist/index.html");
const SCRIPT: &str = include_str!("../../explorer/dist/app.js");
const STYLE: &str = include_str!("../../explorer/dist/app.css");

/// The page, with the names of its parts.
pub struct Page {
    html: String,
    script: String,
    style: String,
}

/// What every reply has: nothing is guessed, framed, or loaded from elsewhere.
const HEADERS: [(&str, &str); 6] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
         font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "no-referrer"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Adds what every reply has.
pub fn protect(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}

impl Page {
    /// Names the parts by hashes of their contents, so that browsers can keep them for ever.
    pub fn new() -> Self {
        let script = format!("/app.{}.js", hash(SCRIPT));
        let style = format!("/app.{}.css", hash(STYLE));
        let html =
            HTML.replace("\"/app.js\"", &format!("\"{script}\"")).replace("\"/app.css\"", &format!("\"{style}\""));
        Page { html, script, style }
    }

    /// The page itself.
    pub fn html(&self) -> Reply {
        with_type(StatusCode::OK, "text/html; charset=utf-8", Bytes::from(self.html.clone()))
    }

    /// The part of this path, if there is one.
    pub fn part(&self, path: &str) -> Option<Reply> {
        let (kind, text) = match path {
            _ if path == self.script => ("text/javascript; charset=utf-8", SCRIPT),
            _ if path == self.style => ("text/css; charset=utf-8", STYLE),
            _ => return None,
        };
        let mut reply = with_type(StatusCode::OK, kind, Bytes::from_static(text.as_bytes()));
        let kept = HeaderValue::from_static("private, max-age=31536000, immutable");
        reply.headers_mut().insert(CACHE_CONTROL, kept);
        Some(reply)
    }
}

fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes())[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_its_parts() {
        let page = Page::new();
        assert!(
            page.html.contains(&format!("\"{}\"", page.script)) && page.html.contains(&format!("\"{}\"", page.style))
        );
        assert!(page.part(&page.script).is_some() && page.part(&page.style).is_some());
        assert!(page.part("/app.js").is_none() && page.part("/").is_none());
    }

    #[test]
    fn the_bundle_is_small() {
        let bytes = HTML.len() + SCRIPT.len() + STYLE.len();
        assert!(bytes < 300_000, "{bytes} bytes");
    }
}
