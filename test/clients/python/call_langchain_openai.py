from langchain_core.messages import HumanMessage, ToolMessage
from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from gateway import KEY, MODEL, PROMPT, URL, add, say

model = ChatOpenAI(model=MODEL, base_url=f"{URL}/v1", api_key=KEY)
say(chat=model.invoke(PROMPT).text)
say(stream="".join(each.text for each in model.stream(PROMPT)))

bound = model.bind_tools([add])
messages = [HumanMessage(PROMPT), bound.invoke(PROMPT)]
call = messages[1].tool_calls[0]
result = str(add(**call["args"]))
last = bound.invoke([*messages, ToolMessage(result, tool_call_id=call["id"])])
say(tools=last.text, result=result)

# The gateway's own models have no tokenizer that it could load.
embeddings = OpenAIEmbeddings(
    model="sim-embedding", base_url=f"{URL}/v1", api_key=KEY, check_embedding_ctx_length=False
)
say(embeddings=len(embeddings.embed_documents(["one", "two"])))
