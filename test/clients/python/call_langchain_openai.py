from langchain_openai import ChatOpenAI, OpenAIEmbeddings

from gateway import KEY, MODEL, URL, say
from langchain_calls import call

call(ChatOpenAI(model=MODEL, base_url=f"{URL}/v1", api_key=KEY))

# The gateway's own models have no tokenizer that it could load.
embeddings = OpenAIEmbeddings(
    model="sim-embedding", base_url=f"{URL}/v1", api_key=KEY, check_embedding_ctx_length=False
)
say(embeddings=len(embeddings.embed_documents(["one", "two"])))
