//! The report in the terminal: one line per figure as it finishes, and a table at the end.

use super::entry::{Entry, Report, State};
use crate::draw::table::{Table, duration};
use crate::fit::Verdict;

/// Lines are shortened to this width.
const WIDTH: usize = 100;
/// Minimum width of the measured values if names and verdicts fill the line.
const LEAST: usize = 12;

/// One row per figure: name, verdicts, measured values, and compute time.
pub fn table(report: &Report) -> String {
    let mut rows = vec![["figure", "verdicts", "measured", "time"].map(str::to_owned)];
    rows.extend(report.entries.iter().map(|entry| {
        [entry.name.to_owned(), verdicts(entry), measured(entry), duration(entry.seconds)].map(|cell| one_line(&cell))
    }));
    let width = |rows: &[[String; 4]], column: usize| rows.iter().map(|row| length(&row[column])).max().unwrap_or(0);
    let others: usize = [0, 1, 3].map(|column| width(&rows, column) + 2).iter().sum();
    let room = WIDTH.saturating_sub(others).max(LEAST);
    rows.iter_mut().for_each(|row| row[2] = shortened(&row[2], room));
    // Tables are right-aligned, but only the last column has numbers.
    for column in 0..3 {
        let width = width(&rows, column);
        rows.iter_mut().for_each(|row| row[column] = format!("{:<width$}", row[column]));
    }
    let mut rows = rows.into_iter();
    let mut table = Table::new(rows.next().into_iter().flatten());
    rows.for_each(|row| table.row(row));
    let (done, all, took) = (report.done(), report.entries.len(), duration(report.total_seconds));
    let headline = report.headline();
    let missing = report.missing.words().map_or(String::new(), |words| format!("{words}.\n"));
    format!("{table}\n{done} of {all} figures at {} scale in {took}.\n{missing}{headline}\n", report.scale)
}

/// A figure on one line, without a line break.
pub fn line(entry: &Entry) -> String {
    let (verdicts, took, measured) = (verdicts(entry), duration(entry.seconds), measured(entry));
    let measured = if measured.is_empty() { measured } else { format!(": {measured}") };
    shortened(&one_line(&format!("{}: {verdicts} in {took}{measured}", entry.name)), WIDTH)
}

/// The verdicts, or the state of an unfinished figure.
fn verdicts(entry: &Entry) -> String {
    match entry.state {
        State::Waiting => "waiting".into(),
        State::Running => "running".into(),
        State::Failed(_) => "failed".into(),
        State::Done => counts(|verdict| entry.count(verdict)).unwrap_or_else(|| "nothing to judge".into()),
    }
}

/// The verdicts that occur, with their counts.
fn counts(count: impl Fn(Verdict) -> usize) -> Option<String> {
    let some = Verdict::ALL.into_iter().map(|verdict| (verdict, count(verdict))).filter(|&(_, count)| count > 0);
    let words: Vec<String> = some.map(|(verdict, count)| verdict.counted(count)).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The measured values, or a replacement.
fn measured(entry: &Entry) -> String {
    match &entry.state {
        State::Waiting | State::Running => entry.progress(),
        State::Failed(reason) => reason.clone(),
        State::Done => {
            entry.findings.iter().flat_map(|finding| &finding.measured).cloned().collect::<Vec<_>>().join("; ")
        }
    }
}

/// The text without line breaks and control characters.
fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn length(text: &str) -> usize {
    text.chars().count()
}

/// Truncates a long text.
fn shortened(text: &str, width: usize) -> String {
    if length(text) <= width {
        return text.to_owned();
    }
    let beginning: String = text.chars().take(width - 1).collect();
    beginning.trim_end_matches([' ', ',', ';', ':']).to_owned() + "…"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::plan::Origin;
    use crate::report::Finding;
    use crate::report::entry::{Missing, Subject};

    fn entry(name: &'static str, state: State, findings: Vec<Finding>) -> Entry {
        Entry {
            name: name.into(),
            title: "A title".into(),
            paper: String::new(),
            caption: String::new(),
            figure: None,
            findings,
            seconds: 75.0,
            cells: (3, 1, 8),
            missing: Missing::default(),
            command: String::new(),
            state,
        }
    }

    fn done(name: &'static str, measured: &str, verdicts: &[Verdict]) -> Entry {
        let finding = Finding::check(Origin::PaperFormula, "claim", measured, true);
        let findings = verdicts.iter().map(|&verdict| Finding { verdict, ..finding.clone() });
        entry(name, State::Done, findings.collect())
    }

    fn report(entries: Vec<Entry>) -> Report {
        Report {
            subject: Subject::Paper,
            entries,
            scale: "quick".into(),
            started_text: None,
            total_seconds: 200.0,
            version: "0",
            formats: Vec::new(),
            missing: Missing::default(),
        }
    }

    #[test]
    fn tables_have_columns_and_a_sum() {
        use Verdict::{Agrees, Corrected, Inconclusive};
        let expected = "\
figure      verdicts              measured                      time
──────────  ────────────────────  ──────────────────────  ──────────
ambiguity   2 agree, 1 corrected  h = 1; h = 1; h = 1     1 min 15 s
SNR         1 inconclusive        α ≈ 2.1                 1 min 15 s
transition  running               3 of 8 cells, 1 failed  1 min 15 s
top         failed                no cells                1 min 15 s
clustering  nothing to judge                              1 min 15 s

3 of 5 figures at quick scale in 3 min 20 s.
The paper's formulas (4): 2 agree, 1 corrected, 1 inconclusive. Its experimental claims (0): none checked.
";
        let report = report(vec![
            done("ambiguity", "h = 1", &[Agrees, Corrected, Agrees]),
            done("SNR", "α ≈ 2.1", &[Inconclusive]),
            entry("transition", State::Running, vec![]),
            entry("top", State::Failed("no\n\x1b cells".into()), vec![]),
            entry("clustering", State::Done, vec![]),
        ]);
        assert_eq!(table(&report), expected);
        let partial = Report { missing: Missing { cells: 1, core_hours: 60.0 }, ..report };
        assert!(
            table(&partial)
                .contains("3 min 20 s.\n1 cell is missing; measuring it takes about 60 core-hours.\nThe paper")
        );
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let long = "the exponent is 2.07 ± 0.05, ".repeat(9);
        let all = |count: usize| Verdict::ALL.into_iter().cycle().take(count).collect::<Vec<_>>();
        let entries = vec![
            done("covariance-decomposition", &long, &all(8)),
            done("short", "π ≈ 3", &all(1)),
            entry("failed", State::Failed(long.clone()), vec![]),
        ];
        let lines: Vec<String> = entries.iter().map(line).collect();
        let table = table(&report(entries));
        let widths: Vec<usize> = table.lines().map(length).collect();
        let (headline, rows) = widths.split_last().unwrap();
        assert!(*headline > 0 && rows.iter().all(|&width| width <= WIDTH), "{table}");
        assert!(widths[..5].iter().all(|&width| width == widths[0]), "{table}");
        assert!(lines.iter().all(|line| length(line) <= WIDTH), "{lines:?}");
        assert!(lines[2].starts_with("failed: failed in 1 min 15 s: the exponent is 2.07") && lines[2].ends_with('…'));
        assert_eq!(lines[1], "short: 1 agrees in 1 min 15 s: π ≈ 3");
    }

    #[test]
    fn shortened_texts_do_not_end_in_a_separator() {
        assert_eq!(["a; b", "a; bc", "αβγδε"].map(|text| shortened(text, 4)), ["a; b", "a…", "αβγ…"]);
    }
}
