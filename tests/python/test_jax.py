"""hlosim.report and hlosim.aot, by stand-ins of JAX's interfaces: JAX itself cannot be installed here."""
import sys
import types

import pytest

import hlosim

TEXT = "HloModule jit_f, is_scheduled=true\nENTRY e {\n  a = f32[8,128]{1,0:T(8,128)} parameter(0)\n  ROOT x = f32[8,128]{1,0:T(8,128)} add(a, a)\n}\n"


class Lowered:
    def __init__(self, calls):
        self.calls = calls

    def as_text(self):
        return TEXT

    def compile(self):
        self.calls.append("compile")
        return self


@pytest.fixture
def jax(monkeypatch):
    """A module `jax` with the attributes that are called, which records the calls."""
    calls = []

    class Jitted:
        def __init__(self, f, settings):
            calls.append(("jit", f, settings))

        def lower(self, *args, **kwargs):
            calls.append(("lower", args, kwargs))
            return Lowered(calls)

    class Mesh:
        def __init__(self, devices, names):
            self.shape = dict(zip(names, devices.shape))

    class PartitionSpec(tuple):
        def __new__(cls, *axes):
            return super().__new__(cls, axes)

    def tree_map(f, tree, is_leaf):
        return f(tree) if is_leaf(tree) else type(tree)(tree_map(f, one, is_leaf) for one in tree)

    fake = types.ModuleType("jax")
    fake.jit = lambda f, **settings: Jitted(f, settings)
    fake.tree_util = types.SimpleNamespace(tree_map=tree_map)
    fake.calls = calls
    topologies = types.ModuleType("jax.experimental.topologies")
    topologies.get_topology_desc = lambda name, platform, **more: (
        calls.append(("topology", name, platform, more)) or types.SimpleNamespace(devices=[object() for _ in range(8)]))
    experimental = types.ModuleType("jax.experimental")
    experimental.topologies = topologies
    sharding = types.ModuleType("jax.sharding")
    sharding.Mesh, sharding.PartitionSpec = Mesh, PartitionSpec
    sharding.NamedSharding = lambda mesh, spec: (mesh.shape, tuple(spec))
    for module in (fake, experimental, topologies, sharding):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setenv("JAX_PLATFORMS", "")
    monkeypatch.setenv("TPU_SKIP_MDS_QUERY", "")
    return fake


def test_report_of_a_function(jax):
    def f(x):
        return x

    report = hlosim.report(f, 1, device="v5e", scale=2)
    assert jax.calls == [("jit", f, {}), ("lower", (1,), {"scale": 2})]
    assert report.time_ps == hlosim.load(TEXT).report("v5e").time_ps


def test_report_of_a_jitted_function_and_of_what_holds_a_module(jax):
    jitted = jax.jit(None)
    jax.calls.clear()
    direct = hlosim.report(hlosim.load(TEXT), device="v5e", options={"topology": "2x2"})
    assert hlosim.report(jitted_callable(jitted), 1, device="v5e", options={"topology": "2x2"}).to_json() != ""
    assert jax.calls == [("lower", (1,), {})]
    assert hlosim.report(TEXT, device="v5e", options={"topology": "2x2"}).time_ps == direct.time_ps
    with pytest.raises(TypeError, match="takes no arguments"):
        hlosim.report(TEXT, 1, device="v5e")


def jitted_callable(jitted):
    """As a function that jax.jit returned: it can be called and lowered."""
    class Function:
        def __call__(self, x):
            return x

        def lower(self, *args, **kwargs):
            return jitted.lower(*args, **kwargs)

    return Function()


def test_aot_compiles_for_the_slice(jax):
    spec = sys.modules["jax.sharding"].PartitionSpec
    made = hlosim.aot(len, "x", device="v6e:2x4", mesh={"data": 4, "model": 2}, in_specs=(spec("data"), spec()),
                      jit={"donate_argnums": 0})
    shape = {"data": 4, "model": 2}
    assert jax.calls == [("topology", "v6e:2x4", "tpu", {}),
                         ("jit", len, {"donate_argnums": 0, "in_shardings": ((shape, ("data",)), (shape, ()))}),
                         ("lower", ("x",), {}), "compile"]
    assert (made.device, made.topology, made.module.name) == ("v6e", "2x4", "jit_f")
    assert made.report().time_ps == hlosim.load(TEXT).report("v6e", topology="2x4").time_ps


def test_aot_knows_jaxs_names_of_generations(jax):
    for name in ("v7x:2x2x1", "tpu7x:2x2x1"):
        jax.calls.clear()
        made = hlosim.aot(len, device=name)
        assert jax.calls[0] == ("topology", "tpu7x:2x2x1", "tpu", {})
        assert jax.calls[1] == ("jit", len, {"in_shardings": ({"x": 8}, ())})
        assert made.device == "v7x"


def test_aot_refuses_wrong_slices_and_meshes(jax):
    for device in ("v6e", "v6e:", ":2x4", "v6e:2x", "v6e:0x4"):
        with pytest.raises(ValueError, match="v6e:2x4"):
            hlosim.aot(len, device=device)
    with pytest.raises(ValueError, match="has 4 devices, v6e:2x4 has 8"):
        hlosim.aot(len, device="v6e:2x4", mesh={"data": 4})
