import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ask, completionOf } from '../../helpers/ask.js';
import type { RunningCommand } from '../../helpers/run-command.js';

/** What the first start makes. */
export const FIRST_START = `first_start: { account: "ann's", credit: 2.50 }\n`;
export const SECRET = /tg-[0-9A-Za-z]{20,}/gu;

/** Holds the greeting of a first start to what it says; answers the key that it prints. */
export async function expectGreeting(serving: RunningCommand): Promise<string> {
  const url = await serving.url();
  const { stdout } = serving;
  expect(stdout)
    .to.match(/account "ann's"/u)
    .and.include('$2.50')
    .and.include(`\n  npx tollgate sign-in-link 'ann'\\''s' --operator\n\n`);
  expect(new Set(stdout.match(SECRET))).to.have.property('size', 1);
  const [, command = ''] = /\n(  curl [\s\S]+?[^\\])\n\n/u.exec(stdout) ?? [];
  const shell = spawn('sh', ['-c', `${command} --silent --show-error`]);
  let answer = '';
  shell.stdout.setEncoding('utf8').on('data', (text: string) => (answer += text));
  const [status] = (await once(shell, 'close')) as [number];
  expect(status).to.equal(0);
  completionOf({ status: 200, headers: new Headers(), text: answer });

  const [secret = ''] = stdout.match(SECRET) ?? [];
  expect((await ask({ url, secret }, '/v1/models')).status).to.equal(200);
  const [link = ''] = /^ {2}http\S+\/sign-in\/link\?token=\S+$/mu.exec(stdout) ?? [];
  expect(await signedIn(url, link.trim())).to.deep.equal([303, 400]);
  return secret;
}

/** The statuses of following a sign-in link twice, at the address where the gateway really is. */
async function signedIn(url: string, link: string): Promise<number[]> {
  const { pathname, search } = new URL(link);
  const follow = async (): Promise<number> =>
    (await fetch(`${url}${pathname}${search}`, { redirect: 'manual' })).status;
  return [await follow(), await follow()];
}

/** Holds a later start to a greeting without a key. */
export async function expectNoKey(serving: RunningCommand): Promise<void> {
  await serving.url();
  expect(serving.stdout)
    .to.match(/^Tollgate is serving \d models? on http:\S+\n/u)
    .and.not.match(SECRET)
    .and.not.include('curl');
  expect(serving.stderr).not.to.match(SECRET);
}
