import instructor
from openai import OpenAI
from pydantic import BaseModel

from gateway import KEY, MODEL, PROMPT, URL, say


class add(BaseModel):
    """Two numbers to add."""

    a: int
    b: int


client = instructor.from_openai(OpenAI(base_url=f"{URL}/v1", api_key=KEY))
messages = [{"role": "user", "content": PROMPT}]
whole = client.chat.completions.create(model=MODEL, messages=messages, response_model=add)
say(chat=whole.model_dump())
