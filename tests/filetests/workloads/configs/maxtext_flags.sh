export LIBTPU_INIT_ARGS="--xla_tpu_scoped_vmem_limit_kib=32768"
export LIBTPU_INIT_ARGS="${LIBTPU_INIT_ARGS} --xla_tpu_enable_async_collective_fusion=true"
XLA_FLAGS+="--xla_tpu_overlap_compute_collective_tc=true" python3 MaxText/train.py base.yml \
  base_emb_dim=64 base_num_query_heads=4 base_mlp_dim=128 \
  base_num_decoder_layers=2 head_dim=16 vocab_size=256 attention=dot_product num_experts=4 megablox=false \
  logits_dot_in_fp32=true per_device_batch_size=1 max_target_length=64 ici_fsdp_parallelism=2 \
  tile_batch_seq=256 tile_mlp_dim=128 dcn_data_parallelism=2
