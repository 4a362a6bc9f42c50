#include <algorithm>

#include "tensorflow/core/framework/op_kernel.h"

namespace tensorflow {

// Copies rows of `params`. An index that is out of range is an error or, without validation, a row of zeros.
class RowGatherOp : public OpKernel {
 public:
  explicit RowGatherOp(OpKernelConstruction* context) : OpKernel(context) {
    OP_REQUIRES_OK(context, context->GetAttr("validate_indices", &validate_indices_));
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& params = context->input(0);
    const Tensor& indices = context->input(1);
    OP_REQUIRES(context, params.dims() > 0, absl::InvalidArgumentError("params has no rows"));
    TensorShape shape = indices.shape();
    int64_t width = 1;
    for (int axis = 1; axis < params.dims(); ++axis) {
      shape.AddDim(params.dim_size(axis));
      width *= params.dim_size(axis);
    }
    Tensor* output = nullptr;
    OP_REQUIRES_OK(context, context->allocate_output(0, shape, &output));
    const int64_t rows = params.dim_size(0);
    const float* from = params.flat<float>().data();
    float* to = output->flat<float>().data();
    for (int64_t position = 0; position < indices.NumElements(); ++position, to += width) {
      const int64_t row = indices.flat<int32>()(position);
      const bool is_valid = row >= 0 && row < rows;
      OP_REQUIRES(context, is_valid || !validate_indices_,
                  absl::InvalidArgumentError(absl::StrCat("indices[", position, "] = ", row, " is not in [0, ", rows, ")")));
      if (is_valid) {
        std::copy_n(from + row * width, width, to);
      } else {
        std::fill_n(to, width, 0.0f);
      }
    }
  }

 private:
  bool validate_indices_;
};

REGISTER_KERNEL_BUILDER(Name("Gather").Device(DEVICE_CPU).TypeConstraint<float>("Tparams").TypeConstraint<int32>("Tindices"),
                        RowGatherOp);

}  // namespace tensorflow
