// What .ci/run tries in a bare Debian root.

/** Test files that need, all together, each thing that the runner brings from Debian. */
export const few: readonly string[] = [
  'chains/nodes/transport-chromium.test.ts',
  'contracts/solana/program.test.ts',
  'host/service-manager.test.ts',
  'server/db/pooler.test.ts',
  'server/ports/valkey.test.ts',
  'server/webhooks/send.test.ts',
  'test/alerts.test.ts',
  'test/python.test.ts',
  'test/release-docs.test.ts',
  'test/tour.test.ts',
];
