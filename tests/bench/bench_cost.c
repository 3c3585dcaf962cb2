// SPDX-License-Identifier: Apache-2.0
// What a program costs: bench_cost PROGRAM [ARGUMENT ...]. In: a command. Out: one line of JSON
// with its CPU seconds and its peak of memory; the exit status is that of the command. It is small
// itself: a process begins with the peak of the one that it was started from, and that of a
// script's interpreter would spoil the figure.
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_cost PROGRAM [ARGUMENT ...]\n");
        return 2;
    }
    pid_t child = fork();
    if (child == 0) {
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(127);
    }
    int status = 0;
    struct rusage usage;
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        perror("bench_cost");
        return EXIT_FAILURE;
    }
    printf("{\"cpu_s\": %.3f, \"peak_mb\": %.1f}\n",
           seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime), (double)usage.ru_maxrss / 1024);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
