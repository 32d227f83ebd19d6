//! Who is let in.

use crate::client::Explorer;
use crate::common::Lab;
use serde_json::json;

#[test]
fn the_key_is_exchanged_for_a_cookie() {
    let lab = Lab::new();
    let explorer = Explorer::start(&lab, "");
    let answer = explorer.open(&explorer.url);
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.starts_with(&format!("gardenpath-{}=", explorer.port)));
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"), "{cookie}");
    assert!(!explorer.url.contains(&explorer.cookie[explorer.cookie.len() - 32..]), "the cookie is another secret");

    let page = explorer.get("/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let parts: Vec<&str> = page.text().split('"').filter(|part| part.starts_with("/app.")).collect();
    assert_eq!(parts.len(), 2, "{}", page.text());
    for part in parts {
        let answer = explorer.get(part);
        assert_eq!(answer.status, 200);
        assert!(answer.header("cache-control").unwrap().contains("immutable"));
    }
    for answer in [page, explorer.get("/api/start"), explorer.get("/nothing"), explorer.open(&explorer.url)] {
        let policy = answer.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[test]
fn nobody_else_is_let_in() {
    let lab = Lab::new();
    let explorer = Explorer::start(&lab, "");
    let host = explorer.host();
    let ask = |method: &str, path: &str, headers: &[(&str, &str)]| explorer.ask(method, path, headers, b"{}");
    let cookie = explorer.cookie.as_str();

    // No cookie, a wrong one, a wrong key.
    for path in ["/", "/api/start", "/api/results", "/nothing"] {
        assert!(ask("GET", path, &[("Host", &host)]).refusal(403).contains("open the URL"), "{path}");
        let wrong = format!("gardenpath-{}=0123", explorer.port);
        ask("GET", path, &[("Host", &host), ("Cookie", &wrong)]).refusal(403);
    }
    for key in ["", "0", &explorer.url[explorer.url.len() - 31..]] {
        let answer = ask("GET", &format!("/?key={key}"), &[("Host", &host)]);
        assert!(answer.refusal(403).contains("another key"));
        assert_eq!(answer.header("set-cookie"), None);
    }

    // Foreign names for this machine, also with the right key and cookie.
    let key = format!("/?{}", explorer.url.split('?').nth(1).unwrap());
    for foreign in ["evil.example", &format!("evil.example:{}", explorer.port), "127.0.0.1:1", "[::1]:80"] {
        for path in ["/", "/api/start", &key] {
            assert!(ask("GET", path, &[("Host", foreign), ("Cookie", cookie)]).refusal(403).contains("host"));
        }
    }
    let local = format!("localhost:{}", explorer.port);
    assert_eq!(ask("GET", "/api/start", &[("Host", &local), ("Cookie", cookie)]).status, 200);

    // Other pages of the same browser.
    let json = ("Content-Type", "application/json");
    for other in [
        ("Origin", "http://evil.example"),
        ("Origin", "null"),
        ("Origin", "http://127.0.0.1:1"),
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Site", "same-site"),
    ] {
        let headers = [("Host", host.as_str()), ("Cookie", cookie), json, other];
        ask("POST", "/api/language", &headers).refusal(403);
        ask("GET", "/api/start", &headers).refusal(403);
        ask("DELETE", "/api/jobs/0", &headers).refusal(403);
    }
    let own = format!("http://{host}");
    let headers = [("Host", host.as_str()), ("Cookie", cookie), json, ("Origin", &own)];
    assert_eq!(ask("POST", "/api/language", &headers).status, 400, "let in, and told what is missing");
}

#[test]
fn what_is_no_request_of_the_page_is_refused() {
    let lab = Lab::new();
    let explorer = Explorer::start(&lab, "");
    for path in
        ["/nothing", "/api", "/api/", "/api/nothing", "/api/start/more", "//", "/api/jobs/0/events/1", "/app.js"]
    {
        explorer.get(path).refusal(404);
        explorer.post(path, &json!({})).refusal(404);
    }
    for (path, allowed) in
        [("/", "GET"), ("/api/start", "GET"), ("/api/jobs/0/events", "GET"), ("/api/jobs/0", "DELETE")]
    {
        assert!(explorer.post(path, &json!({})).refusal(405).contains(allowed), "{path}");
    }
    for path in ["/api/language", "/api/jobs"] {
        assert!(explorer.get(path).refusal(405).contains("POST"), "{path}");
        explorer.ask("PUT", path, &explorer.headers(), b"").refusal(405);
        explorer.ask("OPTIONS", path, &explorer.headers(), b"").refusal(405);
    }
    let mut headers = explorer.headers();
    headers.push(("Content-Type", "text/plain"));
    explorer.ask("POST", "/api/language", &headers, b"{}").refusal(415);
    explorer.ask("POST", "/api/language", &explorer.headers(), b"{}").refusal(415);
    assert!(explorer.post_text("/api/language", &" ".repeat(1_000_001)).refusal(413).contains("1000000 bytes"));
    for text in
        ["", "{", "[]", "3", "null", "{\"grammar\": {\"vocab\": 8, \"depth\": 2}", "\u{0}", "{\"grammar\": 1e999}"]
    {
        explorer.post_text("/api/language", text).refusal(400);
    }
    explorer.get("/api/results/nothing").refusal(404);
    explorer.get("/api/jobs/0/events").refusal(404);
    explorer.delete("/api/jobs/0").refusal(404);
}

#[test]
fn two_servers_do_not_know_each_other() {
    let lab = Lab::new();
    let (one, other) = (Explorer::start(&lab, ""), Explorer::start(&lab, ""));
    assert_ne!(one.port, other.port);
    let headers = [("Host", one.host()), ("Cookie", other.cookie.clone())];
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    one.ask("GET", "/api/start", &headers, b"").refusal(403);
    // A browser sends the cookies of all ports.
    let both = format!("{}; {}", other.cookie, one.cookie);
    let headers = [("Host", one.host()), ("Cookie", both)];
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(one.ask("GET", "/api/start", &headers, b"").status, 200);

    // A server that was started again on the same port has new secrets.
    let (port, cookie, url) = (one.port, one.cookie.clone(), one.url.clone());
    drop(one);
    let again = Explorer::start(&lab, &format!("--port {port}"));
    let headers = [("Host", again.host()), ("Cookie", cookie)];
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    again.ask("GET", "/", &headers, b"").refusal(403);
    again.open(&url).refusal(403);
    assert_eq!(again.get("/").status, 200);
}
