
/device:TPU:0ÿÿÿÿ