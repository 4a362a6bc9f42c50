// The memory of the test plugin. Each macro plants one defect.
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tensorflow.h"

#include "memory.h"

static int64_t in_use, peak, allocations, largest;
static void *first_taken;

// A header of 256 bytes before each block holds its size. 2.22 requires host memory that is aligned to
// 256 bytes.
#if defined(ALIGNED_TO_64)
#define HEADER 64
#else
#define HEADER 256
#endif

#if defined(EARLY_REUSE)
// Freed blocks, of which the last one is used first.
static char *freed[64];
static char freed_lock;

static char *freed_block(uint64_t size) {
  char *found = NULL;
  while (__atomic_test_and_set(&freed_lock, __ATOMIC_ACQUIRE)) usleep(1);
  for (int i = 63; i >= 0 && found == NULL; --i) {
    if (freed[i] == NULL || *(uint64_t *)freed[i] != size) continue;
    found = freed[i];
    freed[i] = NULL;
  }
  __atomic_clear(&freed_lock, __ATOMIC_RELEASE);
  return found;
}

static int keeps_freed(char *block) {
  int at = 0;
  while (__atomic_test_and_set(&freed_lock, __ATOMIC_ACQUIRE)) usleep(1);
  while (at < 64 && freed[at] != NULL) ++at;
  if (at < 64) freed[at] = block;
  __atomic_clear(&freed_lock, __ATOMIC_RELEASE);
  return at < 64;
}
#else
static char *freed_block(uint64_t size) { return NULL; }
static int keeps_freed(char *block) { return 0; }
#endif

static void *take(uint64_t size) {
#if defined(OVERCOMMITS)
  if (size > (1ull << 40)) size = 64;
#endif
  if (size > (1ull << 40)) return NULL;
  char *block = freed_block(size);
  if (block == NULL) block = aligned_alloc(256, (size + 511) / 256 * 256 + 256);
  if (block == NULL) return NULL;
  *(uint64_t *)block = size;
  int64_t used = __atomic_add_fetch(&in_use, (int64_t)size, __ATOMIC_RELAXED);
  if (used > peak) peak = used;
  if ((int64_t)size > largest) largest = (int64_t)size;
  __atomic_add_fetch(&allocations, 1, __ATOMIC_RELAXED);
  if (first_taken == NULL) first_taken = block + HEADER;
  return block + HEADER;
}

void count_freed(void *memory) {
#if !defined(STATS_DRIFT)
  if (memory != NULL)
    __atomic_sub_fetch(&in_use, (int64_t) * (uint64_t *)((char *)memory - HEADER), __ATOMIC_RELAXED);
#endif
}

void give(void *memory) {
  if (memory == NULL) return;
  char *block = (char *)memory - HEADER;
#if defined(SPOILS_OTHERS)
  if (memory == first_taken) first_taken = NULL;
  if (first_taken != NULL) *(char *)first_taken += 1;
#endif
  if (!keeps_freed(block)) free(block);
}

static void allocate(const SP_Device *device, uint64_t size, int64_t space, SP_DeviceMemoryBase *mem) {
#if defined(CRASH)
  *(volatile int *)16 = 1;
#endif
#if defined(BLOCK_SIZE)
  mem->struct_size = 20;
#else
  mem->struct_size = SP_DeviceMemoryBase_SIZE;
#endif
  mem->opaque = take(size);
  mem->size = size;
#if defined(BLOCK_SMALL)
  mem->size = size / 2;
#endif
#if defined(BLOCK_EXT)
  mem->ext = mem->opaque;
#endif
#if defined(NO_MEMORY)
  mem->opaque = NULL;
#endif
#if defined(OMIT_SP_DeviceMemoryBase)
  mem->OMIT_SP_DeviceMemoryBase = 0;
#endif
#if defined(UNALIGNED)
  if (mem->opaque != NULL) mem->opaque = (char *)mem->opaque + 8;
#endif
}

static void deallocate(const SP_Device *device, SP_DeviceMemoryBase *mem) {
#if defined(UNALIGNED)
  if (mem->opaque != NULL) mem->opaque = (char *)mem->opaque - 8;
#endif
#if defined(TRUSTS_SIZE)
  if (mem->opaque != NULL && mem->size < *(uint64_t *)((char *)mem->opaque - HEADER)) abort();
#endif
  count_freed(mem->opaque);
  give(mem->opaque);
}

#if defined(UNALIGNED_HOST)
static void *host_allocate(const SP_Device *device, uint64_t size) { return malloc(size + 8) + 8; }
static void host_deallocate(const SP_Device *device, void *memory) { free(memory - 8); }
#else
static void *host_allocate(const SP_Device *device, uint64_t size) { return take(size); }
static void host_deallocate(const SP_Device *device, void *memory) {
  count_freed(memory);
  give(memory);
}
#endif

// Unified memory: the host's, which this device uses too. The second number of a block's header marks it.

#define UNIFIED_MARK 0x556e69666965644dull

int is_unified(const void *memory) {
  return ((const uint64_t *)((const char *)memory - HEADER))[1] == UNIFIED_MARK;
}

static void *unified_allocate(const SP_Device *device, uint64_t size) {
#if defined(UNIFIED_NULL)
  if (size == 4097) return NULL;
#endif
#if defined(UNIFIED_OVERCOMMITS)
  if (size > (1ull << 40)) size = 64;
#endif
#if defined(UNIFIED_NO_ACCESS)
  return mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#elif defined(UNIFIED_READ_ONLY)
  return mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#elif defined(UNIFIED_OVERLAP)
  static _Alignas(256) char arena[1 << 21];
  return size > sizeof arena ? NULL : arena;
#else
  char *memory = take(size);
  if (memory == NULL) return NULL;
  ((uint64_t *)(memory - HEADER))[1] = UNIFIED_MARK;
#if defined(UNIFIED_UNALIGNED)
  memory += 8;
#endif
  return memory;
#endif
}

static void unified_deallocate(const SP_Device *device, void *memory) {
#if !defined(LEAK_UNIFIED) && !defined(UNIFIED_OVERLAP)
  count_freed(memory);
  give(memory);
#endif
#if defined(UNIFIED_FREED_TWICE)
  give(memory);
#endif
}

// The device reserves memory in pieces of 1 MiB.
#define TOTAL (1ll << 32)
#define PIECE (1ll << 20)

static int64_t reserved(int64_t bytes) { return (bytes + PIECE - 1) / PIECE * PIECE; }

static uint8_t stats(const SP_Device *device, SP_AllocatorStats *out) {
  out->struct_size = SP_AllocatorStats_SIZE;
  out->num_allocs = allocations;
  out->bytes_in_use = in_use;
  out->peak_bytes_in_use = peak;
  out->largest_alloc_size = largest;
  out->has_bytes_limit = 1;
  out->bytes_limit = TOTAL;
  out->bytes_reserved = reserved(in_use);
  out->peak_bytes_reserved = reserved(peak);
  out->has_bytes_reservable_limit = 1;
  out->bytes_reservable_limit = TOTAL;
  out->largest_free_block_bytes = TOTAL - reserved(in_use);
#if defined(STATS_OF)
  // A field and its value, as in STATS_OF=bytes_limit VALUE=7.
  out->STATS_OF = VALUE;
#endif
#if defined(STATS_NEGATIVE)
  out->largest_alloc_size = -1;
#endif
#if defined(OMIT_SP_AllocatorStats)
  out->OMIT_SP_AllocatorStats = 0;
#endif
  return 1;
}

static uint8_t usage(const SP_Device *device, int64_t *free_bytes, int64_t *total) {
#if defined(NO_USAGE)
  return 0;
#endif
#if defined(USAGE_UNSET)
  return 1;
#endif
  *total = TOTAL;
  *free_bytes = *total - in_use;
  return 1;
}

void set_memory_slots(SP_StreamExecutor *table) {
  table->allocate = allocate;
  table->deallocate = deallocate;
  table->host_memory_allocate = host_allocate;
  table->host_memory_deallocate = host_deallocate;
  table->get_allocator_stats = stats;
  table->device_memory_usage = usage;
#if defined(UNIFIED_MEMORY)
  table->unified_memory_allocate = unified_allocate;
  table->unified_memory_deallocate = unified_deallocate;
#endif
}
