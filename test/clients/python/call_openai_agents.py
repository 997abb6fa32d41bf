import asyncio

from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    function_tool,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from gateway import KEY, MODEL, PROMPT, URL, add, say

set_tracing_disabled(True)
results = []


@function_tool(name_override="add")
def add_and_note(a: int, b: int) -> int:
    """Adds two numbers."""
    results.append(str(add(a, b)))
    return add(a, b)


async def main() -> None:
    client = AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY)
    responses = OpenAIResponsesModel(MODEL, client)
    plain = Agent(name="plain", model=responses)
    say(chat=(await Runner.run(plain, PROMPT)).final_output)
    stream = Runner.run_streamed(plain, PROMPT)
    async for _ in stream.stream_events():
        pass
    say(stream=stream.final_output)
    for model in [responses, OpenAIChatCompletionsModel(MODEL, client)]:
        agent = Agent(name="adder", model=model, tools=[add_and_note])
        say(tools=(await Runner.run(agent, PROMPT)).final_output, result=results[-1])


asyncio.run(main())
