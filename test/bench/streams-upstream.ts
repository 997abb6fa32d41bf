import { Buffer } from 'node:buffer';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { orderOfPrompt, StreamTexts } from './streams-wording.js';
import { MessageReader } from './wire.js';
import { answerBody, LAST_EVENTS, textEvent } from './wording.js';

// The upstream of the bench of streams, a process of its own. Tells its parent its port and ends
// when the parent does.

const PROMPT_BYTES = 1_024;
const ANSWER = answerBody('chat');
const JSON_ANSWER =
  'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n' +
  `content-length: ${Buffer.byteLength(ANSWER)}\r\n\r\n${ANSWER}`;
const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

function serve(socket: Socket): void {
  let prompt = '';
  const reader = new MessageReader({
    head: () => void (prompt = ''),
    body: (bytes) => {
      if (prompt.length < PROMPT_BYTES) prompt += bytes.toString('latin1', 0, PROMPT_BYTES);
    },
    end: () => answer(socket, prompt),
  });
  socket.setNoDelay(true);
  socket.on('data', (data) => reader.push(data));
  socket.on('error', () => socket.destroy());
}

function answer(socket: Socket, prompt: string): void {
  const { events, gap_ms } = orderOfPrompt(prompt);
  if (events === 0) {
    socket.write(JSON_ANSWER);
    return;
  }
  const texts = new StreamTexts();
  let left = events;
  socket.write(STREAM_HEAD + chunk(textEvent(texts.next())));
  const timer = setInterval(() => {
    if (socket.destroyed) return clearInterval(timer);
    left -= 1;
    if (left > 0) {
      socket.write(chunk(textEvent(texts.next())));
      return;
    }
    clearInterval(timer);
    socket.write(`${chunk(textEvent(texts.last()) + LAST_EVENTS)}0\r\n\r\n`);
  }, gap_ms);
}

const server = createServer(serve).listen(0, '127.0.0.1', 4_096, () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => process.exit());
