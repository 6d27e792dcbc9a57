/* Attributes of pointers. */
#include <string.h>

#include "../process/context.h"
#include "../process/pool.h"
#include "../process/reservation.h"
#include "../unsupported.h"
#include "vmm.h"

struct value {
    uint64_t bits;
    CUresult result; /* why there is no value */
};

/* The bytes of an attribute; 0 if there is no such attribute. */
static size_t bytes_of(CUpointer_attribute attribute) {
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_MAPPED:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
    case CU_POINTER_ATTRIBUTE_LOCALITY_DOMAIN_ORDINAL: return 4;
    case CU_POINTER_ATTRIBUTE_CONTEXT:
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return 8;
    default: return 0;
    }
}

static bool is_host(const struct allocation *a) {
    return a->kind == MEMORY_HOST || a->kind == MEMORY_REGISTERED;
}

static uint64_t pool_handle(const struct allocation *a) {
    const struct pool_block *block = pool_block_of(a);
    return block ? (uint64_t)(uintptr_t)block->pool : 0;
}

static uint64_t handle_types(const struct allocation *a) {
    const struct mapping *mapping = mapping_of(a);
    return mapping ? mapping->physical->properties.requestedHandleTypes : 0;
}

static uint64_t physical_id(const struct allocation *a) {
    const struct mapping *mapping = mapping_of(a);
    return mapping ? mapping->physical->id : a->id;
}

/* For the GPU of the current context; without a context, for the memory's own GPU. */
static CUmemAccess_flags access_flags(const struct allocation *a) {
    const struct CUctx_st *context = context_current();
    return a->guarded ? mapping_access(a, context ? context->gpu : a->gpu)
                      : CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

static struct value device_pointer(uint64_t pointer) {
    return context_current() ? (struct value){.bits = pointer}
                             : (struct value){.result = CUDA_ERROR_INVALID_CONTEXT};
}

static struct value host_pointer(const struct allocation *a, uint64_t pointer) {
    return is_host(a) || a->kind == MEMORY_MANAGED
               ? (struct value){.bits = pointer}
               : (struct value){.result = CUDA_ERROR_INVALID_VALUE};
}

/* Managed memory counts as device memory: a separate attribute marks it as managed. */
static struct value look_up(const struct allocation *a, CUpointer_attribute attribute,
                            uint64_t pointer) {
    const struct reservation *reserved = mapping_of(a) ? reservation_find(pointer) : NULL;
#define IS(number) ((struct value){.bits = (uint64_t)(number)})
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT: return IS((uintptr_t)a->context);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return IS(is_host(a) ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return device_pointer(pointer);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER: return host_pointer(a, pointer);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return IS(a->sync_memops);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID: return IS(a->id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED: return IS(a->kind == MEMORY_MANAGED);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return IS(device_of_gpu(a->gpu));
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        return IS(a->kind == MEMORY_PLAIN && !a->owner);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return IS(reserved ? reserved->address : a->address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return IS(reserved ? reserved->bytes : a->bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED: return IS(1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return IS(handle_types(a));
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS: return IS(access_flags(a));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return IS(pool_handle(a));
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return IS(a->bytes);
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR: return IS(a->address);
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID: return IS(physical_id(a));
    case CU_POINTER_ATTRIBUTE_LOCALITY_DOMAIN_ORDINAL: return IS(-1);
    default: return IS(0); /* features the GPU lacks: RDMA, hardware decompression */
    }
#undef IS
}

/* A reserved address with nothing mapped to it has only the attributes of its reservation. */
static struct value look_up_reserved(CUpointer_attribute attribute, uint64_t pointer) {
    const struct reservation *reservation = reservation_find(pointer);
    if (reservation && attribute == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR)
        return (struct value){.bits = reservation->address};
    if (reservation && attribute == CU_POINTER_ATTRIBUTE_RANGE_SIZE)
        return (struct value){.bits = reservation->bytes};
    if (reservation && attribute == CU_POINTER_ATTRIBUTE_MAPPED)
        return (struct value){.bits = 0};
    return (struct value){.result = CUDA_ERROR_INVALID_VALUE};
}

static struct value find_value(CUpointer_attribute attribute, uint64_t pointer) {
    driver_lock();
    const struct allocation *allocation = memory_find(pointer);
    struct value value =
        allocation ? look_up(allocation, attribute, pointer) : look_up_reserved(attribute, pointer);
    driver_unlock();
    return value;
}

static CUresult check_attribute(CUpointer_attribute attribute) {
    if (attribute == CU_POINTER_ATTRIBUTE_P2P_TOKENS)
        return emulator_unsupported("CU_POINTER_ATTRIBUTE_P2P_TOKENS");
    return bytes_of(attribute) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr) {
    REQUIRE_DRIVER();
    REQUIRE(data, CUDA_ERROR_INVALID_VALUE);
    CUresult result = check_attribute(attribute);
    if (result != CUDA_SUCCESS)
        return result;
    struct value value = find_value(attribute, ptr);
    if (value.result == CUDA_SUCCESS)
        memcpy(data, &value.bits, bytes_of(attribute));
    return value.result;
}

/* In this call an unknown pointer is no error: all its attributes are 0. */
CUresult cuPointerGetAttributes(unsigned int numAttributes, CUpointer_attribute *attributes,
                                void **data, CUdeviceptr ptr) {
    REQUIRE_DRIVER();
    REQUIRE(attributes && data && numAttributes, CUDA_ERROR_INVALID_VALUE);
    for (unsigned i = 0; i < numAttributes; i++) {
        CUresult result = check_attribute(attributes[i]);
        if (result != CUDA_SUCCESS)
            return result;
        REQUIRE(data[i], CUDA_ERROR_INVALID_VALUE);
    }
    for (unsigned i = 0; i < numAttributes; i++) {
        struct value value = find_value(attributes[i], ptr);
        memcpy(data[i], &value.bits, bytes_of(attributes[i]));
    }
    return CUDA_SUCCESS;
}

CUresult cuPointerSetAttribute(const void *value, CUpointer_attribute attribute, CUdeviceptr ptr) {
    REQUIRE_DRIVER();
    REQUIRE(value && attribute == CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, CUDA_ERROR_INVALID_VALUE);
    unsigned wanted;
    memcpy(&wanted, value, sizeof wanted);
    driver_lock();
    struct allocation *allocation = memory_find(ptr);
    struct CUctx_st *context = allocation ? allocation->context : NULL;
    if (allocation)
        allocation->sync_memops = wanted != 0;
    driver_unlock();
    REQUIRE(allocation, CUDA_ERROR_INVALID_VALUE);
    if (wanted && context) /* waits for the work under way on the memory */
        context_synchronize(context);
    return CUDA_SUCCESS;
}
