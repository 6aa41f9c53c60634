/* Copies of settings without their secrets. */
#include "platform/base/cleanup.h"
#include "platform/mechanism/masked.h"
#include "tests/unit/policy_help.h"

TestSuite(masked, .timeout = 60);

Test(masked, lines)
{
	static const struct { const char *text, *copy; } rows[] = {
		{ "", "" },
		{ "registry=https://registry.example.com/\nsave-exact=true\n", "registry=https://registry.example.com/\nsave-exact=true\n" },
		{ "//registry.example.com/:_authToken=xyz\nfund=false", "fund=false\n" },
		{ "//registry.example.com/:_authToken = xyz\n_auth=xyz\n_password=xyz\n//r/:username=u\n", "//r/:username=u\n" },
		{ "//r.example.com/:_authToken=${NPM_TOKEN}\r\nfund=false\r\n", "fund=false\n" },
		{ "key=\"-----BEGIN PRIVATE KEY-----\\nxyz\"\ncert=x\ncafile=/etc/ca\nkeyword=x\n", "cafile=/etc/ca\nkeyword=x\n" },
		{ "proxy=http://u:p@proxy.example.com:8080\nhttps-proxy = http://u@h/\n", "proxy=http://proxy.example.com:8080\nhttps-proxy = http://h/\n" },
		{ "[global]\nindex-url = https://u:p@ss@pypi.example.com/simple\nextra-index-url =\n    https://a:b@one.example.com/\n    https://two.example.com/@x\n",
		  "[global]\nindex-url = https://pypi.example.com/simple\nextra-index-url =\n    https://one.example.com/\n    https://two.example.com/@x\n" },
		{ "[default]\nregion = eu-west-1\naws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key=xyz\nrole_arn = arn:aws:iam::1:role/x\n",
		  "[default]\nregion = eu-west-1\nrole_arn = arn:aws:iam::1:role/x\n" },
		{ "users:\n- name: me\n  user:\n    token: xyz\n    client-key-data: xyz\n    password: |\n      one\n      two\n    username: me\ncurrent-context: x\n",
		  "users:\n- name: me\n  user:\n    username: me\ncurrent-context: x\n" },
		{ "credentials \"app.example.com\" {\n  token = \"xyz\"\n}\nplugin_cache_dir = \"x\"\n", "credentials \"app.example.com\" {\n}\nplugin_cache_dir = \"x\"\n" },
		{ "harmless = ghp_0123456789abcdefghijABCDEFGHIJ012345\nother = 1\n", "other = 1\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *copy = masked_lines(rows[i].text);

		cr_assert_str_eq(copy, rows[i].copy, "row %zu:\n%s", i, copy);
	}
}

Test(masked, objects)
{
	static const struct { const char *text, *copy; } rows[] = {
		{ "{\"auths\":{\"r\":{\"auth\":\"dTpw\",\"identitytoken\":\"x\"}},\"credsStore\":\"pass\"}", "{\n  \"auths\": {\n    \"r\": {}\n  },\n  \"credsStore\": \"pass\"\n}" },
		{ "{\"HttpHeaders\":{\"X-Meta\":\"x\"},\"a\":[{\"password\":\"x\",\"b\":1}]}", "{\n  \"a\": [\n    {\n      \"b\": 1\n    }\n  ]\n}" },
		{ "{\"x\":\"ghp_0123456789abcdefghijABCDEFGHIJ012345\",\"y\":[\"ghp_0123456789abcdefghijABCDEFGHIJ012345\"]}", "{\n  \"y\": []\n}" },
		{ "[]", NULL }, { "{", NULL }, { "", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *copy = masked_object(rows[i].text, strlen(rows[i].text));

		cr_assert_eq(copy != NULL, rows[i].copy != NULL, "row %zu", i);
		if (copy)
			cr_assert_str_eq(copy, rows[i].copy, "row %zu:\n%s", i, copy);
	}
}
