// SPDX-License-Identifier: Apache-2.0
#ifndef TOPDOWND_EXPORTERS_HTTP_HTTP_LISTEN_H
#define TOPDOWND_EXPORTERS_HTTP_HTTP_LISTEN_H

// Listening sockets. They are made here and not in the HTTP library, so that an error message can name the cause.

#include "exporters/http/http.h"

// True if only this host can reach the numeric address.
bool http_listen_is_loopback(const char *address);
bool http_listen_all_loopback(const struct http_address *addresses, size_t n);

// True if it is the path of a Unix socket.
bool http_listen_is_path(const char *address);

// Binds and listens. Returns 0 with a socket and the port it is bound to, 0 for a Unix socket, or what
// http_listen_refuse returns. A Unix socket takes the place of one that nobody listens at; everybody whom its folder
// lets through may connect. Who closes it removes its path.
int http_listen(const struct http_address *address, struct errors *errors, int *fd, uint16_t *port);

// Prepares a listening TCP socket that somebody else has made. Returns 0 or a negative errno.
int http_listen_adopt(int fd);

// Adds the reason why the address cannot be used, and its remedy. `error` is an errno. Returns -EAGAIN if the cause may
// pass by itself, -EINVAL if somebody must remove it.
int http_listen_refuse(const struct http_address *address, struct errors *errors, int error);

#endif
