// SPDX-License-Identifier: Apache-2.0
#include "exporters/view/view_sockets.h"

#include "core/diagnosis/bound.h"
#include "exporters/view/view_bound.h"
#include "exporters/view/view_waits.h"

// The last node of a socket's path.
struct answer {
    size_t socket;
    bool known, high; // not high: nothing is
    size_t node;
};

static struct answer find_answer(struct tree *tree, const struct snapshot *snapshot, size_t socket) {
    tree_evaluate(tree, snapshot, snapshot_scope_socket(socket));
    struct bound bound = bound_find(tree);
    if (bound.n == 0)
        return (struct answer){.socket = socket};
    return (struct answer){
        .socket = socket, .known = true, .high = bound.exceeded == JUDGE_YES, .node = bound.path[bound.n - 1]};
}

static bool is_below(const struct tree *tree, size_t node, size_t above) {
    return node >= above && node < tree_next(tree, above);
}

// True if the 95 % intervals of the node's values in two sockets do not overlap.
static bool told_apart(const struct tree *tree, const struct snapshot *snapshot, size_t node, size_t a, size_t b) {
    const struct snapshot_layout *layout = tree->layout;
    size_t place = (size_t)tree->nodes[node].place, first = snapshot_scope_socket(a), second = snapshot_scope_socket(b);
    const double *values = snapshot->values;
    return values[snapshot_high(layout, first, place)] < values[snapshot_low(layout, second, place)] ||
           values[snapshot_high(layout, second, place)] < values[snapshot_low(layout, first, place)];
}

static bool differ(const struct tree *tree, const struct snapshot *snapshot, const struct answer *a,
                   const struct answer *b) {
    if (!a->known || !b->known || (!a->high && !b->high))
        return false;
    if (a->high && b->high && (is_below(tree, a->node, b->node) || is_below(tree, b->node, a->node)))
        return false;
    return (a->high && told_apart(tree, snapshot, a->node, a->socket, b->socket)) ||
           (b->high && told_apart(tree, snapshot, b->node, a->socket, b->socket));
}

bool view_sockets_differ(struct tree *tree, const struct snapshot *snapshot) {
    bool found = false;
    size_t n = tree->layout->topology->n_sockets;
    for (size_t a = 0; a + 1 < n && !found; a++) {
        struct answer first = find_answer(tree, snapshot, a);
        for (size_t b = a + 1; b < n && !found; b++) {
            struct answer second = find_answer(tree, snapshot, b);
            found = differ(tree, snapshot, &first, &second);
        }
    }
    tree_evaluate(tree, snapshot, 0);
    return found;
}

int view_sockets_answer(const struct shown *shown, struct tree *tree, const struct snapshot *snapshot, size_t socket,
                        struct text *out) {
    struct answer answer = find_answer(tree, snapshot, socket);
    struct bound bound = bound_find(tree);
    if (!answer.known)
        text_string(out, "not known");
    else if (!answer.high)
        text_string(out, "nothing stands out");
    else
        view_bound_share(tree, answer.node, out);
    view_waits_words(shown, tree, &bound, snapshot_scope_socket(socket), out);
    return answer.known && answer.high ? (int)answer.node : -1;
}

void view_sockets_text(const struct shown *shown, struct tree *tree, const struct snapshot *snapshot,
                       struct text *out) {
    const struct topology *topology = tree->layout->topology;
    text_string(out, "The sockets differ:");
    for (size_t s = 0; s < topology->n_sockets; s++) {
        text_format(out, "%s socket %u: ", s > 0 ? ";" : "", topology->sockets[s].id);
        (void)view_sockets_answer(shown, tree, snapshot, s, out);
    }
    text_string(out, ".");
    tree_evaluate(tree, snapshot, 0);
}

bool view_sockets_verdict(const struct shown *shown, const struct shown_type *type, struct tree *tree,
                          const struct bound *bound, struct text *out) {
    bool differ = view_sockets_differ(tree, type->snapshot);
    view_bound_text(type->view, tree, bound, type->snapshot, 0, out);
    if (!differ) {
        view_waits_text(shown, tree, bound, 0, out);
        return false;
    }
    text_string(out, " ");
    view_sockets_text(shown, tree, type->snapshot, out);
    return true;
}
