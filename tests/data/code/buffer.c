#include <stdlib.h>

#define MAX(a, b) \
    ((a) > (b) ? (a) : (b))

/* A growing buffer. */
typedef struct buffer {
    char *data;
    size_t size;
} buffer_t;

enum mode {
    READ,
    WRITE,
};

/* Frees all of it. */
void buffer_free(buffer_t *buffer);

static char *
buffer_grow(buffer_t *buffer, size_t size)
{
    if (size > buffer->size)
        buffer->data = realloc(buffer->data, size);
    else {
        return NULL;
    }
    return buffer->data;
}
