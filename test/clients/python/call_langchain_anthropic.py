from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage

from gateway import KEY, MODEL, PROMPT, URL, add, say

model = ChatAnthropic(model=MODEL, base_url=URL, api_key=KEY, max_tokens=100)
say(chat=model.invoke(PROMPT).text)
say(stream="".join(each.text for each in model.stream(PROMPT)))

bound = model.bind_tools([add])
messages = [HumanMessage(PROMPT), bound.invoke(PROMPT)]
call = messages[1].tool_calls[0]
result = str(add(**call["args"]))
last = bound.invoke([*messages, ToolMessage(result, tool_call_id=call["id"])])
say(tools=last.text, result=result)
