import type { Draft } from '../../yaml/validate.js';
import type { ProviderManifest } from '../../schema-types/provider.js';

export type Operations = Draft<ProviderManifest['operations']>;
