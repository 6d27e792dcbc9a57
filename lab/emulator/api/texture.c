/* Texture and surface objects: handles that keep their description. No kernel here samples them. */
#include <stdlib.h>
#include <string.h>

#include "../process/context.h"
#include "../process/handle.h"

#define TEXTURE_MAGIC 0x54657831u
#define SURFACE_MAGIC 0x53757231u

struct texture {
    uint32_t magic;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC texture;
    CUDA_RESOURCE_VIEW_DESC view;
    bool has_view;
};

static CUresult create(uint32_t magic, const CUDA_RESOURCE_DESC *resource,
                       const CUDA_TEXTURE_DESC *texture, const CUDA_RESOURCE_VIEW_DESC *view,
                       unsigned long long *out) {
    struct texture *object = calloc(1, sizeof *object);
    if (!object)
        return CUDA_ERROR_OUT_OF_MEMORY;
    object->magic = magic;
    object->resource = *resource;
    if (texture)
        object->texture = *texture;
    object->has_view = view != NULL;
    if (view)
        object->view = *view;
    driver_lock();
    bool noted = handle_note(object);
    driver_unlock();
    if (!noted) {
        free(object);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = (unsigned long long)(uintptr_t)object;
    return CUDA_SUCCESS;
}

static CUresult destroy(uint32_t magic, unsigned long long handle) {
    driver_lock();
    struct texture *object = handle_find(handle, magic);
    if (object)
        handle_forget(object);
    driver_unlock();
    free(object);
    return object ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* Copies `bytes` at `offset` of an object. */
static CUresult get(uint32_t magic, unsigned long long handle, size_t offset, void *out,
                    size_t bytes) {
    REQUIRE_DRIVER();
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    driver_lock();
    const struct texture *object = handle_find(handle, magic);
    if (object)
        memcpy(out, (const char *)object + offset, bytes);
    driver_unlock();
    return object ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuTexObjectCreate(CUtexObject *pTexObject, const CUDA_RESOURCE_DESC *pResDesc,
                           const CUDA_TEXTURE_DESC *pTexDesc,
                           const CUDA_RESOURCE_VIEW_DESC *pResViewDesc) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(pTexObject && pResDesc && pTexDesc && !pResDesc->flags, CUDA_ERROR_INVALID_VALUE);
    REQUIRE((unsigned)pResDesc->resType <= CU_RESOURCE_TYPE_PITCH2D, CUDA_ERROR_INVALID_VALUE);
    return create(TEXTURE_MAGIC, pResDesc, pTexDesc, pResViewDesc, pTexObject);
}

CUresult cuTexObjectDestroy(CUtexObject texObject) {
    REQUIRE_CONTEXT(context);
    (void)context;
    return destroy(TEXTURE_MAGIC, texObject);
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUtexObject texObject) {
    return get(TEXTURE_MAGIC, texObject, offsetof(struct texture, resource), pResDesc,
               sizeof *pResDesc);
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *pTexDesc, CUtexObject texObject) {
    return get(TEXTURE_MAGIC, texObject, offsetof(struct texture, texture), pTexDesc,
               sizeof *pTexDesc);
}

/* An error for an object that was made without one, as documented. */
CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC *pResViewDesc,
                                        CUtexObject texObject) {
    bool has_view = false;
    CUresult result = get(TEXTURE_MAGIC, texObject, offsetof(struct texture, has_view), &has_view,
                          sizeof has_view);
    if (result != CUDA_SUCCESS || !has_view)
        return result != CUDA_SUCCESS ? result : CUDA_ERROR_INVALID_VALUE;
    return get(TEXTURE_MAGIC, texObject, offsetof(struct texture, view), pResViewDesc,
               sizeof *pResViewDesc);
}

/* Only an array can be written to as a surface. */
CUresult cuSurfObjectCreate(CUsurfObject *pSurfObject, const CUDA_RESOURCE_DESC *pResDesc) {
    REQUIRE_CONTEXT(context);
    (void)context;
    REQUIRE(pSurfObject && pResDesc && pResDesc->resType == CU_RESOURCE_TYPE_ARRAY,
            CUDA_ERROR_INVALID_VALUE);
    return create(SURFACE_MAGIC, pResDesc, NULL, NULL, pSurfObject);
}

CUresult cuSurfObjectDestroy(CUsurfObject surfObject) {
    REQUIRE_CONTEXT(context);
    (void)context;
    return destroy(SURFACE_MAGIC, surfObject);
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *pResDesc, CUsurfObject surfObject) {
    return get(SURFACE_MAGIC, surfObject, offsetof(struct texture, resource), pResDesc,
               sizeof *pResDesc);
}
