// SPDX-License-Identifier: Apache-2.0
#include "collectors/host/host_virtual.h"

#include <stdio.h>
#include <string.h>

#include "collectors/host/host_cpu.h"
#include "collectors/host/host_file.h"

enum { PATH_BYTES = 512, LINE_BYTES = 128 };

// Reads the first line of a file below sysfs; "" if there is none. Device trees end a string with a NUL.
static void read_line(const struct host_roots *roots, const char *file, char line[LINE_BYTES]) {
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", roots->sysfs, file);
    if (host_file_read(path, line, LINE_BYTES) < 0)
        line[0] = '\0';
    line[strcspn(line, "\n")] = '\0';
}

// What firmware calls the machine: "Amazon EC2 m7g.large", "QEMU Standard PC (Q35 + ICH9, 2009)".
static void read_machine(const struct host_roots *roots, char *out, size_t size) {
    char vendor[LINE_BYTES], product[LINE_BYTES];
    read_line(roots, "class/dmi/id/sys_vendor", vendor);
    read_line(roots, "class/dmi/id/product_name", product);
    (void)snprintf(out, size, "%s%s%s", vendor, vendor[0] != '\0' && product[0] != '\0' ? " " : "", product);
}

// Makers of virtual machines, as their firmware says, and the hypervisor if only one makes such machines. On Arm there
// is no better sign. Clouds that rent out whole machines too are left out, unless they name these differently.
static const char *hypervisor_of_machine(const char *machine) {
    static const struct {
        const char *word, *hypervisor;
    } makers[] = {{"QEMU", "QEMU"},
                  {"KVM", "KVM"},
                  {"VMware", "VMware"},
                  {"VirtualBox", "VirtualBox"},
                  {"Xen", "Xen"},
                  {"Bochs", "Bochs"},
                  {"Parallels", "Parallels"},
                  {"BHYVE", "bhyve"},
                  {"Virtual Machine", "Hyper-V"},
                  {"Apple Virtualization", "Apple"},
                  {"Amazon EC2", "Nitro"}};
    if (strstr(machine, ".metal"))
        return NULL;
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (strstr(machine, makers[i].word))
            return makers[i].hypervisor;
    return NULL;
}

// Names the hypervisor: by what it tells the CPU's programs, the kernel or the device tree, else by the machine's name.
static const char *find_hypervisor(const struct host_roots *roots, const char *machine, char line[LINE_BYTES]) {
    read_line(roots, "hypervisor/type", line);
    if (line[0] != '\0')
        return strcmp(line, "xen") == 0 ? "Xen" : line;
    if (host_cpu_hypervisor(roots, line, LINE_BYTES))
        return line;
    read_line(roots, "firmware/devicetree/base/hypervisor/compatible", line);
    if (line[0] != '\0')
        return strcmp(line, "linux,kvm") == 0 ? "KVM" : line;
    return hypervisor_of_machine(machine);
}

void host_virtual_describe(const struct host_roots *roots, struct platform *out) {
    char machine[2 * LINE_BYTES], line[LINE_BYTES], text[4 * LINE_BYTES];
    read_machine(roots, machine, sizeof machine);
    int flag = host_cpu_flag(roots, "hypervisor");
    const char *hypervisor = flag == 0 ? NULL : find_hypervisor(roots, machine, line);
    if (flag == 0) {
        platform_set_text(out, PLATFORM_VIRTUAL_MACHINE, "no");
    } else if (!hypervisor && flag < 0) {
        platform_set_unknown(out, PLATFORM_VIRTUAL_MACHINE,
                             "these CPUs have no flag for it, and neither firmware nor device tree names a hypervisor");
    } else {
        (void)snprintf(text, sizeof text, "%s%s%s%s",
                       hypervisor ? hypervisor : "yes, the hypervisor does not say whose",
                       machine[0] != '\0' ? " (" : "", machine, machine[0] != '\0' ? ")" : "");
        platform_set_text(out, PLATFORM_VIRTUAL_MACHINE, text);
    }
}
