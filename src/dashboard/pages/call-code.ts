import type { SampleCall } from '../../pipeline/modality.js';

// Browsers load this file too, for the calls of the playground: it imports types only.

export const LANGUAGES = ['curl', 'python', 'node'] as const;
export type Language = (typeof LANGUAGES)[number];
export const LANGUAGE_NAMES: Readonly<Record<Language, string>> = {
  curl: 'curl',
  python: 'Python',
  node: 'Node',
};

/** A program that makes this call once `TOLLGATE_API_KEY` is set. */
export function codeOf(language: Language, call: SampleCall, public_url: string): string {
  const { client } = call;
  return client
    ? CLIENTS[language]({ ...call, client }, public_url)
    : TASKS[language](call, public_url);
}

type Snippet<Call> = (call: Call, url: string) => string;
type ClientCall = SampleCall & Required<Pick<SampleCall, 'client'>>;

const CLIENTS: Record<Language, Snippet<ClientCall>> = {
  curl: ({ path, body, upload, client }, url) => {
    const call = upload ? curlForm(`${url}${path}`, body, upload) : curl(`${url}${path}`, body);
    return 'saved_as' in client ? `${call} \\\n  -o ${client.saved_as}` : call;
  },
  python: ({ client, body, upload }, url) => `${pythonClient(url)}
answer = client.${client.method}(
${lines(body, (name, value) => `    ${name}=${literal(value, PYTHON_WORDS)},`)}${
    upload ? `\n    file=open("${upload}", "rb"),` : ''
  }
)
${'saved_as' in client ? `answer.write_to_file("${client.saved_as}")` : `print(${client.python})`}`,
  node: ({ client, body, upload }, url) => `${importsFor(client, upload)}${nodeClient(url)}
const answer = await client.${client.method}({
${lines(body, (name, value) => `  ${name}: ${literal(value, JSON_WORDS)},`)}${
    upload ? `\n  file: createReadStream('${upload}'),` : ''
  }
});
${'saved_as' in client ? nodeSave(client.saved_as) : `console.log(${client.node});`}`,
};

function importsFor(client: ClientCall['client'], upload: string | undefined): string {
  if ('saved_as' in client) return "import { writeFile } from 'node:fs/promises';\n";
  return upload ? "import { createReadStream } from 'node:fs';\n" : '';
}

function nodeSave(name: string): string {
  return `await writeFile('${name}', Buffer.from(await answer.arrayBuffer()));`;
}

const TASKS: Record<Language, Snippet<SampleCall>> = {
  curl: ({ path, body }, url) => `# answers with a status_url to ask until it is COMPLETED
${curl(`${url}${path}`, body)}`,
  python: ({ path, body }, url) => `import os, time, requests

base = ${quoted(url)}
auth = {"Authorization": f"Bearer {os.environ['TOLLGATE_API_KEY']}"}
task = requests.post(
    f"{base}${path}",
    headers=auth,
    json=${literal(body, PYTHON_WORDS)},
).json()
while True:
    state = requests.get(base + task["status_url"], headers=auth).json()
    if state["status"] in ("COMPLETED", "FAILED"):
        break
    time.sleep(2)
print(requests.get(base + task["response_url"], headers=auth).json())`,
  node: ({ path, body }, url) => `const base = ${quoted(url)};
const headers = {
  authorization: \`Bearer \${process.env.TOLLGATE_API_KEY}\`,
  'content-type': 'application/json',
};
const ask = async (path, more) => (await fetch(base + path, { headers, ...more })).json();

const body = JSON.stringify(${literal(body, JSON_WORDS)});
const task = await ask('${path}', { method: 'POST', body });
let state = task;
while (!['COMPLETED', 'FAILED'].includes(state.status)) {
  await new Promise((resolve) => setTimeout(resolve, 2000));
  state = await ask(task.status_url);
}
console.log(await ask(task.response_url));`,
};

/** How a language writes the three words of JSON that differ. */
type Words = Readonly<Record<'true' | 'false' | 'null', string>>;

const JSON_WORDS: Words = { true: 'true', false: 'false', null: 'null' };
const PYTHON_WORDS: Words = { true: 'True', false: 'False', null: 'None' };

function lines(body: SampleCall['body'], line: (name: string, value: unknown) => string): string {
  return Object.entries(body)
    .map(([name, value]) => line(name, value))
    .join('\n');
}

/** A value on one line, with spaces. Texts and numbers are alike in Python and JavaScript. */
function literal(value: unknown, words: Words): string {
  if (Array.isArray(value)) return `[${value.map((one) => literal(one, words)).join(', ')}]`;
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    return `{${entries.map(([key, one]) => `${quoted(key)}: ${literal(one, words)}`).join(', ')}}`;
  }
  if (typeof value === 'boolean') return words[`${value}`];
  return value === null ? words.null : JSON.stringify(value);
}

function curl(url: string, body: SampleCall['body']): string {
  const lines = Object.entries(body).map(
    ([name, value]) => `\n    ${JSON.stringify(name)}: ${JSON.stringify(value)}`,
  );
  return `curl ${url} \\
  -H "Authorization: Bearer $TOLLGATE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{${lines.join(',').replaceAll("'", "'\\''")}
  }'`;
}

function curlForm(url: string, body: SampleCall['body'], upload: string): string {
  const fields = Object.entries(body).map(([name, value]) => `${name}=${String(value)}`);
  const parts = [...fields, `file=@${upload}`].map((part) => ` \\\n  -F ${quoted(part)}`);
  return `curl ${url} \\
  -H "Authorization: Bearer $TOLLGATE_API_KEY"${parts.join('')}`;
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

/** Characters of an ID or an address that are written alike in JSON, Python and JavaScript. */
function quoted(text: string): string {
  return JSON.stringify(text);
}
