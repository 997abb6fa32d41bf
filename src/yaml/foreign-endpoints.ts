import type { ForeignHint } from './foreign-hint.js';

const ENDPOINT: Readonly<Record<string, ForeignHint>> = {
  path: 'write method and path as at: POST VALUE',
  url: 'write method and path as at: POST VALUE',
  endpoint: 'write method and path as at: POST VALUE',
  route: 'write method and path as at: POST VALUE',
  method: 'write method and path as at: POST /v1/NAME',
  methods: 'write method and path as at: POST /v1/NAME',
  backend: 'a model has the upstreams: models: { NAME: { upstreams: [{ provider: NAME }] } }',
  backends: 'a model has the upstreams: models: { NAME: { upstreams: [{ provider: NAME }] } }',
  upstreams: 'a model has the upstreams: models: { NAME: { upstreams: [{ provider: NAME }] } }',
  output_encoding: 'the gateway writes JSON, and streams as events: remove this',
  enabled: 'write NAME: off in place of the block, to take an endpoint away',
  plugins: 'list them under stages, or under before and after',
  middleware: 'list them under stages, or under before and after',
};

const ALSO = { text: 'write also: [VALUE]', list: 'write also: VALUE' };

const OWN_PATTERNS: Readonly<Record<string, ForeignHint>> = {
  regex: ALSO,
  regexes: ALSO,
  regexp: ALSO,
  custom: ALSO,
};

/** Hints for the keys of other programs in endpoints and stages, by the title of the block. */
export const IN_ENDPOINTS: Readonly<Record<string, Readonly<Record<string, ForeignHint>>>> = {
  EndpointBlock: ENDPOINT,
  MaskOption: {
    replacement: 'write with: VALUE',
    replace_with: 'write with: VALUE',
    placeholder: 'write with: VALUE',
    entities: 'use patterns instead: email, iban, card, ip, phone',
    ...OWN_PATTERNS,
  },
  DenyOption: OWN_PATTERNS,
};
