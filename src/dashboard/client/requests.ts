import type { Message } from './chat.js';
import type { Call } from './shown-code.js';

/** What the form says, for one model. */
export interface Wish {
  kind: string;
  model: string;
  prompt: string;
  /** Images as data: URLs. */
  images: readonly string[];
  /** The conversation with this model before. */
  said: readonly Message[];
  fields: FormData;
}

type Maker = (wish: Wish) => Call;

const MAKERS: Readonly<Record<string, Maker>> = {
  chat: (wish) => {
    const { kind, model, fields, said } = wish;
    const system = text(fields, 'system').trim();
    const first: Message[] = system === '' ? [] : [{ role: 'system', content: system }];
    const body = {
      model,
      messages: [...first, ...said, promptOf(wish)],
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
export function callFor(wish: Wish): Call {
  const make = MAKERS[wish.kind];
  if (!make) throw new Error(`The playground cannot call a model for ${wish.kind}.`);
  return make(wish);
}

/** The prompt as a message, with its images. */
export function promptOf({ prompt, images }: Pick<Wish, 'prompt' | 'images'>): Message {
  if (images.length === 0) return { role: 'user', content: prompt };
  const parts = images.map((url) => ({ type: 'image_url', image_url: { url } }) as const);
  return { role: 'user', content: [{ type: 'text', text: prompt }, ...parts] };
}

/** The numbers that were given; a field that is left empty is the model's own choice. */
function numbers(fields: FormData, names: readonly string[]): Record<string, number> {
  const given = names.filter((name) => text(fields, name) !== '');
  return Object.fromEntries(given.map((name) => [name, Number(text(fields, name))]));
}

function text(fields: FormData, name: string): string {
  const value = fields.get(name);
  return typeof value === 'string' ? value : '';
}
