import { join } from 'node:path';
import { startOwn } from './child.js';
import { startNginx } from './nginx.js';
import { loopbackAt, systemOf, type System } from './system.js';

export const NODE_PROXY = 'node:http proxy';
export const NODE_PIPE = 'node:http pipe';

/** All that the gateway is held against. What is not there is left out, and `say` tells so. */
export async function startOthers(
  folder: string,
  upstream_port: number,
  say: (text: string) => void,
): Promise<System[]> {
  const systems = await startBaselines(folder, upstream_port);
  const nginx = await startNginx(upstream_port);
  if (nginx) systems.push(nginx);
  else say('nginx is skipped: it is not installed here');
  return systems;
}

/** The bare proxies that the ratios are taken against: one for JSON calls, one for streams. */
async function startBaselines(folder: string, upstream_port: number): Promise<System[]> {
  const file = join(folder, 'node-proxy.js');
  const parse = await startOwn(file, [String(upstream_port), 'parse'], 'system');
  const pipe = await startOwn(file, [String(upstream_port), 'pipe'], 'system');
  return [
    systemOf(parse.child, { name: NODE_PROXY, kinds: ['json'], port: parse.port }),
    systemOf(pipe.child, { name: NODE_PIPE, kinds: ['stream', 'long', 'burst'], port: pipe.port }),
  ];
}

/** Nothing between load and upstream: what the tools themselves can do. */
export function upstreamItself(port: number): System {
  const stop = () => Promise.resolve();
  const base = loopbackAt(port);
  return { name: 'nothing between', kinds: ['json', 'burst'], base, headers: {}, pids: [], stop };
}
