//! Batches that no device may take.

use gardenpath_nn::engine::Engine;

/// Sentences, labels, and what is said about them.
type Case<'a> = (&'a [&'a [u8]], &'a [u8], &'a str);

/// Gives an engine for grammars of depth 2 with 8 tokens and 8 classes what it cannot read, and checks that nothing changes.
pub fn check_refusals(engine: &mut dyn Engine) {
    let good: &[u8] = &[0, 1, 2, 3];
    let before = (engine.state(), engine.logits(&[good]).unwrap());
    let cases: [Case; 9] = [
        (
            &[good, &[7, 7, 8, 7]],
            &[0, 1],
            "sentence 1: token 8 at position 2 is not one of the 8 tokens of the network",
        ),
        (&[&[255; 4]], &[0], "sentence 0: token 255 at position 0 is not one of the 8 tokens of the network"),
        (&[&[0; 3]], &[0], "sentence 0: no tree of the network has 3 tokens, they have 4 to 9"),
        (&[good, good, &[0; 10]], &[0; 3], "sentence 2: no tree of the network has 10 tokens, they have 4 to 9"),
        (&[&[]], &[0], "sentence 0: no tree of the network has 0 tokens, they have 4 to 9"),
        (&[good], &[8], "sentence 0: root 8 is not one of the 8 classes of the network"),
        (&[good], &[], "there are 0 labels for 1 sentences"),
        (&[good], &[1, 2], "there are 2 labels for 1 sentences"),
        (&[], &[], "a number of sentences of 0 is too small, at least 1 is needed"),
    ];
    for (sentences, roots, message) in cases {
        assert_eq!(engine.step(sentences, roots).unwrap_err().to_string(), message);
        if message.contains("token") {
            assert_eq!(engine.logits(sentences).unwrap_err().to_string(), message);
        }
    }
    assert!(engine.logits(&[]).unwrap().is_empty());
    assert!((engine.state(), engine.logits(&[good]).unwrap()) == before, "a refused batch changes nothing");
}
