#!/usr/bin/env python3
"""Writes ResNet-50 for images of 224 x 224 as a front end writes it: HLO text without schedule or tiles.

  examples/make_resnet50.py [--batch N] [-o FILE]

Inference in bf16: convolutions, batch normalization by its four vectors, rectifiers, pooling, one product, softmax.
"""
import argparse
import sys

STAGES = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))  # blocks, channels, stride of the first


class Writer:
    def __init__(self):
        self.lines, self.parameters, self.next = [], 0, 0

    def add(self, shape, text, name=None):
        self.next += 1
        name = name or f"v{self.next}"
        self.lines.append(f"  {name} = {shape} {text}")
        return name

    def parameter(self, shape):
        self.parameters += 1
        return self.add(shape, f"parameter({self.parameters - 1})", f"p{self.parameters - 1}")


def shape(*sizes):
    return f"bf16[{','.join(map(str, sizes))}]"


class Network:
    def __init__(self, batch):
        self.writer, self.batch = Writer(), batch

    def convolution(self, x, size, channels, to, kernel, stride):
        """x: bf16[batch, size, size, channels]; gives its name and size."""
        w, out, pad = self.writer, (size + stride - 1) // stride, kernel // 2
        weights = w.parameter(shape(kernel, kernel, channels, to))
        low, high = (pad, pad) if stride == 1 or kernel == 1 else (pad, pad - (1 - size % 2))
        window = f"size={kernel}x{kernel} stride={stride}x{stride}"
        if kernel > 1:
            window += f" pad={low}_{high}x{low}_{high}"
        y = w.add(shape(self.batch, out, out, to),
                  f"convolution({x}, {weights}), window={{{window}}}, dim_labels=b01f_01io->b01f")
        return self.normalization(y, out, to), out

    def normalization(self, x, size, channels):
        w, whole = self.writer, shape(self.batch, size, size, channels)
        mean, variance, scale, offset = (w.parameter(shape(channels)) for _ in range(4))
        epsilon = w.add("bf16[]", "constant(1e-05)")
        epsilons = w.add(shape(channels), f"broadcast({epsilon}), dimensions={{}}")
        safe = w.add(shape(channels), f"add({variance}, {epsilons})")
        factor = w.add(shape(channels), f"rsqrt({safe})")
        factor = w.add(shape(channels), f"multiply({factor}, {scale})")
        spread = [w.add(whole, f"broadcast({v}), dimensions={{3}}") for v in (mean, factor, offset)]
        y = w.add(whole, f"subtract({x}, {spread[0]})")
        y = w.add(whole, f"multiply({y}, {spread[1]})")
        return w.add(whole, f"add({y}, {spread[2]})")

    def rectifier(self, x, size, channels):
        w, whole = self.writer, shape(self.batch, size, size, channels)
        zero = w.add("bf16[]", "constant(0)")
        return w.add(whole, f"maximum({x}, {w.add(whole, f'broadcast({zero}), dimensions={{}}')})")

    def block(self, x, size, channels, inner, stride):
        y, _ = self.convolution(x, size, channels, inner, 1, 1)
        y = self.rectifier(y, size, inner)
        y, out = self.convolution(y, size, inner, inner, 3, stride)
        y = self.rectifier(y, out, inner)
        y, _ = self.convolution(y, out, inner, 4 * inner, 1, 1)
        if stride != 1 or channels != 4 * inner:
            x, _ = self.convolution(x, size, channels, 4 * inner, 1, stride)
        total = self.writer.add(shape(self.batch, out, out, 4 * inner), f"add({y}, {x})")
        return self.rectifier(total, out, 4 * inner), out

    def write(self):
        w = self.writer
        x = w.parameter(shape(self.batch, 224, 224, 3))
        x, size = self.convolution(x, 224, 3, 64, 7, 2)
        x = self.rectifier(x, size, 64)
        lowest = w.add("bf16[]", "constant(-inf)")
        size //= 2
        x = w.add(shape(self.batch, size, size, 64),
                  f"reduce-window({x}, {lowest}), window={{size=1x3x3x1 stride=1x2x2x1 pad=0_0x0_1x0_1x0_0}}, to_apply=larger")
        channels = 64
        for blocks, inner, stride in STAGES:
            for i in range(blocks):
                x, size = self.block(x, size, channels, inner, stride if i == 0 else 1)
                channels = 4 * inner
        zero = w.add("bf16[]", "constant(0)")
        x = w.add(shape(self.batch, channels), f"reduce({x}, {zero}), dimensions={{1,2}}, to_apply=sum")
        weights, bias = w.parameter(shape(channels, 1000)), w.parameter(shape(1000))
        logits = shape(self.batch, 1000)
        x = w.add(logits, f"dot({x}, {weights}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}")
        x = w.add(logits, f"add({x}, {w.add(logits, f'broadcast({bias}), dimensions={{1}}')})")
        highest = w.add(shape(self.batch), f"reduce({x}, {lowest}), dimensions={{1}}, to_apply=larger")
        x = w.add(logits, f"subtract({x}, {w.add(logits, f'broadcast({highest}), dimensions={{0}}')})")
        x = w.add(logits, f"exponential({x})")
        total = w.add(shape(self.batch), f"reduce({x}, {zero}), dimensions={{1}}, to_apply=sum")
        w.add(logits, f"divide({x}, {w.add(logits, f'broadcast({total}), dimensions={{0}}')})", "ROOT probabilities")
        return ("HloModule resnet50\n\n"
                + "".join(f"{name} {{\n  a = bf16[] parameter(0)\n  b = bf16[] parameter(1)\n  ROOT r = bf16[] {op}(a, b)\n}}\n\n"
                          for name, op in (("sum", "add"), ("larger", "maximum")))
                + "ENTRY main {\n" + "\n".join(w.lines) + "\n}\n")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("-o", dest="output")
    args = parser.parse_args()
    text = Network(args.batch).write()
    if args.output:
        with open(args.output, "w", encoding="utf-8") as file:
            file.write(text)
    else:
        sys.stdout.write(text)


main()
