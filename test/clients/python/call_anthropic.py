from anthropic import Anthropic

from gateway import ADD, KEY, MODEL, PROMPT, URL, add, say

client = Anthropic(base_url=URL, api_key=KEY)
tool = {
    "name": "add",
    "description": ADD["description"],
    "input_schema": ADD["parameters"],
}
asked = {"model": MODEL, "max_tokens": 100}
messages = [{"role": "user", "content": PROMPT}]

say(chat=client.messages.create(**asked, messages=messages).content[0].text)
with client.messages.stream(**asked, messages=messages) as stream:
    say(stream="".join(stream.text_stream))

turn = client.messages.create(**asked, messages=messages, tools=[tool])
call = turn.content[0]
result = str(add(**call.input))
answered = {"type": "tool_result", "tool_use_id": call.id, "content": result}
history = [
    *messages,
    {"role": "assistant", "content": turn.content},
    {"role": "user", "content": [answered]},
]
last = client.messages.create(**asked, messages=history, tools=[tool])
say(tools=last.content[0].text, result=result)
counted = client.messages.count_tokens(model=MODEL, messages=messages)
say(count_tokens=counted.input_tokens > 0)
say(models=MODEL in [each.id for each in client.models.list(limit=1000)])
