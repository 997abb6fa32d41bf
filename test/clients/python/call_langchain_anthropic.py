from langchain_anthropic import ChatAnthropic

from gateway import KEY, MODEL, URL
from langchain_calls import call

call(ChatAnthropic(model=MODEL, base_url=URL, api_key=KEY, max_tokens=100))
