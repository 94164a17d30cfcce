#!/bin/bash
export LIBTPU_INIT_ARGS="--xla_tpu_enable_async_collective_fusion=true"
python3 -m MaxText.train MaxText/configs/base.yml run_name="two slices" \
  base_emb_dim=64 base_num_query_heads=4 base_mlp_dim=128 \
  base_num_decoder_layers=2 head_dim=16 vocab_size=256 attention=dot_product \
  per_device_batch_size=0.5 max_target_length=64 dcn_data_parallelism=2 ici_fsdp_parallelism=2 \
  remat_policy=custom context=device mlpwo=offload weight_dtype=bfloat16  # a comment
echo done=1
