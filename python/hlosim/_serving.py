"""A simulated server of a language model under load."""
from __future__ import annotations

import json
import os
from typing import Any, Dict, List, Mapping, Optional, Union

from ._calls import Input, call, changes_of, refuse_inputs
from ._html import bytes_text, table
from ._table import Table


class Serving:
    """Throughput, latency and memory of a server; `serving` makes them. docs/serving.md defines each number."""

    def __init__(self, inputs: List[Input], names: List[str], options: Mapping[str, Any]):
        self._inputs, self._names, self._options = inputs, names, dict(options)
        self._text = self._print(format="json")
        self._data = json.loads(self._text)

    def _print(self, **options: Any) -> str:
        return call("serving", self._inputs, dict(self._options, **options), names=self._names)

    @property
    def throughput(self) -> Dict[str, float]:
        """Per second: ``request_per_s``, ``output_tok_s``, ``peak_output_tok_s``, ``total_tok_s``, of all chips."""
        return dict(self._data["throughput"])

    @property
    def latency_ms(self) -> Dict[str, Dict[str, float]]:
        """Of ``ttft``, ``tpot`` and ``itl``: ``mean``, ``median`` and ``p99``."""
        return {name: dict(one) for name, one in self._data["latency_ms"].items()}

    @property
    def speculation(self) -> Optional[Dict[str, Any]]:
        """Of speculative decoding: ``acceptance_length``, ``drafts``, ``accepted_tokens`` and so on; None without."""
        return dict(self._data["speculation"]) if "speculation" in self._data else None

    @property
    def prefill(self) -> Optional[Dict[str, Any]]:
        """Of the instances that compute prompts: ``memory``, ``steps``, ``transfer`` and so on; None where all do both."""
        return dict(self._data["prefill"]) if "prefill" in self._data else None

    @property
    def memory(self) -> Dict[str, int]:
        """Bytes of a device by class, and the tokens and requests that fit."""
        return dict(self._data["memory"])

    @property
    def bound_by(self) -> str:
        """The category that takes most of the device's time."""
        return self._data["bound_by"]

    @property
    def assumptions(self) -> List[str]:
        """What is assumed, a sentence each."""
        return list(self._data["assumptions"])

    @property
    def curve(self) -> Table:
        """A row per number of concurrent requests; empty without ``curve=True``.

        ``output_tok_s_chip``, ``tok_s_user`` and so on; ``front``: no other load has more of both.
        """
        return Table(self._data.get("curve", []))

    def text(self) -> str:
        """For people, in the words of ``vllm bench serve``."""
        return self._print(format="text")

    def to_json(self) -> str:
        """What ``hlosim serving --format=json`` prints, byte for byte."""
        return self._text

    def to_dict(self) -> Dict[str, Any]:
        """That JSON as a dictionary of one's own."""
        return json.loads(self._text)

    def save(self, path: "os.PathLike[str] | str") -> None:
        """Writes it: .html (a page with the curve), .json or .txt."""
        target, suffix = os.path.abspath(path), os.path.splitext(os.fspath(path))[1].lower()
        refuse_inputs(path, self._names)
        if suffix == ".html":
            self._print(html=target)
        elif suffix in (".json", ".txt"):
            self._print(format="json" if suffix == ".json" else "text", output=target)
        else:
            raise ValueError("%r: expects a name that ends in .html, .json or .txt" % os.fspath(path))

    def __repr__(self) -> str:
        return "<hlosim.Serving %s on %s: %.1f tok/s, TPOT %.2f ms>" % (
            self._data["model"], self._data["device"], self.throughput["output_tok_s"], self.latency_ms["tpot"]["mean"])

    def _repr_html_(self) -> str:
        rows = [["output tokens/s", "%.1f" % self.throughput["output_tok_s"]]]
        rows += [[name.upper() + ", ms (median, P99)", "%.2f, %.2f" % (one["median"], one["p99"])]
                 for name, one in self.latency_ms.items()]
        rows += [[name, bytes_text(self.memory[name + "_bytes"])] for name in ("weights", "cache", "headroom")]
        return table(("", self._data["model"] + " on " + self._data["device"]), rows)


def serving(model: Union[str, "os.PathLike[str]", Mapping[str, Any]], device: str, set: Optional[Mapping[str, Any]] = None,
            **options: Any) -> Serving:
    """Simulates a server with continuous batching.

    Parameters
    ----------
    model : path, name of a built-in model, or dict
        A dictionary has the keys of a model file (docs/models.md), or of a Hugging Face config.json.
    device : str
        A built-in device with its slice (``"v6e-8"``), or a device file.
    set : dict, optional
        Keys of the device: ``{"host.serving_step": "1 ms"}``.
    **options
        Those of ``hlosim serving``: exactly one of ``concurrency``, ``request_rate`` and ``trace``; ``isl``, ``osl``, ``tp``,
        ``dp``, ``ep``, ``max_num_batched_tokens``, ``max_num_seqs``, ``weight_dtype``, ``kv_cache_dtype``, ``curve``,
        ``num_speculative_tokens``, ``acceptance_rate``, ``speculative_model`` (a path or a built-in name), ``prefill_instances``,
        ``decode_instances``, ``prefill_device``, …

    Returns
    -------
    Serving

    Examples
    --------
    >>> import hlosim
    >>> model = {"name": "small", "layers": 2, "d_model": 256, "d_ff": 512, "q_heads": 4, "kv_heads": 2, "vocab": 512}
    >>> server = hlosim.serving(model, "v6e", concurrency=4, isl=64, osl=16)
    >>> server.throughput["output_tok_s"] > 0, server.memory["page_tokens"]
    (True, 16)
    """
    inputs: List[Input] = []
    names: List[str] = []
    if isinstance(model, Mapping):
        is_config = "model_type" in model or "architectures" in model
        lines = ["%s: %s" % (key, json.dumps(value, ensure_ascii=False)) for key, value in model.items()]
        inputs.append(("<model>", json.dumps(model, ensure_ascii=False) if is_config else "\n".join(lines) + "\n", []))
    else:
        names.append(os.fspath(model))
    return Serving(inputs, names, dict(options, device=device, set=changes_of(set)))
