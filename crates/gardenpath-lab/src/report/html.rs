//! The report as one self-contained HTML file without scripts.
//!
//! The page is also well-formed XML, so that any tool can read it and a test can check that texts are escaped.

use super::Finding;
use super::entry::{Entry, Format, Report, State, Subject};
use crate::choice::Choice;
use crate::draw::table::duration;
use crate::experiment::plan::Origin;
use crate::fit::Verdict;
use gardenpath_plot::escaped;
use std::fmt::Write;

const STYLE: &str = include_str!("html/style.css");

const ABOUT: &str = "A reproduction of the figures of the paper <cite>Deep Networks \
    Learn to Parse Uniform-Depth Context-Free Languages from Local Statistics</cite>. Each section draws a figure from \
    new measurements, states what the paper says, and judges the paper's claims one by one.";

const ABOUT_EXPERIMENTS: &str = "Each section is an experiment: its expected outcome, a figure of its results, and its claims, \
    judged by 95% intervals over seeds.";

/// The page in its current state.
pub fn html(report: &Report) -> String {
    let sections: String = report.entries.iter().map(|entry| section(entry, report)).collect();
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <meta name=\"color-scheme\" content=\"light dark\"/>\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
         {header}<main>\n{overview}{sections}</main>\n</body>\n</html>\n",
        title = if report.subject == Subject::Paper { "gardenpath: the report" } else { "gardenpath: experiments" },
        header = header(report),
        overview = overview(report),
    )
}

fn header(report: &Report) -> String {
    let (done, all, took) = (report.done(), report.entries.len(), duration(report.total_seconds));
    let (scale, program) = (escaped(&report.scale), note(&format!("gardenpath {}", escaped(report.version))));
    let started = report.started_text.as_deref().map_or(String::new(), |text| format!(" Started {}.", escaped(text)));
    let growing =
        if report.is_growing() { " This page is updated as results arrive: reload it to see more." } else { "" };
    let legend: String = Verdict::ALL.into_iter().map(|verdict| legend(verdict, report.count(verdict))).collect();
    let headline = escaped(&report.headline());
    let missing = report.missing.words().map_or(String::new(), |words| {
        format!(" <strong>The report is partial</strong>: {words}. Figures show the available results, and open claims list the cells they need.")
    });
    if report.subject == Subject::Experiments {
        return format!(
            "<header>\n<h1>Experiments</h1>\n<p>{ABOUT_EXPERIMENTS}</p>\n<p>Scale: <strong>{scale}</strong>. {program}</p>\n\
             <ul class=\"legend\">\n{legend}</ul>\n</header>\n"
        );
    }
    format!(
        "<header>\n<h1>Languages with hidden trees: the report</h1>\n<p>{ABOUT}</p>\n\
         <p>Scale: <strong>{scale}</strong>. {done} of {all} figures are done; this run took {took}, besides earlier measurements.{missing}{started}{growing} \
         {program}</p>\n<p><strong>{headline}</strong></p>\n<ul class=\"legend\">\n{legend}</ul>\n</header>\n"
    )
}

/// The number of claims with a verdict, and its meaning.
fn legend(verdict: Verdict, count: usize) -> String {
    format!("<li>{} {}.</li>\n", badge(verdict, &verdict.counted(count)), meaning(verdict))
}

fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "The whole 95% interval lies within the claimed range",
        Verdict::Differs => "The whole interval lies outside the claimed range",
        Verdict::Corrected => "It lies outside the paper's range and within that of our correction",
        Verdict::Inconclusive => "The interval lies neither inside nor outside, or there is none",
    }
}

fn overview(report: &Report) -> String {
    let rows: String = report.entries.iter().map(overview_row).collect();
    format!(
        "<table class=\"overview\">\n<thead><tr><th scope=\"col\">{what}</th><th scope=\"col\">Verdicts</th>\
         <th scope=\"col\" class=\"time\">Time</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n",
        what = if report.subject == Subject::Paper { "Figure" } else { "Experiment" },
    )
}

fn overview_row(entry: &Entry) -> String {
    let (name, title, took) = (escaped(&entry.name), escaped(&entry.title), duration(entry.seconds));
    let mut cell: Vec<String> = state_badge(&entry.state).into_iter().collect();
    for verdict in Verdict::ALL {
        let count = entry.count(verdict);
        if count > 0 {
            cell.push(badge(verdict, &verdict.counted(count)));
        }
    }
    if entry.state == State::Running || entry.missing.cells > 0 {
        cell.push(note(&entry.progress()));
    } else if cell.is_empty() {
        cell.push(note("nothing to judge"));
    }
    format!(
        "<tr><th scope=\"row\"><a href=\"#{name}\">{title}</a> {}</th><td>{}</td><td class=\"time\">{took}</td></tr>\n",
        note(&name),
        cell.join(" ")
    )
}

/// A note in smaller type.
fn note(html: &str) -> String {
    format!("<span class=\"note\">{html}</span>")
}

fn section(entry: &Entry, report: &Report) -> String {
    let subject = report.subject;
    let (name, title, paper) = (escaped(&entry.name), escaped(&entry.title), escaped(&entry.paper));
    let (heading, by) = match subject {
        Subject::Paper if entry.missing.cells > 0 => ("The paper says", "To measure the missing cells"),
        Subject::Paper => ("The paper says", "At full scale"),
        Subject::Experiments => ("Expected outcome", "Measured by"),
    };
    let paper = if paper.is_empty() { paper } else { format!("<h3>{heading}</h3>\n<p>{paper}</p>\n") };
    let (took, command) = (duration(entry.seconds), escaped(&entry.command));
    let cells = if entry.cells.2 > 0 { format!(" for {}", entry.progress()) } else { String::new() };
    let missing = entry.missing.words().map_or(String::new(), |words| format!(" {words}."));
    format!(
        "<section id=\"{name}\">\n<h2><a href=\"#{name}\">{title}</a></h2>\n{state}{figure}\
         {paper}{findings}\
         <p class=\"note\">Compute time: {took}{cells}.{missing}</p>\n\
         <p class=\"command\">{by}: <code>{command}</code></p>\n</section>\n",
        state = state(entry),
        figure = entry.figure.as_deref().map_or(String::new(), |svg| figure(entry, svg, report)),
        findings = findings(&entry.findings),
    )
}

/// The placeholder of a missing figure.
fn state(entry: &Entry) -> String {
    let text = match &entry.state {
        State::Done => return String::new(),
        State::Waiting => "No results yet.".into(),
        State::Running => "Results are arriving.".into(),
        State::Failed(reason) => escaped(reason),
    };
    let badge = state_badge(&entry.state).unwrap_or_default();
    format!("<p class=\"state\">{badge} {text}</p>\n")
}

fn state_badge(state: &State) -> Option<String> {
    let words = match state {
        State::Done => return None,
        State::Waiting => "… waiting",
        State::Running => "▸ running",
        State::Failed(_) => "! failed",
    };
    Some(format!("<span class=\"badge unfinished\">{words}</span>"))
}

/// The figure as a separate image, since IDs inside several drawings on one page would clash.
fn figure(entry: &Entry, svg: &str, report: &Report) -> String {
    let (name, title, caption) = (escaped(&entry.name), escaped(&entry.title), escaped(&entry.caption));
    if report.subject == Subject::Experiments {
        return format!(
            "<figure>\n<img src=\"data:image/svg+xml;base64,{}\" alt=\"{title}\"/>\n<figcaption>{caption}</figcaption>\n</figure>\n",
            base64(svg.as_bytes())
        );
    }
    let link = |format: &Format| format!("<a href=\"figures/{name}.{format}\">{}</a>", format.name().to_uppercase());
    let files: Vec<String> = report.formats.iter().map(link).collect();
    let picture = format!("<img src=\"data:image/svg+xml;base64,{}\" alt=\"{title}\"/>", base64(svg.as_bytes()));
    let picture = match report.formats.contains(&Format::Svg) {
        true => format!("<a class=\"card\" href=\"figures/{name}.svg\">{picture}</a>"),
        false => picture,
    };
    format!(
        "<figure>\n{picture}\n<figcaption>{caption} <span class=\"files\">{}</span></figcaption>\n</figure>\n",
        files.join(" ")
    )
}

/// More lines about one claim are folded.
const LINES: usize = 4;

fn findings(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return String::new();
    }
    let mut rows = String::new();
    for finding in findings {
        let allows = if finding.allows.is_empty() { String::new() } else { format!(" Expected: {}", finding.allows) };
        let same = finding.same_as.as_ref().map_or(String::new(), |same| format!(" The same claim as {same}."));
        let about = note(&escaped(&format!("{}.{allows}{same}", source(finding.source))));
        let _ = writeln!(
            rows,
            "<tr><td>{claim}<br/>{about}</td><td>{measured}</td><td>{badge}</td></tr>",
            claim = escaped(&finding.claim),
            measured = lines(&finding.measured),
            badge = badge(finding.verdict, finding.verdict.word()),
        );
    }
    format!(
        "<h3>Findings</h3>\n<table class=\"findings\">\n<thead><tr><th scope=\"col\">Claim</th>\
         <th scope=\"col\">Measured</th><th scope=\"col\">Verdict</th></tr></thead>\n<tbody>\n{rows}</tbody>\n</table>\n"
    )
}

/// The source of a claim.
fn source(origin: Origin) -> &'static str {
    match origin {
        Origin::PaperFormula => "A formula of the paper",
        Origin::PaperExperiment => "An experiment of the paper",
        Origin::Identity => "An identity",
        Origin::Ours => "Our own claim",
    }
}

/// Lines below one another; many of them are folded.
fn lines(lines: &[String]) -> String {
    let all = lines.iter().map(|line| escaped(line)).collect::<Vec<_>>();
    if all.len() <= LINES {
        return all.join("<br/>");
    }
    format!("<details><summary>{} groups</summary>{}</details>", all.len(), all.join("<br/>"))
}

/// A verdict badge that is readable without color: by its symbol, text and border.
fn badge(verdict: Verdict, words: &str) -> String {
    let (class, sign) = match verdict {
        Verdict::Agrees => ("agrees", "✓"),
        Verdict::Differs => ("differs", "✗"),
        Verdict::Corrected => ("corrected", "✎"),
        Verdict::Inconclusive => ("inconclusive", "?"),
    };
    format!("<span class=\"badge {class}\" title=\"{}\">{sign} {words}</span>", meaning(verdict))
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, k| bits << 8 | usize::from(three.get(k).copied().unwrap_or(0)));
        let digit = |k: usize| char::from(DIGITS[bits >> (18 - 6 * k) & 63]);
        // Each group has one more digit than bytes; the rest is padding.
        text.extend((0..4).map(|k| if k <= three.len() { digit(k) } else { '=' }));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::entry::Missing;
    use roxmltree::{Document, Node, ParsingOptions};

    const NASTY: &str = "</p><script>alert(\"1\")</script> & 'a' < b\u{1}\n-->]]>";
    const NAMES: [&str; 5] = ["amb_full", "SNR", "1_2_arrows", "top", "a\"<&b"];

    fn entry(name: &'static str, state: State) -> Entry {
        let finding = Finding::check(Origin::Ours, NASTY, NASTY, true);
        let findings = Verdict::ALL.map(|verdict| Finding { verdict, ..finding.clone() });
        Entry {
            name: name.into(),
            title: NASTY.into(),
            paper: NASTY.into(),
            caption: NASTY.into(),
            figure: (state == State::Done).then(|| "<svg id=\"a\"/>".into()),
            findings: if state == State::Done { findings.into() } else { Vec::new() },
            seconds: 200.0,
            cells: (3, 1, 8),
            missing: Missing { cells: 4, core_hours: 2.5 },
            command: NASTY.into(),
            state,
        }
    }

    fn page() -> String {
        page_about(Subject::Paper)
    }

    fn page_about(subject: Subject) -> String {
        let states = [State::Done, State::Waiting, State::Running, State::Failed(NASTY.into()), State::Done];
        let entries = NAMES.into_iter().zip(states).map(|(name, state)| entry(name, state)).collect();
        html(&Report {
            subject,
            entries,
            scale: NASTY.into(),
            started_text: Some(NASTY.into()),
            total_seconds: 1.0,
            version: NASTY,
            formats: vec![Format::Svg, Format::Png],
            missing: Missing { cells: 4, core_hours: 2.5 },
        })
    }

    fn with_document(check: impl Fn(&Document)) {
        let page = page();
        let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
        check(&Document::parse_with_options(&page, options).unwrap());
    }

    fn elements<'a>(document: &'a Document, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> {
        document.descendants().filter(move |node| node.has_tag_name(name))
    }

    fn text(node: Node) -> String {
        node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect()
    }

    #[test]
    fn texts_arrive_as_they_are() {
        with_document(|document| {
            let shown = NASTY.replace('\u{1}', "\u{fffd}").replace('\n', " ");
            assert_eq!(elements(document, "code").filter(|&code| text(code) == shown).count(), 5);
            assert_eq!(elements(document, "td").filter(|&cell| text(cell) == shown).count(), 2 * 4);
            let claims =
                elements(document, "td").filter(|&cell| text(cell) == format!("{shown}Our own claim.")).count();
            assert_eq!(claims, 2 * 4);
            assert_eq!(elements(document, "img").filter(|image| image.attribute("alt") == Some(&shown)).count(), 2);
            assert!(elements(document, "p").any(|line| text(line) == format!("! failed {shown}")));
            assert!(elements(document, "p").any(|line| text(line).contains(&format!("Started {shown}."))));
        });
    }

    #[test]
    fn pages_about_experiments_are_one_file() {
        let page = page_about(Subject::Experiments);
        let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
        let document = Document::parse_with_options(&page, options).unwrap();
        assert!(document.descendants().filter_map(|node| node.attribute("href")).all(|link| link.starts_with('#')));
        let badges: Vec<String> = elements(&document, "span")
            .filter(|b| b.attribute("class") == Some("badge inconclusive"))
            .map(text)
            .collect();
        assert_eq!(
            badges,
            ["? 2 inconclusive", "? 1 inconclusive", "? 1 inconclusive", "? inconclusive", "? inconclusive"]
        );
        assert!(
            !page.contains("this run took") && !page.contains("The paper's formulas"),
            "the same results give the same bytes"
        );
    }

    #[test]
    fn every_figure_has_a_row_and_a_section() {
        with_document(|document| {
            let ids: Vec<_> = elements(document, "section").filter_map(|section| section.attribute("id")).collect();
            assert_eq!(ids, NAMES);
            let table = elements(document, "table").next().unwrap();
            let links: Vec<_> = table.descendants().filter_map(|node| node.attribute("href")).collect();
            assert_eq!(links, NAMES.map(|name| format!("#{name}")));
            let states = elements(document, "p").filter(|line| line.attribute("class") == Some("state"));
            assert_eq!(
                states.take(2).map(text).collect::<Vec<_>>(),
                ["… waiting No results yet.", "▸ running Results are arriving."]
            );
            let badges =
                |class: &str| elements(document, "span").filter(|b| b.attribute("class") == Some(class)).count();
            // Once in the legend, and for each of two figures once in the overview and once in the table.
            assert_eq!(["badge agrees", "badge differs", "badge corrected", "badge inconclusive"].map(badges), [5; 4]);
        });
    }

    #[test]
    fn links_lead_somewhere_and_nothing_is_loaded() {
        with_document(|document| {
            let ids: Vec<_> = document.descendants().filter_map(|node| node.attribute("id")).collect();
            for link in document.descendants().filter_map(|node| node.attribute("href")) {
                let file = link.strip_prefix("figures/").and_then(|file| file.rsplit_once('.'));
                let within = link.strip_prefix('#').is_some_and(|id| ids.contains(&id));
                assert!(within || file.is_some_and(|(name, kind)| ids.contains(&name) && "svg png".contains(kind)));
            }
            let sources: Vec<_> = document.descendants().filter_map(|node| node.attribute("src")).collect();
            assert_eq!(sources, ["data:image/svg+xml;base64,PHN2ZyBpZD0iYSIvPg=="; 2]);
            assert!(["script", "link", "iframe", "object"].iter().all(|&name| elements(document, name).count() == 0));
        });
        assert!(!page().contains("http") && !STYLE.contains("url(") && !STYLE.contains("@import"));
    }

    #[test]
    fn partial_pages_say_so() {
        with_document(|document| {
            let paragraphs: Vec<String> = elements(document, "p").map(text).collect();
            let words = "4 cells are missing; measuring them takes about 2.5 core-hours.";
            assert!(paragraphs.iter().any(|line| line.contains(&format!("The report is partial: {words}"))));
            let each = paragraphs.iter().filter(|line| line.contains(&format!("for 3 of 8 cells, 1 failed. {words}")));
            assert_eq!(each.count(), 5);
            assert!(paragraphs.iter().any(|line| line.starts_with("To measure the missing cells: ")));
        });
    }

    #[test]
    fn bytes_are_written_with_64_digits() {
        let texts = [b"".as_slice(), b"f", b"fo", b"foo", b"foob", b"\xff\xfe\xfd", b"\xfb\xff"].map(base64);
        assert_eq!(texts, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "//79", "+/8="]);
    }
}
