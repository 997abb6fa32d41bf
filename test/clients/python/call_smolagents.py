from smolagents import CodeAgent, OpenAIModel, tool

from gateway import KEY, MODEL, PROMPT, URL, add, say

model = OpenAIModel(model_id=MODEL, api_base=f"{URL}/v1", api_key=KEY)
code = CodeAgent(tools=[tool(add)], model=model, verbosity_level=0)
say(tools=code.run(PROMPT))
code = CodeAgent(tools=[tool(add)], model=model, verbosity_level=0, stream_outputs=True)
say(stream=code.run(PROMPT))
