/* glibc's headers ask for this list of functions that are stubs; Debian ships it with the 32-bit libc, which the shim does not need. */
