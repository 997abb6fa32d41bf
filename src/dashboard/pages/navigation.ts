import type { Visitor } from '../types.js';
import type { IconName } from './icons.js';

export interface NavigationGroup {
  heading?: string;
  items: readonly { path: string; name: string; icon: IconName }[];
}

const MAIN: NavigationGroup = {
  items: [
    { path: '/', name: 'Overview', icon: 'overview' },
    { path: '/usage', name: 'Usage', icon: 'usage' },
    { path: '/models', name: 'Models', icon: 'models' },
    { path: '/agents', name: 'Agents', icon: 'agents' },
    { path: '/playground', name: 'Playground', icon: 'playground' },
    { path: '/docs', name: 'API Reference', icon: 'reference' },
  ],
};

const ACCOUNT: NavigationGroup = {
  heading: 'Account',
  items: [
    { path: '/settings/keys', name: 'API Keys', icon: 'keys' },
    { path: '/settings', name: 'Settings', icon: 'settings' },
  ],
};

const OPERATOR: NavigationGroup = {
  heading: 'Operator',
  items: [
    { path: '/operator/accounts', name: 'Accounts', icon: 'accounts' },
    { path: '/operator/tasks', name: 'Tasks', icon: 'tasks' },
    { path: '/operator/providers', name: 'Providers', icon: 'providers' },
    { path: '/operator/configuration', name: 'Configuration', icon: 'configuration' },
  ],
};

/** The entries of the menu that a visitor may open. */
export function navigation(visitor: Visitor | undefined): readonly NavigationGroup[] {
  return visitor?.operator ? [MAIN, ACCOUNT, OPERATOR] : [MAIN, ACCOUNT];
}
