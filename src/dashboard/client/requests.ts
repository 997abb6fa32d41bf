import type { Message } from './chat.js';
import type { Call } from './shown-code.js';

/** The values of the form, for one model. */
export interface PromptRequest {
  kind: string;
  model: string;
  prompt: string;
  /** Images as data: URLs. */
  images: readonly string[];
  /** The conversation with this model before. */
  history: readonly Message[];
  fields: FormData;
}

type Maker = (request: PromptRequest) => Call;

const MAKERS: Readonly<Record<string, Maker>> = {
  chat: (request) => {
    const { kind, model, fields, history } = request;
    const system = text(fields, 'system').trim();
    const first: Message[] = system === '' ? [] : [{ role: 'system', content: system }];
    const body = {
      model,
      messages: [...first, ...history, promptOf(request)],
      ...numbers(fields, ['temperature', 'max_tokens']),
    };
    return { kind, path: '/v1/chat/completions', body };
  },
  image: ({ kind, model, prompt, fields }) => {
    const size = text(fields, 'size');
    const body = {
      model,
      prompt,
      quality: text(fields, 'quality'),
      ...(size !== '' && { size }),
      ...numbers(fields, ['n']),
    };
    return { kind, path: '/v1/images/generations', body };
  },
  video: ({ kind, model, prompt, images, fields }) => {
    const parameters = {
      resolution: text(fields, 'resolution'),
      ...numbers(fields, ['duration_seconds', 'sample_count']),
      generate_audio: fields.has('generate_audio'),
      ...(images[0] !== undefined && { image: images[0] }),
    };
    const path = `/v1/queue/${model.split('/').map(encodeURIComponent).join('/')}`;
    return { kind, path, body: { prompt, parameters } };
  },
};

/** The call that the form asks for. Throws for a kind that the page cannot call. */
export function callFor(request: PromptRequest): Call {
  const make = MAKERS[request.kind];
  if (!make) throw new Error(`The playground cannot call a model for ${request.kind}.`);
  return make(request);
}

/** The prompt as a message, with its images. */
export function promptOf({ prompt, images }: Pick<PromptRequest, 'prompt' | 'images'>): Message {
  if (images.length === 0) return { role: 'user', content: prompt };
  const parts = images.map((url) => ({ type: 'image_url', image_url: { url } }) as const);
  return { role: 'user', content: [{ type: 'text', text: prompt }, ...parts] };
}

/** The numbers of the filled-in fields; for an empty field the model uses its default. */
function numbers(fields: FormData, names: readonly string[]): Record<string, number> {
  const given = names.filter((name) => text(fields, name) !== '');
  return Object.fromEntries(given.map((name) => [name, Number(text(fields, name))]));
}

function text(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === 'string' ? value : '';
}
