// The acts that change something. Each writes a row of `operator_actions` in the transaction of its
// effect (`act` of operator.ts, which takes no other). Everything else has a connection that may
// only read.

export const acts = [
  'assets close',
  'assets reopen',
  'assets delist',
  'assets curate',
  'assets forget',
  'halt',
  'resume',
  'accounts block',
  'accounts unblock',
  'accounts sign-out',
  'webhooks retry',
  'webhooks disable',
  'webhooks enable',
] as const;
export type Act = (typeof acts)[number];
