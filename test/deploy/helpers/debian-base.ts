import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** What the Dockerfile's image has beside Debian: this Node and npm. */
const NODE = 24;
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
const MIRROR = 'http://deb.debian.org/debian';

/** A folder like the image `node:24-slim`, made once and kept in `folder`. */
export function makeBase(folder: string): string {
  const base = join(folder, 'base');
  if (existsSync(base)) return base;
  const partial = join(folder, 'base.partial');
  rmSync(partial, { recursive: true, force: true });
  run('debootstrap', '--variant=minbase', '--include=ca-certificates', 'bookworm', partial, MIRROR);
  addNode(folder, partial);
  // The machine's own way to the network: names and certificates.
  cpSync('/etc/resolv.conf', join(partial, 'etc/resolv.conf'), { dereference: true });
  cpSync(CERTIFICATES, join(partial, CERTIFICATES), { dereference: true });
  run('chroot', partial, 'useradd', '--create-home', '--uid', '1000', 'node');
  renameSync(partial, base);
  return base;
}

function addNode(folder: string, base: string): void {
  const node = `node-${process.platform}-${process.arch}`;
  const packages = join(folder, 'node');
  mkdirSync(packages, { recursive: true });
  run('npm', 'install', '--prefix', packages, '--no-save', `${node}@${NODE}`, 'npm@11');
  const local = join(base, 'usr/local');
  for (const part of ['bin', 'include', 'share']) {
    cpSync(join(packages, 'node_modules', node, part), join(local, part), { recursive: true });
  }
  const npm = join(local, 'lib/node_modules/npm');
  cpSync(join(packages, 'node_modules/npm'), npm, { recursive: true });
  for (const name of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(local, 'bin', name));
  }
}

function run(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
