// SPDX-License-Identifier: GPL-2.0
//
// Made-up PMUs that count for a socket, with the names and events of a large Sapphire Rapids: on each of two sockets
// eight memory channels and sixty slices of the last-level cache, on the perf core of the kernel that loads this module.
// The first CPU reads those of the first socket, the first one of the second half those of the second. Groups, counters
// that are few, the cpumask and what happens when a CPU goes offline are the kernel's own.
//
// The truth: while an event is on a counter, it counts its umask once a microsecond.

#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/perf_event.h>

enum { SOCKETS = 2, CHANNELS = 8, SLICES = 60, BOXES = SOCKETS * (CHANNELS + SLICES), COUNTERS = 4 };

struct box {
	struct pmu pmu;
	char name[20];
	unsigned int cpu; /* that reads it */
	int taken; /* counters */
};

static struct box boxes[BOXES];
static int hotplug;

static unsigned int refused; /* events of tasks that somebody tried to open; the kernel asks the PMU first */
module_param(refused, uint, 0444);

static struct box *box_of(struct pmu *pmu)
{
	return container_of(pmu, struct box, pmu);
}

/* ---- what sysfs shows ---- */

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(umask, "config:8-15");
static struct attribute *formats[] = { &format_attr_event.attr, &format_attr_umask.attr, NULL };
static const struct attribute_group format_group = { .name = "format", .attrs = formats };

static ssize_t cpumask_show(struct device *device, struct device_attribute *attribute, char *page)
{
	return cpumap_print_to_pagebuf(true, page, cpumask_of(box_of(dev_get_drvdata(device))->cpu));
}
static DEVICE_ATTR_RO(cpumask);
static struct attribute *masks[] = { &dev_attr_cpumask.attr, NULL };
static const struct attribute_group mask_group = { .attrs = masks };

static const struct attribute_group *groups[] = { &format_group, &mask_group, NULL };

/* ---- counting ---- */

static u64 counted(const struct perf_event *event)
{
	return ktime_get_ns() / 1000 * (event->attr.config >> 8 & 0xff);
}

static int box_event_init(struct perf_event *event)
{
	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (event->attach_state & PERF_ATTACH_TASK)
		refused++;
	if (is_sampling_event(event) || event->attach_state & PERF_ATTACH_TASK || event->cpu < 0)
		return -EINVAL;
	event->cpu = box_of(event->pmu)->cpu;
	/* as Intel's driver does: any CPU of the package may read it, without an interrupt */
	event->event_caps |= PERF_EV_CAP_READ_ACTIVE_PKG;
	return 0;
}

static void box_read(struct perf_event *event)
{
	u64 now = counted(event);

	local64_add(now - local64_xchg(&event->hw.prev_count, now), &event->count);
}

static void box_start(struct perf_event *event, int flags)
{
	event->hw.state = 0;
	local64_set(&event->hw.prev_count, counted(event));
}

static void box_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	box_read(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
}

static int box_add(struct perf_event *event, int flags)
{
	if (box_of(event->pmu)->taken == COUNTERS)
		return -EAGAIN;
	box_of(event->pmu)->taken++;
	event->hw.state = PERF_HES_STOPPED;
	if (flags & PERF_EF_START)
		box_start(event, 0);
	return 0;
}

static void box_del(struct perf_event *event, int flags)
{
	box_stop(event, 0);
	box_of(event->pmu)->taken--;
}

/* ---- CPUs that come and go ---- */

static int leave(unsigned int cpu)
{
	unsigned int other = cpumask_any_but(topology_core_cpumask(cpu), cpu); /* of its package */
	int i;

	for (i = 0; i < BOXES && other < nr_cpu_ids; i++)
		if (boxes[i].cpu == cpu) {
			boxes[i].cpu = other;
			perf_pmu_migrate_context(&boxes[i].pmu, cpu, other);
		}
	return 0;
}

/* Boxes of a socket are read by one CPU, and a box of each kind on the second socket follows those on the first. */
static int __init add_boxes(struct box *first, const char *kind, int n)
{
	int i, r = 0;

	for (i = 0; i < SOCKETS * n && r == 0; i++) {
		struct box *box = &first[i];

		snprintf(box->name, sizeof(box->name), "uncore_%s_%d", kind, i);
		box->cpu = i < n ? 0 : num_online_cpus() / 2;
		box->pmu = (struct pmu){
			.module = THIS_MODULE,
			.task_ctx_nr = perf_invalid_context,
			.attr_groups = groups,
			.event_init = box_event_init,
			.add = box_add,
			.del = box_del,
			.start = box_start,
			.stop = box_stop,
			.read = box_read,
			.capabilities = PERF_PMU_CAP_NO_EXCLUDE | PERF_PMU_CAP_NO_INTERRUPT,
		};
		r = perf_pmu_register(&box->pmu, box->name, -1);
	}
	return r;
}

static int __init boxes_init(void)
{
	int r;

	hotplug = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "boxes", NULL, leave);
	if (hotplug < 0)
		return hotplug;
	r = add_boxes(boxes, "imc", CHANNELS);
	return r ? r : add_boxes(boxes + SOCKETS * CHANNELS, "cha", SLICES);
}

module_init(boxes_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Made-up memory controllers and cache slices with a known truth");
