import json

from openai import OpenAI

from gateway import ADD, KEY, MODEL, PROMPT, URL, add, say

client = OpenAI(base_url=f"{URL}/v1", api_key=KEY)
tools = [{"type": "function", "function": ADD}]
messages = [{"role": "user", "content": PROMPT}]

chat = client.chat.completions.create(model=MODEL, messages=messages)
say(chat=chat.choices[0].message.content)

stream = client.chat.completions.create(model=MODEL, messages=messages, stream=True)
say(stream="".join(each.choices[0].delta.content or "" for each in stream if each.choices))

turn = client.chat.completions.create(model=MODEL, messages=messages, tools=tools)
call = turn.choices[0].message.tool_calls[0]
result = str(add(**json.loads(call.function.arguments)))
answered = {"role": "tool", "tool_call_id": call.id, "content": result}
history = [*messages, turn.choices[0].message, answered]
last = client.chat.completions.create(model=MODEL, messages=history, tools=tools)
say(tools=last.choices[0].message.content, result=result)

say(responses=client.responses.create(model=MODEL, input=PROMPT).output_text)
with client.responses.stream(model=MODEL, input=PROMPT) as events:
    for _ in events:
        pass
    say(responses_stream=events.get_final_response().output_text)

say(completions=client.completions.create(model=MODEL, prompt=PROMPT).choices[0].text)
vectors = client.embeddings.create(model="sim-embedding", input=["one", "two"], dimensions=64)
say(embeddings=[len(each.embedding) for each in vectors.data])
moderation = client.moderations.create(model="sim-moderation", input="Good day.")
say(moderations=moderation.results[0].flagged)
speech = client.audio.speech.create(
    model="sim-speech", voice="alloy", input="Good day.", response_format="wav"
)
say(speech=speech.content[:4].decode())
heard = client.audio.transcriptions.create(
    model="sim-transcription", file=("speech.wav", speech.content)
)
say(transcriptions=len(heard.text) > 0)
drawn = client.images.generate(model="sim-image", prompt="A boat.", response_format="b64_json")
say(images=drawn.data[0].b64_json[:5])
say(models=MODEL in [each.id for each in client.models.list()])
