"builtin.module"() <{sym_name = "jit_step"}> ({
  "vhlo.func_v1"() <{arg_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>, #vhlo.dict_v1<{}>, #vhlo.dict_v1<{}>, #vhlo.dict_v1<{}>, #vhlo.dict_v1<{}>, #vhlo.dict_v1<{}>]>, function_type = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.tensor_v1<32x!vhlo.f32_v1>, !vhlo.tensor_v1<10x!vhlo.f32_v1>, !vhlo.tensor_v1<16x32x!vhlo.f32_v1>, !vhlo.tensor_v1<32x10x!vhlo.f32_v1>, !vhlo.tensor_v1<8x16x!vhlo.f32_v1>, !vhlo.tensor_v1<8x!vhlo.i32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<32x!vhlo.f32_v1>, !vhlo.tensor_v1<10x!vhlo.f32_v1>, !vhlo.tensor_v1<16x32x!vhlo.f32_v1>, !vhlo.tensor_v1<32x10x!vhlo.f32_v1>>>, res_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{#vhlo.string_v1<"jax.result_info"> = #vhlo.string_v1<"result[0]">}>, #vhlo.dict_v1<{#vhlo.string_v1<"jax.result_info"> = #vhlo.string_v1<"result[1]['b1']">}>, #vhlo.dict_v1<{#vhlo.string_v1<"jax.result_info"> = #vhlo.string_v1<"result[1]['b2']">}>, #vhlo.dict_v1<{#vhlo.string_v1<"jax.result_info"> = #vhlo.string_v1<"result[1]['w1']">}>, #vhlo.dict_v1<{#vhlo.string_v1<"jax.result_info"> = #vhlo.string_v1<"result[1]['w2']">}>]>, sym_name = #vhlo.string_v1<"main">, sym_visibility = #vhlo.string_v1<"public">}> ({
  ^bb0(%arg14: !vhlo.tensor_v1<32x!vhlo.f32_v1>, %arg15: !vhlo.tensor_v1<10x!vhlo.f32_v1>, %arg16: !vhlo.tensor_v1<16x32x!vhlo.f32_v1>, %arg17: !vhlo.tensor_v1<32x10x!vhlo.f32_v1>, %arg18: !vhlo.tensor_v1<8x16x!vhlo.f32_v1>, %arg19: !vhlo.tensor_v1<8x!vhlo.i32_v1>):
    %36 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<1.000000e-01> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %37 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<1.000000e+00> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %38 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<8.000000e+00> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %39 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0.000000e+00> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %40 = "vhlo.dot_general_v2"(%arg18, %arg16) <{accumulation_type = #vhlo.type_v1<!vhlo.none_v1>, allow_imprecise_accumulation = #vhlo.type_v1<!vhlo.none_v1>, lhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, lhs_component_count = #vhlo.type_v1<!vhlo.none_v1>, lhs_contracting_dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>, lhs_precision_type = #vhlo.type_v1<!vhlo.none_v1>, num_primitive_operations = #vhlo.type_v1<!vhlo.none_v1>, precision_config = #vhlo.array_v1<[#vhlo<precision_v1 DEFAULT>, #vhlo<precision_v1 DEFAULT>]>, rhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, rhs_component_count = #vhlo.type_v1<!vhlo.none_v1>, rhs_contracting_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>, rhs_precision_type = #vhlo.type_v1<!vhlo.none_v1>}> : (!vhlo.tensor_v1<8x16x!vhlo.f32_v1>, !vhlo.tensor_v1<16x32x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x32x!vhlo.f32_v1>
    %41 = "vhlo.broadcast_in_dim_v1"(%arg14) <{broadcast_dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>}> : (!vhlo.tensor_v1<32x!vhlo.f32_v1>) -> !vhlo.tensor_v1<1x32x!vhlo.f32_v1>
    %42 = "vhlo.broadcast_in_dim_v1"(%41) <{broadcast_dimensions = #vhlo.tensor_v1<dense<[0, 1]> : tensor<2xi64>>}> : (!vhlo.tensor_v1<1x32x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x32x!vhlo.f32_v1>
    %43 = "vhlo.add_v1"(%40, %42) : (!vhlo.tensor_v1<8x32x!vhlo.f32_v1>, !vhlo.tensor_v1<8x32x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x32x!vhlo.f32_v1>
    %44 = "vhlo.call_v1"(%43) <{callee = #vhlo.string_v1<"relu">}> : (!vhlo.tensor_v1<8x32x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x32x!vhlo.f32_v1>
    %45 = "vhlo.broadcast_in_dim_v1"(%39) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x32x!vhlo.f32_v1>
    %46 = "vhlo.compare_v1"(%43, %45) <{compare_type = #vhlo<comparison_type_v1 FLOAT>, comparison_direction = #vhlo<comparison_direction_v1 GT>}> : (!vhlo.tensor_v1<8x32x!vhlo.f32_v1>, !vhlo.tensor_v1<8x32x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x32x!vhlo.bool_v1>
    %47 = "vhlo.dot_general_v2"(%44, %arg17) <{accumulation_type = #vhlo.type_v1<!vhlo.none_v1>, allow_imprecise_accumulation = #vhlo.type_v1<!vhlo.none_v1>, lhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, lhs_component_count = #vhlo.type_v1<!vhlo.none_v1>, lhs_contracting_dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>, lhs_precision_type = #vhlo.type_v1<!vhlo.none_v1>, num_primitive_operations = #vhlo.type_v1<!vhlo.none_v1>, precision_config = #vhlo.array_v1<[#vhlo<precision_v1 DEFAULT>, #vhlo<precision_v1 DEFAULT>]>, rhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, rhs_component_count = #vhlo.type_v1<!vhlo.none_v1>, rhs_contracting_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>, rhs_precision_type = #vhlo.type_v1<!vhlo.none_v1>}> : (!vhlo.tensor_v1<8x32x!vhlo.f32_v1>, !vhlo.tensor_v1<32x10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    %48 = "vhlo.broadcast_in_dim_v1"(%arg15) <{broadcast_dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>}> : (!vhlo.tensor_v1<10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<1x10x!vhlo.f32_v1>
    %49 = "vhlo.broadcast_in_dim_v1"(%48) <{broadcast_dimensions = #vhlo.tensor_v1<dense<[0, 1]> : tensor<2xi64>>}> : (!vhlo.tensor_v1<1x10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    %50 = "vhlo.add_v1"(%47, %49) : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<8x10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    %51:3 = "vhlo.call_v1"(%50) <{callee = #vhlo.string_v1<"log_softmax">}> : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>) -> (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<8x1x!vhlo.f32_v1>)
    %52 = "vhlo.call_v1"(%arg19) <{callee = #vhlo.string_v1<"_one_hot">}> : (!vhlo.tensor_v1<8x!vhlo.i32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    %53 = "vhlo.multiply_v1"(%52, %51#0) : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<8x10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    %54 = "vhlo.reduce_v1"(%53, %39) <{dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>}> ({
    ^bb0(%arg30: !vhlo.tensor_v1<!vhlo.f32_v1>, %arg31: !vhlo.tensor_v1<!vhlo.f32_v1>):
      %94 = "vhlo.add_v1"(%arg30, %arg31) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
      "vhlo.return_v1"(%94) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
    }) : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x!vhlo.f32_v1>
    %55 = "vhlo.reduce_v1"(%54, %39) <{dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>}> ({
    ^bb0(%arg28: !vhlo.tensor_v1<!vhlo.f32_v1>, %arg29: !vhlo.tensor_v1<!vhlo.f32_v1>):
      %93 = "vhlo.add_v1"(%arg28, %arg29) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
      "vhlo.return_v1"(%93) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
    }) : (!vhlo.tensor_v1<8x!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %56 = "vhlo.divide_v1"(%55, %38) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %57 = "vhlo.negate_v1"(%56) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %58 = "vhlo.negate_v1"(%37) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %59 = "vhlo.divide_v1"(%58, %38) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %60 = "vhlo.broadcast_in_dim_v1"(%59) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x!vhlo.f32_v1>
    %61 = "vhlo.broadcast_in_dim_v1"(%60) <{broadcast_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>}> : (!vhlo.tensor_v1<8x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    %62 = "vhlo.multiply_v1"(%52, %61) : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<8x10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    %63 = "vhlo.call_v1"(%51#1, %51#2, %62) <{callee = #vhlo.string_v1<"log_softmax_9">}> : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<8x1x!vhlo.f32_v1>, !vhlo.tensor_v1<8x10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    %64 = "vhlo.reduce_v1"(%63, %39) <{dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>}> ({
    ^bb0(%arg26: !vhlo.tensor_v1<!vhlo.f32_v1>, %arg27: !vhlo.tensor_v1<!vhlo.f32_v1>):
      %92 = "vhlo.add_v1"(%arg26, %arg27) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
      "vhlo.return_v1"(%92) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
    }) : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<10x!vhlo.f32_v1>
    %65 = "vhlo.reshape_v1"(%64) : (!vhlo.tensor_v1<10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<1x10x!vhlo.f32_v1>
    %66 = "vhlo.reduce_v1"(%65, %39) <{dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>}> ({
    ^bb0(%arg24: !vhlo.tensor_v1<!vhlo.f32_v1>, %arg25: !vhlo.tensor_v1<!vhlo.f32_v1>):
      %91 = "vhlo.add_v1"(%arg24, %arg25) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
      "vhlo.return_v1"(%91) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
    }) : (!vhlo.tensor_v1<1x10x!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<10x!vhlo.f32_v1>
    %67 = "vhlo.dot_general_v2"(%63, %44) <{accumulation_type = #vhlo.type_v1<!vhlo.none_v1>, allow_imprecise_accumulation = #vhlo.type_v1<!vhlo.none_v1>, lhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, lhs_component_count = #vhlo.type_v1<!vhlo.none_v1>, lhs_contracting_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>, lhs_precision_type = #vhlo.type_v1<!vhlo.none_v1>, num_primitive_operations = #vhlo.type_v1<!vhlo.none_v1>, precision_config = #vhlo.array_v1<[#vhlo<precision_v1 DEFAULT>, #vhlo<precision_v1 DEFAULT>]>, rhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, rhs_component_count = #vhlo.type_v1<!vhlo.none_v1>, rhs_contracting_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>, rhs_precision_type = #vhlo.type_v1<!vhlo.none_v1>}> : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<8x32x!vhlo.f32_v1>) -> !vhlo.tensor_v1<10x32x!vhlo.f32_v1>
    %68 = "vhlo.transpose_v1"(%67) <{permutation = #vhlo.tensor_v1<dense<[1, 0]> : tensor<2xi64>>}> : (!vhlo.tensor_v1<10x32x!vhlo.f32_v1>) -> !vhlo.tensor_v1<32x10x!vhlo.f32_v1>
    %69 = "vhlo.dot_general_v2"(%63, %arg17) <{accumulation_type = #vhlo.type_v1<!vhlo.none_v1>, allow_imprecise_accumulation = #vhlo.type_v1<!vhlo.none_v1>, lhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, lhs_component_count = #vhlo.type_v1<!vhlo.none_v1>, lhs_contracting_dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>, lhs_precision_type = #vhlo.type_v1<!vhlo.none_v1>, num_primitive_operations = #vhlo.type_v1<!vhlo.none_v1>, precision_config = #vhlo.array_v1<[#vhlo<precision_v1 DEFAULT>, #vhlo<precision_v1 DEFAULT>]>, rhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, rhs_component_count = #vhlo.type_v1<!vhlo.none_v1>, rhs_contracting_dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>, rhs_precision_type = #vhlo.type_v1<!vhlo.none_v1>}> : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<32x10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x32x!vhlo.f32_v1>
    %70 = "vhlo.broadcast_in_dim_v1"(%39) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x32x!vhlo.f32_v1>
    %71 = "vhlo.select_v1"(%46, %69, %70) : (!vhlo.tensor_v1<8x32x!vhlo.bool_v1>, !vhlo.tensor_v1<8x32x!vhlo.f32_v1>, !vhlo.tensor_v1<8x32x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x32x!vhlo.f32_v1>
    %72 = "vhlo.reduce_v1"(%71, %39) <{dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>}> ({
    ^bb0(%arg22: !vhlo.tensor_v1<!vhlo.f32_v1>, %arg23: !vhlo.tensor_v1<!vhlo.f32_v1>):
      %90 = "vhlo.add_v1"(%arg22, %arg23) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
      "vhlo.return_v1"(%90) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
    }) : (!vhlo.tensor_v1<8x32x!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<32x!vhlo.f32_v1>
    %73 = "vhlo.reshape_v1"(%72) : (!vhlo.tensor_v1<32x!vhlo.f32_v1>) -> !vhlo.tensor_v1<1x32x!vhlo.f32_v1>
    %74 = "vhlo.reduce_v1"(%73, %39) <{dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>}> ({
    ^bb0(%arg20: !vhlo.tensor_v1<!vhlo.f32_v1>, %arg21: !vhlo.tensor_v1<!vhlo.f32_v1>):
      %89 = "vhlo.add_v1"(%arg20, %arg21) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
      "vhlo.return_v1"(%89) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
    }) : (!vhlo.tensor_v1<1x32x!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<32x!vhlo.f32_v1>
    %75 = "vhlo.dot_general_v2"(%71, %arg18) <{accumulation_type = #vhlo.type_v1<!vhlo.none_v1>, allow_imprecise_accumulation = #vhlo.type_v1<!vhlo.none_v1>, lhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, lhs_component_count = #vhlo.type_v1<!vhlo.none_v1>, lhs_contracting_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>, lhs_precision_type = #vhlo.type_v1<!vhlo.none_v1>, num_primitive_operations = #vhlo.type_v1<!vhlo.none_v1>, precision_config = #vhlo.array_v1<[#vhlo<precision_v1 DEFAULT>, #vhlo<precision_v1 DEFAULT>]>, rhs_batching_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>, rhs_component_count = #vhlo.type_v1<!vhlo.none_v1>, rhs_contracting_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>, rhs_precision_type = #vhlo.type_v1<!vhlo.none_v1>}> : (!vhlo.tensor_v1<8x32x!vhlo.f32_v1>, !vhlo.tensor_v1<8x16x!vhlo.f32_v1>) -> !vhlo.tensor_v1<32x16x!vhlo.f32_v1>
    %76 = "vhlo.transpose_v1"(%75) <{permutation = #vhlo.tensor_v1<dense<[1, 0]> : tensor<2xi64>>}> : (!vhlo.tensor_v1<32x16x!vhlo.f32_v1>) -> !vhlo.tensor_v1<16x32x!vhlo.f32_v1>
    %77 = "vhlo.broadcast_in_dim_v1"(%36) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<32x!vhlo.f32_v1>
    %78 = "vhlo.multiply_v1"(%77, %74) : (!vhlo.tensor_v1<32x!vhlo.f32_v1>, !vhlo.tensor_v1<32x!vhlo.f32_v1>) -> !vhlo.tensor_v1<32x!vhlo.f32_v1>
    %79 = "vhlo.subtract_v1"(%arg14, %78) : (!vhlo.tensor_v1<32x!vhlo.f32_v1>, !vhlo.tensor_v1<32x!vhlo.f32_v1>) -> !vhlo.tensor_v1<32x!vhlo.f32_v1>
    %80 = "vhlo.broadcast_in_dim_v1"(%36) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<10x!vhlo.f32_v1>
    %81 = "vhlo.multiply_v1"(%80, %66) : (!vhlo.tensor_v1<10x!vhlo.f32_v1>, !vhlo.tensor_v1<10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<10x!vhlo.f32_v1>
    %82 = "vhlo.subtract_v1"(%arg15, %81) : (!vhlo.tensor_v1<10x!vhlo.f32_v1>, !vhlo.tensor_v1<10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<10x!vhlo.f32_v1>
    %83 = "vhlo.broadcast_in_dim_v1"(%36) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<16x32x!vhlo.f32_v1>
    %84 = "vhlo.multiply_v1"(%83, %76) : (!vhlo.tensor_v1<16x32x!vhlo.f32_v1>, !vhlo.tensor_v1<16x32x!vhlo.f32_v1>) -> !vhlo.tensor_v1<16x32x!vhlo.f32_v1>
    %85 = "vhlo.subtract_v1"(%arg16, %84) : (!vhlo.tensor_v1<16x32x!vhlo.f32_v1>, !vhlo.tensor_v1<16x32x!vhlo.f32_v1>) -> !vhlo.tensor_v1<16x32x!vhlo.f32_v1>
    %86 = "vhlo.broadcast_in_dim_v1"(%36) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<32x10x!vhlo.f32_v1>
    %87 = "vhlo.multiply_v1"(%86, %68) : (!vhlo.tensor_v1<32x10x!vhlo.f32_v1>, !vhlo.tensor_v1<32x10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<32x10x!vhlo.f32_v1>
    %88 = "vhlo.subtract_v1"(%arg17, %87) : (!vhlo.tensor_v1<32x10x!vhlo.f32_v1>, !vhlo.tensor_v1<32x10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<32x10x!vhlo.f32_v1>
    "vhlo.return_v1"(%57, %79, %82, %85, %88) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<32x!vhlo.f32_v1>, !vhlo.tensor_v1<10x!vhlo.f32_v1>, !vhlo.tensor_v1<16x32x!vhlo.f32_v1>, !vhlo.tensor_v1<32x10x!vhlo.f32_v1>) -> ()
  }) : () -> ()
  "vhlo.func_v1"() <{arg_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>]>, function_type = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.tensor_v1<8x32x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x32x!vhlo.f32_v1>>>, res_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>]>, sym_name = #vhlo.string_v1<"relu">, sym_visibility = #vhlo.string_v1<"private">}> ({
  ^bb0(%arg13: !vhlo.tensor_v1<8x32x!vhlo.f32_v1>):
    %33 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0.000000e+00> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %34 = "vhlo.broadcast_in_dim_v1"(%33) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x32x!vhlo.f32_v1>
    %35 = "vhlo.maximum_v1"(%arg13, %34) : (!vhlo.tensor_v1<8x32x!vhlo.f32_v1>, !vhlo.tensor_v1<8x32x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x32x!vhlo.f32_v1>
    "vhlo.return_v1"(%35) : (!vhlo.tensor_v1<8x32x!vhlo.f32_v1>) -> ()
  }) : () -> ()
  "vhlo.func_v1"() <{arg_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>]>, function_type = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.tensor_v1<8x10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<8x1x!vhlo.f32_v1>>>, res_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>, #vhlo.dict_v1<{}>, #vhlo.dict_v1<{}>]>, sym_name = #vhlo.string_v1<"log_softmax">, sym_visibility = #vhlo.string_v1<"private">}> ({
  ^bb0(%arg8: !vhlo.tensor_v1<8x10x!vhlo.f32_v1>):
    %17 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0.000000e+00> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %18 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0xFF800000> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %19 = "vhlo.reduce_v1"(%arg8, %18) <{dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>}> ({
    ^bb0(%arg11: !vhlo.tensor_v1<!vhlo.f32_v1>, %arg12: !vhlo.tensor_v1<!vhlo.f32_v1>):
      %32 = "vhlo.maximum_v1"(%arg11, %arg12) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
      "vhlo.return_v1"(%32) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
    }) : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x!vhlo.f32_v1>
    %20 = "vhlo.broadcast_in_dim_v1"(%18) <{broadcast_dimensions = #vhlo.tensor_v1<dense<> : tensor<0xi64>>}> : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x!vhlo.f32_v1>
    %21 = "vhlo.maximum_v1"(%20, %19) : (!vhlo.tensor_v1<8x!vhlo.f32_v1>, !vhlo.tensor_v1<8x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x!vhlo.f32_v1>
    %22 = "vhlo.broadcast_in_dim_v1"(%21) <{broadcast_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>}> : (!vhlo.tensor_v1<8x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x1x!vhlo.f32_v1>
    %23 = "vhlo.broadcast_in_dim_v1"(%22) <{broadcast_dimensions = #vhlo.tensor_v1<dense<[0, 1]> : tensor<2xi64>>}> : (!vhlo.tensor_v1<8x1x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    %24 = "vhlo.subtract_v1"(%arg8, %23) : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<8x10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    %25 = "vhlo.exponential_v2"(%24) <{result_accuracy = #vhlo.result_accuracy_v1<atol = 0.000000e+00, rtol = 0.000000e+00, ulps = 0, mode = #vhlo<result_accuracy_mode_v1 DEFAULT>>}> : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    %26 = "vhlo.reduce_v1"(%25, %17) <{dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>}> ({
    ^bb0(%arg9: !vhlo.tensor_v1<!vhlo.f32_v1>, %arg10: !vhlo.tensor_v1<!vhlo.f32_v1>):
      %31 = "vhlo.add_v1"(%arg9, %arg10) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
      "vhlo.return_v1"(%31) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
    }) : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x!vhlo.f32_v1>
    %27 = "vhlo.broadcast_in_dim_v1"(%26) <{broadcast_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>}> : (!vhlo.tensor_v1<8x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x1x!vhlo.f32_v1>
    %28 = "vhlo.log_v2"(%27) <{result_accuracy = #vhlo.result_accuracy_v1<atol = 0.000000e+00, rtol = 0.000000e+00, ulps = 0, mode = #vhlo<result_accuracy_mode_v1 DEFAULT>>}> : (!vhlo.tensor_v1<8x1x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x1x!vhlo.f32_v1>
    %29 = "vhlo.broadcast_in_dim_v1"(%28) <{broadcast_dimensions = #vhlo.tensor_v1<dense<[0, 1]> : tensor<2xi64>>}> : (!vhlo.tensor_v1<8x1x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    %30 = "vhlo.subtract_v1"(%24, %29) : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<8x10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    "vhlo.return_v1"(%30, %25, %27) : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<8x1x!vhlo.f32_v1>) -> ()
  }) : () -> ()
  "vhlo.func_v1"() <{arg_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>]>, function_type = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.tensor_v1<8x!vhlo.i32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>>>, res_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>]>, sym_name = #vhlo.string_v1<"_one_hot">, sym_visibility = #vhlo.string_v1<"private">}> ({
  ^bb0(%arg7: !vhlo.tensor_v1<8x!vhlo.i32_v1>):
    %11 = "vhlo.broadcast_in_dim_v1"(%arg7) <{broadcast_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>}> : (!vhlo.tensor_v1<8x!vhlo.i32_v1>) -> !vhlo.tensor_v1<8x1x!vhlo.i32_v1>
    %12 = "vhlo.iota_v1"() <{iota_dimension = #vhlo.integer_v1<1 : i64>}> : () -> !vhlo.tensor_v1<1x10x!vhlo.i32_v1>
    %13 = "vhlo.broadcast_in_dim_v1"(%11) <{broadcast_dimensions = #vhlo.tensor_v1<dense<[0, 1]> : tensor<2xi64>>}> : (!vhlo.tensor_v1<8x1x!vhlo.i32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.i32_v1>
    %14 = "vhlo.broadcast_in_dim_v1"(%12) <{broadcast_dimensions = #vhlo.tensor_v1<dense<[0, 1]> : tensor<2xi64>>}> : (!vhlo.tensor_v1<1x10x!vhlo.i32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.i32_v1>
    %15 = "vhlo.compare_v1"(%13, %14) <{compare_type = #vhlo<comparison_type_v1 SIGNED>, comparison_direction = #vhlo<comparison_direction_v1 EQ>}> : (!vhlo.tensor_v1<8x10x!vhlo.i32_v1>, !vhlo.tensor_v1<8x10x!vhlo.i32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.bool_v1>
    %16 = "vhlo.convert_v1"(%15) : (!vhlo.tensor_v1<8x10x!vhlo.bool_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    "vhlo.return_v1"(%16) : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>) -> ()
  }) : () -> ()
  "vhlo.func_v1"() <{arg_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>, #vhlo.dict_v1<{}>, #vhlo.dict_v1<{}>]>, function_type = #vhlo.type_v1<!vhlo.func_v1<(!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<8x1x!vhlo.f32_v1>, !vhlo.tensor_v1<8x10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>>>, res_attrs = #vhlo.array_v1<[#vhlo.dict_v1<{}>]>, sym_name = #vhlo.string_v1<"log_softmax_9">, sym_visibility = #vhlo.string_v1<"private">}> ({
  ^bb0(%arg0: !vhlo.tensor_v1<8x10x!vhlo.f32_v1>, %arg1: !vhlo.tensor_v1<8x1x!vhlo.f32_v1>, %arg2: !vhlo.tensor_v1<8x10x!vhlo.f32_v1>):
    %0 = "vhlo.constant_v1"() <{value = #vhlo.tensor_v1<dense<0.000000e+00> : tensor<f32>>}> : () -> !vhlo.tensor_v1<!vhlo.f32_v1>
    %1 = "vhlo.negate_v1"(%arg2) : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    %2 = "vhlo.reduce_v1"(%1, %0) <{dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>}> ({
    ^bb0(%arg5: !vhlo.tensor_v1<!vhlo.f32_v1>, %arg6: !vhlo.tensor_v1<!vhlo.f32_v1>):
      %10 = "vhlo.add_v1"(%arg5, %arg6) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
      "vhlo.return_v1"(%10) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
    }) : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x!vhlo.f32_v1>
    %3 = "vhlo.reshape_v1"(%2) : (!vhlo.tensor_v1<8x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x1x!vhlo.f32_v1>
    %4 = "vhlo.divide_v1"(%3, %arg1) : (!vhlo.tensor_v1<8x1x!vhlo.f32_v1>, !vhlo.tensor_v1<8x1x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x1x!vhlo.f32_v1>
    %5 = "vhlo.reduce_v1"(%4, %0) <{dimensions = #vhlo.tensor_v1<dense<1> : tensor<1xi64>>}> ({
    ^bb0(%arg3: !vhlo.tensor_v1<!vhlo.f32_v1>, %arg4: !vhlo.tensor_v1<!vhlo.f32_v1>):
      %9 = "vhlo.add_v1"(%arg3, %arg4) : (!vhlo.tensor_v1<!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<!vhlo.f32_v1>
      "vhlo.return_v1"(%9) : (!vhlo.tensor_v1<!vhlo.f32_v1>) -> ()
    }) : (!vhlo.tensor_v1<8x1x!vhlo.f32_v1>, !vhlo.tensor_v1<!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x!vhlo.f32_v1>
    %6 = "vhlo.broadcast_in_dim_v1"(%5) <{broadcast_dimensions = #vhlo.tensor_v1<dense<0> : tensor<1xi64>>}> : (!vhlo.tensor_v1<8x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    %7 = "vhlo.multiply_v1"(%6, %arg0) : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<8x10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    %8 = "vhlo.add_v1"(%arg2, %7) : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>, !vhlo.tensor_v1<8x10x!vhlo.f32_v1>) -> !vhlo.tensor_v1<8x10x!vhlo.f32_v1>
    "vhlo.return_v1"(%8) : (!vhlo.tensor_v1<8x10x!vhlo.f32_v1>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
