/* The plain cost of what a row of the benchmark cannot do without: the same calls of libsodium and of
 * the kernel on data of the same size, and nothing else. Keys and data are zeros; only time counts.
 *
 *   yardstick exec
 *   yardstick derive MEMORY_BYTES OPERATIONS
 *   yardstick list INDEX_BYTES
 *   yardstick write FILE INDEX_BYTES ADDED_BYTES
 *   yardstick run FILE VALUES VALUE_BYTES PROGRAM
 *
 * And the clock for all of them, in a process so small that its own memory is not taken for the
 * program's: writes seconds, peak memory in KB and the exit status into RESULT.
 *
 *   yardstick time RESULT PROGRAM [ARGUMENT…]
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { tag_bytes = crypto_aead_xchacha20poly1305_ietf_ABYTES };

static unsigned char key[crypto_aead_xchacha20poly1305_ietf_KEYBYTES];
static unsigned char nonce[crypto_aead_xchacha20poly1305_ietf_NPUBBYTES];

static void require(int holds, const char *what)
{
    if (holds)
        return;
    perror(what);
    exit(1);
}

static size_t number(const char *text)
{
    return strtoull(text, NULL, 10);
}

/* Zeros in guarded memory where `guarded`, else in plain memory. */
static unsigned char *zeros(size_t count, int guarded)
{
    unsigned char *bytes = guarded ? sodium_malloc(count) : malloc(count);
    require(bytes != NULL, "memory");
    memset(bytes, 0, count);
    return bytes;
}

/* Seals and opens cost the same; sealing needs no text prepared before. */
static void seal(unsigned char *out, const unsigned char *text, size_t count)
{
    crypto_aead_xchacha20poly1305_ietf_encrypt(
        out, NULL, text, count, NULL, 0, NULL, nonce, key);
}

static void derive(size_t memory, size_t operations)
{
    unsigned char *out = zeros(32, 1), salt[crypto_pwhash_SALTBYTES] = {0};
    require(crypto_pwhash(out, 32, "passphrase", 10, salt, operations, memory,
                crypto_pwhash_ALG_ARGON2ID13) == 0,
        "crypto_pwhash");
}

static void list(size_t count)
{
    unsigned char *text = zeros(count, 1);
    unsigned char *sealed = zeros(count + tag_bytes, 0);
    seal(sealed, text, count);
}

/* One new generation: the index opened twice, since a writer looks again under its lock, and sealed
 * once; the old chunks copied by the kernel; both synced. */
static void write_generation(const char *path, size_t index_bytes, size_t added)
{
    unsigned char *text = zeros(index_bytes, 1);
    unsigned char *sealed = zeros(index_bytes + added + tag_bytes, 0);
    for (int round = 0; round < 3; round++)
        seal(sealed, text, index_bytes);
    char new_path[4096];
    require(snprintf(new_path, sizeof new_path, "%s.new", path) < (int)sizeof new_path, path);
    int old = open(path, O_RDONLY | O_CLOEXEC);
    int new = open(new_path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    struct stat status;
    require(old >= 0 && new >= 0 && fstat(old, &status) == 0, path);
    size_t front = index_bytes < (size_t)status.st_size ? index_bytes : (size_t)status.st_size;
    require(write(new, sealed, front) == (ssize_t)front, new_path);
    loff_t from = (loff_t)front;
    while (from < status.st_size) {
        ssize_t copied =
            copy_file_range(old, &from, new, NULL, (size_t)(status.st_size - from), 0);
        require(copied > 0, new_path);
    }
    require(write(new, sealed + index_bytes, added) == (ssize_t)added, new_path);
    require(fsync(new) == 0 && rename(new_path, path) == 0, new_path);
    char directory[4096];
    strcpy(directory, path);
    *strrchr(directory, '/') = 0;
    int place = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    require(place >= 0 && fsync(place) == 0, directory);
}

static void run(const char *path, size_t count, size_t bytes, char *program)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    require(file >= 0, path);
    unsigned char *text = zeros(count * (bytes + 64), 1);
    unsigned char *sealed = zeros(bytes + tag_bytes, 0);
    char **environment = calloc(count + 1, sizeof *environment);
    require(environment != NULL, "memory");
    for (size_t i = 0; i < count; i++) {
        unsigned char *entry = text + i * (bytes + 64);
        require(pread(file, sealed, bytes, (off_t)(i * bytes)) >= 0, path);
        seal(sealed, entry, bytes);
        memset(entry, 'v', bytes + 32);
        char name[32];
        int length = snprintf(name, sizeof name, "N%zu=", i);
        memcpy(entry, name, (size_t)length);
        environment[i] = (char *)entry;
    }
    char *arguments[] = {program, NULL};
    execve(program, arguments, environment);
    require(0, program);
}

static void time_program(const char *result, char **words)
{
    struct timespec begin, end;
    struct rusage usage;
    int status;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    pid_t child = fork();
    require(child >= 0, "fork");
    if (child == 0) {
        execvp(words[0], words);
        perror(words[0]);
        _exit(127);
    }
    require(wait4(child, &status, 0, &usage) == child, "wait4");
    clock_gettime(CLOCK_MONOTONIC, &end);
    double seconds =
        (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
    FILE *file = fopen(result, "w");
    require(file != NULL, result);
    fprintf(file, "%.9f %ld %d\n", seconds, usage.ru_maxrss,
        WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    require(fclose(file) == 0, result);
}

int main(int count, char **words)
{
    if (count >= 4 && strcmp(words[1], "time") == 0) {
        time_program(words[2], words + 3);
        return 0;
    }
    if (count == 2 && strcmp(words[1], "exec") == 0)
        return 0;
    require(sodium_init() >= 0, "libsodium");
    if (count == 4 && strcmp(words[1], "derive") == 0)
        derive(number(words[2]), number(words[3]));
    else if (count == 3 && strcmp(words[1], "list") == 0)
        list(number(words[2]));
    else if (count == 5 && strcmp(words[1], "write") == 0)
        write_generation(words[2], number(words[3]), number(words[4]));
    else if (count == 6 && strcmp(words[1], "run") == 0)
        run(words[2], number(words[3]), number(words[4]), words[5]);
    else {
        fprintf(stderr, "yardstick: wrong arguments\n");
        return 2;
    }
    return 0;
}
