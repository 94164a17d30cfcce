#!/usr/bin/env python3
"""Writes a two-layer transformer and its training step as StableHLO, in the form in which jax.jit(train_step).lower(…) prints
it with debug_info=True: operations carry JAX's op_names and the lines of examples/train_step.py.

  make_train_step.py [--batch 8] [--sequence 1024] [--width 1024] [--heads 8] [--hidden 4096] [--vocabulary 32768] [--forward]

JAX is not needed: the script builds the operations and their gradients itself. The program that it stands for is
examples/train_step.py.
"""
import argparse
import math
import pathlib

SOURCE = "train_step.py"
LINES = (pathlib.Path(__file__).parent / SOURCE).read_text(encoding="utf-8").splitlines()


class Value:
    """A tensor: its name, shape and element type, and how its gradient reaches its operands."""

    def __init__(self, name, shape, dtype, operands=(), pull=None, line=0, scope=""):
        self.name, self.shape, self.dtype = name, tuple(shape), dtype
        self.operands, self.pull, self.line, self.scope = operands, pull, line, scope

    @property
    def type(self):
        return "tensor<%s>" % "x".join([*map(str, self.shape), self.dtype])


class Program:
    def __init__(self):
        self.text, self.locations, self.count = [], [], 0
        self.scope, self.phase, self.line = [], "jvp", 0

    # ── Places ──

    def at(self, mark):
        """The next operations belong to the line of the source that ends in the comment `# mark`."""
        self.line = next(number for number, text in enumerate(LINES, 1) if text.endswith("# " + mark))

    def location(self, operation):
        inner = "/".join(self.scope)
        wrapped = {"jvp": "jvp(%s)", "transpose": "transpose(jvp(%s))", "": "%s"}[self.phase] % inner
        name = "jit(train_step)/jit(main)/%s%s" % (wrapped + "/" if inner else "", operation)
        self.locations.append('#loc%d = loc("%s"("%s":%d:0))' % (len(self.locations) + 1, name, SOURCE, self.line))
        return "loc(#loc%d)" % len(self.locations)

    # ── Operations without gradients ──

    def emit(self, text, shape, dtype, operation):
        self.count += 1
        name = "%%%d" % self.count
        self.text.append("    %s = %s %s" % (name, text, self.location(operation)))
        return Value(name, shape, dtype, line=self.line, scope=tuple(self.scope))

    def constant(self, number, dtype):
        literal = "0x%08X" % 0xFF800000 if number == -math.inf else repr(float(number)) if dtype != "i32" else str(number)
        return self.emit("stablehlo.constant dense<%s> : tensor<%s>" % (literal, dtype), (), dtype, "constant")

    def spread(self, x, shape, dimensions):
        text = "stablehlo.broadcast_in_dim %s, dims = [%s] : (%s) -> %s" % (
            x.name, ", ".join(map(str, dimensions)), x.type, Value("", shape, x.dtype).type)
        return self.emit(text, shape, x.dtype, "broadcast_in_dim")

    def full(self, number, like):
        return self.spread(self.constant(number, like.dtype), like.shape, [])

    def fold(self, x, dimensions, operation, initial):
        kept = [size for axis, size in enumerate(x.shape) if axis not in dimensions]
        start = self.constant(initial, x.dtype)
        text = "stablehlo.reduce(%s init: %s) applies stablehlo.%s across dimensions = [%s] : (%s, %s) -> %s" % (
            x.name, start.name, operation, ", ".join(map(str, dimensions)), x.type, start.type, Value("", kept, x.dtype).type)
        return self.emit(text, kept, x.dtype, {"add": "reduce_sum", "maximum": "reduce_max"}[operation])

    def binary(self, operation, a, b):
        assert a.shape == b.shape and a.dtype == b.dtype, (operation, a.type, b.type)
        names = {"subtract": "sub", "multiply": "mul", "divide": "div", "maximum": "max", "add": "add"}
        return self.emit("stablehlo.%s %s, %s : %s" % (operation, a.name, b.name, a.type), a.shape, a.dtype, names[operation])

    def unary(self, operation, x):
        names = {"exponential": "exp", "logistic": "logistic", "rsqrt": "rsqrt", "log": "log", "negate": "neg"}
        return self.emit("stablehlo.%s %s : %s" % (operation, x.name, x.type), x.shape, x.dtype, names[operation])

    def raw_dot(self, a, b, batch, contract, result="bf16"):
        (batch_a, batch_b), (contract_a, contract_b) = batch, contract
        shape = [a.shape[i] for i in batch_a]
        shape += [s for i, s in enumerate(a.shape) if i not in batch_a and i not in contract_a]
        shape += [s for i, s in enumerate(b.shape) if i not in batch_b and i not in contract_b]
        dims = lambda one: "[%s]" % ", ".join(map(str, one))  # noqa: E731
        batching = "batching_dims = %s x %s, " % (dims(batch_a), dims(batch_b)) if batch_a else ""
        text = "stablehlo.dot_general %s, %s, %scontracting_dims = %s x %s : (%s, %s) -> %s" % (
            a.name, b.name, batching, dims(contract_a), dims(contract_b), a.type, b.type, Value("", shape, result).type)
        return self.emit(text, shape, result, "dot_general")

    def turned(self, x, order):
        if list(order) == list(range(len(x.shape))):
            return x
        shape = [x.shape[i] for i in order]
        text = "stablehlo.transpose %s, dims = [%s] : (%s) -> %s" % (
            x.name, ", ".join(map(str, order)), x.type, Value("", shape, x.dtype).type)
        return self.emit(text, shape, x.dtype, "transpose")

    def cast(self, x, dtype):
        if x.dtype == dtype:
            return x
        text = "stablehlo.convert %s : (%s) -> %s" % (x.name, x.type, Value("", x.shape, dtype).type)
        return self.emit(text, x.shape, dtype, "convert_element_type")

    # ── Operations with gradients: each result knows what it adds to the gradients of its operands ──

    def record(self, result, operands, pull):
        result.operands, result.pull = operands, pull
        return result

    def add(self, a, b):
        return self.record(self.binary("add", a, b), (a, b), lambda g: (g, g))

    def multiply(self, a, b):
        return self.record(self.binary("multiply", a, b), (a, b),
                           lambda g: (self.binary("multiply", g, b), self.binary("multiply", g, a)))

    def scale(self, x, number):
        return self.record(self.binary("multiply", x, self.full(number, x)), (x,),
                           lambda g: (self.binary("multiply", g, self.full(number, g)),))

    def convert(self, x, dtype):
        return self.record(self.cast(x, dtype), (x,), lambda g: (self.cast(g, x.dtype),)) if x.dtype != dtype else x

    def broadcast(self, x, shape, dimensions):
        others = [axis for axis in range(len(shape)) if axis not in dimensions]
        return self.record(self.spread(x, shape, dimensions), (x,), lambda g: (self.fold(g, others, "add", 0),))

    def sum(self, x, dimensions):
        kept = [axis for axis in range(len(x.shape)) if axis not in dimensions]
        return self.record(self.fold(x, dimensions, "add", 0), (x,), lambda g: (self.spread(g, x.shape, kept),))

    def reshape(self, x, shape):
        def go(one, to):
            text = "stablehlo.reshape %s : (%s) -> %s" % (one.name, one.type, Value("", to, one.dtype).type)
            return self.emit(text, to, one.dtype, "reshape")
        return self.record(go(x, shape), (x,), lambda g: (go(g, x.shape),))

    def rsqrt(self, x):
        result = self.unary("rsqrt", x)

        def pull(g):
            cube = self.binary("multiply", self.binary("multiply", result, result), result)
            return (self.binary("multiply", g, self.binary("multiply", cube, self.full(-0.5, cube))),)
        return self.record(result, (x,), pull)

    def silu(self, x):
        gate = self.unary("logistic", x)

        def pull(g):
            rest = self.binary("subtract", self.full(1, gate), gate)
            slope = self.binary("multiply", gate, self.binary("add", self.full(1, gate), self.binary("multiply", x, rest)))
            return (self.binary("multiply", g, slope),)
        return self.record(self.binary("multiply", x, gate), (x,), pull)

    def softmax(self, x, mask):
        """Over the last dimension, in f32; `mask` is false where a score counts as -inf."""
        last = [len(x.shape) - 1]
        others = list(range(len(x.shape) - 1))
        low = self.spread(self.constant(-math.inf, x.dtype), x.shape, [])
        masked = self.emit("stablehlo.select %s, %s, %s : %s, %s" % (mask.name, x.name, low.name, mask.type, x.type), x.shape,
                           x.dtype, "select_n")
        top = self.spread(self.fold(masked, last, "maximum", -math.inf), x.shape, others)
        power = self.unary("exponential", self.binary("subtract", masked, top))
        result = self.binary("divide", power, self.spread(self.fold(power, last, "add", 0), x.shape, others))

        def pull(g):
            inner = self.spread(self.fold(self.binary("multiply", g, result), last, "add", 0), x.shape, others)
            return (self.binary("multiply", result, self.binary("subtract", g, inner)),)
        return self.record(result, (x,), pull)

    def dot(self, a, b, batch, contract, result="bf16"):
        """dot_general; gradients are two more, in the operands' order of dimensions."""
        (batch_a, batch_b), (contract_a, contract_b) = batch, contract
        free = lambda x, one, two: [i for i in range(len(x.shape)) if i not in one and i not in two]  # noqa: E731
        free_a, free_b = free(a, batch_a, contract_a), free(b, batch_b, contract_b)
        head = list(range(len(batch_a)))
        of_a = [len(head) + i for i in range(len(free_a))]
        of_b = [len(head) + len(free_a) + i for i in range(len(free_b))]

        def gradient(g, other, batch_other, free_other, of_other, own, batch_own, free_own, contract_own, contract_other):
            got = self.raw_dot(g, other, (head, batch_other), (of_other, free_other), own.dtype)
            # The result's dimensions: batch, the free ones of the operand, then the other's contracting ones.
            order_of = batch_own + free_own + [contract_own[contract_other.index(i)] for i in sorted(contract_other)]
            return self.turned(got, [order_of.index(i) for i in range(len(own.shape))])

        def pull(g):
            g = self.cast(g, a.dtype)
            return (gradient(g, b, batch_b, free_b, of_b, a, batch_a, free_a, contract_a, contract_b),
                    gradient(g, a, batch_a, free_a, of_a, b, batch_b, free_b, contract_b, contract_a))
        return self.record(self.raw_dot(a, b, batch, contract, result), (a, b), pull)

    def gradients(self, result, wanted):
        """Emits the backward pass of a scalar; returns the gradients of `wanted`."""
        self.phase = "transpose"
        order, seen = [], set()

        def visit(value):
            if value.name not in seen:
                seen.add(value.name)
                for operand in value.operands:
                    visit(operand)
                order.append(value)
        visit(result)
        sums = {result.name: self.constant(1, result.dtype)}
        for value in reversed(order):
            if not value.pull or value.name not in sums:
                continue
            self.scope, self.line = list(value.scope), value.line
            for operand, part in zip(value.operands, value.pull(sums[value.name])):
                before = sums.get(operand.name)
                sums[operand.name] = self.binary("add", before, part) if before else part
        self.phase, self.scope = "", []
        return [sums[value.name] for value in wanted]


def norm(p, x, weight, name):
    p.at(name)
    wide = p.convert(x, "f32")
    last = [len(x.shape) - 1]
    mean = p.scale(p.sum(p.multiply(wide, wide), last), 1 / x.shape[-1])
    root = p.rsqrt(p.add(mean, p.full(1e-6, mean)))
    scaled = p.multiply(wide, p.broadcast(root, x.shape, list(range(len(x.shape) - 1))))
    return p.multiply(p.convert(scaled, "bf16"), p.broadcast(p.convert(weight, "bf16"), x.shape, last))


def attention(p, x, w, mask, heads):
    p.scope.append("attention")
    p.at("qkv")
    q, k, v = (p.dot(x, p.convert(w[name], "bf16"), ([], []), ([2], [0])) for name in ("wq", "wk", "wv"))
    p.at("scores")
    scores = p.dot(q, k, ([0, 2], [0, 2]), ([3], [3]), "f32")
    scores = p.scale(scores, 1 / math.sqrt(q.shape[-1]))
    p.at("softmax")
    share = p.convert(p.softmax(scores, mask), "bf16")
    p.at("values")
    mixed = p.dot(share, v, ([0, 1], [0, 2]), ([3], [1]))
    p.at("output")
    result = p.dot(mixed, p.convert(w["wo"], "bf16"), ([], []), ([1, 3], [0, 1]))
    p.scope.pop()
    return result


def mlp(p, x, w):
    p.scope.append("mlp")
    p.at("gate")
    gate = p.silu(p.dot(x, p.convert(w["wi_0"], "bf16"), ([], []), ([2], [0])))
    p.at("up")
    up = p.dot(x, p.convert(w["wi_1"], "bf16"), ([], []), ([2], [0]))
    p.at("down")
    result = p.dot(p.multiply(gate, up), p.convert(w["wo_mlp"], "bf16"), ([], []), ([2], [0]))
    p.scope.pop()
    return result


def causal(p, shape):
    p.at("mask")
    integer = Value("", shape, "i32").type
    rows, columns = (p.emit("stablehlo.iota dim = %d : %s" % (axis, integer), shape, "i32", "iota") for axis in (2, 3))
    text = "stablehlo.compare GE, %s, %s, SIGNED : (%s, %s) -> %s" % (
        rows.name, columns.name, integer, integer, Value("", shape, "i1").type)
    return p.emit(text, shape, "i1", "ge")


def loss_of(p, logits, targets):
    """Mean of -log softmax(logits)[target]."""
    p.at("loss")
    tokens = logits.shape[0] * logits.shape[1]
    others, last = [0, 1], [2]
    top = p.fold(logits, last, "maximum", -math.inf)
    shifted = p.binary("subtract", logits, p.spread(top, logits.shape, others))
    power = p.unary("exponential", shifted)
    total = p.fold(power, last, "add", 0)
    places = p.emit("stablehlo.iota dim = 2 : %s" % Value("", logits.shape, "i32").type, logits.shape, "i32", "iota")
    wanted = p.spread(targets, logits.shape, others)
    is_target = p.emit("stablehlo.compare EQ, %s, %s, SIGNED : (%s, %s) -> %s" % (
        places.name, wanted.name, places.type, wanted.type, Value("", logits.shape, "i1").type), logits.shape, "i1", "eq")
    one_hot = p.emit("stablehlo.convert %s : (%s) -> %s" % (is_target.name, is_target.type, logits.type), logits.shape, "f32",
                     "convert_element_type")
    chosen = p.fold(p.binary("multiply", shifted, one_hot), last, "add", 0)
    each = p.binary("subtract", p.unary("log", total), chosen)
    mean = p.binary("multiply", p.fold(each, [0, 1], "add", 0), p.constant(1 / tokens, "f32"))

    def pull(g):
        share = p.binary("divide", power, p.spread(total, logits.shape, others))
        each = p.binary("multiply", g, p.constant(1 / tokens, "f32"))
        return (p.binary("multiply", p.binary("subtract", share, one_hot), p.spread(each, logits.shape, [])),)
    return p.record(mean, (logits,), pull)


def step(options):
    p = Program()
    width, heads = options.width, options.heads
    shapes = {"embedding": (options.vocabulary, width), "final_norm": (width,), "head": (width, options.vocabulary)}
    for layer in range(2):
        sizes = {"norm_1": (width,), "wq": (width, heads, width // heads), "wk": (width, heads, width // heads),
                 "wv": (width, heads, width // heads), "wo": (heads, width // heads, width), "norm_2": (width,),
                 "wi_0": (width, options.hidden), "wi_1": (width, options.hidden), "wo_mlp": (options.hidden, width)}
        shapes.update({"layer_%d.%s" % (layer, name): size for name, size in sizes.items()})
    weights = {name: Value("%%arg%d" % i, shape, "f32") for i, (name, shape) in enumerate(shapes.items())}
    count = len(weights)
    batch = (options.batch, options.sequence)
    tokens, targets = (Value("%%arg%d" % (count + i), batch, "i32") for i in range(2))

    p.at("embed")
    table = p.convert(weights["embedding"], "bf16")
    index = p.emit("stablehlo.reshape %s : (%s) -> %s" % (tokens.name, tokens.type, Value("", (*batch, 1), "i32").type), (*batch, 1),
                   "i32", "broadcast_in_dim")
    x = p.emit('"stablehlo.gather"(%s, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], '
               "start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, %d>}> : (%s, %s) -> %s" % (
                   table.name, index.name, width, table.type, index.type, Value("", (*batch, width), "bf16").type),
               (*batch, width), "bf16", "gather")

    def scatter(g):
        zero = p.spread(p.constant(0, "bf16"), table.shape, [])
        scalar = "tensor<bf16>"
        text = ('"stablehlo.scatter"(%s, %s, %s) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], '
                "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({\n"
                "    ^bb0(%%a: %s, %%b: %s):\n      %%s = stablehlo.add %%a, %%b : %s\n      stablehlo.return %%s : %s\n    }) : "
                "(%s, %s, %s) -> %s" % (zero.name, index.name, g.name, scalar, scalar, scalar, scalar, zero.type, index.type, g.type,
                                        zero.type))
        return (p.emit(text, table.shape, "bf16", "scatter-add"),)
    p.record(x, (table,), scatter)
    mask = causal(p, (options.batch, heads, options.sequence, options.sequence))
    for layer in range(2):
        own = {name.partition(".")[2]: value for name, value in weights.items() if name.startswith("layer_%d." % layer)}
        p.scope = ["layer_%d" % layer]
        x = p.add(x, attention(p, norm(p, x, own["norm_1"], "norm_1"), own, mask, heads))
        x = p.add(x, mlp(p, norm(p, x, own["norm_2"], "norm_2"), own))
    p.scope = ["head"]
    x = norm(p, x, weights["final_norm"], "final_norm")
    p.at("logits")
    logits = p.dot(x, p.convert(weights["head"], "bf16"), ([], []), ([2], [0]), "f32")
    if options.forward:
        results = [logits]
    else:
        p.scope = ["loss"]
        loss = loss_of(p, logits, targets)
        found = p.gradients(loss, list(weights.values()))
        p.at("update")
        results = [loss]
        for weight, gradient in zip(weights.values(), found):
            rate = p.full(options.rate, weight)
            results.append(p.binary("subtract", weight, p.binary("multiply", gradient, rate)))
    arguments = ", ".join("%s: %s loc(\"%s\")" % (value.name, value.type, label) for label, value in
                          [*(("params['%s']" % name, value) for name, value in weights.items()), ("tokens", tokens), ("targets", targets)])
    types = ", ".join(value.type for value in results)
    lines = ["module @jit_train_step attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {",
             "  func.func public @main(%s) -> (%s) {" % (arguments, types), *p.text,
             "    return %s : %s loc(#loc)" % (", ".join(value.name for value in results), types), "  } loc(#loc)", "} loc(#loc)",
             "#loc = loc(unknown)", *p.locations]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, size in (("batch", 8), ("sequence", 1024), ("width", 1024), ("heads", 8), ("hidden", 4096), ("vocabulary", 32768)):
        parser.add_argument("--" + name, type=int, default=size)
    parser.add_argument("--rate", type=float, default=0.01)
    parser.add_argument("--forward", action="store_true", help="the logits alone, without loss and update")
    print(step(parser.parse_args()), end="")


if __name__ == "__main__":
    main()
