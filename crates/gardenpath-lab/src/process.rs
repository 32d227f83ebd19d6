//! Identifies the process that left a file behind, whether it may still be running, and the processor.

use sha2::{Digest, Sha256};
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;
use std::sync::OnceLock;

/// A process on a machine, as written in names of temporary files and in marks of a store: `HOST-PID-START`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    /// A hash that identifies this machine and its boot; other containers count as other machines.
    host: String,
    pid: u32,
    /// The start time of the process in system ticks, since process IDs are reused.
    start: u64,
}

impl Owner {
    /// This process.
    pub fn this() -> Self {
        let pid = std::process::id();
        Owner { host: host().to_owned(), pid, start: system::start_of(pid).unwrap_or(0) }
    }

    /// Whether the process is known to have ended. Never true for other machines.
    pub fn is_gone(&self) -> bool {
        self.host == host() && system::start_of(self.pid).is_none_or(|start| start != self.start)
    }
}

impl Display for Owner {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", self.host, self.pid, self.start)
    }
}

impl FromStr for Owner {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut parts = text.trim_end().splitn(3, '-');
        let mut next = || parts.next().ok_or(());
        let (host, pid, start) = (next()?, next()?, next()?);
        let host = Some(host).filter(|host| host.len() == HOST_DIGITS).ok_or(())?;
        Ok(Owner { host: host.to_owned(), pid: pid.parse().map_err(drop)?, start: start.parse().map_err(drop)? })
    }
}

const HOST_DIGITS: usize = 8;

fn host() -> &'static str {
    static HOST: OnceLock<String> = OnceLock::new();
    HOST.get_or_init(|| {
        let digest = Sha256::digest(system::machine());
        digest[..HOST_DIGITS / 2].iter().map(|byte| format!("{byte:02x}")).collect()
    })
}

/// The name of the processor, or its architecture if the name is unknown.
pub fn processor() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| system::processor().unwrap_or_else(|| std::env::consts::ARCH.to_owned()))
}

/// The CPU time of this thread in seconds, from an arbitrary origin.
#[cfg(unix)]
pub fn thread_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes only to `time`.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) } != 0;
    if failed { 0.0 } else { time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64 }
}

/// The seconds since the first call.
#[cfg(not(unix))]
pub fn thread_seconds() -> f64 {
    static START: OnceLock<std::time::Instant> = OnceLock::new();
    START.get_or_init(std::time::Instant::now).elapsed().as_secs_f64()
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs;

    pub fn machine() -> Vec<u8> {
        let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let host = fs::read("/proc/sys/kernel/hostname").unwrap_or_default();
        let processes = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        [boot, host, processes.into_os_string().into_encoded_bytes()].concat()
    }

    pub fn processor() -> Option<String> {
        let text = fs::read_to_string("/proc/cpuinfo").ok()?;
        let name = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'))?.1;
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        (!name.is_empty()).then_some(name)
    }

    /// The start time of a process, if it exists.
    pub fn start_of(pid: u32) -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The second field is a name in parentheses, which may contain spaces and parentheses; the third is the state.
        let fields: Vec<&str> = text[text.rfind(')')? + 1..].split_whitespace().collect();
        let ended = matches!(fields.first(), Some(&("Z" | "X")));
        if ended { None } else { fields.get(19)?.parse().ok() }
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
mod system {
    pub fn machine() -> Vec<u8> {
        let mut name = vec![0u8; 256];
        // SAFETY: the length of the buffer is passed along.
        unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len()) };
        name
    }

    pub fn processor() -> Option<String> {
        None
    }

    /// 0 if the process exists.
    pub fn start_of(pid: u32) -> Option<u64> {
        let pid = libc::pid_t::try_from(pid).ok()?;
        // SAFETY: signal 0 is not delivered; it only checks for existence.
        let found = unsafe { libc::kill(pid, 0) } == 0;
        let forbidden = std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM);
        (found || forbidden).then_some(0)
    }
}

#[cfg(not(unix))]
mod system {
    pub fn machine() -> Vec<u8> {
        Vec::new()
    }

    pub fn processor() -> Option<String> {
        None
    }

    /// Unknown: no process is ever considered gone.
    pub fn start_of(_: u32) -> Option<u64> {
        Some(0)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_dead_are_known() {
        let this = Owner::this();
        assert_eq!(this.to_string().parse(), Ok(this.clone()));
        assert!(!this.is_gone());
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        child.wait().unwrap();
        assert!(Owner { pid, ..this.clone() }.is_gone());
        assert!(!Owner { pid, host: "01234567".into(), ..this }.is_gone(), "of other machines nothing is known");
        for text in ["", "1", "1-2", "a-b-c", "01234567-1", "01234567-x-1"] {
            assert!(text.parse::<Owner>().is_err(), "{text}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_number_that_is_used_again_is_another_process() {
        let this = Owner::this();
        assert!(Owner { start: this.start + 1, ..this }.is_gone());
    }
}
