import asyncio

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from gateway import KEY, MODEL, PROMPT, URL, add, say

provider = OpenAIProvider(base_url=f"{URL}/openai/v1", api_key=KEY)
model = OpenAIChatModel(MODEL, provider=provider)
say(chat=Agent(model).run_sync(PROMPT).output)


async def streamed() -> str:
    async with Agent(model).run_stream(PROMPT) as stream:
        return await stream.get_output()


say(stream=asyncio.run(streamed()))
results = []
agent = Agent(model)


@agent.tool_plain(name="add")
def add_and_note(a: int, b: int) -> int:
    """Adds two numbers."""
    results.append(str(add(a, b)))
    return add(a, b)


last = agent.run_sync(PROMPT)
say(tools=last.output, result=results[0])
