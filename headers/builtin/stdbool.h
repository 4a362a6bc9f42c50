/* What TensorFlow's headers take from <stdbool.h>. C++ has the words already. */
#ifndef SP_GEN_STDBOOL_H
#define SP_GEN_STDBOOL_H

#ifndef __cplusplus
#define bool _Bool
#define true 1
#define false 0
#endif
#define __bool_true_false_are_defined 1

#endif
