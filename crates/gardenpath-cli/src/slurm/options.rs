//! The user's sbatch options. Those that would prevent following an array are refused.

use anyhow::{Result, bail};

/// Options that would break a sweep: long name, short name, and reason.
const REFUSED: [(&str, &str, &str); 15] = [
    ("array", "a", "--array-size and --at-once set it"),
    ("output", "o", OUTPUT),
    ("error", "e", OUTPUT),
    ("open-mode", "", OUTPUT),
    ("input", "i", "tasks read no input"),
    ("job-name", "J", "the array is found again by its name"),
    ("wrap", "", "there is a job script already"),
    ("cpus-per-task", "c", "give --cpus-per-task before --, since it also sets the threads"),
    ("clusters", "M", "the array could not be followed"),
    ("cluster", "", "the array could not be followed"),
    ("wait", "W", "sweep submit itself waits"),
    ("quiet", "Q", "sbatch must print the job ID"),
    ("test-only", "", "nothing would be submitted"),
    ("help", "h", "nothing would be submitted"),
    ("version", "V", "nothing would be submitted"),
];

const OUTPUT: &str = "the output of tasks is in the store's slurm directory";

/// Options without a value: a word after one of them would be taken for the job script.
const ALONE: [&str; 14] = [
    "contiguous",
    "exclusive",
    "hold",
    "ignore-pbs",
    "no-kill",
    "no-requeue",
    "overcommit",
    "oversubscribe",
    "parsable",
    "reboot",
    "requeue",
    "spread-job",
    "use-min-nodes",
    "verbose",
];

/// Short options without a value, which can be combined in one word.
const SHORT_ALONE: &str = "HksOv";

/// Refuses options that would break the sweep.
pub fn check(words: &[String]) -> Result<()> {
    let mut takes_value = false;
    for word in words {
        let Some(refused) = refused(word) else {
            if !word.starts_with('-') && !takes_value || matches!(word.as_str(), "-" | "--" | "") {
                bail!("{word:?} is not an option of sbatch: expected options such as --mail-type=END");
            }
            takes_value = word.starts_with('-') && wants_value(word);
            continue;
        };
        let (name, short, why) = refused;
        let short = if short.is_empty() { String::new() } else { format!(" (-{short})") };
        bail!("do not pass --{name}{short} to sbatch: {why}");
    }
    Ok(())
}

/// Whether any of the options requests a GPU.
pub fn ask_for_gpu(words: &[String]) -> bool {
    let long = |word: &str| ["--gres", "--gpus", "--tres-per"].iter().any(|start| word.starts_with(start));
    words.iter().any(|word| long(word) || letters(word).any(|letter| letter == 'G'))
}

fn refused(word: &str) -> Option<(&'static str, &'static str, &'static str)> {
    if let Some(long) = word.strip_prefix("--").filter(|long| !long.is_empty()) {
        let name = long.split('=').next().unwrap_or(long);
        // sbatch accepts any unambiguous prefix of a long option.
        return REFUSED.into_iter().find(|(known, ..)| !name.is_empty() && known.starts_with(name));
    }
    let found = |letter: char| REFUSED.into_iter().find(|(_, short, _)| short.starts_with(letter));
    letters(word).find_map(found)
}

/// The short options combined in a word.
fn letters(word: &str) -> impl Iterator<Item = char> + '_ {
    let word = word.strip_prefix('-').filter(|word| !word.starts_with('-')).unwrap_or_default();
    let alone = word.chars().take_while(|&letter| SHORT_ALONE.contains(letter)).count();
    word.chars().take(alone + 1)
}

/// Whether the next word can be the value of this option.
fn wants_value(word: &str) -> bool {
    match word.strip_prefix("--") {
        Some(long) => !long.contains('=') && !ALONE.iter().any(|name| name.starts_with(long)),
        // A letter that takes a value ends its word, or is followed by its value.
        None => letters(word).count() == word.chars().count() - 1 && !word.ends_with(|c| SHORT_ALONE.contains(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn what_would_break_a_sweep_is_refused() {
        for (text, name) in [
            ("--array=1-3", "--array (-a)"),
            ("--arr 1-3", "--array (-a)"),
            ("-a1-3", "--array (-a)"),
            ("-Ha 1", "--array (-a)"),
            ("--mail-type=END -o x", "--output (-o)"),
            ("--err=x", "--error (-e)"),
            ("--wrap=ls", "--wrap to sbatch:"),
            ("--job-name x", "--job-name (-J)"),
            ("-c 4", "--cpus-per-task (-c)"),
            ("-W", "--wait (-W)"),
            ("-M west", "--clusters (-M)"),
            ("--test", "--test-only to sbatch:"),
            ("-vQ", "--quiet (-Q)"),
        ] {
            let error = check(&words(text)).unwrap_err().to_string();
            assert!(error.starts_with(&format!("do not pass {name}")), "{text}: {error}");
        }
        for text in ["x", "--exclusive x", "--nice=3 x", "-H x", "-p a b", "--", "-", "-pa b"] {
            let error = check(&words(text)).unwrap_err().to_string();
            assert!(error.contains("is not an option of sbatch"), "{text}: {error}");
        }
    }

    #[test]
    fn all_else_is_taken() {
        for text in [
            "",
            "--exclusive --nice=7 --mail-type=END",
            "--exclude n1 -x n2 -N1 -n 1",
            "--hold -Hv --wait-all-nodes=1",
            "--export=NONE --chdir /tmp -D /tmp",
            "--gpus-per-node 1 -G1",
        ] {
            assert!(check(&words(text)).is_ok(), "{text}: {}", check(&words(text)).unwrap_err());
        }
        for text in ["--gres=gpu:2", "--gpus 1", "--gpus-per-task=1", "-G1", "-HG 1", "--tres-per-task=gres/gpu:1"] {
            assert!(ask_for_gpu(&words(text)), "{text}");
        }
        assert!(!ask_for_gpu(&words("--exclusive -p G --nice=3")));
    }
}
