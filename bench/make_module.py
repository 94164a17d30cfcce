#!/usr/bin/env python3
"""Writes a scheduled HLO module of about N instructions, for benchmarks and tests of scale.

  bench/make_module.py N [-o FILE] [--no-metadata]

The module is a transformer as a TPU runs it after optimization: tiled bf16 and f32 arrays, matrix products in output
fusions, normalization and softmax fusions with reductions, weights that are copied into VMEM (S(1)) while something
else runs, cache updates, all-reduces, asynchronous all-gathers and collective permutes over 4 replicas, every fifth
layer a while loop, every eleventh a conditional. Layers are added until N instructions, those of called
computations included, are reached: the count overshoots by less than one layer. The same N gives the same text.
"""
import argparse
import sys

TOKENS = 512
HIDDEN = 1024
HEADS = 8
HEAD = HIDDEN // HEADS
WIDTHS = (2816, 4096, 3584)  # of the feed-forward part, by layer
WEIGHT_SETS = 32             # layers beyond reuse the weights of earlier ones
REPLICAS = 4


def tiles(element, rank):
    """The native tiling of an array of that element type."""
    if element == "bf16":
        return {0: "T(256)", 1: "T(1024)(128)(2,1)"}.get(rank, "T(8,128)(2,1)")
    if element == "pred":
        return {0: "T(512)", 1: "T(1024)(128)(4,1)"}.get(rank, "T(8,128)(4,1)")
    return {0: "T(128)", 1: "T(1024)"}.get(rank, "T(8,128)")


def array(element, *dimensions, order=None, space=0):
    """Text of an array shape; `order` is minor to major, by default the last dimension is minor."""
    rank = len(dimensions)
    order = order if order is not None else range(rank - 1, -1, -1)
    where = f"S({space})" if space else ""
    return f"{element}[{','.join(map(str, dimensions))}]{{{','.join(map(str, order))}:{tiles(element, rank)}{where}}}"


class Computation:
    def __init__(self, module, name, entry=False):
        self.module, self.name, self.entry = module, name, entry
        self.lines = []
        self.parameters = 0

    def add(self, shape, opcode, operands=(), attributes="", name=None, stack=None):
        """Appends an instruction; returns its name."""
        name = name or self.module.unique(opcode)
        self.module.instructions += 1
        text = f"{name} = {shape} {opcode}({', '.join(operands)})" + (f", {attributes}" if attributes else "")
        if stack and self.module.metadata:
            text += (f', metadata={{op_type="{opcode}" op_name="jit(step)/jit(main)/{stack}" '
                     f'source_file="/model/layers.py" source_line={self.module.instructions % 900 + 1}}}')
        self.lines.append(text)
        return name

    def parameter(self, shape, name=None):
        number = self.parameters
        self.parameters += 1
        return self.add(shape, "parameter", [str(number)], name=name or self.module.unique("param"))

    def constant(self, shape, value):
        return self.add(shape, "constant", [value])

    def text(self):
        lines = [f"  {line}" for line in self.lines[:-1]] + [f"  ROOT {self.lines[-1]}"]
        return f"{'ENTRY ' if self.entry else ''}{self.name} {{\n" + "\n".join(lines) + "\n}\n"


class Module:
    def __init__(self, metadata):
        self.metadata = metadata
        self.instructions = 0
        self.counts = {}
        self.computations = []

    def unique(self, stem):
        number = self.counts.get(stem, 0)
        self.counts[stem] = number + 1
        return f"{stem}.{number}" if number else stem

    def computation(self, stem):
        """A new computation that others may call from here on."""
        computation = Computation(self, self.unique(stem))
        self.computations.append(computation)
        return computation


def scalar_function(module, element, opcode):
    function = module.computation(f"{opcode}_{element}")
    shape = array(element)
    function.add(shape, opcode, [function.parameter(shape), function.parameter(shape)])
    return function.name


class Transformer:
    def __init__(self, metadata):
        self.module = Module(metadata)
        self.sum = scalar_function(self.module, "f32", "add")
        self.largest = scalar_function(self.module, "f32", "maximum")
        self.entry = Computation(self.module, "main", entry=True)
        self.parameter_shapes = []
        self.weights = {}
        self.channel = 0
        self.x_shape = array("bf16", TOKENS, HIDDEN)
        self.x = self.entry_parameter(self.x_shape, "activations")
        self.position = self.entry_parameter(array("s32"), "position")
        self.layer_number = 0

    # ── pieces ──

    def entry_parameter(self, shape, name):
        self.parameter_shapes.append(shape)
        return self.entry.parameter(shape, name)

    def weight(self, kind, shape):
        key = f"{kind}_{self.layer_number % WEIGHT_SETS}"
        if kind == "ff_in" or kind == "ff_out":
            key += f"_w{self.width()}"
        if key not in self.weights:
            self.weights[key] = self.entry_parameter(shape, key)
        return self.weights[key]

    def width(self):
        return WIDTHS[self.layer_number % len(WIDTHS)]

    def next_channel(self):
        self.channel += 1
        return self.channel

    def fuse(self, shape, kind, operands, body, stack):
        """A fusion of `operands`, a list of (name, shape); body(computation, parameters) adds the rest."""
        computation = self.module.computation("fused_computation")
        body(computation, [computation.parameter(operand_shape) for _, operand_shape in operands])
        return self.entry.add(shape, "fusion", [name for name, _ in operands],
                              f"kind={kind}, calls={computation.name}", stack=f"layer_{self.layer_number}/{stack}")

    def prefetch(self, weight, *dimensions):
        """Starts a copy into VMEM; returns what finish() takes."""
        there, here = array("bf16", *dimensions), array("bf16", *dimensions, space=1)
        return self.entry.add(f"({here}, {there}, u32[]{{:S(2)}})", "copy-start", [weight]), here

    def finish(self, copy):
        start, shape = copy
        return self.entry.add(shape, "copy-done", [start]), shape

    # ── parts of a layer ──

    def normalize(self, x):
        wide, column = array("f32", TOKENS, HIDDEN), array("f32", TOKENS)
        scale = self.weight("scale", array("bf16", HIDDEN))

        def body(c, p):
            value = c.add(wide, "convert", [p[0]])
            square = c.add(wide, "multiply", [value, value])
            zero = c.constant(array("f32"), "0")
            total = c.add(column, "reduce", [square, zero], f"dimensions={{1}}, to_apply={self.sum}")
            share = c.constant(array("f32"), str(1.0 / HIDDEN))
            shares = c.add(column, "broadcast", [share], "dimensions={}")
            mean = c.add(column, "multiply", [total, shares])
            factor = c.add(column, "rsqrt", [mean])
            factors = c.add(wide, "broadcast", [factor], "dimensions={0}")
            scaled = c.add(wide, "multiply", [value, factors])
            weight = c.add(array("f32", HIDDEN), "convert", [p[1]])
            weights = c.add(wide, "broadcast", [weight], "dimensions={1}")
            result = c.add(wide, "multiply", [scaled, weights])
            c.add(self.x_shape, "convert", [result])
        return self.fuse(self.x_shape, "kLoop", [(x, self.x_shape), (scale, array("bf16", HIDDEN))], body, "norm/mul")

    def project(self, left, left_columns, right, right_shape, columns, stack, residual=None):
        """left[TOKENS, left_columns] · right[left_columns, columns], plus the residual."""
        shape = array("bf16", TOKENS, columns)
        operands = [(left, array("bf16", TOKENS, left_columns)), (right, right_shape)]
        if residual:
            operands.append((residual, shape))

        def body(c, p):
            product = c.add(shape, "dot", p[:2], "lhs_contracting_dims={1}, rhs_contracting_dims={0}")
            if residual:
                c.add(shape, "add", [product, p[2]])
            else:
                zero = c.constant(array("bf16"), "0")
                zeros = c.add(shape, "broadcast", [zero], "dimensions={}")
                c.add(shape, "maximum", [product, zeros])
        return self.fuse(shape, "kOutput", operands, body, stack)

    def attend(self, query, key, value):
        """softmax(query · keyᵀ) · value, by head."""
        split = array("bf16", HEADS, TOKENS, HEAD, order=(2, 0, 1))
        scores, rows = array("f32", HEADS, TOKENS, TOKENS), array("f32", HEADS, TOKENS)
        square = array("bf16", HEADS, TOKENS, TOKENS)
        heads = [self.entry.add(array("bf16", TOKENS, HEADS, HEAD), "bitcast", [part]) for part in (query, key, value)]
        heads = [self.entry.add(split, "transpose", [part], "dimensions={1,0,2}") for part in heads]
        batch = "lhs_batch_dims={0}, rhs_batch_dims={0}"

        def score(c, p):
            c.add(scores, "dot", p, f"{batch}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{2}}")

        def softmax(c, p):
            least = c.constant(array("f32"), "-inf")
            largest = c.add(rows, "reduce", [p[0], least], f"dimensions={{2}}, to_apply={self.largest}")
            spread = c.add(scores, "broadcast", [largest], "dimensions={0,1}")
            less = c.add(scores, "subtract", [p[0], spread])
            power = c.add(scores, "exponential", [less])
            zero = c.constant(array("f32"), "0")
            total = c.add(rows, "reduce", [power, zero], f"dimensions={{2}}, to_apply={self.sum}")
            totals = c.add(scores, "broadcast", [total], "dimensions={0,1}")
            share = c.add(scores, "divide", [power, totals])
            c.add(square, "convert", [share])

        def weigh(c, p):
            c.add(array("bf16", HEADS, TOKENS, HEAD), "dot", p,
                  f"{batch}, lhs_contracting_dims={{2}}, rhs_contracting_dims={{1}}")

        raw = self.fuse(scores, "kOutput", [(heads[0], split), (heads[1], split)], score, "attention/scores")
        shares = self.fuse(square, "kLoop", [(raw, scores)], softmax, "attention/softmax")
        mixed = self.fuse(array("bf16", HEADS, TOKENS, HEAD), "kOutput", [(shares, square), (heads[2], split)], weigh,
                          "attention/values")
        joined = self.entry.add(array("bf16", TOKENS, HEADS, HEAD), "transpose", [mixed], "dimensions={1,0,2}")
        return self.entry.add(self.x_shape, "bitcast", [joined])

    def gelu(self, x, width):
        shape, wide = array("bf16", TOKENS, width), array("f32", TOKENS, width)

        def body(c, p):
            value = c.add(wide, "convert", p)
            cube = c.add(wide, "multiply", [c.add(wide, "multiply", [value, value]), value])

            def times(number, operand):
                constant = c.constant(array("f32"), number)
                return c.add(wide, "multiply", [operand, c.add(wide, "broadcast", [constant], "dimensions={}")])
            inner = times("0.797884583", c.add(wide, "add", [value, times("0.044715", cube)]))
            half = times("0.5", value)
            c.add(shape, "convert", [c.add(wide, "add", [half, c.add(wide, "multiply", [half, c.add(wide, "tanh", [inner])])])])
        return self.fuse(shape, "kLoop", [(x, shape)], body, "mlp/gelu")

    def update_cache(self, row_source):
        cache_shape = array("bf16", 8 * TOKENS, HIDDEN)
        cache = self.weight("cache", cache_shape)

        def body(c, p):
            zero = c.constant(array("s32"), "0")
            c.add(cache_shape, "dynamic-update-slice", [p[0], p[1], p[2], zero])
        return self.fuse(cache_shape, "kLoop", [(cache, cache_shape), (row_source, self.x_shape), (self.position, array("s32"))],
                         body, "cache/update")

    def loop(self, x):
        """A while loop that adds a slice of x to x eight times."""
        state = f"({array('s32')}, {self.x_shape})"
        row = array("bf16", TOKENS // 8, HIDDEN)
        body = self.module.computation("body")
        argument = body.parameter(state)
        count = body.add(array("s32"), "get-tuple-element", [argument], "index=0")
        value = body.add(self.x_shape, "get-tuple-element", [argument], "index=1")
        one = body.constant(array("s32"), "1")
        next_count = body.add(array("s32"), "add", [count, one])
        rows = body.constant(array("s32"), str(TOKENS // 8))
        start = body.add(array("s32"), "multiply", [count, rows])
        zero = body.constant(array("s32"), "0")
        part = body.add(row, "dynamic-slice", [value, start, zero], f"dynamic_slice_sizes={{{TOKENS // 8},{HIDDEN}}}")
        doubled = body.add(row, "add", [part, part])
        updated = body.add(self.x_shape, "dynamic-update-slice", [value, doubled, start, zero])
        body.add(state, "tuple", [next_count, updated])

        condition = self.module.computation("condition")
        argument = condition.parameter(state)
        count = condition.add(array("s32"), "get-tuple-element", [argument], "index=0")
        limit = condition.constant(array("s32"), "8")
        condition.add(array("pred"), "compare", [count, limit], "direction=LT")

        zero = self.entry.constant(array("s32"), "0")
        start = self.entry.add(state, "tuple", [zero, x])
        end = self.entry.add(state, "while", [start], f"condition={condition.name}, body={body.name}, "
                             'backend_config={"known_trip_count":{"n":"8"}}', stack=f"layer_{self.layer_number}/scan/while")
        return self.entry.add(self.x_shape, "get-tuple-element", [end], "index=1")

    def choose(self, x):
        branches = []
        for opcode in ("negate", "tanh"):
            branch = self.module.computation("branch")
            branch.add(self.x_shape, opcode, [branch.parameter(self.x_shape)])
            branches.append(branch.name)
        return self.entry.add(self.x_shape, "conditional", [self.position, x, x],
                              f"branch_computations={{{', '.join(branches)}}}", stack=f"layer_{self.layer_number}/cond")

    def all_reduce(self, x, stack):
        wide = array("f32", TOKENS, HIDDEN)
        widened = self.entry.add(wide, "convert", [x])
        group = ",".join(map(str, range(REPLICAS)))
        total = self.entry.add(wide, "all-reduce", [widened],
                               f"channel_id={self.next_channel()}, replica_groups={{{{{group}}}}}, "
                               f"use_global_device_ids=true, to_apply={self.sum}", stack=f"layer_{self.layer_number}/{stack}")
        return self.entry.add(self.x_shape, "convert", [total])

    def gather_while(self, x, work):
        """An all-gather of x's rows that overlaps with work()."""
        whole = array("bf16", TOKENS * REPLICAS, HIDDEN)
        group = ",".join(map(str, range(REPLICAS)))
        start = self.entry.add(f"({self.x_shape}, {whole})", "all-gather-start", [x],
                               f"channel_id={self.next_channel()}, replica_groups={{{{{group}}}}}, dimensions={{0}}, "
                               "use_global_device_ids=true")
        result = work()
        done = self.entry.add(whole, "all-gather-done", [start])
        part = self.entry.add(self.x_shape, "slice", [done], f"slice={{[0:{TOKENS}], [0:{HIDDEN}]}}")
        return self.entry.add(self.x_shape, "add", [result, part])

    def permute_while(self, x, work):
        pairs = ",".join(f"{{{i},{(i + 1) % REPLICAS}}}" for i in range(REPLICAS))
        start = self.entry.add(f"({self.x_shape}, {self.x_shape}, u32[]{{:S(2)}}, u32[]{{:S(2)}})", "collective-permute-start", [x],
                               f"source_target_pairs={{{pairs}}}")  # without a channel: between replicas
        result = work()
        done = self.entry.add(self.x_shape, "collective-permute-done", [start])
        return self.entry.add(self.x_shape, "add", [result, done])

    # ── the whole ──

    def layer(self):
        x = self.x
        width = self.width()
        narrow = (HIDDEN, HIDDEN)
        copies = [self.prefetch(self.weight(kind, array("bf16", *narrow)), *narrow) for kind in ("query", "key")]
        normal = self.normalize(x)
        parts = [self.project(normal, HIDDEN, *self.finish(copy), HIDDEN, f"attention/{kind}")
                 for copy, kind in zip(copies, ("query", "key"))]
        value = self.weight("value", array("bf16", *narrow))
        parts.append(self.project(normal, HIDDEN, value, array("bf16", *narrow), HIDDEN, "attention/value"))
        cache = self.update_cache(parts[1])
        ff_in = self.prefetch(self.weight("ff_in", array("bf16", HIDDEN, width)), HIDDEN, width)
        mixed = self.attend(*parts)
        out = self.weight("out", array("bf16", *narrow))
        attended = self.project(mixed, HIDDEN, out, array("bf16", *narrow), HIDDEN, "attention/out", residual=x)
        attended = self.all_reduce(attended, "attention/psum")

        def feed_forward():
            inner = self.project(self.normalize(attended), HIDDEN, *self.finish(ff_in), width, "mlp/in")
            ff_out = self.weight("ff_out", array("bf16", width, HIDDEN))
            return self.project(self.gelu(inner, width), width, ff_out, array("bf16", width, HIDDEN), HIDDEN, "mlp/out",
                                residual=attended)
        overlap = (self.gather_while, self.permute_while, lambda _, work: work())[self.layer_number % 3]
        self.x = overlap(attended, feed_forward)
        if self.layer_number % 5 == 4:
            self.x = self.loop(self.x)
        if self.layer_number % 11 == 10:
            self.x = self.choose(self.x)
        self.last_cache = cache
        self.layer_number += 1

    def write(self, instructions, out):
        while self.module.instructions + 1 < instructions or self.layer_number == 0:
            self.layer()
        result = f"({self.x_shape}, {array('bf16', 8 * TOKENS, HIDDEN)})"
        self.entry.add(result, "tuple", [self.x, self.last_cache])
        out.write(f"HloModule transformer_{self.layer_number}_layers, is_scheduled=true, "
                  f"entry_computation_layout={{({', '.join(self.parameter_shapes)})->{result}}}, replica_count={REPLICAS}\n\n")
        for computation in self.module.computations:
            out.write(computation.text() + "\n")
        out.write(self.entry.text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("instructions", type=int, metavar="N")
    parser.add_argument("-o", "--output", default="-", help="`-` is standard output, the default")
    parser.add_argument("--no-metadata", action="store_true", help="leave the metadata of instructions out")
    arguments = parser.parse_args()
    model = Transformer(metadata=not arguments.no_metadata)
    if arguments.output == "-":
        model.write(arguments.instructions, sys.stdout)
    else:
        with open(arguments.output, "w", encoding="utf-8") as out:
            model.write(arguments.instructions, out)


if __name__ == "__main__":
    main()
