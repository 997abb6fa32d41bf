import type { Step } from './upstream.js';

const FAULTS = new URL('../../src/core/upstream-error.ts', import.meta.url).href;

/**
 * An adapter with a wire of its own: the request is the call as JSON, an answer is a reply of the
 * contract as JSON, and a stream is a delta of the contract on each line, `"end"` on the last. It
 * cannot say `stop`, leaves out `user`, and signs each request.
 */
const ADAPTER = `
import { createHash } from 'node:crypto';
import { UpstreamError } from '${FAULTS}';

class Lines {
  #text = '';
  #limits;
  constructor(limits) { this.#limits = limits; }
  read(packet) {
    this.#text += Buffer.from(packet).toString();
    if (this.#text.length > this.#limits.event_bytes) throw new UpstreamError('broken', 'Too long.');
    const lines = this.#text.split('\\n');
    this.#text = lines.pop();
    return lines.map((data) => ({ event: undefined, data }));
  }
  finish() { return this.#text === '' ? [] : [{ event: undefined, data: this.#text }]; }
}

export const chat = {
  encode({ messages, n, max_tokens, stream, fields }, upstream) {
    const { user, stop, ...body } = fields;
    if (stop !== undefined) {
      const options = { param: 'stop' };
      throw new UpstreamError('unsupported', 'This wire has no stop.', undefined, options);
    }
    return {
      path: '',
      body: { model: upstream.model, messages, n, max_tokens, stream, ...body },
      ...(user !== undefined && { ignored: ['user'] }),
    };
  },
  decode: (body) => body,
  openFrames: (limits) => new Lines(limits),
  decodeStream: () => ({
    read(events, pieces) {
      for (const { data } of events) {
        const piece = JSON.parse(data);
        if (piece === 'end') return true;
        if (piece === 'bad') throw new UpstreamError('broken', 'The toy is broken.');
        pieces.push(piece);
      }
      return false;
    },
    end() { throw new UpstreamError('broken', 'The toy broke off.'); },
  }),
};

export async function sign({ method, url, headers, body }, credentials, now_ms) {
  const all = [method, url.href, headers['content-type'], body].join(' ');
  const hash = createHash('sha256').update(all + credentials.secret_access_key).digest('hex');
  const { access_key_id, region, session_token = '' } = credentials;
  return {
    authorization: 'TOY ' + [access_key_id, region, now_ms, hash].join(' '),
    'x-toy-token': session_token,
  };
}
`;

/** The files of a toy provider, for `uses: ./toy.yaml`; `chat` and `more` are further keys. */
export function toyFiles(chat = '', more = ''): Record<string, string> {
  return {
    'toy.mjs': ADAPTER,
    'toy.yaml': `name: Toy
operations: { chat: { path: /talk, codec: ./toy.mjs, ${chat} } }
${more}
`,
  };
}

/** A whole answer of a toy: its choices, and its usage. */
export function toyAnswer(choices: readonly object[], usage: object): Step {
  const all = choices.map((choice, index) => ({ index, finish_reason: 'stop', ...choice }));
  const body = JSON.stringify({ choices: all, usage });
  return { headers: { 'content-type': 'application/json' }, body };
}

/** A stream of a toy, each line in a packet of its own; a promise among them is waited for. */
export function toyStream(lines: readonly (object | string | Promise<unknown>)[]): Step {
  const chunks = lines.map((line) =>
    line instanceof Promise ? line : `${JSON.stringify(line)}\n`,
  );
  return { headers: { 'content-type': 'application/x-lines' }, chunks };
}
