func.func @f() {
  "x.y"() {d = #out<raw input = 0,stablehlo.conv = 3>} : () -> ()
  return
}
