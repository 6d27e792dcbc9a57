/* Shared memory that is declared for a whole module and counts for the kernels that name it.
 *
 * numba puts all of a kernel's shared arrays there, where nvcc puts them into the body.
 */
#include "ptx_parse.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* A limit, since every word of every body is compared with each of them. */
enum { SHARED_MAX = 1024 };

static int remember(struct ptx *ptx, const struct ptx_declaration *declaration) {
    if (ptx->shared_count == SHARED_MAX)
        return ptx_expected(ptx, "fewer shared variables");
    struct ptx_shared *grown = realloc(ptx->shared, (ptx->shared_count + 1) * sizeof *ptx->shared);
    if (grown == NULL)
        return -ENOMEM;
    ptx->shared = grown;
    ptx->shared[ptx->shared_count++] = (struct ptx_shared){.declaration = *declaration};
    return 0;
}

int ptx_parse_shared(struct ptx *ptx) {
    struct ptx_declaration variable;
    int error = ptx_parse_type(ptx, &variable);
    while (error == 0) {
        error = ptx_parse_name(ptx, &variable);
        if (error == 0 && variable.unsized)
            error = ptx_expected(ptx, "a variable with a size");
        if (error == 0)
            error = remember(ptx, &variable);
        if (error != 0 || !ptx_is(&ptx->lexer, ","))
            break;
        ptx_next(&ptx->lexer);
    }
    return error != 0 ? error : ptx_expect(ptx, ";");
}

static struct ptx_shared *find(struct ptx *ptx) {
    const struct ptx_token *word = &ptx->lexer.token;
    for (size_t i = 0; word->kind == PTX_WORD && i < ptx->shared_count; i++) {
        const struct ptx_token *name = &ptx->shared[i].declaration.name;
        if (name->length == word->length && memcmp(name->text, word->text, word->length) == 0)
            return &ptx->shared[i];
    }
    return NULL;
}

int ptx_count_shared(struct ptx *ptx, struct image_kernel *kernel) {
    struct ptx_shared *shared = find(ptx);
    uint64_t end = (uint64_t)kernel->shared_bytes, offset;
    /* The number of the kernel that is being read. */
    size_t reader = ptx->image->kernel_count + 1;
    if (shared == NULL || shared->reader == reader)
        return 0;
    int error = ptx_place(ptx, &shared->declaration, &end, &offset);
    if (error == 0 && end > INT_MAX)
        error = ptx_expected(ptx, "smaller variables");
    if (error != 0)
        return error;
    shared->reader = reader;
    kernel->shared_bytes = (int)end;
    return 0;
}
