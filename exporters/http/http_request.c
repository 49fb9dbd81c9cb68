// SPDX-License-Identifier: Apache-2.0
#include "exporters/http/http_request.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <strings.h>

enum { ARGUMENTS_MAX = 16, HOST_BYTES_MAX = 256 };

bool http_request_host_is_ours(const char *host, const char *hostname) {
    char name[HOST_BYTES_MAX];
    uint8_t address[sizeof(struct in6_addr)];
    bool brackets = *host == '[';
    size_t length = brackets ? strcspn(host, "]") : strcspn(host, ":");
    if (length >= sizeof(name) || (brackets && host[length] != ']'))
        return false;
    const char *port = host + length + brackets;
    if (*port != '\0' && (*port != ':' || strspn(port + 1, "0123456789") != strlen(port + 1)))
        return false;
    memcpy(name, host + brackets, length - brackets);
    name[length - brackets] = '\0';
    if (brackets)
        return inet_pton(AF_INET6, name, address) == 1;
    return inet_pton(AF_INET, name, address) == 1 || strcasecmp(name, "localhost") == 0 ||
           strcasecmp(name, hostname) == 0;
}

struct headers {
    size_t n_hosts;
    const char *host, *length;
    bool conflict;
};

static enum MHD_Result look_at_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
    struct headers *headers = context;
    (void)kind;
    if (strcasecmp(name, "Host") == 0) {
        headers->n_hosts++;
        headers->host = value;
    } else if (strcasecmp(name, "Content-Length") == 0) {
        headers->conflict = headers->conflict || (headers->length && value && strcmp(headers->length, value) != 0);
        headers->length = value;
    }
    return MHD_YES;
}

static bool has_body(struct MHD_Connection *connection) {
    const char *length = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Content-Length");
    return (length && strcmp(length, "0") != 0) ||
           MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Transfer-Encoding");
}

struct http_refusal http_request_judge(struct MHD_Connection *connection, const char *hostname) {
    struct headers headers = {0};
    (void)MHD_get_connection_values(connection, MHD_HEADER_KIND, look_at_header, &headers);
    if (headers.conflict)
        return (struct http_refusal){MHD_HTTP_BAD_REQUEST, "Two Content-Length headers contradict each other.\n"};
    if (headers.n_hosts > 1)
        return (struct http_refusal){MHD_HTTP_BAD_REQUEST, "A request must not have two Host headers.\n"};
    if (MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, NULL, NULL) > ARGUMENTS_MAX)
        return (struct http_refusal){MHD_HTTP_BAD_REQUEST, "The query has more than 16 arguments.\n"};
    if (hostname && headers.host && !http_request_host_is_ours(headers.host, hostname))
        return (struct http_refusal){MHD_HTTP_MISDIRECTED_REQUEST,
                                     "The Host header names another host: use localhost, an address, or the name of "
                                     "this host.\n"};
    if (has_body(connection))
        return (struct http_refusal){MHD_HTTP_CONTENT_TOO_LARGE, "A request must not have a body.\n"};
    return (struct http_refusal){0};
}

struct http_client http_request_client(const struct sockaddr *address) {
    struct http_client client = {0};
    if (address && address->sa_family == AF_INET6) {
        const struct in6_addr *ipv6 = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(ipv6)) // of a socket of systemd's that takes both
            memcpy(client.address, ipv6->s6_addr + 12, 4);
        else
            memcpy(client.address, ipv6->s6_addr, 8);
    } else if (address && address->sa_family == AF_INET) {
        memcpy(client.address, &((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
    }
    return client;
}

bool http_request_arrives(struct MHD_Connection *connection, struct http_arrival *arrival) {
    const union MHD_ConnectionInfo *socket = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const union MHD_ConnectionInfo *from = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    if (!socket)
        return false;
    arrival->fd = socket->connect_fd;
    arrival->client = http_request_client(from ? from->client_addr : NULL);
    return true;
}
