// SPDX-License-Identifier: Apache-2.0
// In: lines of memcached's text protocol. Out: what they say, without keys and values.
#include "capture/protocols/memcached_line.h"

#include "capture/cursor.h"
#include "data/text_hash.h"

#define ARGUMENTS 24u // arguments of a line that are looked at
#define ANY_NUMBER 255u
#define GET_BELIEVED 300u // bytes of a get line without an end that suffice to know it
#define DIGITS_MAX 20u    // of a 64-bit number

// ---- words ------------------------------------------------------------------------------------

typedef struct Word {
    const guint8 *text;
    gsize length;
} Word;

// The words of a line, as far as there is room; count counts all of them.
typedef struct Words {
    Word word[ARGUMENTS];
    guint count;
    bool clean; // no control bytes among them
} Words;

static void split(const guint8 *line, gsize length, Words *words)
{
    words->count = 0;
    words->clean = true;
    for (gsize i = 0; i < length;) {
        gsize start = i;
        for (; i < length && line[i] != ' '; i++)
            words->clean &= line[i] > ' ' && line[i] != 0x7f;
        if (i > start) {
            if (words->count < ARGUMENTS)
                words->word[words->count] = (Word){.text = line + start, .length = i - start};
            words->count++;
        }
        i += i < length;
    }
}

static bool word_is(const Word *word, const char *text)
{
    return word->length == strlen(text) && memcmp(word->text, text, word->length) == 0;
}

static bool is_number(const Word *word, bool may_be_negative)
{
    gsize i = may_be_negative && word->length > 1 && word->text[0] == '-';
    if (word->length == 0 || word->length > DIGITS_MAX)
        return false;
    for (; i < word->length; i++)
        if (!g_ascii_isdigit(word->text[i]))
            return false;
    return true;
}

// A length of data; false where the server would not take it either.
static bool read_length(const Word *word, guint32 *length)
{
    guint64 value = 0;
    if (!is_number(word, false) || word->length > 10)
        return false;
    for (gsize i = 0; i < word->length; i++)
        value = value * 10 + (guint64)(word->text[i] - '0');
    *length = (guint32)value;
    return value <= BB_MEMCACHED_DATA_MAX;
}

// Never 0.
static guint32 hash(const guint8 *text, gsize length)
{
    guint32 value = bb_text_hash_short(text, length);
    return value ? value : 1;
}

// ---- commands ---------------------------------------------------------------------------------

typedef struct Form {
    const char *word, *label;
    const char *arguments; // k: key, n: number, i: number with a sign
    guint8 more;           // arguments that may follow
    BbMemcachedKind kind;
    bool noreply; // may follow
    bool shared;  // other protocols have the same line (beanstalkd, gearman, SMTP)
} Form;

static const Form forms[] = {
    {"get", "GET", "k", ANY_NUMBER, BB_MEMCACHED_RETRIEVE, false, false},
    {"gets", "GETS", "k", ANY_NUMBER, BB_MEMCACHED_RETRIEVE, false, false},
    {"set", "SET", "knin", 0, BB_MEMCACHED_STORE, true, false},
    {"add", "ADD", "knin", 0, BB_MEMCACHED_STORE, true, false},
    {"replace", "REPLACE", "knin", 0, BB_MEMCACHED_STORE, true, false},
    {"append", "APPEND", "knin", 0, BB_MEMCACHED_STORE, true, false},
    {"prepend", "PREPEND", "knin", 0, BB_MEMCACHED_STORE, true, false},
    {"cas", "CAS", "kninn", 0, BB_MEMCACHED_STORE, true, false},
    {"delete", "DELETE", "k", 1, BB_MEMCACHED_OTHER, true, false},
    {"incr", "INCR", "kn", 0, BB_MEMCACHED_OTHER, true, false},
    {"decr", "DECR", "kn", 0, BB_MEMCACHED_OTHER, true, false},
    {"touch", "TOUCH", "ki", 0, BB_MEMCACHED_OTHER, true, false},
    {"gat", "GAT", "ik", ANY_NUMBER, BB_MEMCACHED_RETRIEVE, false, false},
    {"gats", "GATS", "ik", ANY_NUMBER, BB_MEMCACHED_RETRIEVE, false, false},
    {"mg", "MG", "k", ANY_NUMBER, BB_MEMCACHED_META_GET, false, true},
    {"ms", "MS", "k", ANY_NUMBER, BB_MEMCACHED_META_SET, false, true},
    {"md", "MD", "k", ANY_NUMBER, BB_MEMCACHED_META_DELETE, false, true},
    {"ma", "MA", "k", ANY_NUMBER, BB_MEMCACHED_META_ARITHMETIC, false, true},
    {"me", "ME", "k", ANY_NUMBER, BB_MEMCACHED_OTHER, false, true},
    {"mn", "MN", "", 0, BB_MEMCACHED_META_NOOP, false, true},
    {"stats", "STATS", "", 3, BB_MEMCACHED_OTHER, false, true},
    {"version", "VERSION", "", 0, BB_MEMCACHED_OTHER, false, true},
    {"verbosity", "VERBOSITY", "n", 0, BB_MEMCACHED_OTHER, true, false},
    {"flush_all", "FLUSH_ALL", "", 1, BB_MEMCACHED_OTHER, true, false},
    {"quit", "QUIT", "", 0, BB_MEMCACHED_QUIT, false, true},
    {"watch", "WATCH", "", ANY_NUMBER, BB_MEMCACHED_WATCH, false, true},
    {"cache_memlimit", "CACHE_MEMLIMIT", "n", 0, BB_MEMCACHED_OTHER, true, false},
    {"slabs", "SLABS", "", 4, BB_MEMCACHED_OTHER, true, true},
    {"lru", "LRU", "", 5, BB_MEMCACHED_OTHER, false, true},
    {"lru_crawler", "LRU_CRAWLER", "", ANY_NUMBER, BB_MEMCACHED_OTHER, false, false},
    {"mgdump", "MGDUMP", "", 2, BB_MEMCACHED_OTHER, false, true},
    {"config", "CONFIG", "", ANY_NUMBER, BB_MEMCACHED_OTHER, false, true},
    {"shutdown", "SHUTDOWN", "", 1, BB_MEMCACHED_OTHER, false, true},
    {"refresh_certs", "REFRESH_CERTS", "", 0, BB_MEMCACHED_OTHER, false, false},
};

static const Form *find_form(const Word *word)
{
    for (gsize i = 0; i < G_N_ELEMENTS(forms); i++)
        if (word_is(word, forms[i].word))
            return &forms[i];
    return NULL;
}

static bool argument_fits(const Word *word, char kind)
{
    return kind == 'k' ? word->length <= BB_MEMCACHED_KEY_MAX : is_number(word, kind == 'i');
}

// Whether the arguments are those of form; a line whose end was not seen may lack the last ones.
static bool arguments_fit(const Form *form, const Words *words, bool cut)
{
    guint wanted = (guint)strlen(form->arguments), given = words->count - 1;
    for (guint i = 0; i < MIN(wanted, given); i++)
        if (!argument_fits(&words->word[i + 1], form->arguments[i]) && !(cut && i + 1 == given))
            return false;
    if (form->more == ANY_NUMBER)
        for (guint i = wanted; i < MIN(given, ARGUMENTS - 1); i++)
            if (words->word[i + 1].length > BB_MEMCACHED_KEY_MAX)
                return false;
    if (!cut && given < wanted)
        return false;
    return form->more == ANY_NUMBER || given <= wanted + form->more + form->noreply;
}

// Flags of a meta command or of its answer: one letter each, with a value behind it.
static guint32 read_token(const Words *words, guint from, const Word *key)
{
    guint32 token = 0;
    for (guint i = from; i < MIN(words->count, ARGUMENTS); i++) {
        const Word *flag = &words->word[i];
        if (flag->text[0] == 'O')
            return hash(flag->text + 1, flag->length - 1);
        if (flag->text[0] == 'k')
            token = key ? hash(key->text, key->length) : hash(flag->text + 1, flag->length - 1);
    }
    return token;
}

static void read_meta(BbMemcachedCommand *command, const Words *words)
{
    const Word *key = words->count > 1 ? &words->word[1] : NULL;
    guint flags = command->kind == BB_MEMCACHED_META_SET ? 3 : 2;
    command->token = read_token(words, flags, key);
    for (guint i = flags; i < MIN(words->count, ARGUMENTS); i++)
        command->quiet |= word_is(&words->word[i], "q");
    if (command->kind == BB_MEMCACHED_META_SET) {
        Word length = words->count > 2 ? words->word[2] : (Word){0};
        if (length.length && length.text[0] == 'S') // as it was written before 1.6.11
            length = (Word){.text = length.text + 1, .length = length.length - 1};
        command->has_data = read_length(&length, &command->data_length);
        command->valid &= command->has_data;
    }
}

static bool is_meta(BbMemcachedKind kind)
{
    return kind >= BB_MEMCACHED_META_GET && kind <= BB_MEMCACHED_META_ARITHMETIC;
}

BbMemcachedCommand bb_memcached_command(const guint8 *line, gsize length, bool cut)
{
    Words words;
    split(line, length, &words);
    BbMemcachedCommand command = {.label = "*"};
    const Form *form = words.count && length ? find_form(&words.word[0]) : NULL;
    if (!form)
        return command;
    command.known = true;
    command.kind = form->kind;
    command.label = form->label;
    command.valid = words.clean && words.word[0].text == line && arguments_fit(form, &words, cut);
    command.shared = form->shared;
    guint wanted = (guint)strlen(form->arguments);
    command.many = form->kind == BB_MEMCACHED_RETRIEVE && words.count > wanted + 1;
    if (words.count > ARGUMENTS)
        return command;
    const Word *last = &words.word[words.count - 1];
    command.silent = form->noreply && words.count > wanted + 1 && word_is(last, "noreply");
    if (form->kind == BB_MEMCACHED_STORE && command.valid && words.count > 4)
        command.has_data = read_length(&words.word[4], &command.data_length);
    if (is_meta(form->kind))
        read_meta(&command, &words);
    // beanstalkd deletes jobs by number
    command.shared |= form->word[0] == 'd' && words.count == 2 && is_number(last, false);
    return command;
}

// ---- lines of the server ----------------------------------------------------------------------

typedef struct Answer {
    const char *word;
    BbMemcachedLineKind kind;
    const char *status; // NULL: the word itself
    bool own;           // where as many words follow as have to
    bool has_data;
    guint8 length_at; // which word is the length of the data
} Answer;

static const Answer answers[] = {
    {"VALUE", BB_MEMCACHED_PART, "ok", true, true, 3},
    {"END", BB_MEMCACHED_END, "ok", false, false, 0},
    {"STORED", BB_MEMCACHED_ANSWER, "ok", true, false, 0},
    {"NOT_STORED", BB_MEMCACHED_ANSWER, NULL, true, false, 0},
    {"EXISTS", BB_MEMCACHED_ANSWER, NULL, true, false, 0},
    {"NOT_FOUND", BB_MEMCACHED_ANSWER, NULL, false, false, 0},
    {"DELETED", BB_MEMCACHED_ANSWER, "ok", false, false, 0},
    {"TOUCHED", BB_MEMCACHED_ANSWER, "ok", false, false, 0},
    {"OK", BB_MEMCACHED_ANSWER, "ok", false, false, 0},
    {"RESET", BB_MEMCACHED_ANSWER, "ok", false, false, 0},
    {"VERSION", BB_MEMCACHED_ANSWER, "ok", false, false, 0},
    {"BUSY", BB_MEMCACHED_ANSWER, NULL, false, false, 0},
    {"BADCLASS", BB_MEMCACHED_ANSWER, NULL, false, false, 0},
    {"NOSPARE", BB_MEMCACHED_ANSWER, NULL, false, false, 0},
    {"NOTFULL", BB_MEMCACHED_ANSWER, NULL, false, false, 0},
    {"UNSAFE", BB_MEMCACHED_ANSWER, NULL, false, false, 0},
    {"SAME", BB_MEMCACHED_ANSWER, NULL, false, false, 0},
    {"STAT", BB_MEMCACHED_PART, "ok", true, false, 0},
    {"ITEM", BB_MEMCACHED_PART, "ok", false, false, 0},
    {"PREFIX", BB_MEMCACHED_PART, "ok", false, false, 0},
    {"CONFIG", BB_MEMCACHED_PART, "ok", false, true, 3},
    {"ERROR", BB_MEMCACHED_FAILED, NULL, false, false, 0},
    {"CLIENT_ERROR", BB_MEMCACHED_FAILED, NULL, true, false, 0},
    {"SERVER_ERROR", BB_MEMCACHED_FAILED, NULL, true, false, 0},
    {"VA", BB_MEMCACHED_META, "ok", false, true, 1},
    {"HD", BB_MEMCACHED_META, "ok", false, false, 0},
    {"EN", BB_MEMCACHED_META, "ok", false, false, 0},
    {"NF", BB_MEMCACHED_META, NULL, false, false, 0},
    {"NS", BB_MEMCACHED_META, NULL, false, false, 0},
    {"EX", BB_MEMCACHED_META, NULL, false, false, 0},
    {"ME", BB_MEMCACHED_ANSWER, "ok", false, false, 0},
    {"MN", BB_MEMCACHED_MN, "ok", false, false, 0},
};

// Errors that only a command with a value can have.
static bool is_value_error(const guint8 *line, gsize length)
{
    static const char *const texts[] = {
        "SERVER_ERROR object too large",
        "SERVER_ERROR out of memory storing",
        "SERVER_ERROR Out of memory during read",
        "CLIENT_ERROR bad data chunk",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        if (bb_bytes_begin(line, length, texts[i]))
            return true;
    return false;
}

// A name as memcached has them ("items:1:number"): neither a file nor an option that is asked for.
static bool is_stat_name(const Word *word)
{
    for (gsize i = 0; i < word->length; i++)
        if (!g_ascii_islower(word->text[i]) && !g_ascii_isdigit(word->text[i]) &&
            !strchr("_:", word->text[i]))
            return false;
    return true;
}

// STAT is a command of POP3, FTP and NNTP, too, STORED and its kin may be somebody's.
static bool is_own(const Answer *answer, const Words *words)
{
    if (!answer->own || !words->clean)
        return false;
    if (answer->kind == BB_MEMCACHED_ANSWER)
        return words->count == 1;
    return answer->kind != BB_MEMCACHED_PART || answer->has_data ||
           (words->count == 3 && is_stat_name(&words->word[1]));
}

static const Answer *find_answer(const Word *word)
{
    for (gsize i = 0; i < G_N_ELEMENTS(answers); i++)
        if (word_is(word, answers[i].word))
            return &answers[i];
    return NULL;
}

BbMemcachedLine bb_memcached_line(const guint8 *line, gsize length)
{
    Words words;
    split(line, length, &words);
    BbMemcachedLine result = {.kind = BB_MEMCACHED_UNKNOWN};
    if (!words.count || words.word[0].text != line)
        return result;
    const Word *first = &words.word[0];
    result.word = first->length;
    if (words.count == 1 && is_number(first, false)) { // the value after incr, decr
        result.kind = BB_MEMCACHED_ANSWER;
        result.status = "ok";
    }
    const Answer *answer = find_answer(first);
    if (answer && answer->has_data) {
        result.has_data = words.count > answer->length_at &&
                          read_length(&words.word[answer->length_at], &result.data_length);
        if (!result.has_data)
            return result;
    }
    if (answer) {
        result.kind = answer->kind;
        result.status = answer->status;
        result.own = is_own(answer, &words);
    }
    if (result.kind == BB_MEMCACHED_META) {
        memcpy(result.code, line, sizeof result.code);
        result.token = read_token(&words, result.has_data ? 2 : 1, NULL);
    }
    result.value_only = result.kind == BB_MEMCACHED_FAILED && is_value_error(line, length);
    return result;
}

// ---- the probe --------------------------------------------------------------------------------

// Whether the first bytes of a line can become a known word.
static bool word_begins(const guint8 *data, gsize length)
{
    for (gsize i = 0; i < G_N_ELEMENTS(forms); i++)
        if (strncmp((const char *)data, forms[i].word, length) == 0)
            return true;
    for (gsize i = 0; i < G_N_ELEMENTS(answers); i++)
        if (strncmp((const char *)data, answers[i].word, length) == 0)
            return true;
    return false;
}

// A line of which the end is not there yet.
static BbMatch probe_open_line(const guint8 *data, gsize length)
{
    gsize text = length > 1 && data[length - 1] == '\r' ? length - 1 : length;
    const guint8 *space = memchr(data, ' ', text);
    if (!space)
        return memchr(data, 0, text) || !word_begins(data, text) ? BB_MATCH_NO : BB_MATCH_MORE;
    BbMemcachedCommand command = bb_memcached_command(data, text, true);
    if (command.valid && command.kind == BB_MEMCACHED_RETRIEVE && text > GET_BELIEVED)
        return BB_MATCH_REQUEST;
    Word first = {.text = data, .length = (gsize)(space - data)};
    Words words;
    split(data, text, &words);
    bool reply = find_answer(&first) && words.clean;
    return (command.valid || reply) && text < BB_MEMCACHED_LINE_MAX ? BB_MATCH_MORE : BB_MATCH_NO;
}

BbMatch bb_memcached_probe(const guint8 *data, gsize length)
{
    if (length == 0)
        return BB_MATCH_MORE;
    const guint8 *newline = memchr(data, '\n', MIN(length, BB_MEMCACHED_LINE_MAX));
    if (!newline)
        return probe_open_line(data, length);
    gsize line = (gsize)(newline - data);
    if (line < 2 || data[line - 1] != '\r')
        return BB_MATCH_NO;
    line--;
    BbMemcachedCommand command = bb_memcached_command(data, line, false);
    if (command.known && command.valid && is_meta(command.kind))
        return BB_MATCH_LIKELY;
    if (command.known && command.valid)
        return command.shared ? BB_MATCH_MAYBE : BB_MATCH_REQUEST;
    BbMemcachedLine reply = bb_memcached_line(data, line);
    if (command.known || reply.kind == BB_MEMCACHED_UNKNOWN)
        return BB_MATCH_NO;
    if (reply.own)
        return BB_MATCH_REPLY;
    return reply.kind == BB_MEMCACHED_META ? BB_MATCH_LIKELY : BB_MATCH_MAYBE;
}
