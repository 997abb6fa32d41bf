import { parse } from '../../../src/yaml/parse.js';
import type { Source } from '../../../src/yaml/source.js';
import { Report } from '../../../src/yaml/report.js';
import { compile } from '../../../src/mapping/compile.js';
import { TEMPLATE_SCOPES, type TemplateScope } from '../../../src/mapping/template-scopes.js';
import { evaluate, type Template } from '../../../src/mapping/scope.js';
import type { ConfigFault } from '../../../src/core/config-fault.js';

export interface Compiled {
  template: Template;
  faults: ConfigFault[];
}

/** Compiles a template of YAML as it would stand in a manifest. */
export function compiled(
  yaml: string,
  place: TemplateScope = TEMPLATE_SCOPES.image_response,
): Compiled {
  const report = new Report();
  const source = sourceOf(`t: ${yaml}\n`, report);
  const value: unknown = source.value;
  const template = compile((value as { t?: unknown }).t, '/t', { source, place });
  return { template, faults: report.sorted('m.yaml') };
}

/** What a sound template makes of a body. */
export function made(yaml: string, body: unknown): unknown {
  const { template, faults } = compiled(yaml);
  if (faults.length > 0) throw new Error(faults.map(({ message }) => message).join('; '));
  return evaluate(template, body, { body, call: { n: 2 }, model: 'a/b' });
}

/** A manifest of this text. */
export function sourceOf(text: string, report: Report): Source {
  return parse('m.yaml', text, report, { env: undefined, directory: '.', hasPaths: true });
}
