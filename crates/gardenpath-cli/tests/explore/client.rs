//! The explorer at work, and a tiny client that asks it over loopback.

use crate::common::Lab;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// How long anything may take on a machine that is busy with other tests.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A running server with the cookie that its URL was exchanged for.
pub struct Explorer {
    pub child: Child,
    pub url: String,
    pub port: u16,
    pub cookie: String,
}

/// What a server answers.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The line of a refusal with this status.
    pub fn refusal(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        let is_text = self.header("content-type") == Some("text/plain; charset=utf-8");
        let found = if is_text { json!(self.text()) } else { self.json()["error"].clone() };
        let line = found.as_str().expect("a refusal has an error").to_owned();
        assert!(!line.is_empty() && !line.contains('\n'), "{line}");
        line
    }
}

impl Explorer {
    /// Starts a server in a lab, and opens its page.
    pub fn start(lab: &Lab, arguments: &str) -> Self {
        let mut command = lab.command(&format!("explore --no-browser --json --threads 2 {arguments}"));
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = serde_json::from_str::<Value>(&line).unwrap()["url"].as_str().unwrap().to_owned();
        let port = url.strip_prefix("http://127.0.0.1:").unwrap().split('/').next().unwrap().parse().unwrap();
        let mut explorer = Explorer { child, url, port, cookie: String::new() };
        let answer = explorer.open(&explorer.url);
        assert_eq!((answer.status, answer.header("location")), (303, Some("/")));
        explorer.cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        explorer
    }

    pub fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// What a browser gets that has no cookie yet.
    pub fn open(&self, url: &str) -> Answer {
        let path = url.splitn(4, '/').nth(3).unwrap_or_default();
        self.ask("GET", &format!("/{path}"), &[("Host", &self.host())], b"")
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &self.headers(), b"")
    }

    pub fn delete(&self, path: &str) -> Answer {
        self.ask("DELETE", path, &self.headers(), b"")
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_text(path, &body.to_string())
    }

    pub fn post_text(&self, path: &str, body: &str) -> Answer {
        let mut headers = self.headers();
        headers.push(("Content-Type", "application/json"));
        self.ask("POST", path, &headers, body.as_bytes())
    }

    /// The answer to a request that must succeed.
    pub fn posted(&self, path: &str, body: &Value) -> Value {
        let answer = self.post(path, body);
        assert_eq!(answer.status, 200, "{path} {body}: {}", answer.text());
        answer.json()
    }

    /// What a page of this server sends.
    pub fn headers(&self) -> Vec<(&'static str, &str)> {
        let host = &self.url["http://".len()..self.url.find("/?").unwrap()];
        vec![("Host", host), ("Cookie", &self.cookie), ("Sec-Fetch-Site", "same-origin")]
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        let mut stream = self.connect();
        // A server that refuses need not read everything.
        let _ = stream.write_all(&[head.as_bytes(), b"\r\n", body].concat());
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        parse(&bytes).unwrap_or_else(|| panic!("{method} {path}: {read:?}"))
    }

    /// Listens to a job.
    pub fn listen(&self, id: &str, after: Option<usize>) -> Listener {
        let mut stream = self.connect();
        let mut head = format!("GET /api/jobs/{id}/events HTTP/1.1\r\nConnection: close\r\n");
        self.headers().iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        if let Some(after) = after {
            head += &format!("Last-Event-ID: {after}\r\n");
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).unwrap();
        Listener { stream, bytes: Vec::new() }
    }

    /// Starts a job, and returns its name.
    pub fn job(&self, body: &Value) -> String {
        self.posted("/api/jobs", body)["id"].as_str().unwrap().to_owned()
    }
}

impl Drop for Explorer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Somebody who listens to a job until this is dropped.
pub struct Listener {
    stream: TcpStream,
    bytes: Vec<u8>,
}

/// An event of a job.
#[derive(Clone, Debug)]
pub struct Event {
    pub name: String,
    pub id: Option<usize>,
    pub data: Value,
}

impl Listener {
    /// The next event; none if the stream has ended.
    pub fn next(&mut self) -> Option<Event> {
        let start = Instant::now();
        loop {
            if let Some(event) = self.take() {
                return Some(event);
            }
            assert!(start.elapsed() < PATIENCE, "waited for an event");
            let mut buffer = [0; 4096];
            match self.stream.read(&mut buffer) {
                Ok(0) => return None,
                Ok(count) => self.bytes.extend(&buffer[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => panic!("waited for an event: {error}"),
            }
        }
    }

    /// All events to the end.
    pub fn rest(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next() {
            let is_end = event.name == "end";
            events.push(event);
            if is_end {
                break;
            }
        }
        events
    }

    /// The next event of this name.
    pub fn wait(&mut self, name: &str) -> Event {
        loop {
            let event = self.next().unwrap_or_else(|| panic!("waited for {name}"));
            if event.name == name {
                return event;
            }
        }
    }

    /// Chunks are as long as events here, so that their borders need not be understood: lines with numbers are skipped.
    fn take(&mut self) -> Option<Event> {
        let text = String::from_utf8_lossy(&self.bytes).into_owned();
        let start = text.find("event: ")?;
        let end = start + text[start..].find("\n\n")?;
        let mut event = Event { name: String::new(), id: None, data: Value::Null };
        for line in text[start..end].lines() {
            match line.split_once(": ") {
                Some(("event", name)) => event.name = name.into(),
                Some(("id", id)) => event.id = id.parse().ok(),
                Some(("data", data)) => event.data = serde_json::from_str(data).unwrap(),
                _ => {}
            }
        }
        self.bytes.drain(..end);
        Some(event)
    }
}

/// An answer whose connection was closed.
pub fn parse(bytes: &[u8]) -> Option<Answer> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = std::str::from_utf8(&bytes[..end]).ok()?;
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let header = |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
    Some(Answer { status, headers: lines.filter_map(header).collect(), body: bytes[end + 4..].to_vec() })
}
