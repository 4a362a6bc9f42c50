/* What TensorFlow's headers ask of Apple's <TargetConditionals.h>: a desktop, not a phone. */
#ifndef SP_GEN_TARGETCONDITIONALS_H
#define SP_GEN_TARGETCONDITIONALS_H

#define TARGET_OS_MAC 1
#define TARGET_OS_OSX 1
#define TARGET_OS_IPHONE 0
#define TARGET_IPHONE_SIMULATOR 0

#endif
