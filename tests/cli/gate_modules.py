"""Modules as lists of instructions, and edits of them by rule."""
import random
import re


class Instruction:
    def __init__(self, name, shape, opcode, operands=(), attributes="", literal=None, root=False):
        self.name, self.shape, self.opcode = name, shape, opcode
        self.operands, self.attributes, self.literal, self.root = list(operands), attributes, literal, root
        self.metadata = ""
        self.comment = ""

    def text(self, rename):
        inside = self.literal if self.literal is not None else ", ".join(rename(o) for o in self.operands)
        line = f"  {'ROOT ' if self.root else ''}{rename(self.name)} = {self.shape} {self.opcode}({inside})"
        line += f", {self.attributes}" if self.attributes else ""
        line += f", metadata={{{self.metadata}}}" if self.metadata else ""
        return f"{self.comment}{line}"


class Module:
    def __init__(self, name, instructions, header="", before=""):
        self.name, self.instructions, self.header, self.before = name, instructions, header, before

    def text(self, rename=lambda name: name):
        lines = "\n".join(i.text(rename) for i in self.instructions)
        return f"HloModule {self.name}{self.header}\n\n{self.before}ENTRY main {{\n{lines}\n}}\n"

    def copy(self):
        copies = []
        for i in self.instructions:
            one = Instruction(i.name, i.shape, i.opcode, i.operands, i.attributes, i.literal, i.root)
            one.metadata, one.comment = i.metadata, i.comment
            copies.append(one)
        return Module(self.name, copies, self.header, self.before)


def random_module(seed, tiled):
    """An unscheduled module of products and elementwise work, with branches that don't depend on each other."""
    rng = random.Random(seed)
    layout = "{1,0:T(8,128)}" if tiled else ""
    sizes = [128, 256, 384]
    rows = [Instruction(f"p{n}", "", "parameter", literal=str(n)) for n in range(4)]
    shape_of = {}

    def set_shape(row, m, n):
        row.shape = f"f32[{m},{n}]{layout}"
        shape_of[row.name] = (m, n)

    for row in rows:
        set_shape(row, rng.choice(sizes), rng.choice(sizes))
    for number in range(rng.randint(8, 24)):
        name = f"i{number}"
        a = rng.choice(list(shape_of))
        m, k = shape_of[a]
        fitting = [b for b in shape_of if shape_of[b][0] == k]
        same = [b for b in shape_of if shape_of[b] == (m, k)]
        kind = rng.choice(["dot", "unary", "binary"])
        if kind == "dot" and fitting:
            b = rng.choice(fitting)
            row = Instruction(name, "", "dot", [a, b], "lhs_contracting_dims={1}, rhs_contracting_dims={0}")
            set_shape(row, m, shape_of[b][1])
        elif kind == "binary":
            row = Instruction(name, "", rng.choice(["add", "multiply", "maximum"]), [a, rng.choice(same)])
            set_shape(row, m, k)
        else:
            row = Instruction(name, "", rng.choice(["negate", "exponential", "tanh"]), [a])
            set_shape(row, m, k)
        rows.append(row)
    used = {o for row in rows for o in row.operands}
    ends = [row for row in rows if row.name not in used and row.opcode != "parameter"]
    result = Instruction("result", "(" + ", ".join(e.shape for e in ends) + ")", "tuple", [e.name for e in ends], root=True)
    return Module(f"random{seed}", rows + [result])


def reordered(module, rng):
    """The lines in another order that respects operands."""
    result = module.copy()
    left = result.instructions
    done, order = set(), []
    while left:
        ready = [i for i in left if all(o in done for o in i.operands)]
        one = rng.choice(ready)
        left.remove(one)
        done.add(one.name)
        order.append(one)
    result.instructions = order
    return result


def without_meaning(module, rng):
    """Text of the same program: other names, order, metadata, comments and blanks."""
    result = reordered(module, rng) if rng.random() < 0.6 else module.copy()
    if rng.random() < 0.5:
        for row in result.instructions:
            row.metadata = f'op_name="jit(f)/{rng.randint(0, 99)}" source_file="/m/f{rng.randint(0, 9)}.py" source_line={rng.randint(1, 500)}'
    if rng.random() < 0.5:
        for row in result.instructions:
            row.comment = rng.choice(["", "  // a word\n", "\n", "  /* two\n     lines */\n"])
    if rng.random() < 0.6:
        names = {row.name: f"{rng.choice(['x', 'fusion', 'n_'])}.{index}"
                 for index, row in enumerate(rng.sample(result.instructions, len(result.instructions)))}
        return result.text(lambda name: names[name])
    return result.text()


def with_meaning(module, rng):
    """The same module with an instruction added, taken out or replaced."""
    result = module.copy()
    body = [i for i in result.instructions if i.opcode not in ("parameter", "tuple")]
    victim = rng.choice(body)
    kind = rng.choice(["add", "replace", "skip"])
    at = result.instructions.index(victim)
    if kind == "replace" and len(victim.operands) == 1:
        victim.opcode = "tanh" if victim.opcode != "tanh" else "negate"
    elif kind == "skip" and len(victim.operands) == 1:
        for row in result.instructions:
            row.operands = [victim.operands[0] if o == victim.name else o for o in row.operands]
        result.instructions.remove(victim)
    else:
        extra = Instruction("extra", victim.shape, "exponential", [victim.name])
        result.instructions.insert(at + 1, extra)
        for row in result.instructions[at + 2:]:
            row.operands = ["extra" if o == victim.name else o for o in row.operands]
    return result


# A layer as a TPU runs it: a weight is copied into VMEM and a gradient reduced over two devices while products run.
TILED = "{1,0:T(8,128)}"
LAYER_LINES = [
    f"x = f32[512,512]{TILED} parameter(0)",
    f"w1 = f32[512,512]{TILED} parameter(1)",
    f"w2 = f32[512,512]{TILED} parameter(2)",
    "fetch = (f32[512,512]{1,0:T(8,128)S(1)}, f32[512,512]{1,0:T(8,128)}, u32[]{:S(2)}) copy-start(w2)",
    f"reduce = f32[512,512]{TILED} all-reduce-start(w1), replica_groups={{{{0,1}},{{2,3}}}}, to_apply=sum",
    f"first = f32[512,512]{TILED} dot(x, w1), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
    f"second = f32[512,512]{TILED} tanh(first)",
    f"third = f32[512,512]{TILED} dot(second, x), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
    f"fourth = f32[512,512]{TILED} exponential(third)",
    "fetched = f32[512,512]{1,0:T(8,128)S(1)} copy-done(fetch)",
    f"fifth = f32[512,512]{TILED} dot(fourth, fetched), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}",
    f"reduced = f32[512,512]{TILED} all-reduce-done(reduce)",
    f"ROOT out = f32[512,512]{TILED} add(fifth, reduced), "
    "metadata={op_name=\"jit(step)/add\" source_file=\"model/layers.py\" source_line=42}",
]
SUM = "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT c = f32[] add(a, b)\n}\n\n"


def layer(edit=lambda lines: lines):
    lines = "\n".join("  " + line for line in edit(list(LAYER_LINES)))
    return f"HloModule layer, is_scheduled=true, replica_count=4\n\n{SUM}ENTRY main {{\n{lines}\n}}\n"


def named(lines, name):
    """The index of the instruction called `name`."""
    return next(i for i, line in enumerate(lines) if re.match(rf"(ROOT )?{name} = ", line))
