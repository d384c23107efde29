// A market in a process of its own that also delivers webhooks, as a server does.

import type { AddressInfo } from 'node:net';
import tls from 'node:tls';
import { connect, databaseLimits } from '@parley/market/db/database.ts';
import { buildApp } from '@parley/market/edge/app.ts';
import { createDelivering } from '@parley/market/webhooks/deliver.ts';
import { testDeps } from '@parley/verify/test/support/deps.ts';
import { answerQuestions } from './children.ts';

let close = async () => {};

export const answers = {
  close: () => close(),
  serve: async (url: string, ca: string): Promise<number> => {
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), ca]);
    const unlimited = { rateLimit: 10_000_000, rateLimitPerNetwork: 10_000_000 };
    const receiver = { encryptionKey: '11'.repeat(32), webhookNetworks: ['127.0.0.1'] };
    const deps = testDeps({
      db: connect(url, databaseLimits),
      settings: { ...unlimited, ...receiver },
    });
    const app = await buildApp(deps);
    const delivering = createDelivering(deps);
    delivering.start();
    close = async () => {
      await delivering.stop();
      await app.close();
      await deps.db.close();
    };
    await app.listen({ host: '127.0.0.1', port: 0 });
    return (app.server.address() as AddressInfo).port;
  },
};

answerQuestions(answers);
