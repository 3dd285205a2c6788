// Connects many devices to a relay of its own and measures: how long an event takes to them, and how
// much memory the relay has for each.
//
//   zg-env-postal-load RELAY [devices] [seconds] [events a second] [devices of the small account]
//
// Traffic goes to loopback alone, and everything ends after a time. Prints one JSON value.
#define _GNU_SOURCE
#include "client.h"

#include <errno.h>
#include <gnutls/crypto.h>
#include <signal.h>
#include <sodium.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { JOINERS = 32, SENDERS = 8, CODE_SIGNS = 20, EVENT_LIMIT = 100000 };
static const char ALPHABET[] = "ABCDEFGHJKMNPQRSTVWXYZ0123456789";

static char directory[] = "/tmp/zg-postal-load-XXXXXX";
static pid_t relay_id;
static uint16_t port;
static uint32_t device_count = 10000, small_count = 100, connected_count, joined_count, lost_count;
static char (*codes)[CODE_SIGNS + 1];
static char (*tokens)[48];
static struct client *streams, joiners[JOINERS], senders[SENDERS];
static uint32_t next_join, accepted_count, refused_count, busy_senders, used_senders, next_sender;
static uint64_t *sent_at, *answered_at;
static uint64_t *latencies;
static uint32_t latency_count, latency_limit;
static uint64_t phase_began;
static bool is_big_phase;

static void remove_directory(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf -- %s", directory);
    if (system(command) != 0) {
        fprintf(stderr, "zg-env-postal-load: %s stays\n", directory);
    }
}

static void end_relay(void) {
    if (relay_id > 0) {
        kill(relay_id, SIGTERM);
        waitpid(relay_id, NULL, 0);
        relay_id = 0;
    }
}

_Noreturn void fail(const char *what) {
    fprintf(stderr, "zg-env-postal-load: %s (%s)\n", what, strerror(errno));
    end_relay();
    remove_directory();
    exit(1);
}

static void write_hook(const char *name, const char *account) {
    char path[128], text[128];
    snprintf(path, sizeof path, "%s/webhook.%s", directory, name);
    int count = snprintf(text, sizeof text, "{\"account\":\"%s\",\"secret\":\"load\"}", account);
    FILE *file = fopen(path, "w");
    if (file == NULL || fwrite(text, 1, (size_t)count, file) != (size_t)count || fclose(file) != 0) {
        fail("the hook cannot be written");
    }
}

static void start_relay(const char *program) {
    int ends[2];
    if (pipe(ends) != 0) {
        fail("pipe");
    }
    char database[128], connections[32];
    snprintf(database, sizeof database, "%s/postal.db", directory);
    snprintf(connections, sizeof connections, "%u", device_count + 512);
    relay_id = fork();
    if (relay_id == 0) {
        prctl(PR_SET_PDEATHSIG, SIGTERM);
        dup2(ends[1], 1);
        close(ends[0]);
        execl(program, program, "serve", "--json", "--listen", "127.0.0.1:0", "--database", database,
              "--webhook-secrets", directory, "--connections", connections, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    char line[256];
    ssize_t count = read(ends[0], line, sizeof line - 1);
    if (count <= 0) {
        fail("the relay did not start");
    }
    line[count] = 0;
    char *colon = strstr(line, "127.0.0.1:");
    if (colon == NULL) {
        fail("the relay did not say where it listens");
    }
    port = (uint16_t)atoi(colon + 10);
    close(ends[0]);
}

/// Puts invites into the database, since ten thousand runs of a command would take the time.
static void make_invites(void) {
    char path[128];
    snprintf(path, sizeof path, "%s/postal.db", directory);
    sqlite3 *database;
    sqlite3_stmt *statement;
    if (sqlite3_open(path, &database) != SQLITE_OK ||
        sqlite3_exec(database, "BEGIN IMMEDIATE", NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(database, "INSERT INTO invites VALUES (?1, ?2, ?3)", -1, &statement,
                           NULL) != SQLITE_OK) {
        fail("the database cannot be written");
    }
    for (uint32_t number = 0; number < device_count; number++) {
        for (int sign = 0; sign < CODE_SIGNS; sign++) {
            codes[number][sign] = ALPHABET[randombytes_uniform(32)];
        }
        unsigned char digest[32];
        crypto_generichash(digest, 32, (unsigned char *)codes[number], CODE_SIGNS, NULL, 0);
        const char *accounts = number < small_count ? "team_all,team_small" : "team_all";
        sqlite3_bind_blob(statement, 1, digest, 32, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, accounts, -1, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 3, INT64_MAX);
        if (sqlite3_step(statement) != SQLITE_DONE) {
            fail("an invite cannot be made");
        }
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    if (sqlite3_exec(database, "COMMIT", NULL, NULL, NULL) != SQLITE_OK) {
        fail("invites cannot be kept");
    }
    sqlite3_close(database);
}

static void join_next(struct client *client) {
    if (next_join == device_count) {
        return;
    }
    client->number = next_join++;
    unsigned char key[32], seed[32];
    randombytes_buf(seed, 32);
    crypto_scalarmult_base(key, seed);
    char letters[64], body[256], request[512];
    sodium_bin2base64(letters, sizeof letters, key, 32, sodium_base64_VARIANT_ORIGINAL);
    int length = snprintf(body, sizeof body, "{\"invite\":\"%s\",\"publicKey\":\"%s\"}",
                          codes[client->number], letters);
    int count = snprintf(request, sizeof request,
                         "POST /devices HTTP/1.1\r\nHost: l\r\nContent-Length: %d\r\n\r\n%s", length,
                         body);
    client_send(client, request, (size_t)count);
}

static void send_event(struct client *client, const char *hook, const char *account,
                       uint32_t number) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    char body[1024], request[2048];
    int length = snprintf(
        body, sizeof body,
        "{\"id\":\"evt_load_%s_%u\",\"type\":\"deployment.ready\",\"createdAt\":%lld,\"payload\":{"
        "\"team\":{\"id\":\"%s\"},\"project\":{\"id\":\"prj_load\"},\"target\":\"production\","
        "\"deployment\":{\"id\":\"dpl_%u\",\"name\":\"web\",\"url\":\"web-load.vercel.app\","
        "\"meta\":{\"githubCommitRef\":\"main\",\"githubCommitMessage\":\"A message of usual "
        "length for a commit\",\"githubCommitAuthorName\":\"ada\"}}}}",
        hook, number, (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000, account, number);
    unsigned char code[20];
    gnutls_hmac_fast(GNUTLS_MAC_SHA1, "load", 4, body, (size_t)length, code);
    char digits[41];
    for (int place = 0; place < 20; place++) {
        sprintf(digits + 2 * place, "%02x", code[place]);
    }
    int count = snprintf(request, sizeof request,
                         "POST /webhook/%s HTTP/1.1\r\nHost: l\r\nx-vercel-signature: %s\r\n"
                         "Content-Length: %d\r\n\r\n%s",
                         hook, digits, length, body);
    client->number = number;
    sent_at[number] = nanoseconds();
    client_send(client, request, (size_t)count);
}

/// The next sender in turn that waits for no answer; NULL where all do. The relay ends connections that
/// send nothing for a time, so each is made when it is first needed, or needed again.
static struct client *free_sender(void) {
    for (uint32_t tried = 0; tried < SENDERS; tried++) {
        uint32_t place = (next_sender + tried) % SENDERS;
        if (busy_senders & 1u << place) {
            continue;
        }
        struct client *client = &senders[place];
        if (!(used_senders & 1u << place) || client->is_gone) {
            memset(client, 0, sizeof *client);
            if (client_connect(client, port) != 0) {
                fail("connect");
            }
        }
        next_sender = place + 1;
        busy_senders |= 1u << place;
        used_senders |= 1u << place;
        return client;
    }
    return NULL;
}

static void answered(struct client *client) {
    if (client >= joiners && client < joiners + JOINERS) {
        char *token = strstr(client->text, "\"token\":\"");
        if (client->status != 201 || token == NULL) {
            fail("a device was not let in");
        }
        memcpy(tokens[client->number], token + 9, 43);
        joined_count++;
        join_next(client);
    } else if (client >= senders && client < senders + SENDERS) {
        busy_senders &= ~(1u << (client - senders));
        answered_at[client->number] = nanoseconds();
        if (client->status == 200) {
            accepted_count++;
        } else {
            refused_count++;
        }
    } else {
        lost_count++;
    }
}

static void connected(struct client *client) {
    (void)client;
    connected_count++;
}

/// The events of one account come in order, so the k-th of a device is the k-th that was sent.
static void event_came(struct client *client, uint64_t now) {
    uint64_t began = is_big_phase ? phase_began : sent_at[client->events - 1];
    if (latency_count < latency_limit && began != 0) {
        latencies[latency_count++] = now - began;
    }
}

static void gone(struct client *client) {
    if (client >= streams && client < streams + device_count) {
        lost_count++;
    } else if (client >= senders && client < senders + SENDERS &&
               busy_senders & 1u << (client - senders)) {
        fail("a sender's connection was closed before its answer");
    }
}

static const struct client_events EVENTS = {answered, connected, event_came, gone};

static int by_size(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static void print_times(const char *name, uint64_t *times, uint32_t count) {
    qsort(times, count, sizeof *times, by_size);
    double p50 = count ? (double)times[count / 2] / 1e6 : -1;
    double p99 = count ? (double)times[(uint64_t)count * 99 / 100] / 1e6 : -1;
    double most = count ? (double)times[count - 1] / 1e6 : -1;
    printf(",\"%s\":{\"count\":%u,\"p50_ms\":%.2f,\"p99_ms\":%.2f,\"max_ms\":%.2f}", name, count,
           p50, p99, most);
}

static long status_field(const char *name) {
    char path[64], line[256];
    snprintf(path, sizeof path, "/proc/%d/status", (int)relay_id);
    FILE *file = fopen(path, "r");
    long value = -1;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) {
            value = atol(line + strlen(name) + 1);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return value;
}

/// Pages of the kernel for all sockets of TCP, in KiB.
static long socket_memory(void) {
    FILE *file = fopen("/proc/net/sockstat", "r");
    char line[256];
    long pages = -1;
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        char *place = strstr(line, " mem ");
        if (strncmp(line, "TCP:", 4) == 0 && place != NULL) {
            pages = atol(place + 5);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return pages < 0 ? -1 : pages * (sysconf(_SC_PAGESIZE) / 1024);
}

/// Seconds of processor time that the relay has taken.
static double processor_time(void) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)relay_id);
    FILE *file = fopen(path, "r");
    unsigned long user = 0, system = 0;
    if (file != NULL && fgets(text, sizeof text, file) != NULL) {
        char *place = strrchr(text, ')');
        if (place != NULL) {
            sscanf(place + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static void run_for(uint64_t milliseconds) {
    uint64_t end = nanoseconds() + milliseconds * 1000000u;
    while (nanoseconds() < end) {
        clients_run(&EVENTS, 10);
    }
}

/// Connects streams until there are so many, a few at a time.
static void connect_streams(uint32_t until) {
    static uint32_t begun;
    uint64_t end = nanoseconds() + 120ull * 1000000000u;
    while (connected_count < until) {
        while (begun < until && begun < connected_count + lost_count + 64) {
            char request[256];
            struct client *client = &streams[begun];
            client->is_stream = true;
            client->number = begun;
            if (client_connect(client, port) != 0) {
                fail("a device cannot connect");
            }
            int count = snprintf(request, sizeof request,
                                 "GET /events HTTP/1.1\r\nHost: l\r\nAuthorization: Bearer %s\r\n\r\n",
                                 tokens[begun++]);
            client_send(client, request, (size_t)count);
        }
        clients_run(&EVENTS, 10);
        if (nanoseconds() > end || lost_count > 0) {
            fail("devices did not get their streams");
        }
    }
}

static void load_small(uint32_t seconds, uint32_t rate) {
    uint32_t total = seconds * rate, next = 0;
    uint64_t began = nanoseconds(), step = 1000000000u / rate;
    uint64_t end = began + (seconds + 30ull) * 1000000000u;
    uint64_t expected = (uint64_t)total * small_count;
    while ((next < total || latency_count < expected) && nanoseconds() < end) {
        while (next < total && nanoseconds() >= began + next * step) {
            struct client *sender = free_sender();
            if (sender == NULL) {
                break;
            }
            send_event(sender, "load-hook-of-the-small", "team_small", next++);
        }
        clients_run(&EVENTS, 1);
    }
    if (latency_count < expected) {
        fail("events were lost");
    }
}

static void load_big(uint32_t number) {
    for (uint32_t device = 0; device < device_count; device++) {
        streams[device].events = 0;
    }
    is_big_phase = true;
    latency_count = 0;
    phase_began = nanoseconds();
    uint64_t end = phase_began + 60ull * 1000000000u;
    struct client *sender = free_sender();
    if (sender == NULL) {
        fail("no sender got its answer");
    }
    send_event(sender, "load-hook-of-all-of-them", "team_all", number);
    while (latency_count < device_count && nanoseconds() < end) {
        clients_run(&EVENTS, 1);
    }
    if (latency_count < device_count) {
        fail("the event did not reach every device");
    }
}

int main(int count, char **words) {
    if (count < 2) {
        fprintf(stderr, "usage: zg-env-postal-load RELAY [devices] [seconds] [rate] [small]\n");
        return 2;
    }
    uint32_t seconds = count > 3 ? (uint32_t)atoi(words[3]) : 20;
    uint32_t rate = count > 4 ? (uint32_t)atoi(words[4]) : 100;
    device_count = count > 2 ? (uint32_t)atoi(words[2]) : device_count;
    small_count = count > 5 ? (uint32_t)atoi(words[5]) : small_count;
    uint32_t total = seconds * rate;
    if (device_count < small_count || device_count > 20000 || small_count == 0 || rate == 0 ||
        total == 0 || total > EVENT_LIMIT) {
        fprintf(stderr, "zg-env-postal-load: a number is out of range\n");
        return 2;
    }
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    signal(SIGPIPE, SIG_IGN);
    if (sodium_init() < 0 || mkdtemp(directory) == NULL) {
        fail("it cannot begin");
    }
    codes = calloc(device_count, sizeof *codes);
    tokens = calloc(device_count, sizeof *tokens);
    streams = calloc(device_count, sizeof *streams);
    sent_at = calloc(total + 2, sizeof *sent_at);
    answered_at = calloc(total + 2, sizeof *answered_at);
    latency_limit = total * small_count > device_count ? total * small_count : device_count;
    latencies = calloc(latency_limit, sizeof *latencies);
    if (!codes || !tokens || !streams || !sent_at || !answered_at || !latencies) {
        fail("calloc");
    }
    write_hook("load-hook-of-the-small", "team_small");
    write_hook("load-hook-of-all-of-them", "team_all");
    clients_start();
    start_relay(words[1]);
    make_invites();
    uint64_t began = nanoseconds();
    for (int number = 0; number < JOINERS; number++) {
        if (client_connect(&joiners[number], port) != 0) {
            fail("connect");
        }
        join_next(&joiners[number]);
    }
    while (joined_count < device_count) {
        clients_run(&EVENTS, 10);
        if (nanoseconds() - began > 300ull * 1000000000u) {
            fail("joining took too long");
        }
    }
    printf("{\"devices\":%u,\"joining_s\":%.2f", device_count,
           (double)(nanoseconds() - began) / 1e9);
    for (int number = 0; number < JOINERS; number++) {
        client_close(&joiners[number]);
    }
    uint32_t first = small_count;
    connect_streams(first);
    run_for(500);
    long first_memory = status_field("VmRSS:"), first_sockets = socket_memory();
    began = nanoseconds();
    connect_streams(device_count);
    printf(",\"connecting_s\":%.2f", (double)(nanoseconds() - began) / 1e9);
    run_for(500);
    long memory = status_field("VmRSS:"), sockets = socket_memory();
    printf(",\"memory_kb\":{\"few\":%ld,\"all\":%ld,\"sockets_few\":%ld,\"sockets_all\":%ld",
           first_memory, memory, first_sockets, sockets);
    if (device_count > first) {
        printf(",\"each\":%.2f,\"sockets_each\":%.2f",
               (double)(memory - first_memory) / (device_count - first),
               (double)(sockets - first_sockets) / (device_count - first));
    }
    printf("}");
    double processor = processor_time();
    load_small(seconds, rate);
    printf(",\"processor_s\":{\"to_small\":%.2f", processor_time() - processor);
    uint32_t small_latencies = latency_count;
    processor = processor_time();
    uint64_t *big = calloc(latency_limit, sizeof *big), *small = latencies;
    if (big == NULL) {
        fail("calloc");
    }
    latencies = big;
    load_big(total);
    printf(",\"to_all\":%.2f}", processor_time() - processor);
    print_times("to_small", small, small_latencies);
    for (uint32_t number = 0; number < total; number++) {
        answered_at[number] -= sent_at[number];
    }
    print_times("answers", answered_at, total);
    print_times("to_all", latencies, latency_count);
    run_for(200);
    printf(",\"memory_after_kb\":%ld,\"peak_kb\":%ld,\"senders\":%d,\"accepted\":%u,"
           "\"refused\":%u,\"lost\":%u}\n",
           status_field("VmRSS:"), status_field("VmHWM:"), __builtin_popcount(used_senders),
           accepted_count, refused_count, lost_count);
    fflush(stdout);
    end_relay();
    remove_directory();
    return refused_count == 0 && lost_count == 0 ? 0 : 1;
}
