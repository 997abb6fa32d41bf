import { Buffer } from 'node:buffer';
import {
  Agent,
  createServer,
  request,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

// The baselines, a process of its own: `node-proxy.js UPSTREAM_PORT parse|pipe`. `parse` is the
// least that a gateway written with node:http alone does to a JSON call: read it, parse it, write
// it again, in both directions. `pipe` hands the bytes of a stream through and looks at nothing.

const [port, way] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxFreeSockets: 4_096 });

function call(req: IncomingMessage, headers: OutgoingHttpHeaders) {
  const { method, url: path } = req;
  return request({ agent, host: '127.0.0.1', port, method, path, headers });
}

async function parse(req: IncomingMessage, res: ServerResponse): Promise<void> {
  const body = Buffer.from(JSON.stringify(JSON.parse(await textOf(req))));
  const { authorization } = req.headers;
  const upstream = call(req, {
    'content-type': 'application/json',
    'content-length': body.length,
    ...(authorization !== undefined && { authorization }),
  });
  upstream.on('error', () => res.destroy());
  upstream.on('response', (answer) => void reply(answer, res));
  upstream.end(body);
}

async function reply(answer: IncomingMessage, res: ServerResponse): Promise<void> {
  const body = Buffer.from(JSON.stringify(JSON.parse(await textOf(answer))));
  res.writeHead(answer.statusCode ?? 502, {
    'content-type': 'application/json',
    'content-length': body.length,
  });
  res.end(body);
}

function textOf(stream: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.on('end', () => resolve(Buffer.concat(pieces).toString()));
    stream.on('error', reject);
  });
}

function pipe(req: IncomingMessage, res: ServerResponse): void {
  const upstream = call(req, req.headers);
  upstream.on('error', () => res.destroy());
  upstream.on('response', (answer) => {
    res.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(res);
  });
  req.pipe(upstream);
}

const handler =
  way === 'pipe' ? pipe : (req: IncomingMessage, res: ServerResponse) => void parse(req, res);
const server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 }, handler);
server.listen(0, '127.0.0.1', 4_096, () => {
  process.send?.({ port: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => process.exit());
