/** The parts of a value that a template may name; undefined if it may name anything. */
export interface ScopeFields {
  readonly [name: string]: ScopeFields | undefined;
}

/** The names that a template at one place may use, and the one that `$` is short for. */
export interface TemplateScope {
  names: ScopeFields;
  at: string;
}

const IMAGE_CALL: ScopeFields = {
  prompt: {},
  n: {},
  size: { width: {}, height: {} },
  quality: {},
  style: {},
  response_format: {},
  images: undefined,
  mask: { url: {}, base64: {}, mime_type: {} },
  fields: undefined,
};

const VIDEO_CALL: ScopeFields = {
  prompt: {},
  aspect_ratio: {},
  resolution: {},
  duration_seconds: {},
  generate_audio: {},
  sample_count: {},
  negative_prompt: {},
  image: { base64: {}, mime_type: {} },
};

const ANSWER: ScopeFields = { body: undefined, status: {}, model: {} };

/** The places of templates in a manifest. In a request `$` is the call, in an answer its body. */
export const TEMPLATE_SCOPES = {
  image_request: { names: { call: IMAGE_CALL, model: {} }, at: 'call' },
  image_response: { names: { call: IMAGE_CALL, body: undefined, model: {} }, at: 'body' },
  submit_request: { names: { call: VIDEO_CALL, model: {} }, at: 'call' },
  submit_response: { names: { call: VIDEO_CALL, body: undefined, model: {} }, at: 'body' },
  error: { names: { body: undefined, status: {} }, at: 'body' },
} satisfies Record<string, TemplateScope>;

/** The place of a request for a task's status: `$` is the state of the task. */
export function statusRequestScope(state: ScopeFields): TemplateScope {
  return { names: { state, model: {} }, at: 'state' };
}

/** The place of an answer about a task: `$` is its body. */
export function progressScope(state: ScopeFields): TemplateScope {
  return { names: { ...ANSWER, state }, at: 'body' };
}
