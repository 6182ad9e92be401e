"""A made-up run for scripts/check_report: curves as training makes them, and probe pairs whose
attention grows from uniform to sharp, in scripts from left to right and from right to left, of 1 to
60 words, hostile ones among them. The numbers obey the formulas that the page explains."""

import json
import math
import random

UPDATES = [0, 1, 2, 5, 10, 20, 40, 80, 160, 320, 640, 1000]

PAIRS = [
    # source, target, gold links
    ("das kleine Haus steht am Meer .", "the small house is by the sea .",
     "0-0 1-1 2-2 3-3 4-4 4p5 5-6 6-7"),
    ("البيت الصغير بجانب البحر .", "הבית הקטן ליד הים .", "0-0 1-1 2-2 3-3 4-4"),
    ("我 喜欢 读 书 。", "मुझे किताबें पढ़ना पसंद है ।", None),
    ("</script><script>alert(1)</script> & \" ' ]]> <!-- \\ \u2028x\u0007 \u202eabc",
     "&amp; <img/src=x/onerror=alert(1)> `${x}` -->", None),
    (" ".join(f"Quellwort{i}" for i in range(60)), " ".join(f"targetword{i}" for i in range(60)),
     " ".join(f"{i}-{i}" for i in range(60))),
    ("ja", "yes", None),
]


def softmax(energies):
    powers = [math.exp(e - max(energies)) for e in energies]
    return [p / sum(powers) for p in powers]


def rounded(numbers):
    return [float(f"{x:.6g}") for x in numbers]


def probe_line(rng, pair, update):
    source, target, links = PAIRS[pair]
    source, target = source.split(" "), target.split(" ")
    columns, rows = len(source) + 1, len(target) + 1
    sharpness = 9 * update / (update + 60)
    alpha, g, advantage = [], [], []
    for row in range(rows):
        best = row * (columns - 1) / max(1, rows - 1)
        alpha.append(softmax([sharpness * math.exp(-abs(column - best)) for column in range(columns)]))
        g.append([math.exp(-update / 400) * (0.3 - math.exp(-abs(column - best)) + rng.gauss(0, 0.2))
                  for column in range(columns)])
        mean = sum(a * x for a, x in zip(alpha[row], g[row]))
        advantage.append([x - mean for x in g[row]])
    shares = []
    for _ in range(columns):
        key, start = rng.uniform(-0.1, 0.3), rng.uniform(0, 0.1)
        recurrent = rng.uniform(0.1, 0.4)
        shares.append([1 - key - start - recurrent, key, start, recurrent])
    record = {
        "update": update, "pair": pair, "source": source, "target": target,
        "source_end": True, "target_end": True, "loss": rows * (1 + 5 * math.exp(-update / 300)),
        "alpha": [rounded(row) for row in alpha], "g": [rounded(row) for row in g],
        "advantage": [rounded(row) for row in advantage],
        "context_gradient": rounded(rng.uniform(0.1, 1) for _ in range(rows)),
        "state_gradient": rounded(rng.uniform(0.1, 1) for _ in range(columns)),
    }
    for path, name in enumerate(("value", "key", "start", "recurrent")):
        record[f"{name}_share"] = rounded(share[path] for share in shares)
    if links is not None:
        record["links"] = links
    return record


def metrics(rng):
    for update in range(10, 1001, 10):
        fall = math.exp(-update / 300)
        loss = 1.2 + 5 * fall + rng.gauss(0, 0.1)
        yield {"kind": "train", "update": update, "epoch": update / 50, "loss": loss,
               "perplexity": math.exp(loss), "tokens_per_second": 5000 + rng.gauss(0, 100),
               "learning_rate": 1e-3 * min(1, update / 100), "gradient_norm": 0.5 + 3 * fall,
               "padding": 0.1, "skipped": 0, "elapsed": update * 3.7, "left": None,
               "left_to_validation": None}
        if update in UPDATES:
            yield {"kind": "probe", "update": update, "epoch": update / 50, "loss": 1 + 5 * fall,
                   "entropy": 0.4 + 2 * fall, "energy_gradient": 0.3 * fall,
                   "query_gradient": 0.1 * fall, "key_gradient": 0.2 * fall, "value_share": 0.5,
                   "key_share": 0.1 + 0.2 * fall, "start_share": 0.05,
                   "recurrent_share": 0.35 - 0.2 * fall, "aer": 0.1 + 0.6 * fall}
        if update % 100 == 0:
            yield {"kind": "validation", "update": update, "epoch": update / 50, "loss": 1.4 + 5 * fall,
                   "perplexity": math.exp(1.4 + 5 * fall), "bleu": 40 * (1 - fall),
                   "chrf": 60 * (1 - fall), "aer": 0.12 + 0.5 * fall, "entropy": 0.5 + 2 * fall,
                   "coverage": 1 - 0.4 * fall, "bleu_signature": "tok:13a", "chrf_signature": "nc:6",
                   "metric": "bleu", "best": 40 * (1 - fall), "best_update": update,
                   "without_gain": 0, "patience": 5, "learning_rate": 1e-3, "seconds": 2.5,
                   "elapsed": update * 3.7, "extra": False}
    yield {"kind": "end", "update": 1000, "reason": "training.max_updates (1000) reached"}


def write_run(folder, config):
    """Fills the folder; `config` is the text of its config.json."""
    rng = random.Random(1)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(config, encoding="utf-8")
    with open(folder / "metrics.jsonl", "w", encoding="utf-8") as out:
        for record in metrics(rng):
            out.write(json.dumps(record) + "\n")
    with open(folder / "probe.jsonl", "w", encoding="utf-8") as out:
        for update in UPDATES:
            for pair in range(len(PAIRS)):
                out.write(json.dumps(probe_line(rng, pair, update), ensure_ascii=False) + "\n")
