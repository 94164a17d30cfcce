// while cond type
// error: stablehlo.while: C1: the condition returns tensor<f32>, expected tensor<i1>
func.func @main(%x: tensor<f32>) {
  %0 = "stablehlo.while"(%x) ({ ^bb0(%a: tensor<f32>): "stablehlo.return"(%a) : (tensor<f32>) -> () }, { ^bb0(%a: tensor<f32>): "stablehlo.return"(%a) : (tensor<f32>) -> () }) : (tensor<f32>) -> tensor<f32>
  return
}
// -----
// while cond args
// error: stablehlo.while: C1: the condition takes 2 values, expected 1
func.func @main(%x: tensor<f32>) {
  %0 = "stablehlo.while"(%x) ({ ^bb0(%a: tensor<f32>, %b: tensor<f32>): %s = "stablehlo.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%a: tensor<f32>): "stablehlo.return"(%a) : (tensor<f32>) -> () }) : (tensor<f32>) -> tensor<f32>
  return
}
// -----
// while cond arg type
// error: stablehlo.while: C1: the condition takes tensor<i32> as value 0, expected tensor<f32>
func.func @main(%x: tensor<f32>) {
  %0 = "stablehlo.while"(%x) ({ ^bb0(%a: tensor<i32>): %s = "stablehlo.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%a: tensor<f32>): "stablehlo.return"(%a) : (tensor<f32>) -> () }) : (tensor<f32>) -> tensor<f32>
  return
}
// -----
// while body arg type
// error: stablehlo.while: C2: the body takes tensor<i32> as value 0, expected tensor<f32>
func.func @main(%x: tensor<f32>) {
  %0 = "stablehlo.while"(%x) ({ ^bb0(%a: tensor<f32>): %s = "stablehlo.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%a: tensor<i32>): "stablehlo.return"(%x) : (tensor<f32>) -> () }) : (tensor<f32>) -> tensor<f32>
  return
}
// -----
// while body result type
// error: stablehlo.while: C2: the body returns tensor<i32> as value 0, expected tensor<f32>
func.func @main(%x: tensor<f32>) {
  %0 = "stablehlo.while"(%x) ({ ^bb0(%a: tensor<f32>): %s = "stablehlo.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%a: tensor<f32>): %s = "stablehlo.convert"(%a) : (tensor<f32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) : (tensor<f32>) -> tensor<f32>
  return
}
// -----
// while body two results
// error: stablehlo.while: C2: the body returns 2 values, expected 1
func.func @main(%x: tensor<f32>) {
  %0 = "stablehlo.while"(%x) ({ ^bb0(%a: tensor<f32>): %s = "stablehlo.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%a: tensor<f32>): "stablehlo.return"(%a, %a) : (tensor<f32>, tensor<f32>) -> () }) : (tensor<f32>) -> tensor<f32>
  return
}
// -----
// while result type
// error: stablehlo.while: C3: result 0 is tensor<i32>, expected tensor<f32>
func.func @main(%x: tensor<f32>) {
  %0 = "stablehlo.while"(%x) ({ ^bb0(%a: tensor<f32>): %s = "stablehlo.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%a: tensor<f32>): "stablehlo.return"(%a) : (tensor<f32>) -> () }) : (tensor<f32>) -> tensor<i32>
  return
}
// -----
// while result shape
// error: stablehlo.while: C3: result 0 is tensor<1xf32>, expected tensor<f32>
func.func @main(%x: tensor<f32>) {
  %0 = "stablehlo.while"(%x) ({ ^bb0(%a: tensor<f32>): %s = "stablehlo.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%a: tensor<f32>): "stablehlo.return"(%a) : (tensor<f32>) -> () }) : (tensor<f32>) -> tensor<1xf32>
  return
}
// -----
// while cond two
// error: stablehlo.while: C1: the condition returns 2 values, expected tensor<i1>
func.func @main(%x: tensor<f32>) {
  %0 = "stablehlo.while"(%x) ({ ^bb0(%a: tensor<f32>): %s = "stablehlo.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1> "stablehlo.return"(%s, %s) : (tensor<i1>, tensor<i1>) -> () }, { ^bb0(%a: tensor<f32>): "stablehlo.return"(%a) : (tensor<f32>) -> () }) : (tensor<f32>) -> tensor<f32>
  return
}
// -----
// while cond rank
// error: stablehlo.while: C1: the condition returns tensor<1xi1>, expected tensor<i1>
func.func @main(%x: tensor<f32>) {
  %0 = "stablehlo.while"(%x) ({ ^bb0(%a: tensor<f32>): %s = "stablehlo.constant"() {value = dense<true> : tensor<1xi1>} : () -> tensor<1xi1> "stablehlo.return"(%s) : (tensor<1xi1>) -> () }, { ^bb0(%a: tensor<f32>): "stablehlo.return"(%a) : (tensor<f32>) -> () }) : (tensor<f32>) -> tensor<f32>
  return
}
// -----
// while one region
// error: stablehlo.while: has 1 regions, expected 2
func.func @main(%x: tensor<f32>) {
  %0 = "stablehlo.while"(%x) ({ ^bb0(%a: tensor<f32>): %s = "stablehlo.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }) : (tensor<f32>) -> tensor<f32>
  return
}
// -----
// while no results
// error: stablehlo.while: has 0 results, expected 1
func.func @main(%x: tensor<f32>) {
  "stablehlo.while"(%x) ({ ^bb0(%a: tensor<f32>): %s = "stablehlo.constant"() {value = dense<true> : tensor<i1>} : () -> tensor<i1> "stablehlo.return"(%s) : (tensor<i1>) -> () }, { ^bb0(%a: tensor<f32>): "stablehlo.return"(%a) : (tensor<f32>) -> () }) : (tensor<f32>) -> ()
  return
}
// -----
// if true args
// error: stablehlo.if: C1: branch 0 takes 1 values, expected none
func.func @main(%p: tensor<i1>, %x: tensor<f32>) {
  %0 = "stablehlo.if"(%p) ({ ^bb0(%a: tensor<f32>): "stablehlo.return"(%x) : (tensor<f32>) -> () }, { "stablehlo.return"(%x) : (tensor<f32>) -> () }) : (tensor<i1>) -> tensor<f32>
  return
}
// -----
// if false args
// error: stablehlo.if: C1: branch 1 takes 1 values, expected none
func.func @main(%p: tensor<i1>, %x: tensor<f32>) {
  %0 = "stablehlo.if"(%p) ({ "stablehlo.return"(%x) : (tensor<f32>) -> () }, { ^bb0(%a: tensor<f32>): "stablehlo.return"(%x) : (tensor<f32>) -> () }) : (tensor<i1>) -> tensor<f32>
  return
}
// -----
// if counts
// error: stablehlo.if: C3: branch 1 returns 2 values, expected 1
func.func @main(%p: tensor<i1>, %x: tensor<f32>) {
  %0 = "stablehlo.if"(%p) ({ "stablehlo.return"(%x) : (tensor<f32>) -> () }, { "stablehlo.return"(%x, %x) : (tensor<f32>, tensor<f32>) -> () }) : (tensor<i1>) -> tensor<f32>
  return
}
// -----
// if types
// error: stablehlo.if: C3: branch 1 returns tensor<i32> as value 0, expected tensor<f32>
func.func @main(%p: tensor<i1>, %x: tensor<f32>) {
  %0 = "stablehlo.if"(%p) ({ "stablehlo.return"(%x) : (tensor<f32>) -> () }, { %s = "stablehlo.convert"(%x) : (tensor<f32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) : (tensor<i1>) -> tensor<f32>
  return
}
// -----
// if result type
// error: stablehlo.if: C3: branch 0 returns tensor<f32> as value 0, expected tensor<i32>
func.func @main(%p: tensor<i1>, %x: tensor<f32>) {
  %0 = "stablehlo.if"(%p) ({ "stablehlo.return"(%x) : (tensor<f32>) -> () }, { "stablehlo.return"(%x) : (tensor<f32>) -> () }) : (tensor<i1>) -> tensor<i32>
  return
}
// -----
// if result shape
// error: stablehlo.if: C3: branch 0 returns tensor<f32> as value 0, expected tensor<1xf32>
func.func @main(%p: tensor<i1>, %x: tensor<f32>) {
  %0 = "stablehlo.if"(%p) ({ "stablehlo.return"(%x) : (tensor<f32>) -> () }, { "stablehlo.return"(%x) : (tensor<f32>) -> () }) : (tensor<i1>) -> tensor<1xf32>
  return
}
// -----
// if pred type
// error: stablehlo.if: I1: operand 0 is tensor<i32>, expected tensor<i1>
func.func @main(%p: tensor<i32>, %x: tensor<f32>) {
  %0 = "stablehlo.if"(%p) ({ "stablehlo.return"(%x) : (tensor<f32>) -> () }, { "stablehlo.return"(%x) : (tensor<f32>) -> () }) : (tensor<i32>) -> tensor<f32>
  return
}
// -----
// if pred rank
// error: stablehlo.if: I1: operand 0 is tensor<1xi1>, expected tensor<i1>
func.func @main(%p: tensor<1xi1>, %x: tensor<f32>) {
  %0 = "stablehlo.if"(%p) ({ "stablehlo.return"(%x) : (tensor<f32>) -> () }, { "stablehlo.return"(%x) : (tensor<f32>) -> () }) : (tensor<1xi1>) -> tensor<f32>
  return
}
// -----
// if no results
// error: stablehlo.if: C3: branch 0 returns 1 values, expected 0
func.func @main(%p: tensor<i1>, %x: tensor<f32>) {
  "stablehlo.if"(%p) ({ "stablehlo.return"(%x) : (tensor<f32>) -> () }, { "stablehlo.return"(%x) : (tensor<f32>) -> () }) : (tensor<i1>) -> ()
  return
}
// -----
// case args
// error: stablehlo.case: C1: branch 1 takes 1 values, expected none
func.func @main(%p: tensor<i32>, %x: tensor<f32>) {
  %0 = "stablehlo.case"(%p) ({ "stablehlo.return"(%x) : (tensor<f32>) -> () }, { ^bb0(%a: tensor<f32>): "stablehlo.return"(%x) : (tensor<f32>) -> () }) : (tensor<i32>) -> tensor<f32>
  return
}
// -----
// case types
// error: stablehlo.case: C3: branch 1 returns tensor<i32> as value 0, expected tensor<f32>
func.func @main(%p: tensor<i32>, %x: tensor<f32>) {
  %0 = "stablehlo.case"(%p) ({ "stablehlo.return"(%x) : (tensor<f32>) -> () }, { %s = "stablehlo.convert"(%x) : (tensor<f32>) -> tensor<i32> "stablehlo.return"(%s) : (tensor<i32>) -> () }) : (tensor<i32>) -> tensor<f32>
  return
}
// -----
// case counts
// error: stablehlo.case: C3: branch 1 returns 2 values, expected 1
func.func @main(%p: tensor<i32>, %x: tensor<f32>) {
  %0 = "stablehlo.case"(%p) ({ "stablehlo.return"(%x) : (tensor<f32>) -> () }, { "stablehlo.return"(%x, %x) : (tensor<f32>, tensor<f32>) -> () }) : (tensor<i32>) -> tensor<f32>
  return
}
// -----
// case result type
// error: stablehlo.case: C3: branch 0 returns tensor<f32> as value 0, expected tensor<i32>
func.func @main(%p: tensor<i32>, %x: tensor<f32>) {
  %0 = "stablehlo.case"(%p) ({ "stablehlo.return"(%x) : (tensor<f32>) -> () }, { "stablehlo.return"(%x) : (tensor<f32>) -> () }) : (tensor<i32>) -> tensor<i32>
  return
}
// -----
// case index type
// error: stablehlo.case: I1: operand 0 is tensor<i64>, expected tensor<i32>
func.func @main(%p: tensor<i64>, %x: tensor<f32>) {
  %0 = "stablehlo.case"(%p) ({ "stablehlo.return"(%x) : (tensor<f32>) -> () }, { "stablehlo.return"(%x) : (tensor<f32>) -> () }) : (tensor<i64>) -> tensor<f32>
  return
}
// -----
// case index rank
// error: stablehlo.case: I1: operand 0 is tensor<1xi32>, expected tensor<i32>
func.func @main(%p: tensor<1xi32>, %x: tensor<f32>) {
  %0 = "stablehlo.case"(%p) ({ "stablehlo.return"(%x) : (tensor<f32>) -> () }, { "stablehlo.return"(%x) : (tensor<f32>) -> () }) : (tensor<1xi32>) -> tensor<f32>
  return
}
// -----
// case empty
// error: stablehlo.case: has no branch
func.func @main(%p: tensor<i32>, %x: tensor<f32>) {
  %0 = "stablehlo.case"(%p) : (tensor<i32>) -> tensor<f32>
  return
}
// -----
// case index ui32
// error: stablehlo.case: I1: operand 0 is tensor<ui32>, expected tensor<i32>
func.func @main(%p: tensor<ui32>, %x: tensor<f32>) {
  %0 = "stablehlo.case"(%p) ({ "stablehlo.return"(%x) : (tensor<f32>) -> () }, { "stablehlo.return"(%x) : (tensor<f32>) -> () }) : (tensor<ui32>) -> tensor<f32>
  return
}
// -----
// case empty region
// error: stablehlo.case: has 1 regions, expected 1
func.func @main(%p: tensor<i32>, %x: tensor<f32>) {
  %0 = "stablehlo.case"(%p) ({}) : (tensor<i32>) -> tensor<f32>
  return
}
// -----
// case no return
// error: stablehlo.case: C3: branch 0 returns 0 values, expected 1
func.func @main(%p: tensor<i32>, %x: tensor<f32>) {
  %0 = "stablehlo.case"(%p) ({ %s = "stablehlo.negate"(%x) : (tensor<f32>) -> tensor<f32> }) : (tensor<i32>) -> tensor<f32>
  return
}
