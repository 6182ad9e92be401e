#!/usr/bin/env python3
"""Writes tests/fixtures/metrics/*.json: what sacreBLEU says about invented text.

    scripts/make_metric_fixtures.py       (needs the `sacrebleu` package)

The text is made from a fixed seed out of words, numbers, marks, entities and scripts that
tokenizers trip over. Expected numbers come from sacreBLEU itself; the tests compare Verso's.
"""

import json
import pathlib
import random

import sacrebleu
from sacrebleu.metrics import BLEU, CHRF

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "metrics"

WORDS = """the a house small is was not it's don't U.S. e.g. well-known co-op Straße İstanbul ΟΔΟΣ ΣΑΣ
ΣΣ Σ naïve naïve 你好 世界 مرحبا שלום привет Мир ἀρχή 한국어 नमस्ते 👍 👩‍👩‍👧 🇱🇻 café ﬁnal ǅ ẞ Å""".split()
NUMBERS = "1 23 3.14 1,000 1,000.5 2020. 5- -5 10-20 1.2.3 ٣٫١٤ ½ Ⅷ ² 12:30 50% $5 €5 £3.50".split()
MARKS = """. , ! ? ; : ' " `` '' - -- — … « » „ “ ” ( ) [ ] { } / \\ | @-@ & &amp; &quot; &lt; &gt;
&amp;lt; &apos; <skipped> <b> </b> .. ,, .,. ,5 5, 。 、 ？ · ¿ ¡ § © ° + = ^ ~ _ # * @ ¬ ¦ ₿ ﹏ ‽ ›""".split()
SPACES = [" ", " ", " ", " ", " ", "  ", "\t", "\u00a0", "\u3000", "\u2009", "", "\u2028", "\u0085"]


def line(rng, length):
    text = rng.choice(["", "", "", " ", "  "])
    for _ in range(length):
        text += rng.choice(rng.choice([WORDS, WORDS, WORDS, NUMBERS, MARKS])) + rng.choice(SPACES)
    return text


def changed(rng, text):
    """A hypothesis for the reference `text`: pieces dropped, moved, put in, changed in case."""
    words = text.split(" ")
    for _ in range(rng.randrange(0, 4)):
        if not words:
            break
        at = rng.randrange(len(words))
        kind = rng.randrange(5)
        if kind == 0:
            del words[at]
        elif kind == 1:
            words.insert(at, rng.choice(WORDS + MARKS + NUMBERS))
        elif kind == 2:
            words[at] = words[at].upper()
        elif kind == 3:
            words.append(words.pop(at))
        else:
            words[at] = words[at][::-1]
    return " ".join(words)


def pair(rng, references):
    base = line(rng, rng.choice([0, 1, 2, 3, 4, 5, 8, 12, 20]))
    hypothesis = "" if rng.random() < 0.04 else changed(rng, base)
    return hypothesis, [base] + [changed(rng, base) for _ in range(references - 1)]


def bleu_options(rng):
    smoothing = rng.choice(["exp", "exp", "floor", "add-k", "none"])
    value = rng.choice([None, 0.01, 0.5, 2]) if smoothing in ("floor", "add-k") else None
    return {
        "tokenize": rng.choice(["13a", "13a", "intl", "intl", "none", "char"]),
        "smooth_method": smoothing,
        "smooth_value": value,
        "lowercase": rng.random() < 0.3,
        "effective_order": rng.random() < 0.6,
        "max_ngram_order": rng.choice([4, 4, 4, 1, 2, 6]),
    }


def chrf_options(rng):
    return {
        "char_order": rng.choice([6, 6, 6, 1, 3]),
        "word_order": rng.choice([0, 2, 2, 1, 3]),
        "beta": rng.choice([2, 2, 1, 3]),
        "lowercase": rng.random() < 0.3,
        "whitespace": rng.random() < 0.3,
        "eps_smoothing": rng.random() < 0.4,
    }


def versionless(signature):
    return str(signature).rsplit("|version:", 1)[0]


def case(rng, lines, references):
    pairs = [pair(rng, references) for _ in range(lines)]
    hypotheses = [p[0] for p in pairs]
    sets = [[p[1][i] for p in pairs] for i in range(references)]
    options = bleu_options(rng)
    bleu = BLEU(force=True, **options)
    score = bleu.corpus_score(hypotheses, sets)
    # add-k changes counts and totals in place; the plain ones come from another call.
    plain = BLEU(force=True, **{**options, "smooth_method": "none", "smooth_value": None})
    counts = plain.corpus_score(hypotheses, sets)
    bleu_expected = {
        "score": score.score,
        "precisions": score.precisions,
        "counts": counts.counts,
        "totals": counts.totals,
        "bp": score.bp,
        "sys_len": score.sys_len,
        "ref_len": score.ref_len,
        "signature": versionless(bleu.get_signature()),
    }
    chrf_settings = chrf_options(rng)
    chrf = CHRF(**chrf_settings)
    chrf_score = chrf.corpus_score(hypotheses, sets)
    chrf_expected = {
        "score": chrf_score.score,
        "name": chrf_score.name,
        "signature": versionless(chrf.get_signature()),
    }
    return {
        "hypotheses": hypotheses,
        "references": sets,
        "bleu": {"options": options, "expected": bleu_expected},
        "chrf": {"options": chrf_settings, "expected": chrf_expected},
    }


def tokens(rng):
    """Lines as each tokenizer cuts them."""
    out = []
    for _ in range(150):
        text = line(rng, rng.randrange(1, 8))
        cut = {}
        for name in ("13a", "intl", "none", "char"):
            metric = BLEU(tokenize=name)
            cut[name] = metric._preprocess_segment(text).split()
        out.append({"line": text, "tokens": cut, "lower": text.lower()})
    return out


def write(name, cases):
    text = ",\n".join(json.dumps(c, ensure_ascii=True) for c in cases)
    (OUT / name).write_text(
        '{"made_by": "scripts/make_metric_fixtures.py, sacreBLEU %s", "cases": [\n%s\n]}\n'
        % (sacrebleu.__version__, text), encoding="ascii")


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    rng = random.Random(20240607)
    write("sentences.json", [case(rng, 1, rng.choice([1, 1, 2, 3])) for _ in range(240)])
    write("corpora.json", [case(rng, rng.randrange(2, 15), rng.choice([1, 1, 2])) for _ in range(40)])
    write("tokens.json", tokens(rng))


if __name__ == "__main__":
    main()
