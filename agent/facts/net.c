/*
 * net - interfaces from /sys/class/net, with their addresses.
 *
 * IPv6 addresses come from /proc/net/if_inet6. The kernel has no file for the
 * IPv4 addresses of an interface, so they are asked of the kernel, and only when
 * the root is this process's own.
 */
#include "agent/base/buf.h"
#include "agent/base/err.h"
#include "agent/facts/groups_priv.h"
#include "agent/facts/source.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define INET6_MAX (1u << 20)

/* The node's end of containers and virtual machines: they come and go by the hundred. */
static const char *const PASSING[] = {"veth", "cali", "lxc", "tap", "vnet", NULL};

static bool is_skipped(const char *name)
{
	if (strcmp(name, "lo") == 0)
		return true;
	for (const char *const *p = PASSING; *p; p++)
		if (str_starts(str_of(name), *p))
			return true;
	return false;
}

static json_t *read_interface(int root, const char *name)
{
	char folder[PATH_MAX];
	json_t *nic;
	int64_t n;

	snprintf(folder, sizeof folder, "/sys/class/net/%s", name);
	/* /sys/class/net also holds a file of the bonding driver. */
	if (!source_number(root, folder, "ifindex", &n))
		return NULL;
	nic = json_object();
	json_put_str(nic, "name", name);
	source_put_text(nic, "mac", root, folder, "address");
	source_put_number(nic, "mtu", root, folder, "mtu");
	source_put_text(nic, "state", root, folder, "operstate");
	/* -1, or an error, while there is no link */
	if (source_number(root, folder, "speed", &n) && n > 0)
		json_put_int(nic, "speed_mbps", n);
	json_object_set_new(nic, "addresses", json_array());
	return nic;
}

static json_t *find(json_t *net, const char *name)
{
	json_t *nic;
	size_t i;

	json_array_foreach(
		net, i, nic) if (strcmp(json_get_str(nic, "name", ""), name) == 0) return nic;
	return NULL;
}

static void add_address(
	json_t *net, const char *name, int family, const void *address, unsigned bits)
{
	json_t *nic = find(net, name);
	char text[INET6_ADDRSTRLEN];

	if (nic && inet_ntop(family, address, text, sizeof text))
		json_array_append_new(
			json_get(nic, "addresses"), json_sprintf("%s/%u", text, bits));
}

/* "fe80...0001 02 40 20 80     eth0": address, index, prefix, scope, flags, name; in hex. */
static void add_inet6_line(json_t *net, struct str line)
{
	char text[256], hex[33], name[IF_NAMESIZE];
	unsigned char address[16];
	unsigned bits, byte;

	snprintf(text, sizeof text, STR_FMT, STR_ARG(line));
	if (sscanf(text, "%32s %*x %x %*x %*x %15s", hex, &bits, name) != 3 || strlen(hex) != 32)
		return;
	for (size_t i = 0; i < sizeof address; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return;
		address[i] = (unsigned char)byte;
	}
	add_address(net, name, AF_INET6, address, bits);
}

static void add_inet6(json_t *net, int root)
{
	struct str rest, line;
	AUTO_BUF text;

	buf_init(&text, INET6_MAX);
	if (!source_file(root, "/proc/net/if_inet6", &text))
		return;
	rest = buf_str(&text);
	while (str_line(&rest, &line))
		add_inet6_line(net, line);
}

static void add_inet4(json_t *net)
{
	struct ifaddrs *all;

	if (getifaddrs(&all) < 0)
		return;
	for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
		struct sockaddr_in address, mask;

		if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || !i->ifa_netmask)
			continue;
		memcpy(&address, i->ifa_addr, sizeof address);
		memcpy(&mask, i->ifa_netmask, sizeof mask);
		add_address(net, i->ifa_name, AF_INET, &address.sin_addr,
			(unsigned)__builtin_popcount(mask.sin_addr.s_addr));
	}
	freeifaddrs(all);
}

int facts_net(const struct facts_env *env, json_t **out, struct err *err)
{
	json_t *names = source_list(env->root, "/sys/class/net"), *net, *name;
	size_t i;

	if (!names)
		return err_set(err, E_IO, "cannot list '/sys/class/net'");
	net = json_array();
	json_array_foreach(names, i, name)
	{
		const char *text = json_string_value(name);
		json_t *nic = is_skipped(text) ? NULL : read_interface(env->root, text);

		if (nic)
			json_array_append_new(net, nic);
	}
	json_decref(names);
	if (source_is_own_root(env->root))
		add_inet4(net);
	add_inet6(net, env->root);
	*out = net;
	return 0;
}
