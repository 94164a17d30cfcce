func.func @f(%a: tensor<4xf32>) {
  check.expect_close %a, %a, min_ulp_difference = 3, min_ulp_difference = 0 : tensor<4xf32>, tensor<4xf32>
  return
}
