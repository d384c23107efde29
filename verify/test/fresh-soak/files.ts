// The part of .ci/run that is tried in a bare Debian root.

/** Test files that need, all together, each thing that the runner brings from Debian. */
export const few: readonly string[] = [
  'packages/chains/nodes/transport-chromium.test.ts',
  'contracts/solana/program.test.ts',
  'packages/host/service-manager.test.ts',
  'apps/market/db/pooler.test.ts',
  'apps/market/ports/valkey.test.ts',
  'apps/market/webhooks/send.test.ts',
  'verify/test/alerts.test.ts',
  'verify/test/python.test.ts',
  'verify/test/release-docs.test.ts',
  'verify/test/tour.test.ts',
];
