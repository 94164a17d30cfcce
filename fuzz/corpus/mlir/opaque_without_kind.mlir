"a.b"() {k = #d.e<[1] // x
>, l = #d<< n = 0 // y
    %0 = stablehlo.add %arg0, %arg1 : tensore4xf32>
>} : () -> ()
