/* SPDX-License-Identifier: BSD-3-Clause */
/* info_nics.c - network devices as the kernel shows them in /sys. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "cli/info.h"

#define RDMA_DIR "/sys/class/infiniband"
#define NET_DIR "/sys/class/net"

/* The first line of a file in /sys; "" when it cannot be read. */
static void read_line(char *out, size_t size, const char *dir,
                      const char *device, const char *rest)
{
    char path[PATH_MAX];
    FILE *file = NULL;

    out[0] = '\0';
    if (snprintf(path, sizeof path, "%s/%s/%s", dir, device, rest) <
        (int)sizeof path)
        file = fopen(path, "r");
    if (!file)
        return;
    if (!fgets(out, (int)size, file))
        out[0] = '\0';
    out[strcspn(out, "\n")] = '\0';
    fclose(file);
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void add_port(struct info_nic *nic, const char *device, const char *port)
{
    char rest[64], state[32];

    snprintf(nic->name, sizeof nic->name, "%.40s port %.8s", device, port);
    snprintf(rest, sizeof rest, "ports/%.8s/link_layer", port);
    read_line(nic->kind, sizeof nic->kind, RDMA_DIR, device, rest);
    snprintf(rest, sizeof rest, "ports/%.8s/rate", port);
    read_line(nic->speed, sizeof nic->speed, RDMA_DIR, device, rest);
    snprintf(rest, sizeof rest, "ports/%.8s/state", port);
    read_line(state, sizeof state, RDMA_DIR, device, rest);
    /* "4: ACTIVE" */
    snprintf(nic->state, sizeof nic->state, "%s",
             strchr(state, ' ') ? strchr(state, ' ') + 1 : state);
}

static int list_ports(const char *device, struct info_nic *nics, int max)
{
    char path[PATH_MAX];
    struct dirent **ports;
    int n = 0, all;

    snprintf(path, sizeof path, RDMA_DIR "/%s/ports", device);
    all = scandir(path, &ports, visible, versionsort);
    for (int i = 0; i < all; i++) {
        if (n < max)
            add_port(&nics[n++], device, ports[i]->d_name);
        free(ports[i]);
    }
    if (all >= 0)
        free(ports);
    return n;
}

static void add_net(struct info_nic *nic, const char *device)
{
    char speed[32];
    long mbits;

    snprintf(nic->name, sizeof nic->name, "%.60s", device);
    snprintf(nic->kind, sizeof nic->kind, "network");
    read_line(nic->state, sizeof nic->state, NET_DIR, device, "operstate");
    read_line(speed, sizeof speed, NET_DIR, device, "speed");
    mbits = strtol(speed, NULL, 10); /* -1 or unreadable: unknown */
    if (mbits > 0)
        snprintf(nic->speed, sizeof nic->speed, "%g Gb/sec",
                 (double)mbits / 1000);
    else
        nic->speed[0] = '\0';
}

int info_list_nics(struct info_nic *nics, int max)
{
    struct dirent **devices;
    int n = 0, all = scandir(RDMA_DIR, &devices, visible, versionsort);

    for (int i = 0; i < all; i++) {
        n += list_ports(devices[i]->d_name, nics + n, max - n);
        free(devices[i]);
    }
    if (all >= 0)
        free(devices);
    all = scandir(NET_DIR, &devices, visible, versionsort);
    for (int i = 0; i < all; i++) {
        if (n < max && strcmp(devices[i]->d_name, "lo") != 0)
            add_net(&nics[n++], devices[i]->d_name);
        free(devices[i]);
    }
    if (all >= 0)
        free(devices);
    return n;
}
