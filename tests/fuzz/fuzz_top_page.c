// SPDX-License-Identifier: Apache-2.0
// Any bytes are a page that `topdownd top` refuses, or that it can show on every screen whatever keys are pressed. The
// first byte says which page it is, the second which keys.
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "top/model/frame.h"
#include "top/model/host.h"
#include "top/model/past.h"
#include "top/view/screen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition)
        abort();
}

static void show(const struct screen_data *data, unsigned seed) {
    static const int keys[] = {'c',
                               SCREEN_KEY_ENTER,
                               'o',
                               SCREEN_KEY_RIGHT,
                               SCREEN_KEY_DOWN,
                               SCREEN_KEY_LEFT,
                               's',
                               '>',
                               SCREEN_KEY_PAGE_DOWN,
                               SCREEN_KEY_BACK,
                               'e',
                               't',
                               SCREEN_KEY_END,
                               'r',
                               '<',
                               SCREEN_KEY_PAGE_UP,
                               '?',
                               SCREEN_KEY_UP,
                               SCREEN_KEY_HOME,
                               'x'};
    struct screen_state view;
    char line[4 * GRID_SIDE_MAX + 8];
    screen_init(&view);
    for (unsigned i = 0; i < 6; i++) {
        struct grid grid;
        require(grid_init(&grid, i % 2 == 0 ? 24 : 13, i % 3 == 0 ? 80 : 45, i % 4 == 0) == 0);
        screen_draw(&view, data, &grid);
        for (unsigned row = 0; row < grid.rows; row++) {
            grid_line(&grid, row, line, sizeof line);
            for (const char *c = line; *c != '\0'; c++)
                require((unsigned char)*c >= 0x20 && *c != 0x7f); // nothing that a terminal obeys
        }
        grid_deinit(&grid);
        (void)screen_press(&view, data, keys[(seed * 7 + i * (1 + seed / 20)) % (sizeof keys / sizeof *keys)]);
    }
}

// A page that every daemon sends, to which the bytes add.
static struct frame *usual(void) {
    static const char page[] = "{\"bound\":null,\"scopes\":[{\"tree\":[{\"metric\":\"ipc\",\"children\":[]}]}]}";
    struct frame *frame = NULL;
    char why[200];
    require(frame_read(page, strlen(page), &frame, why) == 0);
    return frame;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct frame *frame = NULL;
    struct host *host = NULL;
    struct past *past = NULL;
    char why[200] = "";
    if (size < 2)
        return 0;
    const char *text = (const char *)data + 2;
    size_t length = size - 2;
    int r = 0, kind = data[0] % 5;
    if (kind == 0)
        r = frame_read(text, length, &frame, why);
    else
        frame = usual();
    if (kind == 1)
        r = frame_add_units(frame, FRAME_CPUS, text, length, why);
    else if (kind == 2)
        r = host_read(text, length, &host, why);
    else if (kind == 3)
        r = past_read(text, length, &past, why);
    else if (kind == 4)
        r = frame_add_memory(frame, text, length, why);
    require(r == 0 || r == -ENOMEM || (r == -EINVAL && why[0] != '\0' && strlen(why) < sizeof why));
    const struct screen_data shown = {
        .frame = frame, .host = host, .past = past, .source = "here", .gone = r < 0 ? why : NULL, .speed = 1};
    if (r == 0)
        show(&shown, data[1]);
    frame_free(frame);
    host_free(host);
    past_free(past);
    return 0;
}
