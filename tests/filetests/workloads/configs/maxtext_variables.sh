# bash 22b.sh RUN_NAME="<your_run_name>" OUTPUT_PATH="gs://<your_output_path>"
set -e
export EXECUTABLE="train" # or train_compile
for ARGUMENT in "$@"; do
    IFS='=' read -r KEY VALUE <<< "$ARGUMENT"
    export "$KEY"="$VALUE"
done
export LIBTPU_INIT_ARGS="--xla_enable_async_all_gather=true TPU_MEGACORE=MEGACORE_DENSE"
python3 -m maxtext.trainers.pre_train.$EXECUTABLE "${CONFIGS:-$PWD}/base.yml" run_name=$RUN_NAME \
    base_emb_dim=64 base_num_query_heads=4 base_mlp_dim=128 base_num_decoder_layers=2 head_dim=16 vocab_size=256 \
    attention=dot_product per_device_batch_size=2 max_target_length=64 ici_fsdp_parallelism=4 remat_policy=minimal \
    base_output_directory=$OUTPUT_PATH dataset_type=synthetic
