import { startUpstream, type FakeUpstream } from './upstream.js';

/** A server such as Ollama's: lists these models, and answers every chat with the same words. */
export function startLocalServer(models: readonly object[], words: string): Promise<FakeUpstream> {
  const list = { object: 'list', data: models };
  const message = { role: 'assistant', content: words };
  const answer = {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'llama3.2:3b',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
  };
  return startUpstream(({ path }, response) => {
    const body = path === '/v1/models' ? list : answer;
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
}
