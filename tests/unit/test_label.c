// SPDX-License-Identifier: Apache-2.0
// Labels of HTTP requests and of command words: what stays, what becomes `*`, and the limits.
#include "capture/protocols/label.h"
#include "tests/unit/test.h"

#include <stdbool.h>
#include <string.h>

static void check_http(const char *method, const char *path, const char *expected)
{
    char out[BB_LABEL_MAX + 1];
    g_autofree guint8 *exact = g_memdup2(path, strlen(path)); // so that reading past it is seen
    gsize length = bb_label_http(out, (const guint8 *)method, strlen(method), exact, strlen(path));
    ck_assert_str_eq(out, expected);
    ck_assert_uint_eq(length, strlen(expected));
}

static void check_paths(const char *const (*pairs)[2], gsize count)
{
    for (gsize i = 0; i < count; i++) {
        g_autofree char *expected = g_strconcat("GET ", pairs[i][1], NULL);
        check_http("GET", pairs[i][0], expected);
    }
}

START_TEST(routes_stay)
{
    static const char *const pairs[][2] = {
        {"/", "/"},
        {"/cart", "/cart"},
        {"/cart/", "/cart/"},
        {"/api/v1/users", "/api/v1/users"},
        {"/apis/apps/v1beta1/deployments", "/apis/apps/v1beta1/deployments"},
        {"/v2alpha1/things", "/v2alpha1/things"},
        {"/oauth2/token", "/oauth2/token"},
        {"/facade/decade/beef", "/facade/decade/beef"},
        {"/getHTTPResponseCode", "/getHTTPResponseCode"},
        {"/OAuth2Callback", "/OAuth2Callback"},
        {"/user-profile_settings.html", "/user-profile_settings.html"},
        {"/js/jquery-3.6.0.min.js", "/js/jquery-3.6.0.min.js"},
        {"/@scope/package", "/@scope/package"},
        {"/.well-known/openid-configuration", "/.well-known/openid-configuration"},
        {"/a//b", "/a/b"},
        {"//", "/"},
        {"/Reset()", "/Reset()"},
        {"index.html", "index.html"},
    };
    check_paths(pairs, G_N_ELEMENTS(pairs));
}
END_TEST

START_TEST(values_vary)
{
    static const char *const pairs[][2] = {
        {"/cart/7", "/cart/*"},
        {"/cart/7/items/12/", "/cart/*/items/*/"},
        {"/user123", "/*"},
        {"/user12", "/user12"},
        {"/2024-01-31/x", "/*/x"},
        {"/geo/-3.14", "/geo/*"},
        {"/commit/3f2a9c", "/commit/*"},
        {"/commit/3f2a9", "/commit/3f2a9"},
        {"/o/123e4567-e89b-12d3-a456-426614174000", "/o/*"},
        {"/o/abcdefab-cdef-abcd-efab-cdefabcdefab", "/o/*"},
        {"/watch/dQw4w9WgXcQ", "/watch/*"},
        {"/t/aBcDeFgHiJ", "/t/*"},
        {"/u/01ARZ3NDEKTSV4RRFFQ69G5FAV", "/u/*"},
        {"/t/YWJjZGVm==", "/t/*"},
        {"/mail/john@example.com", "/mail/*"},
        {"/gggggggggghhhhhhhhhhiiiiiiiiiijjjjjjjjjj", "/gggggggggghhhhhhhhhhiiiiiiiiiijjjjjjjjjj"},
        {"/gggggggggghhhhhhhhhhiiiiiiiiiijjjjjjjjjjx", "/*"},
    };
    check_paths(pairs, G_N_ELEMENTS(pairs));
}
END_TEST

START_TEST(parts_of_values_stay)
{
    static const char *const pairs[][2] = {
        {"/img/12345.png", "/img/*.png"},
        {"/img/7.jpg", "/img/*.jpg"},
        {"/dump/2024.tar.gz", "/dump/*.gz"},
        {"/img/12345.longer", "/img/*"},
        {"/v1/items/123:cancel", "/v1/items/*:cancel"},
        {"/v1/items/123:4", "/v1/items/*"},
        {"/Users(123)/Orders", "/Users(*)/Orders"},
        {"/Users('x')", "/Users(*)"},
        {"/id=5/x", "/id=*/x"},
        {"/12=5/x", "/*/x"},
    };
    check_paths(pairs, G_N_ELEMENTS(pairs));
}
END_TEST

START_TEST(parameters_are_dropped)
{
    static const char *const pairs[][2] = {
        {"/cart?user=1", "/cart"},
        {"/cart?next=/a/b", "/cart"},
        {"/cart#top", "/cart"},
        {"/cart;jsessionid=1A2B3C/x;y", "/cart/x"},
        {"/?", "/"},
        {"?a", "/"},
    };
    check_paths(pairs, G_N_ELEMENTS(pairs));
}
END_TEST

START_TEST(forms_of_targets)
{
    check_http("GET", "http://example.com/cart/7?x", "GET /cart/*");
    check_http("GET", "http://example.com", "GET /");
    check_http("GET", "HTTP://example.com?x", "GET /");
    check_http("OPTIONS", "*", "OPTIONS *");
    check_http("CONNECT", "Shop12345.example.com:443", "CONNECT shop12345.example.com:443");
    check_http("CONNECT", "[2001:db8::1]:443", "CONNECT [2001:db8::1]:443");
    check_http("CONNECT", "a\x01", "CONNECT *");
    check_http("CONNECT", "an-overly-long-name-of-a-host.example.com:443", "CONNECT *");
    check_http("GET", "", "GET");
    check_http("PROPFIND", "/dav/", "PROPFIND /dav/");
}
END_TEST

START_TEST(escapes)
{
    static const char *const pairs[][2] = {
        {"/c%61rt", "/cart"},
        {"/%7euser", "/~user"},
        {"/caf%C3%A9", "/caf\xc3\xa9"},
        {"/caf\xc3\xa9", "/caf\xc3\xa9"},
        {"/caf%E9", "/*"},
        {"/caf\xe9", "/*"},
        {"/a%20b", "/*"},
        {"/a%2Fb", "/*"},
        {"/a%00b", "/*"},
        {"/a b", "/*"},
        {"/a\x7f", "/*"},
        {"/100%", "/*"},
        {"/a%4", "/*"},
        {"/a%zz", "/*"},
        {"/%31%32%33", "/*"},
        {"/%E2%80%8E", "/*"}, // a control of text direction
    };
    check_paths(pairs, G_N_ELEMENTS(pairs));
}
END_TEST

// The quick way for simple segments gives what the long way gives, which escapes lead to.
START_TEST(quick_way_is_the_long_way)
{
    static const char letters[] = "aaabcdefgxyz0123--__";
    g_autoptr(GRand) rand = g_rand_new_with_seed(20030611);
    for (guint i = 0; i < 50000; i++) {
        g_autoptr(GString) plain = g_string_new("/");
        g_autoptr(GString) escaped = g_string_new("/");
        guint length = (guint)g_rand_int_range(rand, 0, i % 4 ? 8 : 20);
        for (guint k = 0; k < length; k++) {
            char c = letters[g_rand_int_range(rand, 0, sizeof letters - 1)];
            g_string_append_c(plain, c);
            g_string_append_printf(escaped, "%%%02x", (guint)c);
        }
        char expected[BB_LABEL_MAX + 1];
        bb_label_http(expected, (const guint8 *)"GET", 3, (const guint8 *)escaped->str,
                      escaped->len);
        check_http("GET", plain->str, expected);
    }
}
END_TEST

START_TEST(long_paths_are_cut)
{
    g_autoptr(GString) path = g_string_new("");
    char out[BB_LABEL_MAX + 1];
    for (guint i = 0; i < 10000; i++) {
        g_string_append(path, "/segment");
        gsize length =
            bb_label_http(out, (const guint8 *)"GET", 3, (const guint8 *)path->str, path->len);
        ck_assert_uint_le(length, BB_LABEL_MAX);
        ck_assert_uint_eq(length, strlen(out));
        bool cut = path->len + 4 > BB_LABEL_MAX - 2;
        ck_assert_int_eq(g_str_has_suffix(out, "/segment/*"), cut);
        if (i == 100)
            i = 9990;
    }
    ck_assert_str_eq(out, "GET /segment/segment/segment/segment/segment/segment/segment/segment"
                          "/segment/segment/segment/*");
}
END_TEST

START_TEST(long_methods_are_cut)
{
    check_http("ABCDEFGHIJABCDEFGHIJABCDEFGHIJABCDEFGHIJ", "/x",
               "ABCDEFGHIJABCDEFGHIJABCDEFGHIJAB /x");
    check_http("GE\nT", "/x", "GE /x");
}
END_TEST

static void check_word(const char *word, const char *expected)
{
    char out[BB_LABEL_MAX + 1];
    g_autofree guint8 *exact = g_memdup2(word, strlen(word));
    ck_assert_uint_eq(bb_label_word(out, exact, strlen(word)), strlen(expected));
    ck_assert_str_eq(out, expected);
}

START_TEST(words)
{
    check_word("get", "GET");
    check_word("Get key", "GET");
    check_word("FT._list", "FT._LIST");
    check_word("", "");
    check_word(" get", "");
    check_word("g\x80", "G");
    g_autofree char *exact = g_strnfill(BB_LABEL_MAX, 'x');
    g_autofree char *upper = g_ascii_strup(exact, -1);
    check_word(exact, upper);
    g_autofree char *longer = g_strnfill(BB_LABEL_MAX + 1, 'x');
    upper[BB_LABEL_MAX - 1] = '*';
    check_word(longer, upper);
}
END_TEST

static void check_topic(const char *verb, const char *name, const char *expected)
{
    char out[BB_LABEL_MAX + 1];
    g_autofree guint8 *exact = g_memdup2(name, strlen(name));
    ck_assert_uint_eq(bb_label_topic(out, verb, exact, strlen(name), "./"), strlen(expected));
    ck_assert_str_eq(out, expected);
}

START_TEST(topics)
{
    check_topic("PUB", "orders.new", "PUB orders.new");
    check_topic("PUB", "/app/dev-4711/state.json", "PUB /app/*/state.json");
    check_topic("PUB", "a.b/", "PUB a.b/");
    check_topic("PUB", "", "PUB");
    check_topic("", "org.demo.Service", "org.demo.Service");
    check_topic("", "", "");
    check_topic("Fetch", "?", "Fetch ?");
    check_topic("Fetch", "a?", "Fetch *");
    check_topic("PUB", "a\n.b", "PUB *.b");
    g_autofree char *many = g_strnfill(60, 'x');
    memcpy(many + 30, ".", 1);
    g_autofree char *twice = g_strconcat(many, ".", many, NULL);
    char out[BB_LABEL_MAX + 1];
    ck_assert_uint_le(bb_label_topic(out, "PUB", (const guint8 *)twice, strlen(twice), "."),
                      BB_LABEL_MAX);
    ck_assert(g_str_has_suffix(out, ".*"));
}
END_TEST

TEST_MAIN("label", routes_stay, values_vary, parts_of_values_stay, parameters_are_dropped,
          forms_of_targets, escapes, quick_way_is_the_long_way, long_paths_are_cut,
          long_methods_are_cut, words, topics)
