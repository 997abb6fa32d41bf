import { Buffer } from 'node:buffer';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { MessageReader } from './wire.js';
import { answerBody, FIRST_EVENT, LAST_EVENTS, orderOf, TEXT_EVENT } from './wording.js';
import type { Format } from './wording.js';

// The fake upstream, a process of its own: answers from bytes made beforehand, in the API that its
// path names, at once, or late, or as a stream, as the model's name says. `upstream.js PORT`, or 0
// for a free one. Tells its parent its port and ends when the parent does.

const JSON_ANSWERS = {
  chat: jsonAnswer('chat'),
  messages: jsonAnswer('messages'),
  responses: jsonAnswer('responses'),
};
// The last header tells nginx to pass events on as they come.
const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n' +
  'transfer-encoding: chunked\r\nx-accel-buffering: no\r\n\r\n';
const OPENING = Buffer.from(STREAM_HEAD + chunk(FIRST_EVENT));
const TEXT = Buffer.from(chunk(TEXT_EVENT));
const CLOSING = Buffer.from(`${chunk(LAST_EVENTS)}0\r\n\r\n`);

function jsonAnswer(format: Format): Buffer {
  const json = answerBody(format);
  return Buffer.from(
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n' +
      `content-length: ${Buffer.byteLength(json)}\r\n\r\n${json}`,
  );
}

function formatOf(head: string): Format {
  const [, path = ''] = head.split(' ', 2);
  return path.includes('messages') ? 'messages' : path.includes('responses') ? 'responses' : 'chat';
}

function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;
}

function serve(socket: Socket): void {
  let body: Buffer[] = [];
  let format: Format = 'chat';
  const reader = new MessageReader({
    head: (text) => {
      body = [];
      format = formatOf(text);
    },
    body: (bytes) => void body.push(bytes),
    end: () => answer(socket, body, format),
  });
  socket.setNoDelay(true);
  socket.on('data', (data) => reader.push(data));
  socket.on('error', () => socket.destroy());
}

function answer(socket: Socket, body: readonly Buffer[], format: Format): void {
  const bytes = body.length === 1 ? body[0] : undefined;
  const { events, gap_ms } = orderOf(bytes ?? Buffer.concat(body));
  if (events === 0 && gap_ms > 0) setTimeout(() => socket.write(JSON_ANSWERS[format]), gap_ms);
  else if (events === 0) socket.write(JSON_ANSWERS[format]);
  else if (gap_ms === 0) burst(socket, events);
  else sparse(socket, events, gap_ms);
}

function burst(socket: Socket, events: number): void {
  const texts = Array.from({ length: events }, () => TEXT);
  socket.write(Buffer.concat([OPENING, ...texts, CLOSING]));
}

function sparse(socket: Socket, events: number, gap_ms: number): void {
  let left = events;
  socket.write(OPENING);
  const timer = setInterval(() => {
    if (socket.destroyed) return clearInterval(timer);
    left -= 1;
    socket.write(TEXT);
    if (left > 0) return;
    clearInterval(timer);
    socket.write(CLOSING);
  }, gap_ms);
}

const server = createServer(serve).listen(Number(process.argv[2]), '127.0.0.1', 4_096, () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => process.exit());
