#!/usr/bin/env python3
"""A simulator of requests with hlosim as its latency model.

    examples/serving_simulator.py examples/models/qwen3-8b.yaml --device=v6e-4 --tp=4 --concurrency=16

Simulators of requests ask a latency model for the time of each step: a batch goes in, seconds come out. `Hlosim` is such
a model: it keeps one `hlosim serving --predict` running and asks it line by line. `simulate` is a small simulator that uses
it: a closed loop of equal requests, continuous batching, prompts in chunks. Its figures are those of
`hlosim serving` with the same options.
"""
from __future__ import annotations

import argparse
import json
import subprocess
from dataclasses import dataclass
from typing import List, Sequence, Tuple


class Hlosim:
    """Seconds of a step: `decodes` requests with `context` cached tokens together, and chunks of prompts."""

    def __init__(self, program: str, options: Sequence[str]):
        self._server = subprocess.Popen([program, "serving", *options, "--predict"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def step_time(self, decodes: int, context: int, prefill: Sequence[Tuple[int, int]]) -> float:
        """`prefill`: (tokens, tokens of the prompt that are computed already) of each chunk."""
        step = {"decodes": decodes, "context": context,
                "prefill": [{"tokens": tokens, "computed": computed} for tokens, computed in prefill]}
        self._server.stdin.write(json.dumps(step) + "\n")
        self._server.stdin.flush()
        answer = json.loads(self._server.stdout.readline())
        if "error" in answer:
            raise ValueError(answer["error"])
        return answer["seconds"]

    def close(self) -> None:
        self._server.stdin.close()
        self._server.wait()


@dataclass
class Request:
    arrival: float
    computed: int = 0  # tokens in the cache
    made: int = 0      # tokens of the answer
    first: float = 0.0


def simulate(latency: Hlosim, count: int, concurrency: int, isl: int, osl: int, max_tokens: int):
    """(mean TTFT, mean TPOT, output tokens per second), in seconds."""
    now, left = 0.0, count
    running: List[Request] = []
    ttft: List[float] = []
    tpot: List[float] = []
    while left > 0 or running:
        while left > 0 and len(running) < concurrency:
            running.append(Request(now))
            left -= 1
        decodes = [one for one in running if one.computed >= isl]
        budget = max_tokens - len(decodes)
        chunks = []
        for one in running:
            if one.computed < isl and budget > 0:
                chunks.append((one, min(budget, isl - one.computed)))
                budget -= chunks[-1][1]
        context = sum(one.computed + 1 for one in decodes)
        now += latency.step_time(len(decodes), context, [(tokens, one.computed) for one, tokens in chunks])
        for one in decodes:
            one.computed += 1
            one.made += 1
        for one, tokens in chunks:
            one.computed += tokens
            if one.computed >= isl:
                one.made, one.first = 1, now
                ttft.append(now - one.arrival)
        tpot += [(now - one.first) / max(osl - 1, 1) for one in running if one.made >= osl]
        running = [one for one in running if one.made < osl]
    return sum(ttft) / count, sum(tpot) / count, count * osl / now


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--hlosim", default="hlosim", help="the program")
    parser.add_argument("--device", default="v6e-4")
    parser.add_argument("--tp", type=int, default=4)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--requests", type=int, default=100)
    parser.add_argument("--isl", type=int, default=1000)
    parser.add_argument("--osl", type=int, default=100)
    parser.add_argument("--max-num-batched-tokens", type=int, default=512)
    options = parser.parse_args()
    latency = Hlosim(options.hlosim, [
        options.model, f"--device={options.device}", f"--tp={options.tp}", f"--isl={options.isl}",
        f"--osl={options.osl}", f"--max-num-batched-tokens={options.max_num_batched_tokens}"])
    ttft, tpot, rate = simulate(latency, options.requests, options.concurrency, options.isl, options.osl,
                                options.max_num_batched_tokens)
    latency.close()
    print(json.dumps({"ttft_ms_mean": ttft * 1e3, "tpot_ms_mean": tpot * 1e3, "output_tok_s": rate}))


if __name__ == "__main__":
    main()
