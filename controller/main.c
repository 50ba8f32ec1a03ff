/* stoika - the program people use: one command line, one command, one exit code. */
#include "agent/base/buf.h"
#include "controller/command/help.h"
#include "controller/command/parse.h"
#include "controller/command/session.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int print_help(const struct invocation *inv)
{
	AUTO_BUF text = {0};

	buf_init(&text, 1u << 20);
	if (inv->command)
		help_command(inv->command, &text);
	else
		help_overview(&text);
	session_print_document(inv, &text);
	return EXIT_OK;
}

/* JSON errors are wanted even when the command line itself is wrong. */
static bool asks_json(int argc, char *const *argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--json") == 0)
			return true;
	return false;
}

/* A closed descriptor 0 to 2 would become the next file or socket, and get what we print. */
static void fill_standard_descriptors(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* A pipe whose reader has seen enough. */
static bool is_reader_gone(void)
{
	struct pollfd p = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

/* Output that was lost, now or before, is no success. */
static int end_output(int code)
{
	if ((fflush(stdout) == 0 && !ferror(stdout)) || is_reader_gone() || code != EXIT_OK)
		return code;
	fputs("stoika: cannot write all of the output\n", stderr);
	return EXIT_SOME;
}

int main(int argc, char **argv)
{
	struct invocation inv = {.arena = arena_new()};
	struct err err;
	bool help;
	int code;

	fill_standard_descriptors();
	signal(SIGPIPE, SIG_IGN);
	if (parse_command_line(argc, argv, &inv, &help, &err) < 0) {
		inv.json = asks_json(argc, argv);
		code = command_fail(&inv, &err);
	} else if (help) {
		code = print_help(&inv);
	} else {
		code = inv.command->run(&inv);
	}
	arena_free(inv.arena);
	return end_output(code);
}
