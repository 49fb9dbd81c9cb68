// SPDX-License-Identifier: GPL-2.0
//
// Made-up PMUs that count for a die, with the names and events of a large Sapphire Rapids: on each of two sockets two
// dies with four memory channels and thirty slices of the last-level cache, on the perf core of the kernel that loads
// this module. As with Intel's driver, a PMU has a box on each die, which one CPU of the die reads: the event counts the
// box of the CPU that it is opened on. Groups, counters that are few, the cpumask and what happens when a CPU goes
// offline are the kernel's own.
//
// The truth: while an event is on a counter, it counts its umask once a microsecond on the first die, twice on the
// second, and so on.

#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/perf_event.h>

enum { DIES = 4, CHANNELS = 4, SLICES = 30, PMUS = CHANNELS + SLICES, COUNTERS = 4 };

struct boxes {
	struct pmu pmu;
	char name[20];
	int taken[DIES]; /* counters */
};

static struct boxes pmus[PMUS];
static int readers[DIES]; /* the CPUs; -1: none is online */
static int hotplug;

static unsigned int refused; /* events of tasks that somebody tried to open; the kernel asks the PMU first */
module_param(refused, uint, 0444);

static int die_of(unsigned int cpu)
{
	return topology_logical_die_id(cpu);
}

static int *taken(const struct perf_event *event)
{
	return &container_of(event->pmu, struct boxes, pmu)->taken[event->hw.idx];
}

/* ---- what sysfs shows ---- */

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(umask, "config:8-15");
static struct attribute *formats[] = { &format_attr_event.attr, &format_attr_umask.attr, NULL };
static const struct attribute_group format_group = { .name = "format", .attrs = formats };

static ssize_t cpumask_show(struct device *device, struct device_attribute *attribute, char *page)
{
	int die, r;
	cpumask_var_t mask;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	for (die = 0; die < DIES; die++)
		if (readers[die] >= 0)
			cpumask_set_cpu(readers[die], mask);
	r = cpumap_print_to_pagebuf(true, page, mask);
	free_cpumask_var(mask);
	return r;
}
static DEVICE_ATTR_RO(cpumask);
static struct attribute *masks[] = { &dev_attr_cpumask.attr, NULL };
static const struct attribute_group mask_group = { .attrs = masks };

static const struct attribute_group *groups[] = { &format_group, &mask_group, NULL };

/* ---- counting ---- */

static u64 counted(const struct perf_event *event)
{
	return ktime_get_ns() / 1000 * (event->attr.config >> 8 & 0xff) * (event->hw.idx + 1);
}

static int box_event_init(struct perf_event *event)
{
	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (event->attach_state & PERF_ATTACH_TASK)
		refused++;
	if (is_sampling_event(event) || event->attach_state & PERF_ATTACH_TASK || event->cpu < 0)
		return -EINVAL;
	event->hw.idx = die_of(event->cpu);
	if (readers[event->hw.idx] < 0)
		return -EINVAL;
	event->cpu = readers[event->hw.idx];
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
	if (*taken(event) == COUNTERS)
		return -EAGAIN;
	++*taken(event);
	event->hw.state = PERF_HES_STOPPED;
	if (flags & PERF_EF_START)
		box_start(event, 0);
	return 0;
}

static void box_del(struct perf_event *event, int flags)
{
	box_stop(event, 0);
	--*taken(event);
}

/* ---- CPUs that come and go ---- */

/* As in Intel's driver (uncore_event_cpu_online and _offline). */
static int come(unsigned int cpu)
{
	if (readers[die_of(cpu)] < 0)
		readers[die_of(cpu)] = cpu;
	return 0;
}

static int leave(unsigned int cpu)
{
	unsigned int other = cpumask_any_but(topology_die_cpumask(cpu), cpu);
	int i, die = die_of(cpu);

	if (readers[die] != cpu)
		return 0;
	readers[die] = other < nr_cpu_ids ? other : -1;
	for (i = 0; i < PMUS && readers[die] >= 0; i++)
		perf_pmu_migrate_context(&pmus[i].pmu, cpu, other);
	return 0;
}

static int __init add_pmus(struct boxes *first, const char *kind, int n)
{
	int i, r = 0;

	for (i = 0; i < n && r == 0; i++) {
		struct boxes *boxes = &first[i];

		snprintf(boxes->name, sizeof(boxes->name), "uncore_%s_%d", kind, i);
		boxes->pmu = (struct pmu){
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
		r = perf_pmu_register(&boxes->pmu, boxes->name, -1);
	}
	return r;
}

static int __init boxes_init(void)
{
	int die, r;

	for (die = 0; die < DIES; die++)
		readers[die] = -1;
	r = add_pmus(pmus, "imc", CHANNELS);
	if (r == 0)
		r = add_pmus(pmus + CHANNELS, "cha", SLICES);
	if (r)
		return r;
	hotplug = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "boxes", come, leave);
	return hotplug < 0 ? hotplug : 0;
}

module_init(boxes_init);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Made-up memory controllers and cache slices with a known truth");
