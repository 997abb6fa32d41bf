import json

import litellm

from gateway import ADD, KEY, MODEL, PROMPT, URL, add, say

messages = [{"role": "user", "content": PROMPT}]
tools = [{"type": "function", "function": ADD}]
for name, base in [("openai", f"{URL}/v1"), ("anthropic", URL)]:
    # Without max_tokens it asks Messages for 128,000, which is 400 above the model's limit.
    asked = {"model": f"{name}/{MODEL}", "api_base": base, "api_key": KEY, "max_tokens": 100}
    chat = litellm.completion(**asked, messages=messages)
    say(chat=chat.choices[0].message.content)
    stream = litellm.completion(**asked, messages=messages, stream=True)
    say(stream="".join(each.choices[0].delta.content or "" for each in stream))
    turn = litellm.completion(**asked, messages=messages, tools=tools)
    call = turn.choices[0].message.tool_calls[0]
    result = str(add(**json.loads(call.function.arguments)))
    answered = {"role": "tool", "tool_call_id": call.id, "content": result}
    history = [*messages, turn.choices[0].message, answered]
    last = litellm.completion(**asked, messages=history, tools=tools)
    say(tools=last.choices[0].message.content, result=result)

vectors = litellm.embedding(
    model="openai/sim-embedding", api_base=f"{URL}/v1", api_key=KEY, input=["one", "two"]
)
say(embeddings=len(vectors.data))
