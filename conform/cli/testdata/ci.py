"""Prints the scripts in a CI file of either kind, a line for a command."""

import re, sys, yaml
d = yaml.safe_load(sys.stdin)
for step in d.get("jobs", {}).get("matrix", {}).get("steps", []):
    if "run" in step:
        print(re.sub(r"\$\{\{.*?\}\}", "x", step["run"]).replace("\\\n", "").strip())
    elif "uses" not in step:
        sys.exit("a step that does nothing")
for job in d.values():
    if isinstance(job, dict):
        print("\n".join(job.get("before_script", []) + job.get("script", []) + job.get("after_script", [])))
