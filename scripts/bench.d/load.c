// SPDX-License-Identifier: GPL-2.0
/*
 * load - repeat one operation, and print its cost
 *
 * Runs in a guest under -icount shift=0, where the time stamp counter counts instructions.
 * bench_count tells how long the guest was idle, and this time is subtracted.
 *
 * usage: load OP SIZE COUNT ROUNDS PROCESSES DIRECTORY
 * OP: getattr, read, write (O_DIRECT), bread, bwrite (page cache), readdir (SIZE 20: of
 * 20 entries, 0: of 1000), spin, idle. Prints for each round: instructions per operation,
 * idle not included, and idle nanoseconds per operation.
 * If the environment has the variable MARK, each operation of a single process begins with a mark
 * in the trace of the kernel.
 * OP beside: how long a getattr takes while PROCESSES - 1 others write SIZE bytes at a
 * time. Prints for each round the median and the longest time of a getattr in nanoseconds.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#define SPAN	(16 << 20)	/* bytes of the file that the operations use, again and again */

static const char *dir;
static char *buf;
static long size, count;
static int fd = -1;

static uint64_t idle_ns(void)
{
	static int proc = -1;
	char text[64];
	ssize_t n;

	if (proc < 0)
		proc = open("/proc/bench_idle", O_RDONLY);
	n = pread(proc, text, sizeof(text) - 1, 0);
	if (n <= 0)
		err(1, "/proc/bench_idle");
	text[n] = 0;
	return strtoull(text, NULL, 10) * 1000;
}

/* If the environment has the variable COUNT, write a command to bench_count: z before the
 * operations, and f after them.
 */
static void counters(const char *command)
{
	static int proc = -1;

	if (!getenv("COUNT"))
		return;
	if (proc < 0)
		proc = open("/proc/bench_count", O_WRONLY);
	if (write(proc, command, 1) != 1)
		err(1, "/proc/bench_count");
}

static void op_getattr(long i)
{
	struct statx st;

	(void)i;
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC,
		  STATX_BASIC_STATS, &st))
		err(1, "statx");
}

static void op_read(long i)
{
	if (pread(fd, buf, size, i * size % SPAN) != size)
		err(1, "pread");
}

static void op_write(long i)
{
	if (pwrite(fd, buf, size, i * size % SPAN) != size)
		err(1, "pwrite");
}

static void op_bwrite(long i)
{
	op_write(i);
	if (fdatasync(fd))
		err(1, "fdatasync");
}

static const char *directory(void)
{
	return size ? "twenty" : "thousand";
}

/* Changes the directory at the server, so that the client must read it again, and then reads it. */
static void op_readdir(long i)
{
	static char local[256];
	long n, at, entries = 0;
	struct timespec t[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1000 + i } };
	struct statx st;
	int d;

	if (!local[0])
		snprintf(local, sizeof(local), "/export/%s", directory());
	if (utimensat(AT_FDCWD, local, t, 0))
		err(1, "%s", local);
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &st))
		err(1, "statx");
	d = openat(fd, ".", O_RDONLY | O_DIRECTORY);
	if (d < 0)
		err(1, "open");
	while ((n = syscall(SYS_getdents64, d, buf, 32768)) > 0)
		for (at = 0; at < n; entries++)
			at += *(unsigned short *)(buf + at + 16);
	close(d);
	if (n < 0 || entries < (size ?: 1000))
		errx(1, "%ld entries", entries);
}

static void op_spin(long i)
{
	for (volatile int n = 0; n < 100000; n++)
		(void)i;
}

static void op_idle(long i)
{
	(void)i;
	usleep(10000);
}

static const struct op {
	const char *name;
	void (*run)(long i);
	int flags;
} ops[] = {
	{ "getattr", op_getattr, O_RDONLY },
	{ "read", op_read, O_RDONLY | O_DIRECT },
	{ "write", op_write, O_WRONLY | O_DIRECT },
	{ "bread", op_read, O_RDONLY },
	{ "bwrite", op_bwrite, O_WRONLY },
	{ "readdir", op_readdir, O_RDONLY | O_DIRECTORY },
	{ "spin", op_spin, O_RDONLY },
	{ "idle", op_idle, O_RDONLY },
	{ "beside", op_getattr, O_RDONLY },
};

static const struct op *op_find(const char *name)
{
	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++)
		if (!strcmp(ops[i].name, name))
			return &ops[i];
	errx(2, "no operation %s", name);
}

static void prepare(const struct op *op, unsigned int process)
{
	char name[256];

	snprintf(name, sizeof(name), "%s/%s", dir,
		 op->run == op_readdir ? directory() : "file0");
	if (process)
		name[strlen(name) - 1] = 'a' + process - 1;
	fd = open(name, op->flags);
	if (fd < 0)
		err(1, "%s", name);
	/* No readahead: only the requested bytes are sent over the wire. */
	if (!strcmp(op->name, "bread"))
		posix_fadvise(fd, 0, 0, POSIX_FADV_RANDOM);
}

static void cold(const struct op *op)
{
	if (op->name[0] != 'b')
		return;
	if (fsync(fd) || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		err(1, "cold");
}

static void report(uint64_t t, uint64_t idle, long done)
{
	/* The kernel's idle time is not exact. It may be a little longer than the whole time. */
	printf("%.1f %.1f\n", (double)(int64_t)(t - idle) / done, (double)idle / done);
	fflush(stdout);
}

static void round_alone(const struct op *op)
{
	int marker = -1;
	uint64_t t, idle;

	if (getenv("MARK")) {
		marker = open("/sys/kernel/tracing/trace_marker", O_WRONLY);
		if (marker < 0)
			err(1, "trace_marker");
	}

	cold(op);
	op->run(count);
	cold(op);
	counters("z");
	idle = idle_ns();
	t = __rdtsc();
	for (long i = 0; i < count; i++) {
		if (marker >= 0 && write(marker, "begin", 5) != 5)
			err(1, "trace_marker");
		op->run(i);
	}
	t = __rdtsc() - t;
	counters("f");
	report(t, idle_ns() - idle, count);
	if (marker >= 0)
		close(marker);
}

/* Each child sends a byte when it is ready, waits for a byte, does its part of the operations, and
 * sends another byte.
 */
static void round_many(const struct op *op, unsigned int processes)
{
	int go[2], done[2];
	unsigned int i;
	uint64_t t, idle;
	char c[256];

	if (pipe(go) || pipe(done))
		err(1, "pipe");
	for (i = 0; i < processes; i++) {
		if (fork())
			continue;
		prepare(op, i + 1);
		op->run(0);
		if (write(done[1], c, 1) != 1 || read(go[0], c, 1) != 1)
			err(1, "pipe");
		for (long n = 0; n < count / processes; n++)
			op->run(n);
		if (write(done[1], c, 1) != 1)
			err(1, "pipe");
		_exit(0);
	}
	for (i = 0; i < processes; i++)
		if (read(done[0], c, 1) != 1)
			err(1, "pipe");
	counters("z");
	idle = idle_ns();
	t = __rdtsc();
	if (write(go[1], c, processes) != processes)
		err(1, "pipe");
	for (i = 0; i < processes; i++)
		if (read(done[0], c, 1) != 1)
			err(1, "pipe");
	t = __rdtsc() - t;
	counters("f");
	report(t, idle_ns() - idle, count / processes * processes);
	for (i = 0; i < processes; i++) {
		int status;

		if (wait(&status) < 0 || status)
			errx(1, "a process failed");
	}
	close(go[0]); close(go[1]); close(done[0]); close(done[1]);
}

static pid_t start_writer(unsigned int process)
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid)
		return pid;
	prepare(op_find("write"), process);
	for (long i = 0; ; i++)
		op_write(i);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Pauses between two getattrs, because otherwise the writers would hardly get the processor */
static void round_beside(void)
{
	uint64_t *times = calloc(count, sizeof(*times));

	if (!times)
		err(1, "calloc");
	for (long i = 0; i < count; i++) {
		usleep(1000 + i % 16 * 100);
		times[i] = __rdtsc();
		op_getattr(i);
		times[i] = __rdtsc() - times[i];
	}
	qsort(times, count, sizeof(*times), compare);
	printf("%llu %llu\n", (unsigned long long)times[count / 2],
	       (unsigned long long)times[count - 1]);
	fflush(stdout);
	free(times);
}

static void beside(int rounds, unsigned int writers)
{
	pid_t pids[16];
	unsigned int i;

	if (writers > sizeof(pids) / sizeof(pids[0]))
		errx(2, "too many processes");
	prepare(op_find("beside"), 0);
	for (i = 0; i < writers; i++)
		pids[i] = start_writer(i + 1);
	/* Wait until the server has granted enough credits to the writers. */
	usleep(200000);
	while (rounds--)
		round_beside();
	for (i = 0; i < writers; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	const struct op *op;
	int rounds, processes;

	if (argc != 7)
		errx(2, "usage: load OP SIZE COUNT ROUNDS PROCESSES DIRECTORY");
	op = op_find(argv[1]);
	size = atol(argv[2]);
	count = atol(argv[3]);
	rounds = atoi(argv[4]);
	processes = atoi(argv[5]);
	dir = argv[6];
	buf = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
		   MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (buf == MAP_FAILED)
		err(1, "mmap");
	mlockall(MCL_CURRENT);
	if (!strcmp(op->name, "beside")) {
		beside(rounds, processes - 1);
		return 0;
	}
	if (processes == 1)
		prepare(op, 0);
	while (rounds--)
		processes == 1 ? round_alone(op) : round_many(op, processes);
	return 0;
}
