//! A temporary two-node Slurm cluster on this machine, which listens on loopback only. Both nodes have two fake GPUs;
//! n2 has a feature.

use std::fs::{self, File, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The nodes.
pub const NODES: [&str; 2] = ["n1", "n2"];

/// A running cluster. Its processes end with the test, whatever happens.
pub struct Cluster {
    scratch: tempfile::TempDir,
    daemons: Vec<Child>,
}

impl Cluster {
    /// Starts a cluster, if Slurm and munge are installed.
    pub fn start() -> Option<Self> {
        if !["munged", "slurmctld", "slurmd", "sbatch"].iter().all(|program| is_installed(program)) {
            return None;
        }
        let scratch = tempfile::tempdir().unwrap();
        fs::set_permissions(scratch.path(), Permissions::from_mode(0o755)).unwrap();
        let mut cluster = Cluster { scratch, daemons: Vec::new() };
        for directory in ["state", "log", "spool"] {
            fs::create_dir(cluster.path(directory)).unwrap();
        }
        fs::write(cluster.path("slurm.conf"), cluster.configuration()).unwrap();
        // Two devices per node that always exist.
        let devices = ["null", "zero"].map(|name| format!("NodeName=n[1-2] Name=gpu File=/dev/{name}\n"));
        fs::write(cluster.path("gres.conf"), devices.concat()).unwrap();
        cluster.start_munge();
        cluster.daemon("slurmctld", &["-D", "-c"]);
        NODES.iter().for_each(|node| cluster.start_node(node));
        cluster.wait_until_idle();
        Some(cluster)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn configuration(&self) -> String {
        let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
        let host = host.trim().split('.').next().unwrap();
        let user = Command::new("id").arg("-un").output().unwrap().stdout;
        let user = String::from_utf8(user).unwrap();
        let user = user.trim();
        let [controller, first, second] = free_ports();
        let scratch = self.scratch.path().display();
        format!(
            "ClusterName=scratch
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={scratch}/munge.socket
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
MpiDefault=none
GresTypes=gpu
ReturnToService=2
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
SlurmdTimeout=10
StateSaveLocation={scratch}/state
SlurmdSpoolDir={scratch}/spool/%n
SlurmctldLogFile={scratch}/log/slurmctld
SlurmdLogFile={scratch}/log/%n
SlurmctldPidFile={scratch}/slurmctld.pid
SlurmdPidFile={scratch}/%n.pid
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={first} CPUs=1 RealMemory=1000 Gres=gpu:2
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={second} CPUs=1 RealMemory=1000 Gres=gpu:2 Feature=fast
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"
        )
    }

    /// Munge with its own key.
    fn start_munge(&mut self) {
        let key: Vec<u8> = fs::read("/proc/sys/kernel/random/uuid").unwrap().repeat(2);
        fs::write(self.path("munge.key"), key).unwrap();
        fs::set_permissions(self.path("munge.key"), Permissions::from_mode(0o600)).unwrap();
        let file = |option: &str, name: &str| format!("--{option}={}", self.path(name).display());
        let options = [
            "--foreground".to_owned(),
            file("key-file", "munge.key"),
            file("socket", "munge.socket"),
            file("pid-file", "munge.pid"),
            file("log-file", "log/munge"),
            file("seed-file", "munge.seed"),
        ];
        self.daemon("munged", &options.each_ref().map(String::as_str));
        wait("munge", || self.path("munge.socket").exists());
    }

    fn daemon(&mut self, program: &str, arguments: &[&str]) {
        let mut command = self.command(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
        let errors = File::create(self.path(&format!("log/{program}{}.err", self.daemons.len()))).unwrap();
        self.daemons.push(command.stderr(errors).spawn().unwrap());
    }

    /// A command that talks to this cluster.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        self.attach(&mut command);
        command
    }

    /// Configures a command for this cluster.
    pub fn attach(&self, command: &mut Command) {
        command.env("SLURM_CONF", self.path("slurm.conf")).env("PATH", search_path());
    }

    /// The output of a Slurm command.
    pub fn ask(&self, line: &str) -> String {
        let mut words = line.split_whitespace();
        let output = self.command(words.next().unwrap()).args(words).output().unwrap();
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Starts a node, also one that was lost.
    pub fn start_node(&mut self, node: &str) {
        self.daemon("slurmd", &["-D", "-N", node]);
    }

    /// Returns a lost node to service.
    pub fn revive(&mut self, node: &str) {
        self.start_node(node);
        wait("the node", || {
            // Refused until the node has registered.
            let update = format!("NodeName={node}");
            let _ = self.command("scontrol").args(["update", &update, "State=RESUME"]).output().unwrap();
            self.ask(&format!("sinfo -h -n {node} -o %T")).trim() == "idle"
        });
        self.wait_until_idle();
    }

    /// Waits until all nodes are there and no job is left.
    pub fn wait_until_idle(&self) {
        wait("the cluster", || {
            let asked = self.command("sinfo").args(["-h", "-o", "%D %T"]).output().unwrap();
            String::from_utf8_lossy(&asked.stdout).trim() == format!("{} idle", NODES.len())
        });
    }

    /// Kills a node, with its steps unless they should be orphaned, and tells the controller.
    pub fn lose(&self, node: &str, orphans: bool) {
        for process in self.processes(node) {
            if !orphans || process.name == "slurmd" {
                process.signal("KILL");
            }
        }
        self.ask(&format!("scontrol update NodeName={node} State=DOWN Reason=test"));
    }

    /// The processes of a node: its daemon, its steps, and their tasks.
    pub fn processes(&self, node: &str) -> Vec<Process> {
        let log = self.path("log").join(node);
        let configuration = format!("SLURM_CONF={}", self.path("slurm.conf").display());
        let place = format!("SLURMD_NODENAME={node}");
        let is_of_node = |process: &Process| {
            // A step hides its environment, but writes to the log of its node.
            process.has_open(&log) || [&configuration, &place].iter().all(|entry| process.has_variable(entry))
        };
        Process::all().filter(is_of_node).collect()
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for node in NODES {
            // Twice: a step may have started a task meanwhile.
            for _ in 0..2 {
                self.processes(node).iter().for_each(|process| _ = process.signal("KILL"));
            }
        }
        // In reverse order; the controller would leave a child behind if it were killed.
        for daemon in self.daemons.iter_mut().rev() {
            let _ = Command::new("kill").arg(daemon.id().to_string()).stderr(Stdio::null()).status();
            let start = Instant::now();
            while matches!(daemon.try_wait(), Ok(None)) && start.elapsed() < Duration::from_secs(5) {
                sleep(Duration::from_millis(20));
            }
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// A process of this machine.
pub struct Process {
    directory: PathBuf,
    /// Its program.
    pub name: String,
}

impl Process {
    fn all() -> impl Iterator<Item = Self> {
        fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| {
            entry.file_name().to_str()?.parse::<u32>().ok()?;
            let name = fs::read_to_string(entry.path().join("comm")).ok()?;
            Some(Process { directory: entry.path(), name: name.trim().to_owned() })
        })
    }

    fn has_open(&self, file: &Path) -> bool {
        let files = fs::read_dir(self.directory.join("fd")).into_iter().flatten().flatten();
        files.filter_map(|entry| fs::read_link(entry.path()).ok()).any(|open| open == file)
    }

    fn has_variable(&self, entry: &str) -> bool {
        let environment = fs::read(self.directory.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes())
    }

    /// Sends a signal; returns whether the process existed.
    pub fn signal(&self, signal: &str) -> bool {
        let mut command = Command::new("kill");
        command.arg(format!("-{signal}")).arg(self.directory.file_name().unwrap());
        command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }
}

/// Waits for a condition for at most a minute.
pub fn wait(what: &str, mut is_true: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_true() {
        assert!(start.elapsed() < Duration::from_secs(60), "waited for {what}");
        sleep(Duration::from_millis(50));
    }
}

/// Daemons are not in every search path.
fn search_path() -> String {
    format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default())
}

fn is_installed(program: &str) -> bool {
    search_path().split(':').any(|directory| Path::new(directory).join(program).is_file())
}

/// Free ports; all are held open until all are known.
fn free_ports<const N: usize>() -> [u16; N] {
    let listeners = [(); N].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}
