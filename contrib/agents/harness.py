#!/usr/bin/env python3
"""Runs a command through `hurdle run` and reads what the sandbox refused. usage: harness.py COMMAND"""
import json, os, re, subprocess, sys

HURDLE = os.environ.get("HURDLE", "hurdle")
BLOCK = re.compile(r"<sandbox_violations>\n(.*?)\n?</sandbox_violations>\n?", re.S)
LINE = re.compile(r"hurdle: deny (?P<action>\S+) (?P<target>.*) \((?P<program>[^()]*)\[(?P<pid>\d+)\]\) rule: (?P<rule>.*)")


def split(errors):
    """The command's own standard error, the violations as dictionaries, and what else stands between them: hints."""
    lines = [line for block in BLOCK.findall(errors) for line in block.splitlines()]
    return {
        "stderr": BLOCK.sub("", errors),
        "violations": [match.groupdict() for match in map(LINE.match, lines) if match],
        "hints": [line for line in lines if not LINE.match(line)],
    }


def run(command, options=()):
    done = subprocess.run([HURDLE, "run", "--quiet", *options, "--", "bash", "-c", command], text=True, capture_output=True, check=False)
    return {"exit": done.returncode, "stdout": done.stdout, **split(done.stderr), "refused": done.returncode == 125}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    result = run(sys.argv[1])
    json.dump(result, sys.stdout, indent=1)
    print()
    for one in result["violations"]:
        print(f"refused: {one['action']} {one['target']}: {one['rule']}", file=sys.stderr)


if __name__ == "__main__":
    main()
