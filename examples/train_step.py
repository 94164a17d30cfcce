"""A two-layer transformer and one step of its training in JAX. hlosim needs the module alone, not JAX and not a TPU:

  lowered = jax.jit(train_step).lower(params, tokens, targets)
  print(hlosim.load(lowered).report("v6e"))

examples/train_step.mlir is the module in the form of lowered.as_text(debug_info=True), written by make_train_step.py.
"""
import jax
import jax.numpy as jnp

HEAD_DIM = 128


def rms_norm(x, weight):
    wide = x.astype(jnp.float32)
    root = jax.lax.rsqrt(jnp.mean(wide * wide, axis=-1, keepdims=True) + 1e-6)
    return (wide * root).astype(jnp.bfloat16) * weight.astype(jnp.bfloat16)


@jax.named_scope("attention")
def attention(x, w, mask):
    wq, wk, wv, wo = (w[name].astype(jnp.bfloat16) for name in ("wq", "wk", "wv", "wo"))
    q, k, v = (jnp.einsum("btd,dhk->bthk", x, one) for one in (wq, wk, wv))  # qkv
    scores = jnp.einsum("bthk,bshk->bhts", q, k, preferred_element_type=jnp.float32) / HEAD_DIM**0.5  # scores
    share = jax.nn.softmax(jnp.where(mask, scores, -jnp.inf)).astype(jnp.bfloat16)  # softmax
    mixed = jnp.einsum("bhts,bshk->bhtk", share, v)  # values
    return jnp.einsum("bhtk,hkd->btd", mixed, wo)  # output


@jax.named_scope("mlp")
def mlp(x, w):
    gate = jax.nn.silu(x @ w["wi_0"].astype(jnp.bfloat16))  # gate
    up = x @ w["wi_1"].astype(jnp.bfloat16)  # up
    return (gate * up) @ w["wo_mlp"].astype(jnp.bfloat16)  # down


def loss(params, tokens, targets):
    x = params["embedding"].astype(jnp.bfloat16)[tokens]  # embed
    mask = jnp.tril(jnp.ones((tokens.shape[1], tokens.shape[1]), bool))  # mask
    for i in range(2):
        w = params[f"layer_{i}"]
        with jax.named_scope(f"layer_{i}"):
            x = x + attention(rms_norm(x, w["norm_1"]), w, mask)  # norm_1
            x = x + mlp(rms_norm(x, w["norm_2"]), w)  # norm_2
    with jax.named_scope("head"):
        x = rms_norm(x, params["final_norm"])  # final_norm
        logits = jnp.matmul(x, params["head"].astype(jnp.bfloat16), preferred_element_type=jnp.float32)  # logits
    with jax.named_scope("loss"):
        chosen = jnp.take_along_axis(jax.nn.log_softmax(logits), targets[..., None], axis=-1)
        return -chosen.mean()  # loss


def train_step(params, tokens, targets, rate=0.01):
    value, gradients = jax.value_and_grad(loss)(params, tokens, targets)
    return value, jax.tree.map(lambda p, g: p - rate * g, params, gradients)  # update
