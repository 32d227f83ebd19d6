//! The job script: what a task does, and the resources it requests.

use super::Settings;
use super::options::ask_for_gpu;
use anyhow::{Context, Result, bail};
use gardenpath_lab::experiment::Scale;
use gardenpath_lab::training::Device;
use std::path::Path;

/// The contents of a job script. All paths are absolute, except for the name of a built-in experiment.
pub struct Script<'a> {
    /// The name of the job.
    pub name: &'a str,
    /// This program.
    pub program: &'a Path,
    /// The experiment.
    pub experiment: &'a Path,
    /// The scale to measure.
    pub scale: Option<&'a Scale>,
    /// Measure only the cells for this device.
    pub only: Option<Device>,
    /// Whether the cells need a GPU.
    pub gpu: bool,
    /// The results directory.
    pub store: &'a Path,
    /// The requested resources.
    pub settings: &'a Settings,
    /// The number of tasks.
    pub tasks: usize,
    /// Whether to skip failed cells.
    pub skip_failed: bool,
}

impl Script<'_> {
    /// The options of sbatch. They are in the script for readers, and also passed as arguments, which take precedence
    /// over `SBATCH_…` variables.
    pub fn options(&self) -> Result<Vec<String>> {
        let Settings { partition, time, at_once, cpus_per_task, mem, constraint, gres, account, qos, sbatch, .. } =
            self.settings;
        let store = plain(self.store)?;
        // Slurm does not expand %A and %a in file names with a backslash.
        if store.contains('\\') {
            bail!("{store}: Slurm cannot write to a directory with \\ in its name");
        }
        let at_once = at_once.map_or(String::new(), |count| format!("%{count}"));
        let mut options = vec![
            format!("--job-name={}", self.name),
            format!("--array=1-{}{at_once}", self.tasks),
            format!("--output={}/slurm/%A_%a.out", store.replace('%', "%%")),
            "--open-mode=append".to_owned(),
            format!("--cpus-per-task={cpus_per_task}"),
            "--requeue".to_owned(),
        ];
        let one_gpu = (self.gpu && !ask_for_gpu(sbatch)).then(|| "gpu:1".to_owned());
        let wanted = [
            ("partition", partition),
            ("time", time),
            ("mem", mem),
            ("constraint", constraint),
            ("gres", &gres.clone().or(one_gpu)),
            ("account", account),
            ("qos", qos),
        ];
        let given = wanted.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value.as_ref()?)));
        options.extend(given);
        options.extend(sbatch.iter().cloned());
        Ok(options)
    }

    /// The text of the script.
    pub fn text(&self) -> Result<String> {
        let mut text = "#!/bin/sh".to_owned();
        for option in self.options()? {
            // The value of an option may be a separate word.
            let separator = if option.starts_with('-') { "\n#SBATCH " } else { " " };
            text += &format!("{separator}{}", directive(&option)?);
        }
        text += "\necho \"task $SLURM_ARRAY_TASK_ID on $SLURMD_NODENAME${CUDA_VISIBLE_DEVICES:+ with GPU $CUDA_VISIBLE_DEVICES}\"\n";
        text += &format!(
            "exec {} sweep run {} --store {}{} --shard \"$SLURM_ARRAY_TASK_ID/{}\" --threads {}",
            quoted(plain(self.program)?),
            quoted(plain(self.experiment)?),
            quoted(plain(self.store)?),
            self.scale.map_or(String::new(), |scale| format!(" --scale {}", scale.name())),
            self.tasks,
            self.settings.cpus_per_task
        );
        if let Some(only) = self.only {
            text += &format!(" --only {}", only);
        }
        // A task that restarts after a node failure has already tried what failed.
        text += if self.skip_failed { " --skip-failed\n" } else { " ${SLURM_RESTART_COUNT:+--skip-failed}\n" };
        Ok(text)
    }
}

/// The path as text, if it fits on a line.
fn plain(path: &Path) -> Result<&str> {
    let text = path.to_str().filter(|text| !text.contains(char::is_control));
    text.with_context(|| format!("{path:?}: a job script needs a plain-text path"))
}

/// Quotes a word for the shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Quotes a word for an `#SBATCH` line, where a backslash escapes the next character.
fn directive(text: &str) -> Result<String> {
    if text.contains(char::is_control) {
        bail!("{text:?}: expected plain text");
    }
    if text.chars().all(|c| c.is_ascii_alphanumeric() || "-_=%/.:,+".contains(c)) {
        return Ok(text.to_owned());
    }
    Ok(format!("\"{}\"", text.replace('\\', r"\\").replace('"', "\\\"")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use std::fs;

    #[derive(Parser)]
    struct Options {
        #[command(flatten)]
        settings: Settings,
    }

    fn settings(options: &str) -> Settings {
        Options::parse_from(format!("test {options}").split_whitespace()).settings
    }

    fn script<'a>(paths: [&'a str; 3], settings: &'a Settings) -> Script<'a> {
        let [program, experiment, store] = paths.map(Path::new);
        let (scale, name) = (Some(&Scale::FULL), "gardenpath-e");
        Script {
            name,
            program,
            experiment,
            scale,
            only: None,
            gpu: false,
            store,
            settings,
            tasks: 7,
            skip_failed: false,
        }
    }

    #[test]
    fn the_script_asks_for_what_was_set() {
        let paths = ["/bin/gardenpath", "/e.toml", "/s"];
        let text = script(paths, &settings("")).text().unwrap();
        let expected = "\
#!/bin/sh
#SBATCH --job-name=gardenpath-e
#SBATCH --array=1-7
#SBATCH --output=/s/slurm/%A_%a.out
#SBATCH --open-mode=append
#SBATCH --cpus-per-task=1
#SBATCH --requeue
echo \"task $SLURM_ARRAY_TASK_ID on $SLURMD_NODENAME${CUDA_VISIBLE_DEVICES:+ with GPU $CUDA_VISIBLE_DEVICES}\"
exec '/bin/gardenpath' sweep run '/e.toml' --store '/s' --scale full --shard \"$SLURM_ARRAY_TASK_ID/7\" --threads 1 ${SLURM_RESTART_COUNT:+--skip-failed}
";
        assert_eq!(text, expected);
        let settings = settings("--partition long --time 1-0:30 --at-once 3 --cpus-per-task 4");
        let text = Script { skip_failed: true, ..script(paths, &settings) }.text().unwrap();
        for part in ["array=1-7%3\n", "partition=long\n", "time=1-0:30\n", "task=4\n", "--threads 4 --skip-failed\n"] {
            assert!(text.contains(part), "{part}");
        }
    }

    #[test]
    fn resources_and_other_options_come_last_and_in_this_order() {
        let paths = ["/bin/gardenpath", "/e.toml", "/s"];
        let ours = "--mem 4G --constraint a&b --gres gpu:a100:2 --account lab --qos high";
        let settings = settings(&format!("{ours} -- --nice=7 --exclude n1 --mail-user a,b"));
        let script = script(paths, &settings);
        let expected = [
            "--requeue",
            "--mem=4G",
            "--constraint=a&b",
            "--gres=gpu:a100:2",
            "--account=lab",
            "--qos=high",
            "--nice=7",
            "--exclude",
            "n1",
            "--mail-user",
            "a,b",
        ];
        let options = script.options().unwrap();
        assert!(options.ends_with(&expected.map(str::to_owned)), "{options:?}");
        let text = script.text().unwrap();
        let end = "\n#SBATCH --nice=7\n#SBATCH --exclude n1\n#SBATCH --mail-user a,b\necho ";
        assert!(text.contains("\n#SBATCH \"--constraint=a&b\"\n") && text.contains(end), "{text}");
    }

    #[test]
    fn cells_for_a_gpu_get_one_unless_the_user_asks_for_some() {
        let gres = |options: &str, gpu| {
            let settings = settings(options);
            let all = Script { gpu, ..script(["/p", "/e", "/s"], &settings) }.options().unwrap();
            all.into_iter().filter(|option| option.starts_with("--g")).collect::<Vec<_>>()
        };
        assert_eq!(gres("", true), ["--gres=gpu:1"]);
        assert_eq!(gres("", false), [""; 0]);
        assert_eq!(gres("--gres gpu:a100:1", true), ["--gres=gpu:a100:1"]);
        assert_eq!(gres("-- --gpus=1", true), ["--gpus=1"]);
        assert_eq!(gres("-- -G1", true), [""; 0]);
        let settings = settings("");
        let script = Script { only: Some(Device::Gpu), ..script(["/p", "/e", "/s"], &settings) };
        assert!(script.text().unwrap().contains(" --threads 1 --only gpu ${SLURM"));
    }

    #[test]
    fn directives_keep_any_name() {
        let settings = settings("");
        let output = |store| script(["/p", "/e", store], &settings).text().unwrap().lines().nth(3).unwrap().to_owned();
        assert_eq!(output("/a b"), r#"#SBATCH "--output=/a b/slurm/%A_%a.out""#);
        assert_eq!(output("/100%A"), "#SBATCH --output=/100%%A/slurm/%A_%a.out");
        assert_eq!(output(r#"/it's "s""#), r#"#SBATCH "--output=/it's \"s\"/slurm/%A_%a.out""#);
        for store in ["/a\\b", "/a\nb"] {
            assert!(script(["/p", "/e", store], &settings).text().is_err(), "{store:?}");
        }
        let injected = Settings { partition: Some("a\n#SBATCH --wrap".into()), ..settings.clone() };
        assert!(script(["/p", "/e", "/s"], &injected).text().is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_shell_reads_the_names_as_they_are() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let program = directory.path().join("it's $HOME \"`a`\"");
        fs::write(&program, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        let paths = [program.to_str().unwrap(), "/an 'experiment'.toml", "/a \"store\"; $(exit) #"];
        let settings = settings("");
        let file = directory.path().join("job.sh");
        fs::write(&file, script(paths, &settings).text().unwrap()).unwrap();
        let mut shell = std::process::Command::new("sh");
        let output = shell
            .arg(&file)
            .env("SLURM_ARRAY_TASK_ID", "3")
            .env("SLURMD_NODENAME", "n1")
            .env("SLURM_RESTART_COUNT", "1")
            .output()
            .unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let words: Vec<&str> = said.lines().collect();
        let [_, experiment, store] = paths;
        let expected = [
            "task 3 on n1",
            "sweep",
            "run",
            experiment,
            "--store",
            store,
            "--scale",
            "full",
            "--shard",
            "3/7",
            "--threads",
            "1",
            "--skip-failed",
        ];
        assert_eq!(words, expected);
    }
}
