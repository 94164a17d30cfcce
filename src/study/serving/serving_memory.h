// What a server's memory holds: weights as stored, and the pages of the cache that the rest has room for.
//
//   const Result<ServingMemory> memory = serving_memory(setup, device.config);
//   memory->tokens()                               // of all requests together, on one group of devices
#pragma once

#include <cstdint>
#include <numeric>
#include <string>

#include "base/source.h"
#include "model/device.h"
#include "serving/serving_setup.h"

namespace hlosim {

/// Bytes of one device.
struct ServingMemory {
  int64_t capacity = 0;  // that a program can use
  std::string capacity_source;
  int64_t budget = 0;  // memory_utilization of it
  int64_t weights = 0;
  int64_t draft_weights = 0;    // of the model that drafts; 0: none
  int64_t bytes_per_token = 0;  // of the cache, that of the draft model included
  int64_t window_bytes = 0;     // of these, of layers that keep the pages of their window alone
  int64_t window = 0;           // tokens; 0: every layer keeps all pages
  int64_t page = 0;             // tokens
  /// Pages of `unit_bytes()` a token that fit beside the weights: a page's token takes one or more of them.
  int64_t pages = 0;

  /// The largest size that divides both those of layers with a window and those of all others.
  int64_t unit_bytes() const { return std::gcd(bytes_per_token - window_bytes, window_bytes); }
  /// Pages that a request with so many tokens takes.
  int64_t pages_of(int64_t tokens) const;
  /// That one more page of tokens takes at most.
  int64_t pages_per_page() const { return bytes_per_token / unit_bytes(); }
  int64_t cache() const { return pages * page * unit_bytes(); }
  int64_t headroom() const { return capacity - weights - draft_weights - cache(); }  // programs, temporaries
  /// Of requests that no window shortens.
  int64_t tokens() const { return pages / pages_per_page() * page; }
};

/// Bytes of the weights of one device, as they are stored.
int64_t weight_bytes(const ServingSetup& setup);
/// Tokens of a page of the cache: --block-size, or vLLM's choice.
int64_t page_tokens(const ServingSetup& setup);
/// Bytes of cache that a token takes on one device, without a draft model: heads of keys and values padded to
/// whole 32-bit words and 128 lanes, as ragged paged attention lays them out; a latent cache once, whatever
/// `tensor` is.
int64_t cache_bytes_per_token(const ServingSetup& setup);
/// Of these, of the layers with a window.
int64_t window_bytes_per_token(const ServingSetup& setup);
/// Do layers with a window keep its pages alone? vLLM's do where the heads of all layers have one size
/// (vllm-project/tpu-inference, kv_cache_manager.py).
bool keeps_windows(const ServingSetup& setup);

/// Errors: weights alone, or one request of max_model_len beside them, don't fit.
Result<ServingMemory> serving_memory(const ServingSetup& setup, const DeviceConfig& device);

}  // namespace hlosim
