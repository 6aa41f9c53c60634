/* What every program of the run starts with, whatever the program before it did to its environment. */
#include <sys/mman.h>

#include "preload/exec.h"

extern char **environ __attribute__((weak, visibility("default")));

static const char preload_name[] = "LD_PRELOAD=", ticket_name[] = WIRE_TICKET_VARIABLE "=";

static const char *const dropped_names[] = {
#define DROPPED(name, reason) name "=",
#include "preload/dropped.def"
#undef DROPPED
};

static bool is_dropped(const char *entry)
{
	for (size_t i = 0; i < sizeof dropped_names / sizeof *dropped_names; i++)
		if (text_starts(entry, dropped_names[i]))
			return true;
	return false;
}

/* The loaders take spaces and colons for separators. */
static bool separator(char c)
{
	return c == ':' || c == ' ';
}

/* Length of the name of a shim of ours that a list begins with; 0: something else. */
static size_t our_length(const char *value, enum shim_class class)
{
	const char *name = wire_shim_name(class);
	size_t directory = strlen(shim.directory), n = directory + strlen(name);
	return text_starts(value, shim.directory) && text_starts(value + directory, name) && (!value[n] || separator(value[n])) ? n : 0;
}

/* The shim that the program can take first (a loader complains of one of another word size), then what else was there. */
static int build_preload(struct text *t, const char *old, enum shim_class class)
{
	const char *name = wire_shim_name(class);
	int error = text_set(t, preload_name, sizeof preload_name - 1);
	if (error == 0)
		error = text_add(t, shim.directory, strlen(shim.directory));
	if (error == 0)
		error = text_add(t, name, strlen(name));
	for (const char *s = old ? old : ""; *s && error == 0;) {
		const char *end = s;
		while (*end && !separator(*end))
			end++;
		if (end > s && !our_length(s, CLASS_64) && !our_length(s, CLASS_32)) {
			error = text_add(t, ":", 1);
			if (error == 0)
				error = text_add(t, s, (size_t)(end - s));
		}
		s = *end ? end + 1 : end;
	}
	return error;
}

static uint32_t take_ticket(const char *program)
{
	struct wire_page *page = shim.page;
	if (!page)
		return WIRE_TICKETS;
	uint32_t n = __atomic_fetch_add(&page->tickets, 1, __ATOMIC_RELAXED) % WIRE_TICKETS;
	struct wire_ticket *t = &page->ticket[n];
	if (__atomic_exchange_n(&t->state, TICKET_FREE, __ATOMIC_ACQ_REL) == TICKET_TAKEN)
		__atomic_fetch_add(&page->lost, 1, __ATOMIC_RELAXED);
	size_t len = strlen(program), skip = len >= sizeof t->program ? len - sizeof t->program + 1 : 0;
	memcpy(t->program, program + skip, len - skip + 1);
	t->pid = (int32_t)sys_getpid();
	__atomic_store_n(&t->state, TICKET_TAKEN, __ATOMIC_RELEASE);
	return n;
}

/* "ldd" and its kind: the loader lists the libraries and ends before any of them runs. */
static bool only_traces(char *const *from)
{
	for (; from && *from; from++)
		if (text_starts(*from, "LD_TRACE_LOADED_OBJECTS="))
			return true;
	return false;
}

size_t environment_room(char *const *from)
{
	size_t n = 0;
	while (from && from[n])
		n++;
	return n + 3;
}

int environment_build(struct environment *e, char *const *from, const char *program, enum shim_class class, char **room)
{
	const char *old = NULL;
	size_t out = 0;

	text_init(&e->preload);
	e->number = WIRE_TICKETS;
	e->size = room ? 0 : environment_room(from) * sizeof(char *);
	e->entries = room ? room : sys_mmap(e->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!e->entries || !shim.directory[0])
		return -ENOMEM;
	for (size_t i = 0; from && from[i]; i++) {
		if (text_starts(from[i], preload_name))
			old = old ? old : from[i] + sizeof preload_name - 1;
		else if (!text_starts(from[i], ticket_name) && !is_dropped(from[i]))
			e->entries[out++] = from[i];
	}
	int error = build_preload(&e->preload, old, class);
	if (error < 0)
		return error;
	e->entries[out++] = e->preload.s;
	if (program && !only_traces(from)) {
		e->number = take_ticket(program);
		memcpy(e->ticket, ticket_name, sizeof ticket_name);
		text_number(e->ticket + sizeof ticket_name - 1, e->number);
		e->entries[out++] = e->ticket;
	}
	e->entries[out] = NULL;
	return 0;
}

void environment_release(struct environment *e, bool started)
{
	if (!started && shim.page && e->number < WIRE_TICKETS)
		__atomic_store_n(&shim.page->ticket[e->number].state, TICKET_FAILED, __ATOMIC_RELEASE);
	if (e->entries && e->size)
		sys_munmap(e->entries, e->size);
	e->entries = NULL;
	text_release(&e->preload);
}

/* The array and the text stay for the life of the process: whoever reads environ may hold on to them. */
void environment_repair(enum shim_class class)
{
	if (!&environ)
		return;
	bool ours = false, clean = true;
	for (char **s = environ; s && *s; s++) {
		if (text_starts(*s, preload_name) && our_length(*s + sizeof preload_name - 1, class))
			ours = true;
		clean &= !is_dropped(*s);
	}
	if (ours && clean)
		return;
	struct environment e;
	if (environment_build(&e, environ, NULL, class, NULL) < 0) {
		environment_release(&e, true);
		return;
	}
	char *kept = sys_mmap(e.preload.len + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!kept)
		return environment_release(&e, true);
	memcpy(kept, e.preload.s, e.preload.len + 1);
	for (size_t i = 0; e.entries[i]; i++)
		if (e.entries[i] == e.preload.s)
			e.entries[i] = kept;
	__atomic_store_n(&environ, e.entries, __ATOMIC_RELEASE);
	text_release(&e.preload);
}

/* Once per program image; again from the constructor when the first touch came before libc knew the environment. */
void say_hello(void)
{
	static bool greeted, answered;
	struct wire_page *page = shim.page;
	if (!page || !shim.image)
		return;
	if (!__atomic_exchange_n(&greeted, true, __ATOMIC_RELAXED))
		__atomic_fetch_add(&page->hellos, 1, __ATOMIC_RELAXED);
	if (answered || !&environ || !environ)
		return;
	answered = true;
	for (char **s = environ; *s; s++) {
		if (!text_starts(*s, ticket_name))
			continue;
		long n = text_to_number(*s + sizeof ticket_name - 1, NULL);
		uint32_t taken = TICKET_TAKEN;
		if (n >= 0 && n < WIRE_TICKETS)
			__atomic_compare_exchange_n(&page->ticket[n].state, &taken, TICKET_HELLO, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
		return;
	}
}
