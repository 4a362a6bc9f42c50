/* What drivers' headers take from <stdalign.h>. C++ has the words already. */
#ifndef SP_GEN_STDALIGN_H
#define SP_GEN_STDALIGN_H

#ifndef __cplusplus
#define alignas _Alignas
#define alignof _Alignof
#endif

#endif
