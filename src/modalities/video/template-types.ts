import type { PartialLoad } from '../../yaml/validate.js';
import type { ProviderManifest } from '../../schema-types/provider.js';

export type Operations = PartialLoad<ProviderManifest['operations']>;
