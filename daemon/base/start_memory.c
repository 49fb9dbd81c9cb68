// SPDX-License-Identifier: Apache-2.0
#include "daemon/base/start_memory.h"

#include <link.h>
#include <malloc.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>

// True if the linker has changed the object's read-only segments: what it wrote is in no file.
static bool has_text_relocations(const struct dl_phdr_info *object) {
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        const ElfW(Dyn) *entry = (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_TEXTREL || (entry->d_tag == DT_FLAGS && (entry->d_un.d_val & DF_TEXTREL) != 0))
                return true;
    }
    return false;
}

static int unmap_object(struct dl_phdr_info *object, size_t size, void *context) {
    const size_t page = *(const size_t *)context;
    (void)size;
    for (size_t i = 0; i < object->dlpi_phnum && !has_text_relocations(object); i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0)
            continue;
        size_t begin = (object->dlpi_addr + segment->p_vaddr) & ~(page - 1);
        size_t end = (object->dlpi_addr + segment->p_vaddr + segment->p_memsz + page - 1) & ~(page - 1);
        (void)madvise((void *)begin, end - begin, MADV_DONTNEED); // a file's pages only: nothing is lost
    }
    return 0;
}

enum { LARGE_BLOCK_BYTES = 1 << 20 };

void start_memory_init(void) {
    (void)mallopt(M_ARENA_MAX, 1);
    (void)mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK_BYTES); // by itself the library raises it to the largest freed block
}

void start_memory_give_back(void) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    malloc_trim(0);
    (void)dl_iterate_phdr(unmap_object, &page);
}
