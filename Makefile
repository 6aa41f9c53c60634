# hurdle: one makefile, no recursion into folders. `make help` lists what it can do.
MAKEFLAGS += --no-builtin-rules
.SUFFIXES:
.DELETE_ON_ERROR:

VERSION  := 0.1.0
B        ?= build
CC       ?= cc
ifeq ($(origin CC),default)
CC       := cc
endif
CFLAGS   ?= -O2 -g
PREFIX   ?= /usr/local
DESTDIR  ?=
BINDIR   ?= $(PREFIX)/bin
MANDIR   ?= $(PREFIX)/share/man
Q        := $(if $(V),,@)
say       = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(2)')

ARCH    := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine)))
, := ,
is_clang := $(findstring clang,$(shell $(CC) --version 2>/dev/null))

# What every object gets; the user's CPPFLAGS and CFLAGS come last, so they win.
warn := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wvla \
        -Wundef -Wwrite-strings -Wcast-qual -Wimplicit-fallthrough -Wno-missing-field-initializers
warn += $(if $(WERROR),-Werror)
harden  := $(if $(SANITIZE),-fsanitize=address$(,)undefined -fno-sanitize-recover=all -fno-omit-frame-pointer,\
           -D_FORTIFY_SOURCE=2 -fstack-protector-strong -fstack-clash-protection $(if $(filter x86_64,$(ARCH)),-fcf-protection))

base_cflags = -std=gnu11 -D_GNU_SOURCE -DHURDLE_VERSION='"$(VERSION)"' -I. -MMD -MP $(warn)
host_cflags = $(base_cflags) $(harden) $(if $(STATIC),,-fPIE) $(pkg_cflags) $(CPPFLAGS) $(CFLAGS)
host_ldflags = $(if $(STATIC),-static,-pie) $(if $(SANITIZE),-fsanitize=address$(,)undefined) \
               -Wl,-z,relro,-z,now,-z,noexecstack $(LDFLAGS)
# The shim lives in other people's processes: no libc, no TLS, no vector registers, no stack protector
# (its canary is libc's), and no sanitizer. See docs/hacking.md.
shim_cflags = $(base_cflags) -O2 -g -fPIC -ffreestanding -fno-builtin -fvisibility=hidden -fno-stack-protector \
              -U_FORTIFY_SOURCE -fno-lto -fno-asynchronous-unwind-tables -mgeneral-regs-only -fno-plt \
              $(if $(is_clang),,-fno-tree-loop-distribute-patterns) $(if $(filter x86_64 i386,$(ARCH)),-fcf-protection=none) \
              -fstack-usage -Wno-unused-parameter $(SHIM_CFLAGS)
shim_ldflags = -nostdlib -shared -Wl,-z,defs,-z,relro,-z,now,-z,noexecstack,--hash-style=both,--build-id=none -Wl,-soname,hurdle-shim.so

packages := jansson libbsd-overlay libevent_core libevent_extra
ifeq ($(filter clean help,$(MAKECMDGOALS)),)
missing := $(strip $(foreach p,$(packages),$(shell pkg-config --exists $(p) || echo $(p))))
ifneq ($(missing),)
$(error missing development packages: $(missing). Run contrib/install-deps, or on Debian: apt install libjansson-dev libbsd-dev libseccomp-dev libevent-dev uthash-dev libcriterion-dev bats)
endif
pkg_cflags := $(shell pkg-config --cflags $(packages)) -DLIBBSD_OVERLAY
endif
# Linked statically even into the dynamic program where the archives exist: each shared library costs a start-up.
pkg_static := -Wl,-Bstatic -ljansson -levent_extra -levent_core -lbsd -lmd $(if $(STATIC),,-Wl,-Bdynamic)
have_archives := $(shell printf 'int main(void){return 0;}' | $(CC) -x c - -o /dev/null -Wl,-Bstatic -ljansson -levent_extra -levent_core -lbsd -lmd -Wl,-Bdynamic 2>/dev/null && echo yes)
libs := $(if $(have_archives),$(pkg_static),$(shell pkg-config --libs $(packages)))
have_static_libc := $(shell printf 'int main(void){return 0;}' | $(CC) -x c - -static -o /dev/null 2>/dev/null && echo yes)

lib_src   := $(filter-out platform/mechanism/stage_main.c platform/mechanism/attack.c,$(wildcard platform/base/*.c platform/policy/*.c platform/host/*.c platform/mechanism/*.c)) $(filter-out envscrub/main.c,$(wildcard envscrub/*.c)) preload/coverage.c
sup_src   := $(wildcard supervisor/*.c supervisor/decide/*.c supervisor/proxy/*.c)
scrub_src := envscrub/main.c
shim_src  := $(wildcard preload/*.c) platform/policy/image.c platform/policy/glob.c
# The program inside other walls has no libc either; stage.c is in the supervisor as well.
stage_src := platform/mechanism/stage_main.c platform/mechanism/attack.c platform/mechanism/stage.c preload/sys.c platform/mechanism/stage_start.S
# A 64-bit x86 kernel starts 32-bit programs as well: they get a shim of their own. It asks for no 32-bit library, so a compiler that can -m32 and
# headers that know of it are enough; where they do not (musl's), hurdle goes without, and says so.
cc32      := $(CC) -m32 -idirafter /usr/include/x86_64-linux-gnu -idirafter preload/arch/bare
have_32   := $(and $(filter x86_64,$(ARCH)),$(shell printf '\043include <errno.h>\n\043include <sys/syscall.h>\nint x[SYS_open == 5 ? 1 : -1];' | $(cc32) -x c - -c -o /dev/null 2>/dev/null && echo yes))

lib_obj   := $(lib_src:%.c=$(B)/%.o)
blob_obj  := $(B)/platform/mechanism/shim_blob.o $(B)/platform/mechanism/stage_blob.o
sup_obj   := $(sup_src:%.c=$(B)/%.o) $(blob_obj)
scrub_obj := $(scrub_src:%.c=$(B)/%.o)
# The start-up of libc is most of what a small static program costs: 0.7 ms for glibc where cpuid traps, as in virtual machines,
# 0.05 ms for musl. So scrub-run, which runs before every command, takes musl where its compiler is installed for this machine.
musl_cc := $(if $(SANITIZE),,$(if $(filter $(ARCH)-%,$(shell musl-gcc -dumpmachine 2>/dev/null)),musl-gcc))
scrub_musl_obj := $(patsubst %.c,$(B)/musl/%.o,$(wildcard envscrub/*.c) platform/base/str.c platform/base/err.c)
shim_obj   := $(shim_src:%.c=$(B)/shim/%.o) $(B)/shim/preload/arch/$(ARCH).o
shim32_obj := $(shim_src:%.c=$(B)/shim32/%.o) $(B)/shim32/preload/arch/i386.o
shims      := $(B)/hurdle-shim.so $(if $(have_32),$(B)/hurdle-shim32.so)

all: $(B)/hurdle $(B)/scrub-run $(shims) ## build hurdle, scrub-run and the shims (default)

$(B)/.flags: FORCE
	@mkdir -p $(B)
	@printf '%s\n' '$(CC) $(subst ','"'"',$(host_cflags)) $(host_ldflags) $(shim_cflags)' | cmp -s - $@ || \
	 printf '%s\n' '$(CC) $(subst ','"'"',$(host_cflags)) $(host_ldflags) $(shim_cflags)' > $@
FORCE:

# The rules of a shim: its suffix, its compiler.
define shim_rules
$(B)/shim$(1)/%.o: %.c $(B)/.flags
	@mkdir -p $$(@D)
	$$(call say,CC,$$< (shim$(1)))
	$(Q)$(2) $$(shim_cflags) -c -o $$@ $$<
$(B)/shim$(1)/%.o: %.S $(B)/.flags
	@mkdir -p $$(@D)
	$$(call say,AS,$$< (shim$(1)))
	$(Q)$(2) -I. -MMD -MP -fPIC -c -o $$@ $$<
$(B)/hurdle-shim$(1).so: $$(shim$(1)_obj)
	$$(call say,LD,$$@)
	$(Q)$(2) $$(shim_ldflags) -o $$@ $$^
endef
$(eval $(call shim_rules,,$(CC)))
$(eval $(call shim_rules,32,$(cc32)))
$(B)/hurdle-shim.stripped.so: $(B)/hurdle-shim.so
	$(Q)strip -o $@ $<
$(B)/hurdle-shim32.stripped.so: $(if $(have_32),$(B)/hurdle-shim32.so,$(B)/.flags)
	$(Q)$(if $(have_32),strip -o $@ $<,: >$@)

$(B)/%.o: %.c $(B)/.flags
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(host_cflags) -c -o $@ $<
$(B)/hurdle-stage: $(addprefix $(B)/shim/,$(addsuffix .o,$(basename $(stage_src))))
	$(call say,LD,$@)
	$(Q)$(CC) -nostdlib -static -Wl,--build-id=none,-z,noexecstack,-z,max-page-size=4096 -o $@ $^
$(B)/hurdle-stage.stripped: $(B)/hurdle-stage
	$(Q)strip -o $@ $<
$(B)/platform/mechanism/stage_blob.o: platform/mechanism/stage_blob.S $(B)/hurdle-stage.stripped
	@mkdir -p $(@D)
	$(Q)$(CC) -I$(B) -c -o $@ $<
$(B)/platform/mechanism/shim_blob.o: platform/mechanism/shim_blob.S $(B)/hurdle-shim.stripped.so $(B)/hurdle-shim32.stripped.so
	@mkdir -p $(@D)
	$(Q)$(CC) -I$(B) -c -o $@ $<

$(B)/libhurdle.a: $(lib_obj)
	$(Q)rm -f $@; ar rcs $@ $^
$(B)/hurdle: $(sup_obj) $(B)/libhurdle.a
	$(call say,LD,$@)
	$(Q)$(CC) $(host_ldflags) -o $@ $^ $(libs)
scrub_static := $(and $(have_static_libc),$(if $(SANITIZE),,y))
ifneq ($(musl_cc),)
$(B)/musl/%.o: %.c $(B)/.flags
	@mkdir -p $(@D)
	$(call say,CC,$< (musl))
	$(Q)$(musl_cc) $(base_cflags) $(harden) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<
$(B)/scrub-run: $(scrub_musl_obj)
	$(call say,LD,$@)
	$(Q)$(musl_cc) $(filter-out -pie,$(host_ldflags)) -static -o $@ $^
else
$(B)/scrub-run: $(scrub_obj) $(B)/libhurdle.a
	$(call say,LD,$@)
	$(Q)$(CC) $(if $(scrub_static),$(filter-out -pie,$(host_ldflags)) -static,$(host_ldflags)) -o $@ $^ \
	  $(if $(scrub_static),$(filter-out -Wl$(,)-Bdynamic,$(libs)),$(libs))
endif

static: ## one static executable: build/static/hurdle
	$(Q)$(MAKE) --no-print-directory B=$(B)/static STATIC=1 all
asan: ## everything under AddressSanitizer and UBSan, in build/asan
	$(Q)$(MAKE) --no-print-directory B=$(B)/asan SANITIZE=1 CFLAGS='-O1 -g' all

# Tests. Criterion programs from tests/unit, small programs that the bats files drive from tests/tools.
ifneq ($(filter check check-unit check-decide check-asan test-unit-programs,$(MAKECMDGOALS)),)
$(if $(shell pkg-config --exists criterion || echo missing),$(error missing: Criterion. Run contrib/install-deps, or on Debian: apt install libcriterion-dev bats))
endif
unit_src  := $(wildcard tests/unit/test_*.c)
unit_bin  := $(unit_src:%.c=$(B)/%)
unit_obj  := $(patsubst %.c,$(B)/%.o,$(filter-out $(unit_src),$(wildcard tests/unit/*.c)))
tool_src  := $(filter-out $(if $(have_static_libc),,%_static.c),$(wildcard tests/tools/*.c))
tool_bin  := $(tool_src:%.c=$(B)/%)
run_tests  = HURDLE_BUILD=$(B) tests/run $(if $(K),-k '$(K)')

# The shim's own code with the host's flags, so that its parts run in unit tests and under sanitizers. Not sys.c: its names are libc's;
# and not init.c: tests/unit/shim_help.c stands for it.
shim_test_obj := $(patsubst %.c,$(B)/%.o,$(filter-out preload/sys.c preload/coverage.c preload/init.c,$(wildcard preload/*.c)))
$(shim_test_obj): pkg_cflags += -Wno-unused-parameter
$(B)/libshim.a: $(shim_test_obj)
	$(Q)rm -f $@; ar rcs $@ $^
# The supervisor's pure parts are tested as well, so its objects are a library too, without the one that has main().
$(B)/libsupervisor.a: $(filter-out $(B)/supervisor/main.o,$(sup_obj))
	$(Q)rm -f $@; ar rcs $@ $^
$(B)/tests/unit/test_shim_%.o: pkg_cflags += -Wno-unused-parameter
$(unit_bin): $(B)/tests/unit/%: $(B)/tests/unit/%.o $(unit_obj) $(blob_obj) $(B)/libsupervisor.a $(B)/libshim.a $(B)/libhurdle.a
	$(call say,LD,$@)
	$(Q)$(CC) $(host_ldflags) -o $@ $^ $(libs) -lcriterion $(if $(findstring test_filter,$@),-lseccomp)
# Some of them as 32-bit programs too, where a 32-bit libc is installed; _wide: with offsets and times of 64 bits, and checked calls.
have_libc32 := $(and $(have_32),$(shell printf 'int main(void){return 0;}' | $(cc32) -x c - -o /dev/null 2>/dev/null && echo yes))
tool32_bin := $(if $(have_libc32),$(addprefix $(B)/tests/tools/,attempt32 attempt32_wide start32 start32_static))
tool32_flags = $(base_cflags) -MF $@.d -MT $@ -O1 -g -o $@ $(filter tests/tools/%.c,$^) -pthread -ldl
$(tool32_bin): $(B)/tests/tools/%: $(B)/.flags
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(cc32) $(if $(filter %_wide,$@),-O1 -D_FORTIFY_SOURCE=2 -D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64) $(if $(filter %_static,$@),-static) $(tool32_flags)
$(B)/tests/tools/attempt32 $(B)/tests/tools/attempt32_wide: tests/tools/attempt.c
$(B)/tests/tools/start32 $(B)/tests/tools/start32_static: tests/tools/start.c
# This one asks the policy itself.
$(B)/tests/tools/answers: $(B)/tests/tools/answers.o $(B)/libsupervisor.a $(B)/libhurdle.a $(blob_obj)
	$(call say,LD,$@)
	$(Q)$(CC) $(host_ldflags) -o $@ $^ $(libs)
$(filter-out $(B)/tests/tools/answers,$(tool_bin)): $(B)/tests/tools/%: tests/tools/%.c $(B)/.flags
	@mkdir -p $(@D)
	$(call say,CC,$@)
	$(Q)$(CC) $(base_cflags) -MF $@.d -MT $@ -O1 -g -o $@ $< $(if $(filter %_static,$@),-static) -pthread -ldl $(if $(filter %/host_as,$@),-lseccomp)

# The proxy alone, with a resolver and limits that the real program takes from nobody.
$(B)/tests/proxy/serve: $(B)/tests/proxy/serve.o $(B)/libsupervisor.a $(B)/libhurdle.a
	$(call say,LD,$@)
	$(Q)$(CC) $(host_ldflags) -o $@ $^ $(libs)

test-unit-programs: $(unit_bin)
test-tools: $(tool_bin) $(tool32_bin) $(B)/tests/proxy/serve
check: all test-unit-programs test-tools ## run every test (K=pattern: only those)
	$(Q)$(run_tests) all
check-unit: test-unit-programs $(B)/tests/tools/reap ## unit tests only
	$(Q)$(run_tests) unit
check-system: all test-tools ## the real binaries only
	$(Q)$(run_tests) system
check-programs: all test-tools ## real software under hurdle only (slow)
	$(Q)$(run_tests) programs
check-hosts: all test-tools ## simulated hosts, and the system tests on each of them (long)
	$(Q)$(run_tests) hosts
check-decide: test-unit-programs ## the shell lexer against bash over a hundred thousand generated texts (slow)
	$(Q)HURDLE_TEXTS=100000 timeout 7200 $(B)/tests/unit/test_decide_bash --timeout 7000
check-asan: ## unit tests under AddressSanitizer and UBSan
	$(Q)$(MAKE) --no-print-directory B=$(B)/asan SANITIZE=1 CFLAGS='-O1 -g' check-unit
# Each tests/fuzz/fuzz_NAME.c with its seeds, for FUZZ_TIME seconds; what it finds stays in build/fuzz/NAME.
FUZZ_TIME ?= 20
fuzz_bin  := $(patsubst %.c,$(B)/%,$(wildcard tests/fuzz/fuzz_*.c))
$(fuzz_bin): $(B)/%: $(B)/%.o $(B)/libsupervisor.a $(B)/libhurdle.a $(blob_obj)
	$(call say,LD,$@)
	$(Q)$(CC) $(host_ldflags) -fsanitize=fuzzer -o $@ $^ $(libs)
fuzz-programs: $(fuzz_bin)
	$(Q)for f in $^; do name=$${f##*/fuzz_}; log=$(B)/$$name.log; mkdir -p $(B)/$$name; \
	  $$f -max_total_time=$(FUZZ_TIME) -timeout=10 -print_funcs=0 -artifact_prefix=$(B)/$$name/ $(B)/$$name tests/fuzz/seeds/$$name \
	    >$$log 2>&1 || { tail -n 60 $$log; echo "fuzz: $$name failed, see $(B)/$$name/"; exit 1; }; \
	  printf '  %-7s %s: %s\n' FUZZ $$name "$$(grep ^Done $$log)"; done
fuzz: ## every parser of untrusted bytes under libFuzzer (clang), FUZZ_TIME seconds each
	$(Q)$(MAKE) --no-print-directory CC=clang B=$(B)/fuzz SANITIZE=1 CFLAGS='-O1 -g -fsanitize=fuzzer-no-link' fuzz-programs
stack-usage: ## what the shim needs of its callers' stacks (gcc)
	$(Q)for f in $(shim_src); do mkdir -p $(B)/stack/$$(dirname $$f) && \
	  $(CC) $(filter-out -MMD -MP,$(shim_cflags)) -fcallgraph-info=su -c -o $(B)/stack/$${f%.c}.o $$f || exit 1; done
	$(Q)tests/stack-usage $(B)/stack
mutants: ## change one decision at a time; the tables must fail for each (minutes)
	$(Q)tests/mutants-settings $(K)
lint: ## rooms and arrows, style, static analysis
	$(Q)tests/lint
bench_programs := $(patsubst tests/bench/%.c,$(B)/tests/bench/%,$(wildcard tests/bench/*.c))
$(B)/tests/bench/%: tests/bench/%.c $(B)/libhurdle.a $(blob_obj)
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(host_cflags) $(host_ldflags) -o $@ $(filter %.c %.a,$^) $(blob_obj) $(libs)
bench: all $(bench_programs) $(B)/tests/proxy/serve ## measure; figures are ratios of one run
	$(Q)HURDLE_BUILD=$(abspath $(B)) tests/bench/run

# NO_BUILD=1 installs what was built before, and nothing else.
man_pages := $(wildcard docs/man/*.1 docs/man/*.5 docs/man/*.7)
man_dest   = $(DESTDIR)$(MANDIR)/man$(subst .,,$(suffix $(1)))
install: $(if $(NO_BUILD),,all) ## install below DESTDIR and PREFIX
	install -d '$(DESTDIR)$(BINDIR)'
	install -m 755 $(B)/hurdle $(B)/scrub-run '$(DESTDIR)$(BINDIR)'
	$(foreach p,$(man_pages),install -d '$(call man_dest,$(p))' && install -m 644 $(p) '$(call man_dest,$(p))' &&) :
uninstall: ## remove what install put there
	rm -f '$(DESTDIR)$(BINDIR)/hurdle' '$(DESTDIR)$(BINDIR)/scrub-run' $(foreach p,$(man_pages),'$(call man_dest,$(p))/$(notdir $(p))')

clean: ## remove the build folder
	rm -rf $(B)
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' $(MAKEFILE_LIST) | expand -t 16

.PHONY: all static asan clean help FORCE test-unit-programs test-tools check check-unit check-system check-programs check-hosts check-decide check-asan \
        stack-usage fuzz fuzz-programs mutants lint bench install uninstall
-include $(shell find $(B) -name '*.d' 2>/dev/null)
