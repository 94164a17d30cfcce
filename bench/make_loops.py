#!/usr/bin/env python3
"""Writes an HLO module of about N instructions as a front end exports a folding model: loops in loops that carry much.

  bench/make_loops.py N [-o FILE]

Nothing is laid out, fused or scheduled. An outer loop (the recycling) carries the activations and all parameters. It
runs stacks one after the other; each is a loop over its blocks that carries two activations and a stacked array per
parameter of a block, of which every iteration takes a slice. A block has row and column attention, gated products and
transitions; each attention runs over chunks of its rows in a third loop, which carries its operands, weights and
result. Stacks are added until N instructions, those of called computations included, are reached. The same N gives
the same text.
"""
import argparse
import sys

ROWS, COLUMNS, CHANNELS, HEADS, HEAD = 128, 256, 128, 4, 32
CHUNKS, BLOCKS, RECYCLES = 4, 48, 4
ROW_CHUNK = ROWS // CHUNKS


def array(*dimensions, element="f32"):
    return f"{element}[{','.join(map(str, dimensions))}]"


class Module:
    def __init__(self):
        self.names = {}
        self.instructions = 0
        self.done = []  # texts of computations, callees first

    def unique(self, stem):
        number = self.names.get(stem, 0)
        self.names[stem] = number + 1
        return f"{stem}.{number}" if number else stem


class Computation:
    """Instructions in order; a value is (name, shape)."""

    def __init__(self, module, stem):
        self.module, self.name, self.lines, self.parameters = module, module.unique(stem), [], 0

    def add(self, shape, opcode, operands=(), attributes=""):
        name = self.module.unique(opcode)
        self.module.instructions += 1
        text = f"{name} = {shape} {opcode}({', '.join(one if isinstance(one, str) else one[0] for one in operands)})"
        self.lines.append(text + (f", {attributes}" if attributes else ""))
        return name, shape

    def parameter(self, shape):
        self.parameters += 1
        return self.add(shape, "parameter", [str(self.parameters - 1)])

    def end(self, entry=False):
        lines = [f"  {line}" for line in self.lines[:-1]] + [f"  ROOT {self.lines[-1]}"]
        head = "ENTRY " if entry else ""
        self.module.done.append(f"{head}{self.name} {{\n" + "\n".join(lines) + "\n}\n")
        return self.name

    def tuple(self, values):
        return self.add(f"({', '.join(shape for _, shape in values)})", "tuple", values)

    def elements(self, value, shapes):
        return [self.add(shape, "get-tuple-element", [value], f"index={i}") for i, shape in enumerate(shapes)]

    def constant(self, number, shape="f32[]"):
        return self.add(shape, "constant", [str(number)])

    def spread(self, value, *dimensions, along=()):
        return self.add(array(*dimensions), "broadcast", [value], f"dimensions={{{','.join(map(str, along))}}}")

    def binary(self, opcode, left, right):
        return self.add(left[1], opcode, [left, right])


def loop(outer, values, count, step):
    """A while loop of `outer` over the values; step(body, number, values) returns the next ones."""
    module = outer.module
    shapes = ["s32[]"] + [shape for _, shape in values]
    state = f"({', '.join(shapes)})"
    body = Computation(module, "body")
    number, *inside = body.elements(body.parameter(state), shapes)
    after = step(body, number, inside)
    body.tuple([body.binary("add", number, body.constant(1, "s32[]"))] + after)
    body.end()
    condition = Computation(module, "condition")
    at = condition.elements(condition.parameter(state), shapes[:1])[0]
    condition.add("pred[]", "compare", [at, condition.constant(count, "s32[]")], "direction=LT")
    condition.end()
    start = outer.tuple([outer.constant(0, "s32[]")] + values)
    result = outer.add(state, "while", [start], f"condition={condition.name}, body={body.name}")
    return outer.elements(result, shapes)[1:]


class Folding:
    def __init__(self):
        self.module = Module()
        self.sum = self.scalar_function("add")
        self.largest = self.scalar_function("maximum")

    def scalar_function(self, opcode):
        function = Computation(self.module, f"region_{opcode}")
        function.add("f32[]", opcode, [function.parameter("f32[]"), function.parameter("f32[]")])
        return function.end()

    # ── parts of a block ──

    def weights(self):
        """Shapes of the parameters of one block."""
        wide = 4 * CHANNELS
        attention = [(CHANNELS,), (CHANNELS,)] + [(CHANNELS, HEADS * HEAD)] * 4 + [(HEADS * HEAD, CHANNELS)]
        transition = [(CHANNELS,), (CHANNELS,), (CHANNELS, wide), (wide,), (wide, CHANNELS), (CHANNELS,)]
        return attention * 3 + transition * 2

    def normalize(self, c, x, scale, offset):
        shape = [int(size) for size in x[1][4:-1].split(",")]
        kept = shape[:-1]
        along, last = range(len(kept)), len(kept)

        def mean(value):
            total = c.add(array(*kept), "reduce", [value, c.constant(0)], f"dimensions={{{last}}}, to_apply={self.sum}")
            share = c.binary("multiply", total, c.spread(c.constant(1 / shape[-1]), *kept))
            return c.spread(share, *shape, along=along)
        less = c.binary("subtract", x, mean(x))
        variance = c.binary("add", mean(c.binary("multiply", less, less)), c.spread(c.constant(1e-5), *shape))
        normal = c.binary("multiply", less, c.add(x[1], "rsqrt", [variance]))
        scaled = c.binary("multiply", normal, c.spread(scale, *shape, along=[last]))
        return c.binary("add", scaled, c.spread(offset, *shape, along=[last]))

    def product(self, c, x, weight):
        shape, columns = x[1][4:-1].split(","), weight[1][4:-1].split(",")[1]
        return c.add(array(*shape[:-1], columns), "dot", [x, weight],
                     f"lhs_contracting_dims={{{len(shape) - 1}}}, rhs_contracting_dims={{0}}")

    def softmax(self, c, scores, *dimensions):
        kept, along, last = dimensions[:-1], range(len(dimensions) - 1), len(dimensions) - 1
        top = c.add(array(*kept), "reduce", [scores, c.constant("-inf")],
                    f"dimensions={{{last}}}, to_apply={self.largest}")
        power = c.add(scores[1], "exponential",
                      [c.binary("subtract", scores, c.spread(top, *dimensions, along=along))])
        total = c.add(array(*kept), "reduce", [power, c.constant(0)], f"dimensions={{{last}}}, to_apply={self.sum}")
        return c.binary("divide", power, c.spread(total, *dimensions, along=along))

    def attend_chunk(self, c, x, weights):
        """Attention within each row of x[ROW_CHUNK, COLUMNS, CHANNELS]."""
        scale, offset, query, key, value, gate, out = weights
        normal = self.normalize(c, x, scale, offset)
        split = array(ROW_CHUNK, COLUMNS, HEADS, HEAD)
        parts = [c.add(split, "reshape", [self.product(c, normal, weight)]) for weight in (query, key, value)]
        batch = "lhs_batch_dims={0,2}, rhs_batch_dims={0,2}"
        square = (ROW_CHUNK, HEADS, COLUMNS, COLUMNS)
        scores = c.add(array(*square), "dot", parts[:2],
                       f"{batch}, lhs_contracting_dims={{3}}, rhs_contracting_dims={{3}}")
        shares = self.softmax(c, scores, *square)
        mixed = c.add(array(ROW_CHUNK, HEADS, COLUMNS, HEAD), "dot", [shares, parts[2]],
                      "lhs_batch_dims={0,1}, rhs_batch_dims={0,2}, lhs_contracting_dims={3}, rhs_contracting_dims={1}")
        turned = c.add(split, "transpose", [mixed], "dimensions={0,2,1,3}")
        joined = c.add(array(ROW_CHUNK, COLUMNS, HEADS * HEAD), "reshape", [turned])
        gates = c.add(joined[1], "logistic", [self.product(c, normal, gate)])
        return self.product(c, c.binary("multiply", joined, gates), out)

    def attend(self, c, x, weights, turned):
        """Over chunks of rows, or of columns; the residual included."""
        turn = "dimensions={1,0,2}"
        whole = (ROWS, COLUMNS, CHANNELS)
        flat = array(*whole)
        given = c.add(flat, "reshape", [c.add(array(COLUMNS, ROWS, CHANNELS), "transpose", [x], turn)]) if turned else x

        def step(body, number, inside):
            source, result, *own = inside
            zero = body.constant(0, "s32[]")
            start = body.binary("multiply", number, body.constant(ROW_CHUNK, "s32[]"))
            chunk = body.add(array(ROW_CHUNK, COLUMNS, CHANNELS), "dynamic-slice", [source, start, zero, zero],
                             f"dynamic_slice_sizes={{{ROW_CHUNK},{COLUMNS},{CHANNELS}}}")
            made = self.attend_chunk(body, chunk, own)
            return [source, body.add(flat, "dynamic-update-slice", [result, made, start, zero, zero])] + own
        empty = c.spread(c.constant(0), *whole)
        _, result, *_ = loop(c, [given, empty] + list(weights), CHUNKS, step)
        if turned:
            result = c.add(flat, "transpose", [c.add(array(COLUMNS, ROWS, CHANNELS), "reshape", [result])], turn)
        return c.binary("add", x, result)

    def transition(self, c, x, weights):
        scale, offset, first, first_bias, second, second_bias = weights
        normal = self.normalize(c, x, scale, offset)
        wide = (ROWS, COLUMNS, 4 * CHANNELS)
        inner = c.binary("add", self.product(c, normal, first), c.spread(first_bias, *wide, along=[2]))
        raised = c.binary("maximum", inner, c.spread(c.constant(0), *wide))
        made = self.product(c, raised, second)
        made = c.binary("add", made, c.spread(second_bias, ROWS, COLUMNS, CHANNELS, along=[2]))
        return c.binary("add", x, made)

    # ── the whole ──

    def block(self, c, number, values):
        single, pair, *stacked = values
        zero = c.constant(0, "s32[]")
        weights = []
        for stack, shape in zip(stacked, self.weights()):
            part = c.add(array(1, *shape), "dynamic-slice", [stack, number] + [zero] * len(shape),
                         f"dynamic_slice_sizes={{1,{','.join(map(str, shape))}}}")
            weights.append(c.add(array(*shape), "reshape", [part]))
        take = iter(weights)
        some = lambda count: [next(take) for _ in range(count)]
        single = self.attend(c, single, some(7), False)
        single = self.attend(c, single, some(7), True)
        pair = c.binary("add", self.attend(c, pair, some(7), False), single)
        single = self.transition(c, single, some(6))
        pair = self.transition(c, pair, some(6))
        return [single, pair] + stacked

    def text(self, instructions):
        shape = array(ROWS, COLUMNS, CHANNELS)
        stacked = [array(BLOCKS, *weight) for weight in self.weights()]
        # The outer body is written before it is known how many stacks there are: its state has the parameters
        # of as many sets as SETS, which stacks take turns with.
        sets = 8
        entry = Computation(self.module, "main")
        values = [entry.parameter(one) for one in [shape, shape] + stacked * sets]

        def recycle(body, _, inside):
            single, pair, *parameters = inside
            number = 0
            while number == 0 or self.module.instructions < instructions:
                own = parameters[number % sets * len(stacked):][:len(stacked)]
                single, pair, *_ = loop(body, [single, pair] + own, BLOCKS, self.block)
                number += 1
            return [single, pair] + parameters
        single, pair, *_ = loop(entry, values, RECYCLES, recycle)
        entry.tuple([single, pair])
        entry.end(entry=True)
        return "HloModule folding\n\n" + "\n".join(self.module.done)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("instructions", type=int)
    parser.add_argument("-o", default="-")
    arguments = parser.parse_args()
    text = Folding().text(arguments.instructions)
    if arguments.o == "-":
        sys.stdout.write(text)
        return
    with open(arguments.o, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main()
