import { expect } from 'chai';
import { FORMAT_CLIENTS } from './formats/helpers/format-clients.js';
import { WIRE_FAKES } from './formats/helpers/wires/wire-fakes.js';
import { WiresGateway } from './formats/helpers/wires/wires-gateway.js';

const PICTURE = Buffer.concat([Buffer.from('ffd8ffe000104a464946', 'hex'), Buffer.alloc(200, 7)]);
const BASE64 = PICTURE.toString('base64');
/** As MIME libraries write it: a line break every 76 characters. */
const BROKEN = BASE64.replaceAll(/.{76}/gu, '$&\r\n');
const CALL = { id: 'call_1', name: 'look' };
const URL = `data:image/jpg;base64,${BROKEN}`;

/** A call whose result is a picture with a wrong label, in the words of each format. */
const RESULTS: Record<string, object> = {
  'chat completions': {
    messages: [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: CALL.id, type: 'function', function: { ...CALL, arguments: '{}' } }],
      },
      {
        role: 'tool',
        tool_call_id: CALL.id,
        content: [{ type: 'image_url', image_url: { url: URL } }],
      },
    ],
  },
  Messages: {
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'assistant', content: [{ type: 'tool_use', ...CALL, input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: CALL.id,
            content: [
              { type: 'image', source: { type: 'base64', media_type: 'image/jpg', data: BROKEN } },
            ],
          },
        ],
      },
    ],
  },
  Responses: {
    input: [
      { role: 'user', content: 'Hi' },
      { type: 'function_call', call_id: CALL.id, name: CALL.name, arguments: '{}' },
      {
        type: 'function_call_output',
        call_id: CALL.id,
        output: [{ type: 'input_image', image_url: URL }],
      },
    ],
  },
  Gemini: {
    contents: [
      { role: 'user', parts: [{ text: 'Hi' }] },
      { role: 'model', parts: [{ functionCall: { ...CALL, args: {} } }] },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              ...CALL,
              response: {},
              parts: [{ inlineData: { mimeType: 'image/jpg', data: BROKEN } }],
            },
          },
        ],
      },
    ],
  },
};

describe('a picture with a wrong label and line breaks', () => {
  const wires = new WiresGateway();

  before(() => wires.start(() => ({ text: 'Red.' }), 'chat, tools, vision'));
  after(() => wires.close());

  for (const [client, format] of Object.entries(FORMAT_CLIENTS)) {
    for (const wire of Object.keys(WIRE_FAKES)) {
      it(`reaches ${wire} from ${client} with the type of its bytes, in a result too`, async () => {
        const path = format.path(wire, false);
        // The client says that it is a PNG.
        const asked = format.body(wire, { image: BROKEN }, false);
        const answered = { ...format.body(wire, { hasTools: true }, false), ...RESULTS[client] };
        for (const body of [asked, answered]) {
          await wires.post(path, body);
          const received = wires.sentTo(wire).body;
          expect(received)
            .to.include(BASE64)
            .and.to.match(/image\/jpeg|"format":"jpeg"/u);
          expect(received).not.to.match(/image\/jpg|image\/png|"format":"png"/u);
        }
      });
    }
  }
});
