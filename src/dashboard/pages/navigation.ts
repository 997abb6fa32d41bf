import type { Visitor } from '../types.js';
import type { IconName } from './icons.js';

export interface NavigationGroup {
  heading?: string;
  items: readonly { path: string; name: string; icon: IconName }[];
}

const OPEN: NavigationGroup['items'] = [
  { path: '/docs', name: 'Documentation', icon: 'document' },
  { path: '/reference', name: 'API Reference', icon: 'reference' },
];

const STRANGER: NavigationGroup = {
  items: [...OPEN, { path: '/sign-in', name: 'Sign in', icon: 'enter' }],
};

const MAIN: NavigationGroup = {
  items: [
    { path: '/', name: 'Overview', icon: 'overview' },
    { path: '/usage', name: 'Usage', icon: 'usage' },
    { path: '/caches', name: 'Caches', icon: 'caches' },
    { path: '/requests', name: 'Requests', icon: 'requests' },
    { path: '/models', name: 'Models', icon: 'models' },
    { path: '/agents', name: 'Agents', icon: 'agents' },
    { path: '/playground', name: 'Playground', icon: 'playground' },
    ...OPEN,
  ],
};

const ACCOUNT: NavigationGroup = {
  heading: 'Account',
  items: [
    { path: '/settings/keys', name: 'API Keys', icon: 'keys' },
    { path: '/ledger', name: 'Ledger', icon: 'ledger' },
    { path: '/settings', name: 'Settings', icon: 'settings' },
  ],
};

const OPERATOR: NavigationGroup = {
  heading: 'Operator',
  items: [
    { path: '/operator', name: 'Live', icon: 'live' },
    { path: '/operator/requests', name: 'All requests', icon: 'requests' },
    { path: '/operator/profit', name: 'Profit', icon: 'ledger' },
    { path: '/operator/accounts', name: 'Accounts', icon: 'accounts' },
    { path: '/operator/tasks', name: 'Tasks', icon: 'tasks' },
    { path: '/operator/providers', name: 'Providers', icon: 'providers' },
    { path: '/operator/boxes', name: 'Boxes', icon: 'boxes' },
    { path: '/operator/bills', name: 'Bills', icon: 'ledger' },
    { path: '/operator/tokens', name: 'Management tokens', icon: 'keys' },
    { path: '/operator/audit', name: 'Audit log', icon: 'audit' },
  ],
};

/** The entries of the menu that a visitor may open. */
export function navigation(visitor: Visitor | undefined): readonly NavigationGroup[] {
  if (!visitor) return [STRANGER];
  return visitor.operator ? [MAIN, ACCOUNT, OPERATOR] : [MAIN, ACCOUNT];
}
