import { expect } from 'chai';
import { chat as wire_codec } from '../../../providers/openai.js';
import type { Upstream } from '../../../src/core/model.js';
import type { ChatCall, ChatDelta } from '../../../src/modalities/chat/codec.js';
import { preparedCodec } from '../../../src/modalities/chat/prepared-codec.js';
import type { ChatMessage } from '../../../src/schema-types/chat-completion.js';
import { eventsOf } from '../../helpers/responses-server.js';
import { providerAt, upstreamAt } from '../../helpers/upstream.js';

const chat = preparedCodec(wire_codec);
const WIRE = { responses: true, compaction: ['gpt-5'] };
const FORMAT = 'openai-responses/main';
const ITEM = { type: 'compaction', id: 'cmp_1', encrypted_content: 'c2VjcmV0' };
const DETAIL = { type: 'compaction', data: 'c2VjcmV0', id: 'cmp_1', format: FORMAT } as const;
const SAID = { type: 'message', id: 'msg_1', role: 'user', content: [] };
const USAGE = { input_tokens: 9, output_tokens: 3 };
const HI = { role: 'user', content: 'Hi' } as const;
const CALL: ChatCall = { messages: [HI], stream: false, n: 1, max_tokens: 99, fields: {} };

const at = (model = 'gpt-5.2', more: Partial<Upstream> = {}): Upstream =>
  upstreamAt(providerAt('http://fake.invalid', { name: 'main', wire: WIRE }), { model, ...more });
const sent = (call: Partial<ChatCall>, upstream = at()) => {
  const { path, body, ignored = [] } = chat.encode({ ...CALL, ...call }, upstream);
  return { path, body: body as Record<string, unknown>, ignored };
};

describe('a compaction at OpenAI', () => {
  it('is of the models that the manifest lists, and in the form of one account', () => {
    expect(chat.compactionFormat?.(at('gpt-5.2'))).to.equal(FORMAT);
    expect(chat.compactionFormat?.(at('my-prototype'))).to.equal(undefined);
    const plain = upstreamAt(providerAt('http://fake.invalid'), { model: 'gpt-5.2' });
    expect(chat.compactionFormat?.(plain)).to.equal(undefined);
  });

  it('is a call of its own, which has the instructions and few other fields', () => {
    const fields = { prompt_cache_key: 'k', temperature: 1, reasoning_effort: 'low' };
    const messages = [{ role: 'system', content: 'Be brief.' } as const, HI];
    const { path, body, ignored } = sent({ compaction: 'call', fields, messages });
    expect(path).to.equal('/responses/compact');
    expect(body).to.deep.equal({
      model: 'gpt-5.2',
      instructions: 'Be brief.',
      input: [{ type: 'message', role: 'user', content: 'Hi' }],
      prompt_cache_key: 'k',
    });
    expect(ignored).to.deep.equal(['temperature', 'reasoning_effort']);
  });

  it('follows what the operator sets and drops of those fields', () => {
    const set = { service_tier: 'flex', store: true, model: 'other' };
    const drop = ['prompt_cache_key'];
    const fields = { prompt_cache_key: 'k' };
    const { body, ignored } = sent({ compaction: 'call', fields }, at('gpt-5.2', { set, drop }));
    expect(body).to.have.keys(['model', 'input', 'service_tier']);
    expect(body).to.include({ model: 'gpt-5.2', service_tier: 'flex' });
    expect(ignored).to.deep.equal(['prompt_cache_key']);
  });

  it('is asked for by the last item of an ordinary call, which keeps its limit', () => {
    const { path, body } = sent({ compaction: 'item' });
    expect(path).to.equal('/responses');
    expect(body.max_output_tokens).to.equal(99);
    expect(body.input).to.deep.equal([
      { type: 'message', role: 'user', content: 'Hi' },
      { type: 'compaction_trigger' },
    ]);
  });

  it('goes back unchanged where it stood, and only to the account that made it', () => {
    const back = (format: string, data: unknown = DETAIL.data) => {
      const detail = { ...DETAIL, format, data };
      const said: ChatMessage = { role: 'assistant', content: '', reasoning_details: [detail] };
      const { path, body } = sent({ compaction: 'earlier', messages: [HI, said, HI] });
      return { path, items: (body.input as { type: string }[]).slice(1, -1) };
    };
    expect(back(FORMAT)).to.deep.equal({ path: '/responses', items: [ITEM] });
    expect(back('openai-responses/spare').items).to.deep.equal([]);
    expect(back(FORMAT, 7).items).to.deep.equal([]);
  });

  it('is read with the items beside it and its usage', () => {
    const call: ChatCall = { ...CALL, compaction: 'call' };
    const body = { object: 'response.compaction', output: [SAID, ITEM], usage: USAGE };
    const { choices, usage, others } = chat.decode(body, call, at());
    expect(others).to.deep.equal({ output: [SAID, ITEM] });
    expect(choices).to.have.length(1);
    expect(choices[0]?.reasoning_details).to.deep.equal([{ ...DETAIL, index: 1 }]);
    expect(usage).to.deep.include({ prompt_tokens: 9, completion_tokens: 3 });
    const none = { ...body, output: [SAID] };
    expect(() => chat.decode(none, call, at())).to.throw(/no compaction/u);
  });

  it('is read in an ordinary answer, whole or streamed', () => {
    const call: ChatCall = { ...CALL, compaction: 'item' };
    const answer = { output: [ITEM], usage: USAGE };
    const whole = chat.decode({ ...answer, status: 'completed' }, call, at());
    expect(whole.choices[0]?.reasoning_details).to.deep.equal([{ ...DETAIL, index: 0 }]);
    const deltas: ChatDelta[] = [];
    const events = eventsOf(answer).map((event) => ({ event: '', data: JSON.stringify(event) }));
    chat.decodeStream({ ...call, stream: true }, at()).read(events, deltas);
    const details = deltas.flatMap(({ reasoning_details = [] }) => reasoning_details);
    expect(details).to.deep.equal([{ ...DETAIL, index: 0 }]);
  });
});
