import type { Model } from '../../core/model.js';

export const LANGUAGES = ['curl', 'python', 'node'] as const;
export type Language = (typeof LANGUAGES)[number];
export type SnippetKind = 'chat' | 'image' | 'video';

/** What a model is first of all called for. */
export function kindOf({ capabilities }: Model): SnippetKind {
  if (capabilities.has('chat')) return 'chat';
  return capabilities.has('image') ? 'image' : 'video';
}

/** A call that works when it is pasted, once `TOLLGATE_API_KEY` is set. */
export function snippet(
  language: Language,
  kind: SnippetKind,
  { id }: Model,
  public_url: string,
): string {
  return SNIPPETS[language][kind](id, public_url);
}

type Snippet = (model: string, url: string) => string;

const PROMPT = 'A lighthouse at dawn';

const SNIPPETS: Record<Language, Record<SnippetKind, Snippet>> = {
  curl: {
    chat: (model, url) =>
      curl(`${url}/v1/chat/completions`, {
        model,
        messages: [{ role: 'user', content: 'Hello!' }],
      }),
    image: (model, url) => curl(`${url}/v1/images/generations`, { model, prompt: PROMPT }),
    video: (model, url) => `# answers with a status_url to ask until it is COMPLETED
${curl(`${url}/v1/queue/${model}`, { prompt: PROMPT, parameters: { duration_seconds: 4 } })}`,
  },
  python: {
    chat: (model, url) => `${pythonClient(url)}
answer = client.chat.completions.create(
    model=${quoted(model)},
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)`,
    image: (model, url) => `${pythonClient(url)}
answer = client.images.generate(model=${quoted(model)}, prompt="${PROMPT}")
print(answer.data[0].url)`,
    video: (model, url) => `import os, time, requests

base = ${quoted(url)}
auth = {"Authorization": f"Bearer {os.environ['TOLLGATE_API_KEY']}"}
task = requests.post(
    f"{base}/v1/queue/${model}",
    headers=auth,
    json={"prompt": "${PROMPT}", "parameters": {"duration_seconds": 4}},
).json()
while True:
    state = requests.get(base + task["status_url"], headers=auth).json()
    if state["status"] in ("COMPLETED", "FAILED"):
        break
    time.sleep(2)
print(requests.get(base + task["response_url"], headers=auth).json())`,
  },
  node: {
    chat: (model, url) => `${nodeClient(url)}
const answer = await client.chat.completions.create({
  model: ${quoted(model)},
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(answer.choices[0].message.content);`,
    image: (model, url) => `${nodeClient(url)}
const answer = await client.images.generate({ model: ${quoted(model)}, prompt: '${PROMPT}' });
console.log(answer.data[0].url);`,
    video: (model, url) => `const base = ${quoted(url)};
const headers = {
  authorization: \`Bearer \${process.env.TOLLGATE_API_KEY}\`,
  'content-type': 'application/json',
};
const ask = async (path, more) => (await fetch(base + path, { headers, ...more })).json();

const body = JSON.stringify({ prompt: '${PROMPT}', parameters: { duration_seconds: 4 } });
const task = await ask('/v1/queue/${model}', { method: 'POST', body });
let state = task;
while (!['COMPLETED', 'FAILED'].includes(state.status)) {
  await new Promise((resolve) => setTimeout(resolve, 2000));
  state = await ask(task.status_url);
}
console.log(await ask(task.response_url));`,
  },
};

function curl(url: string, body: object): string {
  const lines = Object.entries(body).map(
    ([name, value]) => `\n    ${JSON.stringify(name)}: ${JSON.stringify(value)}`,
  );
  return `curl ${url} \\
  -H "Authorization: Bearer $TOLLGATE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{${lines.join(',')}
  }'`;
}

function pythonClient(url: string): string {
  return `import os
from openai import OpenAI

client = OpenAI(
    base_url="${url}/v1",
    api_key=os.environ["TOLLGATE_API_KEY"],
)`;
}

function nodeClient(url: string): string {
  return `import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: '${url}/v1',
  apiKey: process.env.TOLLGATE_API_KEY,
});`;
}

/** Alike in JSON, Python and JavaScript for what an ID or an address may hold. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
