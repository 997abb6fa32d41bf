"""The calls that each chat model of LangChain makes."""

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, ToolMessage

from gateway import PROMPT, add, say


def call(model: BaseChatModel) -> None:
    """Chats, streams, and gives a tool's result back."""
    say(chat=model.invoke(PROMPT).text)
    say(stream="".join(each.text for each in model.stream(PROMPT)))

    bound = model.bind_tools([add])
    messages = [HumanMessage(PROMPT), bound.invoke(PROMPT)]
    asked = messages[1].tool_calls[0]
    result = str(add(**asked["args"]))
    last = bound.invoke([*messages, ToolMessage(result, tool_call_id=asked["id"])])
    say(tools=last.text, result=result)
