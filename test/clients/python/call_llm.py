import os
import subprocess
import sys
from pathlib import Path

from gateway import MODEL, PROMPT, URL, say

home = Path(os.environ["LLM_USER_PATH"])
home.joinpath("extra-openai-models.yaml").write_text(
    f"""
- model_id: tollgate
  model_name: {MODEL}
  api_base: {URL}/v1
  api_key_name: tollgate
  supports_tools: true
"""
)


def llm(*args: str) -> str:
    command = [sys.executable, "-m", "llm", *args]
    # It would wait for the end of an open standard input.
    options = {"stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    return subprocess.run(command, check=True, **options).stdout.strip()


llm("keys", "set", "tollgate", "--value", os.environ["TOLLGATE_API_KEY"])
say(chat=llm("-m", "tollgate", "--no-stream", PROMPT), stream=llm("-m", "tollgate", PROMPT))
functions = "def add(a: int, b: int) -> int:\n    return a + b\n"
say(tools=llm("-m", "tollgate", "--functions", functions, PROMPT))
