// SPDX-License-Identifier: Apache-2.0
// What an interpreter runs, by the words of its process.
#include "capture/processes/script.h"

#include <string.h>

#include "tests/unit/test.h"

// Words are separated by spaces here.
static const struct {
    const char *comm, *words, *script; // NULL: none is found
} cases[] = {
    {"python3", "python3 web.py", "web.py"},
    {"python3.11", "/usr/bin/python3.11 -u -X dev /srv/shop/web.py --port 80", "web.py"},
    {"python3", "python3 -m http.server 8000", "http.server"},
    {"python3", "python3 -c import_this", NULL},
    {"python3", "python3", NULL},
    {"python3", "python3 -", NULL},
    {"python3", "python3 -W", NULL},
    {"node", "node --max-old-space-size=512 -r dotenv dist/index.js", "index.js"},
    {"java", "java -Xmx1g -cp a.jar:b.jar -Dx=y com.shop.Main arg", "com.shop.Main"},
    {"java", "java -jar /opt/shop/app.jar --spring", "app.jar"},
    {"java", "java -jar", NULL},
    {"dotnet", "dotnet Shop.dll", "Shop.dll"},
    {"deno", "deno run --allow-net main.ts", "main.ts"},
    {"ruby", "ruby /", NULL},
    // what a program is told on its command line may be secret
    {"python3", "python3 -uc x='pw'", NULL},
    {"node", "node -pe process.env.TOKEN", NULL},
    {"perl", "perl -lane print", NULL},
    {"php", "php -d memory_limit=1G app.php", "app.php"},
    {"php", "php -S localhost:80 a.php", NULL},
    {"php", "php -r echo(getenv('TOKEN'));", NULL},
    {"node", "node --max-old-space-size 4096 a.js", NULL},
    {"perl", "perl run.pl secret", "run.pl"},
    {"perl", "perl -W app.pl secret", "app.pl"},
    {"perl", "perl -MList::Util app.pl secret", NULL},
    {"ruby", "ruby -S puma secret", "puma"},
    {"ruby", "ruby -rlogger app.rb", "app.rb"},
    {"python3", "python3 -I /opt/shop.py secret", "shop.py"},
    {"python3", "python3 -Es x.py", "x.py"},
    {"python3", "python3 -Bm shop.web", "shop.web"},
    {"python3", "python3 --unknown secret", NULL},
    {"php", "php -r phpinfo secret", NULL},
    {"php", "php -f app.php", "app.php"},
    {"node", "node -p x secret", NULL},
    {"node", "node --inspect a.js", "a.js"},
    {"java", "java -server -verbose:gc -ea -jar app.jar", "app.jar"},
    {"nginx", "nginx -c /etc/nginx.conf", NULL},
    {"python3-web", "python3-web x.py", NULL},
    {"nodeexporter", "nodeexporter x", NULL},
};

START_TEST(words)
{
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        gsize length = strlen(cases[i].words) + 1, found;
        for (gsize cut = 0; cut < 2; cut++) { // the last word may lack its NUL
            g_autofree char *text = g_memdup2(cases[i].words, length - cut);
            for (gsize k = 0; k < length - cut; k++)
                text[k] = text[k] == ' ' ? '\0' : text[k];
            const char *script = NULL;
            bool is = bb_script_find(cases[i].comm, text, length - cut, &script, &found);
            ck_assert_msg(is == (cases[i].script != NULL), "%s", cases[i].words);
            if (is) {
                g_autofree char *name = g_strndup(script, found);
                ck_assert_str_eq(name, cases[i].script);
            }
        }
    }
}
END_TEST

START_TEST(any_bytes)
{
    const char *script;
    gsize length;
    ck_assert(!bb_script_find("python3", NULL, 0, &script, &length));
    for (guint seed = 1; seed < 2000; seed++) {
        char text[32];
        for (guint i = 0; i < sizeof text; i++)
            text[i] = "\0-mcjar/p. x"[(seed * 2654435761u >> (i % 24)) * (i + 7) % 12];
        gsize size = seed % sizeof text + 1;
        g_autofree char *exact = g_memdup2(text, size); // so that reading behind it is seen
        if (bb_script_find("python3", exact, size, &script, &length)) {
            ck_assert(script >= exact);
            ck_assert(script + length <= exact + size);
        }
    }
}
END_TEST

TEST_MAIN("process script", words, any_bytes)
