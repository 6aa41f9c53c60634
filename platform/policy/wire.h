/*
 * What the supervisor and the shim share besides the policy: names of the session's files, and the page of events.
 * Freestanding. The page is writable by the confined side, so everything in it is a message for people: the supervisor
 * checks lengths and escapes text, and decides nothing by it.
 */
#pragma once
#include <stdint.h>

/* Files in the session directory (0700, made anew, outside every write root; 0711 and 0644 for root, whose
 * commands may change to another user). The shim finds the directory by its own file name. */
#define WIRE_SHIM   "shim.so"   /* for programs of 64-bit words, WIRE_SHIM32 for those of 32 */
#define WIRE_SHIM32 "shim32.so"
#define WIRE_IMAGE  "policy"
#define WIRE_EVENTS "events"
#define WIRE_CANARY "canary" /* what the proof before the start tries to create */
#define WIRE_STAGE  "stage"  /* the program that starts the command inside other walls */
#define WIRE_NOTHING "nothing" /* an empty file, put over what may not be read */
#define WIRE_TMP    "tmp"    /* the private TMPDIR */

/* The two kinds of programs that a machine's kernel starts; on a 32-bit machine there is one. */
enum shim_class { CLASS_64, CLASS_32, SHIM_CLASSES };
#define SHIM_CLASS (sizeof(long) == 8 ? CLASS_64 : CLASS_32) /* of the code that asks */
static inline const char *wire_shim_name(enum shim_class class)
{
	return class == CLASS_64 ? WIRE_SHIM : WIRE_SHIM32;
}

/* Environment variable: "N", the number of the ticket that the exec of this program took. */
#define WIRE_TICKET_VARIABLE "HURDLE_TICKET"

enum { WIRE_VIOLATIONS = 128, WIRE_TICKETS = 1024, WIRE_UNCOVERED = 64, WIRE_REPOSITORIES = 16 };

enum wire_action {
	WIRE_READ_DATA, WIRE_WRITE_DATA, WIRE_CREATE, WIRE_UNLINK, WIRE_RENAME, WIRE_LINK, WIRE_MODE, WIRE_OWNER, WIRE_TIMES,
	WIRE_XATTR, WIRE_EXEC, WIRE_CONNECT, WIRE_UNCOVERED_EXEC, WIRE_NAMESPACE, WIRE_TRACE, WIRE_LOAD, WIRE_OTHER, WIRE_ACTION_COUNT,
};

struct wire_violation {
	uint32_t seq;     /* number + 1 of the violation, written last; 0 while being written */
	uint32_t action;
	uint32_t rule;    /* index in the image, or IMAGE_NONE: not under a write root */
	int32_t  pid;
	_Alignas(8) int64_t time_ms; /* CLOCK_REALTIME */
	char program[16]; /* comm of the thread, not always terminated */
	char raw[208];    /* as the program said it; the tail where it is longer; not always terminated */
	char path[272];   /* the object */
};

/* State of one exec: taken before execve, answered by the new program's shim. What stays TICKET_TAKEN ran uncovered. */
enum { TICKET_FREE, TICKET_TAKEN, TICKET_HELLO, TICKET_FAILED, TICKET_UNCOVERED };
struct wire_ticket { uint32_t state; int32_t pid; char program[120]; };

enum uncovered_reason {
	UNCOVERED_NONE, UNCOVERED_STATIC, UNCOVERED_OTHER_CLASS, UNCOVERED_GO, UNCOVERED_SET_ID, UNCOVERED_CAPABILITY,
	UNCOVERED_PE, UNCOVERED_UNREADABLE, UNCOVERED_UNKNOWN_FORMAT, UNCOVERED_NO_HELLO, UNCOVERED_REASON_COUNT,
};
struct wire_uncovered { uint32_t seq; uint32_t reason; int32_t pid; uint32_t refused; char program[240]; };

struct wire_page {
	uint32_t magic, size;
	uint32_t violations;   /* ever, the newest WIRE_VIOLATIONS are kept */
	uint32_t hellos;       /* program images that loaded the shim and mapped the policy */
	uint32_t tickets;      /* ever */
	uint32_t uncovered;    /* ever */
	uint32_t lost;         /* tickets that were still unanswered when their place was needed */
	int32_t main_pid;      /* of the command, set by the supervisor; its shim leaves its last working directory in cwd */
	uint32_t repositories; /* ever */
	uint32_t pad;
	char cwd[1024];
	char repository[WIRE_REPOSITORIES][240]; /* directories named .git that were made */
	struct wire_violation violation[WIRE_VIOLATIONS];
	struct wire_ticket ticket[WIRE_TICKETS];
	struct wire_uncovered uncovered_program[WIRE_UNCOVERED];
};
#define WIRE_MAGIC 0x65647268u

/* Programs of every word size share the page. */
_Static_assert(sizeof(struct wire_violation) == 520 && sizeof(struct wire_ticket) == 128 && sizeof(struct wire_uncovered) == 256, "one layout");
_Static_assert(sizeof(struct wire_page) == 4904 + 520 * WIRE_VIOLATIONS + 128 * WIRE_TICKETS + 256 * WIRE_UNCOVERED, "one layout");

