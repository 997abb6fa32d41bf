from google import genai
from google.genai import types

from gateway import KEY, MODEL, PROMPT, URL, add, say

client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=URL))

say(chat=client.models.generate_content(model=MODEL, contents=PROMPT).text)
stream = client.models.generate_content_stream(model=MODEL, contents=PROMPT)
say(stream="".join(each.text or "" for each in stream))

results = []


def add_and_note(a: int, b: int) -> int:
    """Adds two numbers."""
    results.append(str(add(a, b)))
    return add(a, b)


add_and_note.__name__ = "add"
config = types.GenerateContentConfig(tools=[add_and_note])
last = client.models.generate_content(model=MODEL, contents=PROMPT, config=config)
say(tools=last.text, result=results[0])
vectors = client.models.embed_content(model="sim-embedding", contents=["one", "two"])
say(embeddings=len(vectors.embeddings))
say(count_tokens=client.models.count_tokens(model=MODEL, contents=PROMPT).total_tokens > 0)
