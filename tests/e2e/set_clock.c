// SPDX-License-Identifier: Apache-2.0
// In: the name of a file of eight bytes in BB_CLOCK, a number of nanoseconds. Loaded before a
// program (ld.so(8), LD_PRELOAD), it adds them to the clock that the program sees and to the stamps
// of the packets that libpcap gives it: the clock of a host is set, for this program only. Others
// change the file meanwhile. BB_ADAPTER is a number of seconds that stamps are ahead of that on
// top, as of an adapter with a clock of its own.
#include <dlfcn.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000

typedef int (*NextEx)(pcap_t *pcap, struct pcap_pkthdr **header, const u_char **bytes);
typedef int (*GetTime)(clockid_t clock, struct timespec *now);

static const volatile int64_t *shift; // mapped before the program gives up its files
static int64_t adapter_ns;
static NextEx next_ex;
static GetTime get_time;

__attribute__((constructor)) static void begin(void)
{
    const char *name = getenv("BB_CLOCK");
    int fd = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    void *map = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *shift, PROT_READ, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (map != MAP_FAILED)
        shift = map;
    const char *adapter = getenv("BB_ADAPTER");
    adapter_ns = adapter ? strtoll(adapter, NULL, 10) * SECOND : 0;
    *(void **)&next_ex = dlsym(RTLD_NEXT, "pcap_next_ex"); // as dlsym(3) does it
    *(void **)&get_time = dlsym(RTLD_NEXT, "clock_gettime");
}

int pcap_next_ex(pcap_t *pcap, struct pcap_pkthdr **header, const u_char **bytes)
{
    int status = next_ex(pcap, header, bytes);
    if (status == 1 && shift) {
        int64_t ns =
            (int64_t)(*header)->ts.tv_sec * SECOND + (*header)->ts.tv_usec + *shift + adapter_ns;
        (*header)->ts.tv_sec = ns / SECOND;
        (*header)->ts.tv_usec = ns % SECOND; // of nanoseconds, for which bbtrace asks
    }
    return status;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    int status = get_time ? get_time(clock, now) : -1;
    if (status == 0 && clock == CLOCK_REALTIME && shift) {
        int64_t ns = (int64_t)now->tv_sec * SECOND + now->tv_nsec + *shift;
        now->tv_sec = ns / SECOND;
        now->tv_nsec = ns % SECOND;
    }
    return status;
}
