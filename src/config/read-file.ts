import type { Configuration, EndpointEntry, SignIn } from '../core/configuration.js';
import type { Model } from '../core/model.js';
import type { Provider } from '../core/provider.js';
import type { Modalities } from '../pipeline/modality.js';
import type { GatewayFile } from '../schema-types/gateway.js';
import type { PartialLoad } from '../yaml/validate.js';

/** The parts of a file once it is read, for checks that need more than one of them. */
export interface ReadFile {
  gateway: PartialLoad<GatewayFile>;
  listen: Configuration['listen'];
  metrics: Configuration['metrics'];
  limits: Configuration['limits'];
  alerts: Configuration['alerts'];
  dashboard: boolean;
  sign_in: SignIn;
  trusted_proxies: Configuration['trusted_proxies'];
  public_url: string;
  providers: ReadonlyMap<string, { provider: Provider }>;
  models: ReadonlyMap<string, Model>;
  endpoints: readonly EndpointEntry[];
  modalities: Modalities;
}
