/** What the ID of a model says of it: parameters that one model takes are an error at another. */
export interface ModelKind {
  family: 'claude' | 'nova' | 'gpt-oss' | 'llama' | 'other' | 'unknown';
  /** 4.5 is 405; 0 where the ID does not say it. */
  version: number;
}

/** `unknown` is a name that an operator gave, as the ARN of an application inference profile. */
export function kindOf(model: string): ModelKind {
  const name = model.toLowerCase();
  if (name.includes('claude')) return { family: 'claude', version: claudeVersion(name) };
  if (name.includes('amazon.nova')) {
    return { family: 'nova', version: /nova-(\d)-/u.test(name) ? 200 : 100 };
  }
  if (name.includes('gpt-oss')) return { family: 'gpt-oss', version: 0 };
  if (name.includes('llama')) return { family: 'llama', version: 0 };
  const isNamed = !name.startsWith('arn:') || name.includes('foundation-model/');
  return { family: isNamed ? 'other' : 'unknown', version: 0 };
}

/** Dates are longer than versions. One that is not known yet counts as the newest. */
function claudeVersion(name: string): number {
  if (name.includes('claude-instant')) return 100;
  const found = /claude-(?:[a-z]+-)?v?(\d{1,2})(?:[.-](\d{1,2}))?(?!\d)/u.exec(name);
  return found ? Number(found[1]) * 100 + Number(found[2] ?? 0) : NEWEST;
}

const NEWEST = 9_900;

/** Whether a model answers 400 to `temperature`, `top_p` and `top_k`. */
export function refusesSampling({ family, version }: ModelKind): boolean {
  return family === 'claude' && version >= 407;
}

/** Whether a model holds its answer to a schema: others are given the schema as a tool's. */
export function takesSchemas({ family, version }: ModelKind): boolean {
  if (family === 'claude') return version >= 405;
  return family !== 'nova' && family !== 'llama';
}

/** Whether a model knows marks of where a prompt may be cached, and whether tools may have one. */
export function cachesPrompts({ family, version }: ModelKind): boolean {
  return family === 'unknown' || family === 'nova' || (family === 'claude' && version >= 305);
}

export function cachesTools(kind: ModelKind): boolean {
  return kind.family !== 'nova' && cachesPrompts(kind);
}

/** How a signed part of a model's reasoning is called, so that no other model is sent it. */
export function reasoningFormat({ family }: ModelKind): string {
  return family === 'claude' || family === 'unknown' ? 'anthropic-claude-v1' : 'amazon-bedrock-v1';
}
