#!/usr/bin/env python3
"""Reference numbers of the model, written straight from its equations in Python (torch, float64).

    scripts/make_model_fixtures.py [FOLDER]           writes FOLDER/*.safetensors
    scripts/make_model_fixtures.py --check [FOLDER]   compares them with new ones (to 1e-9)

FOLDER is tests/fixtures/model by default. Needs Python 3.9 and torch, nothing else. Nothing here
comes from the C++ code: each formula is spelled out with matrix products, so that both can be wrong
only in different ways. Random numbers are Python's own and do not depend on torch's version.

A file holds (batch in order of falling source length; pad 0, unknown 1, begin 2, end 3):
  __metadata__.model           the "model" part of a configuration, as JSON
  __metadata__.sizes           source_vocab, target_vocab, joint, beam, max_len, label_smoothing
  parameter.<name>             all parameters; linear weights are [out, in]
  input.source                 [batch, source_len] ids with the end symbol, then padding
  input.source_lengths         [batch] with the end symbol
  input.target_in, target_out  [batch, target_len] begin, y_1 .. y_m and y_1 .. y_m, end
  input.target_lengths         [batch] with the end symbol
  expected.encoder             [batch, source_len, 2*hidden], 0 at padding
  expected.start               [batch, hidden] s_0
  expected.alpha               [batch, target_len, source_len], 0 at target padding
  expected.logits              [batch, target_len, target_vocab], 0 at target padding
  expected.loss, loss_smoothed [1] mean over real target tokens, end symbols included
  gradient.<name>              of expected.loss
  gradient_smoothed.<name>     of expected.loss_smoothed
  greedy.*                     always the most probable word, until the end symbol or max_len
  beam.*, beam_penalty0.*      beam search with length penalty 1 and 0
    .ids      [rows, max_len]  tokens with the end symbol, then padding
    .lengths  [rows]           tokens with the end symbol
    .sentence [rows]           which sentence; best first within each (greedy: one row each)
    .logp     [rows]           sum of log probabilities
    .score    [rows]           logp / lengths^penalty
    .finished [rows]           1: ended by the end symbol, 0: cut at max_len

Beam search, as written in search(): candidates are all (live hypothesis, word) by falling sum of
log probabilities. Going down that list, those that end go to the finished ones and the others
become the new live ones, until `beam` live ones are there. After max_len steps all are cut and count
as finished. The result is the best `beam` finished ones by score. The search stops early when
`beam` are finished and no live one can beat the worst of them even if it reached max_len at no cost.
"""

import json
import random
import struct
import sys
from pathlib import Path

import torch

PAD, BEGIN, END = 0, 2, 3
BEAM, MAX_LEN, SMOOTHING = 4, 12, 0.1


def case(kind, readout, start, tie, gru="reset_after", layers=1, attend_end=True,
         sizes=(5, 7, 6), vocab=(11, 13), lengths=((4, 3), (2, 5), (1, 1))):
    """One configuration; lengths are (source, target) words of each sentence."""
    return dict(kind=kind, readout=readout, start=start, tie=tie, gru=gru, layers=layers,
                attend_end=attend_end, embed=sizes[0], hidden=sizes[1], attention=sizes[2],
                source_vocab=vocab[0], target_vocab=vocab[1], lengths=lengths)


CASES = {
    "rnnsearch_paper": case("rnnsearch", "maxout", "backward", "none", gru="reset_before"),
    "rnnsearch_tanh_mean": case("rnnsearch", "tanh", "mean", "target"),
    "rnnsearch_without_end": case("rnnsearch", "maxout", "mean", "none", layers=2,
                                  attend_end=False),
    "rnnsearch_tie_all": case("rnnsearch", "maxout", "backward", "all", layers=2, vocab=(13, 13)),
    "conditional_default": case("conditional", "tanh", "backward", "target"),
    "conditional_maxout_mean": case("conditional", "maxout", "mean", "none", layers=2),
    "conditional_tie_all": case("conditional", "tanh", "backward", "all", vocab=(13, 13)),
    "conditional_without_end": case("conditional", "tanh", "mean", "target", gru="reset_before",
                                    attend_end=False),
    "conditional_three_layers": case("conditional", "maxout", "backward", "none",
                                     gru="reset_before", layers=3, sizes=(3, 4, 9)),
    "rnnsearch_equal_lengths": case("rnnsearch", "tanh", "backward", "target", sizes=(8, 1, 1),
                                    lengths=((3, 2), (3, 4), (3, 3), (3, 2), (1, 6))),
}


# ---- parameters and inputs ----------------------------------------------------------------------

def gru_shapes(name, inputs, hidden):
    return {f"{name}.weight_ih": (3 * hidden, inputs), f"{name}.weight_hh": (3 * hidden, hidden),
            f"{name}.bias_ih": (3 * hidden,), f"{name}.bias_hh": (3 * hidden,)}


def parameter_shapes(c):
    embed, hidden, attention = c["embed"], c["hidden"], c["attention"]
    shapes = {"target_embedding.weight": (c["target_vocab"], embed)}
    if c["tie"] != "all":
        shapes["source_embedding.weight"] = (c["source_vocab"], embed)
    for k in range(c["layers"]):
        inputs = embed if k == 0 else 2 * hidden
        shapes.update(gru_shapes(f"encoder.layer{k}.forward_gru", inputs, hidden))
        shapes.update(gru_shapes(f"encoder.layer{k}.backward_gru", inputs, hidden))
    shapes["start.weight"] = (hidden, 2 * hidden if c["start"] == "mean" else hidden)
    shapes["start.bias"] = (hidden,)
    shapes["attention.query.weight"] = (attention, hidden)
    shapes["attention.key.weight"] = (attention, 2 * hidden)
    shapes["attention.key.bias"] = (attention,)
    shapes["attention.energy"] = (attention,)
    if c["kind"] == "rnnsearch":
        shapes.update(gru_shapes("decoder.gru", embed + 2 * hidden, hidden))
    else:
        shapes.update(gru_shapes("decoder.gru1", embed, hidden))
        shapes.update(gru_shapes("decoder.gru2", 2 * hidden, hidden))
    width = 2 * embed if c["readout"] == "maxout" else embed
    shapes["readout.state.weight"] = (width, hidden)
    shapes["readout.word.weight"] = (width, embed)
    shapes["readout.context.weight"] = (width, 2 * hidden)
    shapes["readout.bias"] = (width,)
    if c["tie"] == "none":
        shapes["output.weight"] = (c["target_vocab"], embed)
    shapes["output.bias"] = (c["target_vocab"],)
    return shapes


def make_parameters(c, rng):
    parameters = {}
    for name, shape in sorted(parameter_shapes(c).items()):
        count = 1
        for size in shape:
            count *= size
        values = [2.0 * rng.random() - 1.0 for _ in range(count)]
        parameters[name] = torch.tensor(values, dtype=torch.float64).reshape(shape)
    parameters["output.bias"][END] += 1.0  # so that translations end
    return {name: value.requires_grad_() for name, value in parameters.items()}


def make_inputs(c, rng):
    def sentence(words, vocab):  # the unknown word (1) and all real ones (4 and up)
        return [rng.choice([1] + list(range(4, vocab))) for _ in range(words)]

    source = [sentence(words, c["source_vocab"]) + [END] for words, _ in c["lengths"]]
    target = [sentence(words, c["target_vocab"]) for _, words in c["lengths"]]
    return source, target


# ---- the model ----------------------------------------------------------------------------------

def gru_step(c, p, name, x, h):
    """h' = (1 - z) n + z h for one row: x [inputs], h [hidden]."""
    w_r, w_z, w_n = p[f"{name}.weight_ih"].chunk(3)
    u_r, u_z, u_n = p[f"{name}.weight_hh"].chunk(3)
    b_r, b_z, b_n = p[f"{name}.bias_ih"].chunk(3)
    d_r, d_z, d_n = p[f"{name}.bias_hh"].chunk(3)
    r = torch.sigmoid(w_r @ x + b_r + u_r @ h + d_r)
    z = torch.sigmoid(w_z @ x + b_z + u_z @ h + d_z)
    if c["gru"] == "reset_after":
        n = torch.tanh(w_n @ x + b_n + r * (u_n @ h + d_n))
    else:
        n = torch.tanh(w_n @ x + b_n + u_n @ (r * h) + d_n)
    return (1 - z) * n + z * h


def embed_source(c, p, word):
    table = "target_embedding.weight" if c["tie"] == "all" else "source_embedding.weight"
    return p[table][word]


def encode(c, p, source):
    """[len(source), 2*hidden] of one sentence."""
    layer = [embed_source(c, p, word) for word in source]
    for k in range(c["layers"]):
        zero = torch.zeros(c["hidden"], dtype=torch.float64)
        forward, state = [], zero
        for x in layer:
            state = gru_step(c, p, f"encoder.layer{k}.forward_gru", x, state)
            forward.append(state)
        backward, state = [], zero
        for x in reversed(layer):
            state = gru_step(c, p, f"encoder.layer{k}.backward_gru", x, state)
            backward.insert(0, state)
        output = [torch.cat(both) for both in zip(forward, backward)]
        layer = output if k == 0 else [new + old for new, old in zip(output, layer)]
    return torch.stack(layer)


def attended(c, encoded):
    """The positions that attention sees."""
    return encoded if c["attend_end"] else encoded[:-1]


def start_state(c, p, encoded):
    if c["start"] == "backward":
        summary = encoded[0, c["hidden"]:]
    else:
        summary = attended(c, encoded).mean(0)
    return torch.tanh(p["start.weight"] @ summary + p["start.bias"])


def attend(c, p, query, encoded):
    """Weights over the attended positions, and the context."""
    seen = attended(c, encoded)
    keys = seen @ p["attention.key.weight"].T + p["attention.key.bias"]
    scores = torch.tanh(p["attention.query.weight"] @ query + keys) @ p["attention.energy"]
    alpha = torch.softmax(scores, 0)
    return alpha, alpha @ seen


def decoder_step(c, p, state, word, encoded):
    """New state, alpha over attended positions, logits."""
    embedded = p["target_embedding.weight"][word]
    if c["kind"] == "rnnsearch":
        alpha, context = attend(c, p, state, encoded)
        state = gru_step(c, p, "decoder.gru", torch.cat([embedded, context]), state)
    else:
        middle = gru_step(c, p, "decoder.gru1", embedded, state)
        alpha, context = attend(c, p, middle, encoded)
        state = gru_step(c, p, "decoder.gru2", context, middle)
    pre = (p["readout.state.weight"] @ state + p["readout.word.weight"] @ embedded +
           p["readout.context.weight"] @ context + p["readout.bias"])
    if c["readout"] == "maxout":
        t = pre.reshape(-1, 2).max(1).values
    else:
        t = torch.tanh(pre)
    matrix = p["output.weight"] if c["tie"] == "none" else p["target_embedding.weight"]
    return state, alpha, matrix @ t + p["output.bias"]


def forced(c, p, encoded, target):
    """Alpha [len + 1, source positions] and logits [len + 1, target_vocab] of a given translation."""
    state, alphas, logits = start_state(c, p, encoded), [], []
    for word in [BEGIN] + target:
        state, alpha, scores = decoder_step(c, p, state, word, encoded)
        alphas.append(torch.cat([alpha, torch.zeros(len(encoded) - len(alpha))]))
        logits.append(scores)
    return torch.stack(alphas), torch.stack(logits)


def mean_loss(c, logits, targets, smoothing):
    total, count = 0.0, 0
    for scores, target in zip(logits, targets):
        log_probability = torch.log_softmax(scores, 1)
        for t, word in enumerate(target + [END]):
            total = total - (1 - smoothing) * log_probability[t, word]
            total = total - smoothing / c["target_vocab"] * log_probability[t].sum()
            count += 1
    return total / count


# ---- search -------------------------------------------------------------------------------------

class Hypothesis:
    def __init__(self, state, ids=(), logp=0.0):
        self.state, self.ids, self.logp = state, list(ids), logp

    def finished(self):
        return bool(self.ids) and self.ids[-1] == END

    def score(self, penalty):
        return self.logp / len(self.ids) ** penalty


def candidates(c, p, encoded, hypothesis):
    """The hypothesis with each word that may follow."""
    last = hypothesis.ids[-1] if hypothesis.ids else BEGIN
    state, _, logits = decoder_step(c, p, hypothesis.state, last, encoded)
    logp = torch.log_softmax(logits, 0)
    return [Hypothesis(state, hypothesis.ids + [word], hypothesis.logp + logp[word].item())
            for word in range(c["target_vocab"]) if word not in (PAD, BEGIN)]


def greedy(c, p, encoded):
    hypothesis = Hypothesis(start_state(c, p, encoded))
    while not hypothesis.finished() and len(hypothesis.ids) < MAX_LEN:
        hypothesis = max(candidates(c, p, encoded, hypothesis), key=lambda h: h.logp)
    return [hypothesis]


def search(c, p, encoded, penalty, rule="bound"):
    """Beam search. rule "full" never stops early, "shrink" narrows the beam by each finished one:
    neither may change the best translation of a fixture (see robust())."""
    live, finished, width = [Hypothesis(start_state(c, p, encoded))], [], BEAM
    for step in range(MAX_LEN):
        pool = [n for h in live for n in candidates(c, p, encoded, h)]
        pool.sort(key=lambda h: -h.logp)
        live = []
        for h in pool[:width] if rule == "shrink" else pool:
            (finished if h.finished() else live).append(h)
            if len(live) == width:
                break
        if rule == "shrink":
            width = len(live)
        finished = sorted(finished, key=lambda h: -h.score(penalty))
        if not live:
            break
        bound = max(h.logp for h in live) / MAX_LEN ** penalty
        if rule == "bound" and len(finished) >= BEAM and bound <= finished[BEAM - 1].score(penalty):
            live = []
            break
    finished = sorted(finished + live, key=lambda h: -h.score(penalty))
    return finished[:BEAM]


def robust(c, p, sentences):
    """True when results do not hinge on near ties or on when the search stops, and are of use:
    at least two thirds end by themselves after a word or more, and beam search finds something that
    greedy search does not."""
    better = ended = 0
    for encoded in sentences:
        one = greedy(c, p, encoded)[0]
        ended += one.finished() and len(one.ids) > 1
    if 3 * ended < 2 * len(sentences):
        return False
    ended = 0
    for encoded in sentences:
        one = greedy(c, p, encoded)[0]
        for penalty in (0.0, 1.0):
            best = search(c, p, encoded, penalty)
            scores = [h.score(penalty) for h in best]
            if any(a - b < 1e-3 for a, b in zip(scores, scores[1:])):
                return False
            better += best[0].ids != one.ids
            ended += best[0].finished() and len(best[0].ids) > 1
            for rule in ("full", "shrink"):
                if search(c, p, encoded, penalty, rule)[0].ids != best[0].ids:
                    return False
    return better >= 1 and 3 * ended >= 4 * len(sentences)


def rows(c, p, sentences, find, penalty):
    found = [(s, h) for s, encoded in enumerate(sentences) for h in find(c, p, encoded)]
    integers = lambda values: torch.tensor(values, dtype=torch.int64)
    reals = lambda values: torch.tensor(values, dtype=torch.float64)
    return {"ids": integers([h.ids + [PAD] * (MAX_LEN - len(h.ids)) for _, h in found]),
            "lengths": integers([len(h.ids) for _, h in found]),
            "sentence": integers([s for s, _ in found]),
            "logp": reals([h.logp for _, h in found]),
            "score": reals([h.score(penalty) for _, h in found]),
            "finished": integers([int(h.finished()) for _, h in found])}


# ---- files --------------------------------------------------------------------------------------

def pad(items, *sizes):
    """Tensors or lists of different lengths, stacked, 0 beyond each one's end."""
    items = [item if torch.is_tensor(item) else torch.tensor(item) for item in items]
    stacked = torch.zeros([len(items), *sizes], dtype=items[0].dtype)
    for i, item in enumerate(items):
        stacked[(i, *(slice(size) for size in item.shape))] = item.detach()
    return stacked


def gradients(p, loss):
    found = torch.autograd.grad(loss, list(p.values()), retain_graph=True, allow_unused=True)
    return {name: torch.zeros_like(value) if gradient is None else gradient
            for (name, value), gradient in zip(p.items(), found)}


def make_case(c, seed):
    """Parameters and sentences from the first seed that gives a robust search."""
    while True:
        rng = random.Random(seed)
        p = make_parameters(c, rng)
        source, target = make_inputs(c, rng)
        with torch.no_grad():
            if robust(c, p, [encode(c, p, sentence) for sentence in source]):
                return p, source, target
        seed += 1


def make_tensors(c, seed):
    p, source, target = make_case(c, seed)
    encoded = [encode(c, p, sentence) for sentence in source]
    alphas, logits = zip(*(forced(c, p, e, t) for e, t in zip(encoded, target)))
    loss = mean_loss(c, logits, target, 0.0)
    smoothed = mean_loss(c, logits, target, SMOOTHING)
    source_len, target_len = max(map(len, source)), max(map(len, target)) + 1
    tensors = {f"parameter.{name}": value for name, value in p.items()}
    tensors.update({f"gradient.{name}": value for name, value in gradients(p, loss).items()})
    tensors.update({f"gradient_smoothed.{name}": value
                    for name, value in gradients(p, smoothed).items()})
    tensors.update({
        "input.source": pad(source, source_len),
        "input.source_lengths": torch.tensor([len(s) for s in source]),
        "input.target_in": pad([[BEGIN] + t for t in target], target_len),
        "input.target_out": pad([t + [END] for t in target], target_len),
        "input.target_lengths": torch.tensor([len(t) + 1 for t in target]),
        "expected.encoder": pad(encoded, source_len, 2 * c["hidden"]),
        "expected.start": torch.stack([start_state(c, p, e) for e in encoded]),
        "expected.alpha": pad(alphas, target_len, source_len),
        "expected.logits": pad(logits, target_len, c["target_vocab"]),
        "expected.loss": loss.reshape(1),
        "expected.loss_smoothed": smoothed.reshape(1)})
    with torch.no_grad():
        for name, penalty, find in (
                ("greedy", 1.0, greedy),
                ("beam", 1.0, lambda c, p, e: search(c, p, e, 1.0)),
                ("beam_penalty0", 0.0, lambda c, p, e: search(c, p, e, 0.0))):
            for key, value in rows(c, p, encoded, find, penalty).items():
                tensors[f"{name}.{key}"] = value
    return {name: value.detach().contiguous() for name, value in tensors.items()}


def metadata(c):
    model = {"embed": c["embed"], "hidden": c["hidden"], "attention": c["attention"],
             "encoder": {"layers": c["layers"]},
             "decoder": {"kind": c["kind"], "start": c["start"], "readout": c["readout"]},
             "gru": c["gru"], "tie": c["tie"], "attend_end": c["attend_end"], "layer_norm": False}
    sizes = {"source_vocab": c["source_vocab"], "target_vocab": c["target_vocab"],
             "joint": c["tie"] == "all", "beam": BEAM, "max_len": MAX_LEN,
             "label_smoothing": SMOOTHING}
    return {"model": json.dumps(model), "sizes": json.dumps(sizes)}


def to_safetensors(tensors, about):
    """Eight bytes of header length, the header as JSON, the tensors' bytes (all little-endian)."""
    header, data = {"__metadata__": about}, b""
    for name, tensor in sorted(tensors.items()):
        code, dtype = ("q", "I64") if tensor.dtype == torch.int64 else ("d", "F64")
        values = struct.pack(f"<{tensor.numel()}{code}", *tensor.flatten().tolist())
        header[name] = {"dtype": dtype, "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(values)]}
        data += values
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def from_safetensors(content):
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8:8 + length])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            code = "q" if entry["dtype"] == "I64" else "d"
            tensors[name] = struct.unpack(f"<{(end - begin) // 8}{code}", content[begin:end])
    return tensors


def differences(old, new):
    """Names whose values differ by more than rounding."""
    old, new = from_safetensors(old), from_safetensors(new)
    if old.keys() != new.keys():
        return sorted(old.keys() ^ new.keys())
    return [name for name in old if len(old[name]) != len(new[name]) or
            any(abs(a - b) > 1e-9 * max(1.0, abs(a)) for a, b in zip(old[name], new[name]))]


def main(arguments):
    check = "--check" in arguments
    folders = [a for a in arguments if a != "--check"]
    default = Path(__file__).resolve().parent.parent / "tests" / "fixtures" / "model"
    folder = Path(folders[0]) if folders else default
    failed = False
    for index, (name, c) in enumerate(CASES.items()):
        content = to_safetensors(make_tensors(c, 1000 * (index + 1)), metadata(c))
        path = folder / f"{name}.safetensors"
        if check:
            bad = differences(path.read_bytes(), content)
            failed = failed or bool(bad)
            print(f"{path}: {'differs: ' + ', '.join(bad) if bad else 'same'}")
        else:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            print(f"{path}: {len(content)} bytes")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
