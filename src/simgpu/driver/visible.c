/* SPDX-License-Identifier: BSD-3-Clause */
/* visible.c - CUDA_VISIBLE_DEVICES: which devices of the machine the program
 * sees, and in which order. */
#include "sim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* FNV-1a over the machine's boot id and the device's number, so that all
 * processes of a host, and no others, give a device the same name. */
void sim_device_uuid(int phys, CUuuid *uuid)
{
    char boot[64] = "no boot id";
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (f != NULL) {
        if (fgets(boot, sizeof(boot), f) == NULL)
            boot[0] = '\0';
        fclose(f);
    }
    for (int half = 0; half < 2; half++) {
        uint64_t h = UINT64_C(0xcbf29ce484222325) + (uint64_t)half;
        for (const char *s = boot; *s != '\0'; s++)
            h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
        h = (h ^ (uint64_t)phys) * UINT64_C(0x100000001b3);
        memcpy(uuid->bytes + 8 * half, &h, 8);
    }
}

void sim_device_uuid_text(int phys, char text[SIM_UUID_TEXT])
{
    CUuuid uuid;
    sim_device_uuid(phys, &uuid);
    const unsigned char *b = (const unsigned char *)uuid.bytes;
    snprintf(text, SIM_UUID_TEXT,
             "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
             "%02x%02x%02x%02x%02x%02x",
             b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10],
             b[11], b[12], b[13], b[14], b[15]);
}

/* The only device whose text begins with these characters, or -1. */
static int by_uuid(const struct sim_config *c, const char *s, size_t len)
{
    char text[SIM_UUID_TEXT];
    int found = -1;
    if (len <= strlen("GPU-"))
        return -1;
    for (int i = 0; i < c->ndevices; i++) {
        sim_device_uuid_text(i, text);
        if (strncasecmp(text, s, len) != 0)
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

/* The device that an entry of the list means, or -1. */
static int one_device(const struct sim_config *c, const char *s, size_t len)
{
    char *end;
    if (len >= 4 && strncasecmp(s, "GPU-", 4) == 0)
        return by_uuid(c, s, len);
    if (len == 0 || *s < '0' || *s > '9')
        return -1;
    long n = strtol(s, &end, 10);
    return end <= s + len && n < c->ndevices ? (int)n : -1;
}

static bool is_listed(const struct sim_config *c, int device)
{
    for (int i = 0; i < c->nvisible; i++)
        if (c->visible[i] == device)
            return true;
    return false;
}

/* The list counts up to the first entry that means no device; one that is
 * there twice leaves no device at all. */
void sim_visible_read(struct sim_config *c)
{
    const char *s = getenv("CUDA_VISIBLE_DEVICES");
    c->nvisible = 0;
    if (s == NULL) {
        for (int i = 0; i < c->ndevices; i++)
            c->visible[c->nvisible++] = i;
        return;
    }
    for (;;) {
        s += strspn(s, " \t");
        size_t len = strcspn(s, ", \t");
        int device = one_device(c, s, len);
        if (device < 0)
            return;
        if (is_listed(c, device)) {
            c->nvisible = 0;
            return;
        }
        c->visible[c->nvisible++] = device;
        s += len;
        s += strspn(s, " \t");
        if (*s++ != ',')
            return;
    }
}
