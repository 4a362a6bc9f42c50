"builtin.module"() <{sym_name = "jit_function"}> ({
  "vhlo.func_v1"() <{arg_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>, #vhlo.dict_v1<{}>, #vhlo.dict_v1<{}>]>, function_type = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.tensor_v1<5x!vhlo.f32_v1>, !vhlo.tensor_v1<3x!vhlo.i32_v1>, !vhlo.tensor_v1<3x3x!vhlo.f32_v1>) -> !vhlo.tensor_v1<3x!vhlo.f32_v1>, !vhlo.tensor_v1<9x!vhlo.bool_v1>, !vhlo.tensor_v1<2x2x!vhlo.bf16_v1>, !vhlo.tensor_v1<4x!vhlo.f16_v1>, !vhlo.tensor_v1<8x!vhlo.f32_v1>, !vhlo.tensor_v1<2x60x!vhlo.i16_v1>, !vhlo.tensor_v1<5x!vhlo.f32_v1>, !vhlo.tensor_v1<3x3x!vhlo.f32_v1>, !vhlo.tensor_v1<2x!vhlo.ui8_v1>>>, res_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{#vhlo.string_v1<"jax.result_info"> = #vhlo.string_v1<"[0]">}>, #vhlo.dict_v1<{#vhlo.string_v1<"jax.result_info"> = #vhlo.string_v1<"[1]">}>, #vhlo.dict_v1<{#vhlo.string_v1<"jax.result_info"> = #vhlo.string_v1<"[2]">}>, #vhlo.dict_v1<{#vhlo.string_v1<"jax.result_info"> = #vhlo.string_v1<"[3]">}>, #vhlo.dict_v1<{#vhlo.string_v1<"jax.result_info"> = #vhlo.string_v1<"[4]">}>, #vhlo.dict_v1<{#vhlo.string_v1<"jax.result_info"> = #vhlo.string_v1<"[5]">}>, #vhlo.dict_v1<{#vhlo.string_v1<"jax.result_info"> = #vhlo.string_v1<"[6]">}>, #vhlo.dict_v1<{#vhlo.string_v1<"jax.result_info"> = #vhlo.string_v1<"[7]">}>, #vhlo.dict_v1<{#vhlo.string_v1<"jax.result_info"> = #vhlo.string_v1<"[8]">}>]>, sym_name = #vhlo.string_v1<"main">, sym_visibility = #vhlo.string_v1<"public">}> ({
  ^bb0(%arg11: !vhlo.tensor_v1<5x!vhlo.f32_v1>, %arg12: !vhlo.tensor_v1<3x!vhlo.i32_v1>, %arg13: !vhlo.tensor_v1<3x3x!vhlo.f32_v1>):
    %54 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<5> : tensor<i32>>}> : () -> !vhlo.tensor_v1<!vhlo.i32_v1>
    %55 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<200> : tensor<ui8>>}> : () -> !vhlo.tensor_v1<!vhlo.ui8_v1>
    %56 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0> : tensor<ui8>>}> : () -> !vhlo.tensor_v1<!vhlo.ui8_v1>
    %57 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<1> : tensor<i32>>}> : () -> !vhlo.tensor_v1<!vhlo.i32_v1>
    %58 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<4> : tensor<i32>>}> : () -> !vhlo.tensor_v1<!vhlo.i32_v1>
    %59 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<[true, false, true, true, false, false, true, true, true]> : tensor<9xi1>>}> : () -> !vhlo.tensor_v1<9x!vhlo.bool_v1>
    %60 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<[[1.500000e+00, -2.250000e+00], [3.003520e-08, 0x7F80]]> : tensor<2x2xbf16>>}> : () -> !vhlo.tensor_v1<2x2x!vhlo.bf16_v1>
    %61 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<[3.332520e-01, 6.550400e+04, 5.960460e-08, -0.000000e+00]> : tensor<4xf16>>}> : () -> !vhlo.tensor_v1<4x!vhlo.f16_v1>
    %62 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<[0.333333343, 0x4B800000, 1.000000e-30, 123456.703, 3.14159274, 0.123456702, -1.000000e+10, 0x4996B438]> : tensor<8xf32>>}> : () -> !vhlo.tensor_v1<8x!vhlo.f32_v1>
    %63 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<"0xFDFFFEFFFFFF0000010002000300FDFFFEFFFFFF0000010002000300FDFFFEFFFFFF0000010002000300FDFFFEFFFFFF0000010002000300FDFFFEFFFFFF0000010002000300FDFFFEFFFFFF0000010002000300FDFFFEFFFFFF0000010002000300FDFFFEFFFFFF0000010002000300FDFFFEFFFFFF0000FDFFFEFFFFFF0000010002000300FDFFFEFFFFFF0000010002000300FDFFFEFFFFFF0000010002000300FDFFFEFFFFFF0000010002000300FDFFFEFFFFFF0000010002000300FDFFFEFFFFFF0000010002000300FDFFFEFFFFFF0000010002000300FDFFFEFFFFFF0000010002000300FDFFFEFFFFFF0000"> : tensor<2x60xi16>>}> : () -> !vhlo.tensor_v1<2x60x!vhlo.i16_v1>
    %64 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<[(0.000000e+00,1.000000e+00), (2.000000e+00,0.000000e+00), (3.000000e+00,0.000000e+00), (5.000000e-01,0.000000e+00), (0.333333343,0.000000e+00)]> : tensor<5xcomplex<f32>>>}> : () -> !vhlo.tensor_v1<5x!vhlo.complex_v1<!vhlo.f32_v1>>
    %65 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0> : tensor<i32>>}> : () -> !vhlo.tensor_v1<!vhlo.i32_v1>
    %66:3 = "vhlo.while_v1"(%65, %65, %arg11) ({
    ^bb0(%arg17: !vhlo.tensor_v1<!vhlo.i32_v1>, %arg18: !vhlo.tensor_v1<!vhlo.i32_v1>, %arg19: !vhlo.tensor_v1<5x!vhlo.f32_v1>):
      %84 = "vhlo.compare_v1"(%arg17, %58) <{compare_type = #vhlo<comparison_type_v1 SIGNED>, comparison_direction = #vhlo<comparison_direction_v1 LT>}> : (!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<!vhlo.bool_v1>
      "vhlo.return_v1"(%84) : (!vhlo.tensor_v1<!vhlo.bool_v1>) -> ()
    }, {
    ^bb0(%arg14: !vhlo.tensor_v1<!vhlo.i32_v1>, %arg15: !vhlo.tensor_v1<!vhlo.i32_v1>, %arg16: !vhlo.tensor_v1<5x!vhlo.f32_v1>):
      %82:2 = "vhlo.call_v1"(%arg15, %arg16) <{callee = #vhlo.string_v1<"None">}> : (!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<5x!vhlo.f32_v1>) -> (!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<5x!vhlo.f32_v1>)
      %83 = "vhlo.add_v1"(%arg14, %57) : (!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<!vhlo.i32_v1>
      "vhlo.return_v1"(%83, %82#0, %82#1) : (!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<5x!vhlo.f32_v1>) -> ()
    }) : (!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<5x!vhlo.f32_v1>) -> (!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<5x!vhlo.f32_v1>)
    %67 = "vhlo.convert_v1"(%arg11) : (!vhlo.tensor_v1<5x!vhlo.f32_v1>) -> !vhlo.tensor_v1<5x!vhlo.complex_v1<!vhlo.f32_v1>>
    %68 = "vhlo.multiply_v1"(%67, %64) : (!vhlo.tensor_v1<5x!vhlo.complex_v1<!vhlo.f32_v1>>, !vhlo.tensor_v1<5x!vhlo.complex_v1<!vhlo.f32_v1>>) -> !vhlo.tensor_v1<5x!vhlo.complex_v1<!vhlo.f32_v1>>
    %69 = "vhlo.real_v1"(%68) : (!vhlo.tensor_v1<5x!vhlo.complex_v1<!vhlo.f32_v1>>) -> !vhlo.tensor_v1<5x!vhlo.f32_v1>
    %70 = "vhlo.call_v1"(%arg13) <{callee = #vhlo.string_v1<"cholesky">}> : (!vhlo.tensor_v1<3x3x!vhlo.f32_v1>) -> !vhlo.tensor_v1<3x3x!vhlo.f32_v1>
    %71 = "vhlo.broadcast_in_dim_v1"(%56) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.ui8_v1>) -> !vhlo.tensor_v1<2x!vhlo.ui8_v1>
    %72 = "vhlo.broadcast_in_dim_v1"(%55) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.ui8_v1>) -> !vhlo.tensor_v1<2x!vhlo.ui8_v1>
    %73 = "vhlo.add_v1"(%72, %71) : (!vhlo.tensor_v1<2x!vhlo.ui8_v1>, !vhlo.tensor_v1<2x!vhlo.ui8_v1>) -> !vhlo.tensor_v1<2x!vhlo.ui8_v1>
    %74 = "vhlo.call_v1"(%66#2) <{callee = #vhlo.string_v1<"sort">}> : (!vhlo.tensor_v1<5x!vhlo.f32_v1>) -> !vhlo.tensor_v1<5x!vhlo.f32_v1>
    %75 = "vhlo.broadcast_in_dim_v1"(%65) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<3x!vhlo.i32_v1>
    %76 = "vhlo.compare_v1"(%arg12, %75) <{compare_type = #vhlo<comparison_type_v1 SIGNED>, comparison_direction = #vhlo<comparison_direction_v1 LT>}> : (!vhlo.tensor_v1<3x!vhlo.i32_v1>, !vhlo.tensor_v1<3x!vhlo.i32_v1>) -> !vhlo.tensor_v1<3x!vhlo.bool_v1>
    %77 = "vhlo.broadcast_in_dim_v1"(%54) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<3x!vhlo.i32_v1>
    %78 = "vhlo.add_v1"(%arg12, %77) : (!vhlo.tensor_v1<3x!vhlo.i32_v1>, !vhlo.tensor_v1<3x!vhlo.i32_v1>) -> !vhlo.tensor_v1<3x!vhlo.i32_v1>
    %79 = "vhlo.select_v1"(%76, %78, %arg12) : (!vhlo.tensor_v1<3x!vhlo.bool_v1>, !vhlo.tensor_v1<3x!vhlo.i32_v1>, !vhlo.tensor_v1<3x!vhlo.i32_v1>) -> !vhlo.tensor_v1<3x!vhlo.i32_v1>
    %80 = "vhlo.broadcast_in_dim_v1"(%79) <{broadcast_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>}> : (!vhlo.tensor_v1<3x!vhlo.i32_v1>) -> !vhlo.tensor_v1<3x1x!vhlo.i32_v1>
    %81 = "vhlo.gather_v2"(%74, %80) <{collapsed_slice_dims = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>, index_vector_dim = #vhlo.integer_v1<1 : i64>, indices_are_sorted = #vhlo.bool_v1<false>, offset_dims = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, operand_batching_dims = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, slice_sizes = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>, start_index_map = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>, start_indices_batching_dims = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<5x!vhlo.f32_v1>, !vhlo.tensor_v1<3x1x!vhlo.i32_v1>) -> !vhlo.tensor_v1<3x!vhlo.f32_v1>
    "vhlo.return_v1"(%81, %59, %60, %61, %62, %63, %69, %70, %73) : (!vhlo.tensor_v1<3x!vhlo.f32_v1>, !vhlo.tensor_v1<9x!vhlo.bool_v1>, !vhlo.tensor_v1<2x2x!vhlo.bf16_v1>, !vhlo.tensor_v1<4x!vhlo.f16_v1>, !vhlo.tensor_v1<8x!vhlo.f32_v1>, !vhlo.tensor_v1<2x60x!vhlo.i16_v1>, !vhlo.tensor_v1<5x!vhlo.f32_v1>, !vhlo.tensor_v1<3x3x!vhlo.f32_v1>, !vhlo.tensor_v1<2x!vhlo.ui8_v1>) -> ()
  }) : () -> ()
  "vhlo.func_v1"() <{arg_attrs = #vhlo.array_v1<[]>, function_type = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<5x!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<5x!vhlo.f32_v1>>>, res_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>, #vhlo.dict_v1<{}>]>, sym_name = #vhlo.string_v1<"None">, sym_visibility = #vhlo.string_v1<"private">}> ({
  ^bb0(%arg9: !vhlo.tensor_v1<!vhlo.i32_v1>, %arg10: !vhlo.tensor_v1<5x!vhlo.f32_v1>):
    %40 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<2.000000e+00> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %41 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<1.000000e+00> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %42 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0> : tensor<i32>>}> : () -> !vhlo.tensor_v1<!vhlo.i32_v1>
    %43 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<2> : tensor<i32>>}> : () -> !vhlo.tensor_v1<!vhlo.i32_v1>
    %44 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<1> : tensor<i32>>}> : () -> !vhlo.tensor_v1<!vhlo.i32_v1>
    %45 = "vhlo.add_v1"(%arg9, %44) : (!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<!vhlo.i32_v1>
    %46 = "vhlo.call_v1"(%arg9, %43) <{callee = #vhlo.string_v1<"remainder">}> : (!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<!vhlo.i32_v1>
    %47 = "vhlo.compare_v1"(%46, %42) <{compare_type = #vhlo<comparison_type_v1 SIGNED>, comparison_direction = #vhlo<comparison_direction_v1 EQ>}> : (!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<!vhlo.bool_v1>
    %48 = "vhlo.convert_v1"(%47) : (!vhlo.tensor_v1<!vhlo.bool_v1>) -> !vhlo.tensor_v1<!vhlo.i32_v1>
    %49 = "vhlo.case_v1"(%48) ({
      %52 = "vhlo.broadcast_in_dim_v1"(%41) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<5x!vhlo.f32_v1>
      %53 = "vhlo.subtract_v1"(%arg10, %52) : (!vhlo.tensor_v1<5x!vhlo.f32_v1>, !vhlo.tensor_v1<5x!vhlo.f32_v1>) -> !vhlo.tensor_v1<5x!vhlo.f32_v1>
      "vhlo.return_v1"(%53) : (!vhlo.tensor_v1<5x!vhlo.f32_v1>) -> ()
    }, {
      %50 = "vhlo.broadcast_in_dim_v1"(%40) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<5x!vhlo.f32_v1>
      %51 = "vhlo.multiply_v1"(%arg10, %50) : (!vhlo.tensor_v1<5x!vhlo.f32_v1>, !vhlo.tensor_v1<5x!vhlo.f32_v1>) -> !vhlo.tensor_v1<5x!vhlo.f32_v1>
      "vhlo.return_v1"(%51) : (!vhlo.tensor_v1<5x!vhlo.f32_v1>) -> ()
    }) : (!vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<5x!vhlo.f32_v1>
    "vhlo.return_v1"(%45, %49) : (!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<5x!vhlo.f32_v1>) -> ()
  }) : () -> ()
  "vhlo.func_v1"() <{arg_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>, #vhlo.dict_v1<{}>]>, function_type = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<!vhlo.i32_v1>>>, res_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>]>, sym_name = #vhlo.string_v1<"remainder">, sym_visibility = #vhlo.string_v1<"private">}> ({
  ^bb0(%arg7: !vhlo.tensor_v1<!vhlo.i32_v1>, %arg8: !vhlo.tensor_v1<!vhlo.i32_v1>):
    %28 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<1> : tensor<i32>>}> : () -> !vhlo.tensor_v1<!vhlo.i32_v1>
    %29 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0> : tensor<i32>>}> : () -> !vhlo.tensor_v1<!vhlo.i32_v1>
    %30 = "vhlo.compare_v1"(%arg8, %29) <{compare_type = #vhlo<comparison_type_v1 SIGNED>, comparison_direction = #vhlo<comparison_direction_v1 EQ>}> : (!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<!vhlo.bool_v1>
    %31 = "vhlo.call_v1"(%30, %28, %arg8) <{callee = #vhlo.string_v1<"_where">}> : (!vhlo.tensor_v1<!vhlo.bool_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<!vhlo.i32_v1>
    %32 = "vhlo.remainder_v1"(%arg7, %31) : (!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<!vhlo.i32_v1>
    %33 = "vhlo.compare_v1"(%32, %29) <{compare_type = #vhlo<comparison_type_v1 SIGNED>, comparison_direction = #vhlo<comparison_direction_v1 NE>}> : (!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<!vhlo.bool_v1>
    %34 = "vhlo.compare_v1"(%32, %29) <{compare_type = #vhlo<comparison_type_v1 SIGNED>, comparison_direction = #vhlo<comparison_direction_v1 LT>}> : (!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<!vhlo.bool_v1>
    %35 = "vhlo.compare_v1"(%31, %29) <{compare_type = #vhlo<comparison_type_v1 SIGNED>, comparison_direction = #vhlo<comparison_direction_v1 LT>}> : (!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<!vhlo.bool_v1>
    %36 = "vhlo.compare_v1"(%34, %35) <{compare_type = #vhlo<comparison_type_v1 UNSIGNED>, comparison_direction = #vhlo<comparison_direction_v1 NE>}> : (!vhlo.tensor_v1<!vhlo.bool_v1>, !vhlo.tensor_v1<!vhlo.bool_v1>) -> !vhlo.tensor_v1<!vhlo.bool_v1>
    %37 = "vhlo.and_v1"(%36, %33) : (!vhlo.tensor_v1<!vhlo.bool_v1>, !vhlo.tensor_v1<!vhlo.bool_v1>) -> !vhlo.tensor_v1<!vhlo.bool_v1>
    %38 = "vhlo.add_v1"(%32, %31) : (!vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<!vhlo.i32_v1>
    %39 = "vhlo.select_v1"(%37, %38, %32) : (!vhlo.tensor_v1<!vhlo.bool_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<!vhlo.i32_v1>
    "vhlo.return_v1"(%39) : (!vhlo.tensor_v1<!vhlo.i32_v1>) -> ()
  }) : () -> ()
  "vhlo.func_v1"() <{arg_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>, #vhlo.dict_v1<{}>, #vhlo.dict_v1<{}>]>, function_type = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.tensor_v1<!vhlo.bool_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<!vhlo.i32_v1>>>, res_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>]>, sym_name = #vhlo.string_v1<"_where">, sym_visibility = #vhlo.string_v1<"private">}> ({
  ^bb0(%arg4: !vhlo.tensor_v1<!vhlo.bool_v1>, %arg5: !vhlo.tensor_v1<!vhlo.i32_v1>, %arg6: !vhlo.tensor_v1<!vhlo.i32_v1>):
    %27 = "vhlo.select_v1"(%arg4, %arg5, %arg6) : (!vhlo.tensor_v1<!vhlo.bool_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>, !vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<!vhlo.i32_v1>
    "vhlo.return_v1"(%27) : (!vhlo.tensor_v1<!vhlo.i32_v1>) -> ()
  }) : () -> ()
  "vhlo.func_v1"() <{arg_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>]>, function_type = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.tensor_v1<3x3x!vhlo.f32_v1>) -> !vhlo.tensor_v1<3x3x!vhlo.f32_v1>>>, res_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>]>, sym_name = #vhlo.string_v1<"cholesky">, sym_visibility = #vhlo.string_v1<"private">}> ({
  ^bb0(%arg3: !vhlo.tensor_v1<3x3x!vhlo.f32_v1>):
    %12 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0.000000e+00> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %13 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0> : tensor<i32>>}> : () -> !vhlo.tensor_v1<!vhlo.i32_v1>
    %14 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<2.000000e+00> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %15 = "vhlo.transpose_v1"(%arg3) <{permutation = #vhlo.tensor_v1<dense<[1, 0]> : tensor<2xi64>>}> : (!vhlo.tensor_v1<3x3x!vhlo.f32_v1>) -> !vhlo.tensor_v1<3x3x!vhlo.f32_v1>
    %16 = "vhlo.add_v1"(%arg3, %15) : (!vhlo.tensor_v1<3x3x!vhlo.f32_v1>, !vhlo.tensor_v1<3x3x!vhlo.f32_v1>) -> !vhlo.tensor_v1<3x3x!vhlo.f32_v1>
    %17 = "vhlo.broadcast_in_dim_v1"(%14) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<3x3x!vhlo.f32_v1>
    %18 = "vhlo.divide_v1"(%16, %17) : (!vhlo.tensor_v1<3x3x!vhlo.f32_v1>, !vhlo.tensor_v1<3x3x!vhlo.f32_v1>) -> !vhlo.tensor_v1<3x3x!vhlo.f32_v1>
    %19 = "vhlo.cholesky_v1"(%18) <{lower = #vhlo.bool_v1<true>}> : (!vhlo.tensor_v1<3x3x!vhlo.f32_v1>) -> !vhlo.tensor_v1<3x3x!vhlo.f32_v1>
    %20 = "vhlo.iota_v1"() <{iota_dimension = #vhlo.integer_v1<0 : i64>}> : () -> !vhlo.tensor_v1<3x3x!vhlo.i32_v1>
    %21 = "vhlo.broadcast_in_dim_v1"(%13) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.i32_v1>) -> !vhlo.tensor_v1<3x3x!vhlo.i32_v1>
    %22 = "vhlo.add_v1"(%20, %21) : (!vhlo.tensor_v1<3x3x!vhlo.i32_v1>, !vhlo.tensor_v1<3x3x!vhlo.i32_v1>) -> !vhlo.tensor_v1<3x3x!vhlo.i32_v1>
    %23 = "vhlo.iota_v1"() <{iota_dimension = #vhlo.integer_v1<1 : i64>}> : () -> !vhlo.tensor_v1<3x3x!vhlo.i32_v1>
    %24 = "vhlo.compare_v1"(%22, %23) <{compare_type = #vhlo<comparison_type_v1 SIGNED>, comparison_direction = #vhlo<comparison_direction_v1 GE>}> : (!vhlo.tensor_v1<3x3x!vhlo.i32_v1>, !vhlo.tensor_v1<3x3x!vhlo.i32_v1>) -> !vhlo.tensor_v1<3x3x!vhlo.bool_v1>
    %25 = "vhlo.broadcast_in_dim_v1"(%12) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<3x3x!vhlo.f32_v1>
    %26 = "vhlo.select_v1"(%24, %19, %25) : (!vhlo.tensor_v1<3x3x!vhlo.bool_v1>, !vhlo.tensor_v1<3x3x!vhlo.f32_v1>, !vhlo.tensor_v1<3x3x!vhlo.f32_v1>) -> !vhlo.tensor_v1<3x3x!vhlo.f32_v1>
    "vhlo.return_v1"(%26) : (!vhlo.tensor_v1<3x3x!vhlo.f32_v1>) -> ()
  }) : () -> ()
  "vhlo.func_v1"() <{arg_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>]>, function_type = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.tensor_v1<5x!vhlo.f32_v1>) -> !vhlo.tensor_v1<5x!vhlo.f32_v1>>>, res_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>]>, sym_name = #vhlo.string_v1<"sort">, sym_visibility = #vhlo.string_v1<"private">}> ({
  ^bb0(%arg0: !vhlo.tensor_v1<5x!vhlo.f32_v1>):
    %0 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0x7FC00000> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %1 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0.000000e+00> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %2 = "vhlo.sort_v1"(%arg0) <{dimension = #vhlo.integer_v1<0 : i64>, is_stable = #vhlo.bool_v1<true>}> ({
    ^bb0(%arg1: !vhlo.tensor_v1<!vhlo.f32_v1>, %arg2: !vhlo.tensor_v1<!vhlo.f32_v1>):
      %3 = "vhlo.compare_v1"(%arg1, %1) <{compare_type = #vhlo<comparison_type_v1 FLOAT>, comparison_direction = #vhlo<comparison_direction_v1 EQ>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.bool_v1>
      %4 = "vhlo.select_v1"(%3, %1, %arg1) : (!vhlo.tensor_v1<!vhlo.bool_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
      %5 = "vhlo.compare_v1"(%arg1, %arg1) <{compare_type = #vhlo<comparison_type_v1 FLOAT>, comparison_direction = #vhlo<comparison_direction_v1 NE>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.bool_v1>
      %6 = "vhlo.select_v1"(%5, %0, %4) : (!vhlo.tensor_v1<!vhlo.bool_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
      %7 = "vhlo.compare_v1"(%arg2, %1) <{compare_type = #vhlo<comparison_type_v1 FLOAT>, comparison_direction = #vhlo<comparison_direction_v1 EQ>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.bool_v1>
      %8 = "vhlo.select_v1"(%7, %1, %arg2) : (!vhlo.tensor_v1<!vhlo.bool_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
      %9 = "vhlo.compare_v1"(%arg2, %arg2) <{compare_type = #vhlo<comparison_type_v1 FLOAT>, comparison_direction = #vhlo<comparison_direction_v1 NE>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.bool_v1>
      %10 = "vhlo.select_v1"(%9, %0, %8) : (!vhlo.tensor_v1<!vhlo.bool_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
      %11 = "vhlo.compare_v1"(%6, %10) <{compare_type = #vhlo<comparison_type_v1 TOTALORDER>, comparison_direction = #vhlo<comparison_direction_v1 LT>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.bool_v1>
      "vhlo.return_v1"(%11) : (!vhlo.tensor_v1<!vhlo.bool_v1>) -> ()
    }) : (!vhlo.tensor_v1<5x!vhlo.f32_v1>) -> !vhlo.tensor_v1<5x!vhlo.f32_v1>
    "vhlo.return_v1"(%2) : (!vhlo.tensor_v1<5x!vhlo.f32_v1>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
