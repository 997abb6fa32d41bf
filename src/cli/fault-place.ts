import { dirname, relative } from 'node:path';
import type { ConfigFault } from '../core/config-fault.js';

/** `line 3`, and in an included file `models/a.yaml line 3`. */
export function placeIn(main: string, { file, line }: ConfigFault): string {
  return file === main ? `line ${line}` : `${relative(dirname(main), file)} line ${line}`;
}
