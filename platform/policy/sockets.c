/* Sockets that are worth more than their path says: who may talk to a container engine is root on the host. */
#include <string.h>
#include "platform/base/cleanup.h"
#include "platform/policy/paths.h"
#include "platform/policy/policy.h"

bool path_opens_container_engine(const char *path)
{
	static const char *const places[] = {
		"/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock", "/run/crio/crio.sock",
		"/run/buildkit/buildkitd.sock", "/run/k3s/containerd/containerd.sock", "/var/run/docker.sock",
	};
	static const char *const names[] = { "docker.sock", "podman.sock", "containerd.sock", "crio.sock", "buildkitd.sock" };
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (path_under(places[i], path))
			return true;
	return false;
}
