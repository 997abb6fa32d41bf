import { pointer as join, quote, type Source } from '../yaml/source.js';
import type { ReadUpstream } from './upstreams.js';
import type { Capability } from '../core/model.js';

/**
 * What a provider must be able to do before a model can offer a capability through it: all the
 * operations of one of the lists.
 */
const NEEDS: Record<Capability, readonly (readonly string[])[]> = {
  chat: [['chat']],
  vision: [['chat']],
  audio: [['chat']],
  tools: [['chat']],
  image: [['image']],
  video: [['video'], ['video.submit', 'video.status']],
};

const REFINE_CHAT: readonly Capability[] = ['vision', 'audio', 'tools'];

/** Every capability must be served by every upstream, since any of them may have to answer. */
export function checkCapabilities(
  source: Source,
  pointer: string,
  capabilities: readonly (Capability | undefined)[],
  upstreams: readonly ReadUpstream[],
): void {
  const complete = !capabilities.includes(undefined);
  capabilities.forEach((capability, i) => {
    if (capability === undefined) return;
    const place = `${pointer}/capabilities${join(i)}`;
    if (REFINE_CHAT.includes(capability) && complete && !capabilities.includes('chat')) {
      const message = `the capability ${quote(capability)} is of no use without "chat"`;
      source.fault(place, { code: 'needs_chat', message, hint: 'add chat' });
      return;
    }
    for (const upstream of upstreams) checkServed(source, place, capability, upstream);
  });
}

function checkServed(
  source: Source,
  place: string,
  capability: Capability,
  { read: { manifest, provider } }: ReadUpstream,
): void {
  // Operations with faults of their own say nothing about what the provider can do.
  const has = (operation: string) => manifest.source.marks.has(`/operations${join(operation)}`);
  if (!manifest.data.operations || NEEDS[capability].some((list) => list.every(has))) return;
  const served = Object.keys(manifest.data.operations).join(', ');
  const who = `the provider ${quote(provider.name)}`;
  const message = `${who} cannot serve the capability ${quote(capability)}`;
  const hint = `its manifest has the operations: ${served}`;
  source.fault(place, { code: 'unsupported_capability', message, hint });
}
