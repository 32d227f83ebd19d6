//! Shell completions and manual pages cover every command.

mod common;

use clap::CommandFactory;
use common::Lab;
use std::fs;

fn commands(command: &clap::Command, name: &str) -> Vec<String> {
    let inner = command.get_subcommands();
    let inner = inner.flat_map(|inner| commands(inner, &format!("{name}-{}", inner.get_name())));
    std::iter::once(name.to_owned()).chain(inner).collect()
}

#[test]
fn there_is_a_page_for_every_command() {
    let lab = Lab::new();
    lab.run("man -o pages");
    let all = commands(&gardenpath_cli::program::Cli::command(), "gardenpath");
    assert!(all.len() > 25);
    for name in &all {
        let text = fs::read_to_string(lab.path("pages").join(format!("{name}.1"))).unwrap();
        assert!(text.contains(&format!(".TH {name} 1")), "{name}");
    }
    assert_eq!(fs::read_dir(lab.path("pages")).unwrap().count(), all.len());
    let main = lab.run("man");
    assert!(main.contains("gardenpath\\-sweep(1)") && main.contains("\\-\\-threads"), "{main}");
    fs::write(lab.path("file"), "").unwrap();
    assert!(lab.refusal("man -o file/pages").contains("file/pages: cannot create the directory"));
}

#[test]
fn shells_complete_commands_and_options() {
    let lab = Lab::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = lab.run(&format!("completions {shell}"));
        for word in ["mup-check", "collect", "non-overlapping", "transformer"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        assert!(!script.contains("held-out"), "{shell}: an old name");
    }
    assert!(lab.refusal("completions tcsh").contains("tcsh"));
}

#[cfg(unix)]
#[test]
fn bash_completes() {
    let lab = Lab::new();
    fs::write(lab.path("script"), lab.run("completions bash")).unwrap();
    let ask = "source ./script; COMP_WORDS=(gardenpath theory len); COMP_CWORD=2; _gardenpath gardenpath len theory; echo \"${COMPREPLY[@]}\"";
    let Ok(output) = std::process::Command::new("bash").args(["-c", ask]).current_dir(lab.root()).output() else {
        return;
    };
    assert_eq!(
        String::from_utf8(output.stdout).unwrap().trim(),
        "lengths",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
