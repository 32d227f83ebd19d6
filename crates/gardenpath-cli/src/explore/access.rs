//! Who may ask: whoever has the cookie that the secret of the printed URL was exchanged for, from a page of this server.
//!
//! Other pages in the same browser cannot: their requests have another origin, and no cookie since it is strict. A foreign name that was made to
//! mean 127.0.0.1 (DNS rebinding) is refused as a host.

use super::reply::Refusal;
use anyhow::{Result, anyhow};
use hyper::header::{COOKIE, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::{Method, StatusCode};
use std::fmt::Write;

/// The secrets of one run of the server, and the port that it listens on.
pub struct Access {
    port: u16,
    key: String,
    cookie: String,
}

/// What the browser says about who sent a request.
const SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

impl Access {
    /// New secrets.
    pub fn new(port: u16) -> Result<Self> {
        Ok(Access { port, key: secret()?, cookie: secret()? })
    }

    /// The URL that opens the page.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/?key={}", self.port, self.key)
    }

    /// Whether this is the secret of the URL.
    pub fn is_key(&self, key: &str) -> bool {
        is_same(key, &self.key)
    }

    /// The value of `Set-Cookie`. Cookies do not know ports, so that the port is part of the name.
    pub fn cookie(&self) -> String {
        format!("{}={}; Path=/; HttpOnly; SameSite=Strict", self.cookie_name(), self.cookie)
    }

    fn cookie_name(&self) -> String {
        format!("gardenpath-{}", self.port)
    }

    /// Refuses hosts that are not this server.
    pub fn check_host(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).unwrap_or_default();
        if hosts.next().is_none() && self.names().iter().any(|name| host.eq_ignore_ascii_case(name)) {
            return Ok(());
        }
        Err(Refusal::new(StatusCode::FORBIDDEN, format!("the host is {host:?}, expected 127.0.0.1:{}", self.port)))
    }

    /// Refuses whoever has no cookie, and what other pages ask for. The page itself can be opened from anywhere.
    pub fn check(&self, method: &Method, path: &str, headers: &HeaderMap) -> Result<(), Refusal> {
        let forbidden = |line: &str| Err(Refusal::new(StatusCode::FORBIDDEN, line));
        if !self.has_cookie(headers) {
            return forbidden("open the URL that gardenpath explore has printed: this browser has no access yet");
        }
        let own = |origin: &str| self.names().iter().any(|name| origin.strip_prefix("http://") == Some(name));
        if headers.get_all(ORIGIN).iter().any(|origin| !origin.to_str().is_ok_and(own)) {
            return forbidden("the request comes from another origin");
        }
        let is_page = method == Method::GET && path == "/";
        let is_own = |site: &str| site == "same-origin" || site == "none" || is_page;
        if headers.get_all(SITE).iter().any(|site| !site.to_str().is_ok_and(is_own)) {
            return forbidden("the request comes from another site");
        }
        Ok(())
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut pairs = cookies.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.any(|(own, value)| own == name && is_same(value, &self.cookie))
    }

    fn names(&self) -> [String; 2] {
        ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port))
    }
}

/// 128 random bits in hexadecimal digits.
pub fn secret() -> Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|error| anyhow!("the system has no random numbers: {error}"))?;
    Ok(bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Compares in a time that does not depend on where the texts differ.
fn is_same(one: &str, other: &str) -> bool {
    one.len() == other.len() && one.bytes().zip(other.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&'static str, &str)]) -> HeaderMap {
        lines.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap())).collect()
    }

    #[test]
    fn only_this_host_is_this_server() {
        let access = Access::new(4242).unwrap();
        for host in ["127.0.0.1:4242", "localhost:4242", "LOCALHOST:4242"] {
            assert!(access.check_host(&headers(&[("host", host)])).is_ok(), "{host}");
        }
        for host in ["", "127.0.0.1", "127.0.0.1:4243", "evil.example:4242", "127.0.0.1:4242.evil.example"] {
            assert!(access.check_host(&headers(&[("host", host)])).is_err(), "{host}");
        }
        assert!(access.check_host(&HeaderMap::new()).is_err());
        let mut two = headers(&[("host", "127.0.0.1:4242")]);
        two.append("host", "evil.example".parse().unwrap());
        assert!(access.check_host(&two).is_err());
    }

    #[test]
    fn the_cookie_is_needed_and_other_pages_are_refused() {
        let access = Access::new(4242).unwrap();
        let set = access.cookie();
        let cookie = set.split(';').next().unwrap();
        let ask = |method: Method, path: &str, more: &[(&'static str, &str)]| {
            access.check(&method, path, &headers(&[&[("cookie", cookie)], more].concat())).is_ok()
        };
        assert!(ask(Method::POST, "/api/language", &[]));
        assert!(ask(Method::POST, "/api/language", &[("origin", "http://127.0.0.1:4242")]));
        assert!(ask(Method::GET, "/", &[("sec-fetch-site", "cross-site")]));
        for wrong in [("origin", "http://evil.example"), ("origin", "null"), ("origin", "https://127.0.0.1:4242")] {
            assert!(!ask(Method::POST, "/api/language", &[wrong]), "{wrong:?}");
        }
        for site in ["cross-site", "same-site"] {
            assert!(!ask(Method::GET, "/api/start", &[("sec-fetch-site", site)]));
            assert!(!ask(Method::POST, "/", &[("sec-fetch-site", site)]));
        }
        for other in ["", "gardenpath-4242=", "gardenpath-4243=0", &cookie[..cookie.len() - 1]] {
            assert!(access.check(&Method::GET, "/", &headers(&[("cookie", other)])).is_err(), "{other}");
        }
        let among = format!("a=b; {cookie}; c=d");
        assert!(access.check(&Method::GET, "/", &headers(&[("cookie", &among)])).is_ok());
    }

    #[test]
    fn secrets_are_long_and_different() {
        let (one, other) = (secret().unwrap(), secret().unwrap());
        assert!(one.len() == 32 && one != other && one.bytes().all(|byte| byte.is_ascii_hexdigit()));
        assert!(is_same("abc", "abc") && !is_same("abc", "abd") && !is_same("abc", "ab") && is_same("", ""));
    }
}
